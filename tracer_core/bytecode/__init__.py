"""Code objects <-> canonical instructions. Pure Python, imports no torch.

In: a code object (`decode`). Out: a `Program` of canonical `Instruction`s, and code objects again (`assemble`),
with facts about programs that others need (stack effects, live variables). Only this folder knows which CPython runs.
"""

from tracer_core.bytecode.instruction import CallShape, Handler, Instruction, Origin, Program, Span

__all__ = ["CallShape", "Handler", "Instruction", "Origin", "Program", "Span"]

"""Code objects <-> canonical instructions. Pure Python, imports no torch.

In: a code object (`decode`). Out: a `Program` of canonical `Instruction`s, and code objects again (`assemble`),
with facts about programs that others need (stack effects, live variables). Only this folder knows which CPython runs.
"""

from tracer_core.bytecode.assemble import assemble
from tracer_core.bytecode.build import copy_program, copy_program_with_map, make
from tracer_core.bytecode.decode import decode
from tracer_core.bytecode.flow import is_terminal, reachable, successors
from tracer_core.bytecode.instruction import CallShape, Handler, Instruction, Origin, Program, Span
from tracer_core.bytecode.listing import listing
from tracer_core.bytecode.liveness import live_before
from tracer_core.bytecode.named_stack import iterable_label, stack_labels
from tracer_core.bytecode.ops import OPS, Operand, OpInfo
from tracer_core.bytecode.stack import max_stack, pops, stack_depths, stack_effect

__all__ = [
    "OPS",
    "CallShape",
    "Handler",
    "Instruction",
    "OpInfo",
    "Operand",
    "Origin",
    "Program",
    "Span",
    "assemble",
    "copy_program",
    "copy_program_with_map",
    "decode",
    "is_terminal",
    "iterable_label",
    "listing",
    "live_before",
    "make",
    "max_stack",
    "pops",
    "reachable",
    "stack_depths",
    "stack_effect",
    "stack_labels",
    "successors",
]

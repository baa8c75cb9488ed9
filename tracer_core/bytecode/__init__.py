"""Convert between code objects and canonical instructions. Pure Python, imports no torch.

In: a code object (`decode`). Out: a `Program` of canonical `Instruction`s, and code objects again (`assemble`),
with facts about programs that others need (stack effects, live variables).

Only this folder knows which CPython runs. `version.py` picks the module for it; its class `Version` lists what such a
module has: numbers and caches of instructions, which of them spell a canonical one, jumps, operators, the order of a
code's beginning and of a frame's slots, where the empty slot of a call lies, and the tables of lines and exceptions.

Other folders write generated code with a `CodeBuilder`, which alone knows the stack layout of a call; code that
reads a stack finds the parts of a call with `call_items` and `called`. `prologue`, `body_of` and `bind_methods` give
a code another beginning.
"""

from tracer_core.bytecode.assemble import assemble
from tracer_core.bytecode.build import copy_program, copy_program_with_map, make
from tracer_core.bytecode.builder import CodeBuilder, Push
from tracer_core.bytecode.calls import call_items, called
from tracer_core.bytecode.check import argument_count
from tracer_core.bytecode.decode import decode
from tracer_core.bytecode.decoded import Decoded, decoded, first_line, forget_decoded
from tracer_core.bytecode.flow import is_terminal, reachable, successors
from tracer_core.bytecode.instruction import CallShape, Handler, Instruction, Origin, Program, Span
from tracer_core.bytecode.listing import disassembly, listing
from tracer_core.bytecode.liveness import live_before
from tracer_core.bytecode.named_stack import iterable_label, stack_labels
from tracer_core.bytecode.ops import OPS, Operand, OpInfo
from tracer_core.bytecode.prologue import bind_methods, body_of, prologue
from tracer_core.bytecode.stack import max_stack, pops, stack_after, stack_depths, stack_effect

__all__ = [
    "OPS",
    "CallShape",
    "CodeBuilder",
    "Decoded",
    "Handler",
    "Instruction",
    "OpInfo",
    "Operand",
    "Origin",
    "Program",
    "Push",
    "Span",
    "argument_count",
    "assemble",
    "bind_methods",
    "body_of",
    "call_items",
    "called",
    "copy_program",
    "copy_program_with_map",
    "decode",
    "decoded",
    "disassembly",
    "first_line",
    "forget_decoded",
    "is_terminal",
    "iterable_label",
    "listing",
    "live_before",
    "make",
    "max_stack",
    "pops",
    "prologue",
    "reachable",
    "stack_after",
    "stack_depths",
    "stack_effect",
    "stack_labels",
    "successors",
]

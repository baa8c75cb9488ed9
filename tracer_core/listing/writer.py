"""Write generated code as a person reads it: a Python listing.

Of the copy of the user's own code only the instruction that ended the graph is shown, and the calls of resume
functions after it.
"""

from __future__ import annotations

import ast
import linecache
from types import CodeType

from tracer_core.bytecode import OPS, Instruction, pops
from tracer_core.codegen.emit.names import is_ours
from tracer_core.frame_input import Written
from tracer_core.listing.expressions import code_name, filled
from tracer_core.listing.rules import write
from tracer_core.listing.state import State
from tracer_core.names.code import argument_labels

CO_VARARGS, CO_VARKEYWORDS = 0x04, 0x08


def python_listing(written: Written, replaced: CodeType) -> str:
    """Return the statements of new code as Python text, one a line; those without Python text become comments. The
    listing has the name of the code that it has `replaced`."""
    writer = _Writer(written)
    for name, label in argument_labels(replaced).items():
        if is_ours(name) and name in writer.code.co_varnames:
            writer.line(f"# {writer.state.name(name)} is {label.text}")
    writer.write_all()
    declared = [
        f"    {keyword} {', '.join(sorted(names))}" for keyword, names in writer.state.declared.items() if names
    ]
    body = [*declared, *writer.lines] or ["    pass"]
    return "\n".join([f"def {code_name(replaced)}({writer.parameters()}):", *body]) + "\n"


class _Writer:
    """Writes one code."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.code = written.program.template
        self.lines: list[str] = []
        self.indent = 1
        self.state = State(written.program, self.line)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def parameters(self) -> str:
        code = self.code
        names = iter([ast.arg(self.state.name(name)) for name in code.co_varnames])
        before, plain = code.co_posonlyargcount, code.co_argcount - code.co_posonlyargcount
        only_positional, positional, only_keyword = (
            [next(names) for _ in range(count)] for count in (before, plain, code.co_kwonlyargcount)
        )
        rest = next(names) if code.co_flags & CO_VARARGS else None
        others = next(names) if code.co_flags & CO_VARKEYWORDS else None
        return ast.unparse(
            ast.arguments(only_positional, positional, rest, only_keyword, [None] * len(only_keyword), others, [])
        )

    def write_all(self) -> None:
        written, state = self.written, self.state
        self.run(written.first)
        if written.broken is None:
            return
        broken = written.broken
        state.spill(below=pops(broken))
        self.line(f"# the graph ends before this, {self.place(broken)}")
        if broken.handler is not None:
            self.line(f"# (if it raises, the original code continues at {self.place(broken.handler.target)})")
        if len(written.after) < 2:
            write(state, broken)
            self.run(next(iter(written.after.values()), []))
        else:
            self.branch(broken)

    def run(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            write(self.state, instruction)

    def branch(self, broken: Instruction) -> None:
        """Write an instruction that may jump, and what runs after it in either case."""
        state, info = self.state, OPS[broken.op]
        assert info.leaves_on_jump is not None
        opening, jumps_first = _BRANCHES.get(broken.op, ("if ...", False))
        if broken.op not in _BRANCHES:
            write(state, broken)
            left = state.pop_n(info.leaves(broken.arg))
        elif broken.op == "FOR_ITER":
            left = [state.named(state.stack.pop()), state.temporary("item")]
        else:
            left = [state.named(state.stack.pop()) if info.leaves_on_jump(broken.arg) else state.stack.pop()]
        state.spill()
        below, aliases = list(state.stack), state.aliases
        self.line(ast.unparse(filled(f"{opening}: pass", *left)).splitlines()[0])
        self.indent += 1
        for jumps in (jumps_first, not jumps_first):
            leaves = info.leaves_on_jump if jumps else info.leaves
            state.stack, state.aliases = [*below, *left[: leaves(broken.arg)]], dict(aliases)
            self.run(self.written.after[jumps])
            if jumps is jumps_first:
                self.lines.append("    else:")
        self.indent -= 1

    def place(self, instruction: Instruction) -> str:
        """Return the line of an instruction of the user's, with its text."""
        line = None if instruction.span is None else instruction.span.line
        if line is None:
            return f"an instruction without a line ({instruction.op})"
        text = linecache.getline(self.code.co_filename, line).strip()
        return f"line {line} `{text}`" if text else f"line {line}"


_BRANCHES = {
    "POP_JUMP_IF_FALSE": ("if _0", False),
    "POP_JUMP_IF_TRUE": ("if _0", True),
    "POP_JUMP_IF_NONE": ("if _0 is None", True),
    "POP_JUMP_IF_NOT_NONE": ("if _0 is not None", True),
    "JUMP_IF_FALSE_OR_POP": ("if _0", False),
    "JUMP_IF_TRUE_OR_POP": ("if _0", True),
    "FOR_ITER": ("for _1 in _0", False),
}
"""By instruction: the beginning of the statement, and whether what runs after a jump comes first in it."""

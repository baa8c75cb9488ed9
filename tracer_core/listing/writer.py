"""Write generated code as a person reads it: a Python listing.

Instructions are read in the order in which they run, with expressions on the stack in place of values. Of the copy of
the user's own code only the instruction that ended the graph is shown, and the calls of resume functions after it.
"""

from __future__ import annotations

import linecache
from types import CodeType

from tracer_core.bytecode import OPS, Instruction, Program, pops
from tracer_core.listing.rules import RULES
from tracer_core.listing.shown import Shown, code_name, computed, name_of
from tracer_core.listing.state import State

CO_VARARGS, CO_VARKEYWORDS = 0x04, 0x08
MAX_DEPTH = 20
"""Branches nested more deeply are only mentioned."""


def python_listing(program: Program, replaced: CodeType | None = None) -> str:
    """Write a code's statements as Python text, one a line; those without Python text become comments. The listing
    has the name of the code that it has `replaced`. The user's instructions are those that have an origin."""
    writer = _Writer(program)
    writer.walk(0)
    declared = [
        f"    {keyword} {', '.join(sorted(names))}"
        for keyword, names in (("global", writer.state.globals), ("nonlocal", writer.state.nonlocals))
        if names
    ]
    body = [*declared, *writer.lines] or ["    pass"]
    return "\n".join([f"def {code_name(replaced or program.template)}({writer.parameters()}):", *body]) + "\n"


class _Writer:
    """Read one code. `entered` says whether the reader has jumped out of the generated part."""

    def __init__(self, program: Program) -> None:
        self.code = program.template
        self.instructions = program.instructions
        self.index = {instruction: position for position, instruction in enumerate(self.instructions)}
        self.lines: list[str] = []
        self.indent = 1
        self.state = State(program, self.write)
        self.seen: set[Instruction] = set()
        self.entered = False

    def write(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def parameters(self) -> str:
        code, shown = self.code, self.state.name
        names = [shown(name) for name in code.co_varnames]
        positional, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        texts = names[:positional]
        if code.co_posonlyargcount:
            texts.insert(code.co_posonlyargcount, "/")
        extra = total
        if code.co_flags & CO_VARARGS:
            texts.append(f"*{names[extra]}")
            extra += 1
        elif code.co_kwonlyargcount:
            texts.append("*")
        texts += names[positional:total]
        if code.co_flags & CO_VARKEYWORDS:
            texts.append(f"**{names[extra]}")
        return ", ".join(texts)

    # --- reading instructions ---------------------------------------------------------------------------

    def walk(self, start: int) -> None:
        """Write the code that runs from this position on, until it returns, raises, or reaches the user's own
        code."""
        position: int | None = start
        while position is not None and position < len(self.instructions):
            instruction = self.instructions[position]
            if instruction in self.seen or self.indent > MAX_DEPTH:
                self.write(f"# goes on at {self._line(instruction)}")
                return
            self.seen.add(instruction)
            position = self._step(position, instruction)

    def _step(self, position: int, instruction: Instruction) -> int | None:
        if instruction.op == "JUMP":
            assert instruction.target is not None
            return self._enter_copy(instruction.target)
        if instruction.target is not None:
            return self._branch(position, instruction)
        if self._only_sets_exception(position, instruction):
            self._set_exception(instruction)
            return position + 2
        self._write(instruction)
        return None if OPS[instruction.op].terminal else position + 1

    def _write(self, instruction: Instruction) -> None:
        rule = RULES.get(instruction.op)
        if rule is None:
            self._untold(instruction)
        else:
            rule(self.state, instruction)

    def _untold(self, instruction: Instruction) -> None:
        """Write the name of an instruction that has no Python text, and invent names for its results."""
        info, state = OPS[instruction.op], self.state
        state.spill()
        taken = state.pop_n(info.takes(instruction.arg))
        name, operand = instruction.op, ""
        if instruction.origin is not None:
            name, operand, _ = instruction.origin
        texts = ", ".join(item.text for item in taken)
        self.write(f"# {name} {operand}".rstrip() + (f" on {texts}" if texts else ""))
        for _ in range(info.leaves(instruction.arg)):
            state.push(name_of(state.temporary()))

    # --- leaving the generated part ---------------------------------------------------------------------

    def _enter_copy(self, target: Instruction) -> int | None:
        """Go from the generated part into the copy of the user's code, at the instruction that ended the graph."""
        position = self.index[target]
        if self.entered:
            return position
        self.entered = True
        self.state.spill(below=pops(target))
        self.write(f"# the graph ends before this, {self._line(target)}")
        if target.handler is not None:
            self.write(f"# (if it raises, the original code goes on at {self._line(target.handler.target)})")
        self.seen.add(target)
        after = self._step(position, target)
        if after is None or self._is_generated(after):
            return after
        self.state.spill()
        self.write(f"# goes on in the original code at {self._line(self.instructions[after])}")
        return None

    def _is_generated(self, position: int) -> bool:
        """Return whether the instruction is generated: it follows an instruction of the user's, and calls the resume
        function."""
        return self.instructions[position].origin is None

    def _line(self, instruction: Instruction) -> str:
        line = None if instruction.span is None else instruction.span.line
        if line is None:
            return f"an instruction without a line ({instruction.op})"
        text = linecache.getline(self.code.co_filename, line).strip()
        return f"line {line} `{text}`" if text else f"line {line}"

    # --- branches ---------------------------------------------------------------------------------------

    def _branch(self, position: int, instruction: Instruction) -> int | None:
        assert instruction.target is not None
        target = self.index[instruction.target]
        form = _BRANCHES.get(instruction.op)
        if form is None:
            self._untold(instruction)
            self.write(f"# either jumps to {self._line(instruction.target)}, or")
            return position + 1
        opening, jumps_first, keeps = form
        value = self.state.pop()
        if keeps or opening == "for":
            value = self.state.named(value)
        self.state.spill()
        rest = self.state.stack
        if opening == "for":
            item = self.state.temporary("item")
            self.write(f"for {item} in {value.text}:")
            arms = [(position + 1, [*rest, value, name_of(item)]), (target, rest)]
        else:
            self.write(f"if {opening.format(value.within(_LOOSEST_CONDITION[opening]))}:")
            jump = (target, [*rest, value] if keeps else rest)
            arms = [jump, (position + 1, rest)] if jumps_first else [(position + 1, rest), jump]
        self._arm(*arms[0])
        self.write("else:")
        self._arm(*arms[1])
        return None

    def _arm(self, position: int, stack: list[Shown]) -> None:
        aliases = dict(self.state.aliases)
        self.state.stack = list(stack)
        self.indent += 1
        before = len(self.lines)
        if self.entered and not self._is_generated(position):
            self.write(f"# goes on in the original code at {self._line(self.instructions[position])}")
        else:
            self.walk(position)
        if all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.write("...")
        self.indent -= 1
        self.state.aliases = aliases

    # --- exceptions -------------------------------------------------------------------------------------

    def _only_sets_exception(self, position: int, instruction: Instruction) -> bool:
        """Return whether this raises an exception only to be in the state of handling it."""
        if instruction.op != "RAISE_VARARGS" or instruction.arg != 1 or instruction.handler is None:
            return False
        following = self.instructions[position + 1 : position + 2]
        return following == [instruction.handler.target] and following[0].op == "PUSH_EXC_INFO"

    def _set_exception(self, instruction: Instruction) -> None:
        assert instruction.handler is not None
        exception = self.state.named(self.state.pop())
        self.state.spill()
        self.write(f"# from here on as in an `except` block that handles {exception.text}")
        del self.state.stack[instruction.handler.depth :]
        self.state.push(computed("sys.exception()"))
        self.state.stack[-1].names = frozenset()
        self.state.push(exception)


_BRANCHES: dict[str, tuple[str, bool, bool]] = {
    "POP_JUMP_IF_FALSE": ("{}", False, False),
    "POP_JUMP_IF_TRUE": ("{}", True, False),
    "POP_JUMP_IF_NONE": ("{} is None", True, False),
    "POP_JUMP_IF_NOT_NONE": ("{} is not None", True, False),
    "JUMP_IF_FALSE_OR_POP": ("{}", False, True),
    "JUMP_IF_TRUE_OR_POP": ("{}", True, True),
    "FOR_ITER": ("for", False, False),
}
"""By instruction: the condition; whether the arm that jumps comes first; whether it keeps the value on the stack."""
_LOOSEST_CONDITION = {"{}": 0, "{} is None": 31, "{} is not None": 31}

"""The state of a code that is being written as Python text: expressions on the stack, and names of variables."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

from tracer_core.bytecode import Program
from tracer_core.codegen.emit.names import READABLE, is_ours
from tracer_core.listing.shown import ATOM, Shown, name_of

NULL = Shown("NULL")


class State:
    """The expressions on the stack, and the variables, between two instructions. `write` takes a finished line."""

    def __init__(self, program: Program, write: Callable[[str], None]) -> None:
        code, instructions = program.template, program.instructions
        self.write = write
        self.stack: list[Shown] = []
        self.aliases: dict[str, Shown] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.free = frozenset(program.freevars)
        self.loads = Counter(each.arg for each in instructions if each.op == "LOAD_FAST")
        self.stored_next = {
            id(first) for first, second in itertools.pairwise(instructions) if second.op == "STORE_FAST"
        }
        self._taken = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
        self._names: dict[str, str] = {}

    # --- names ------------------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """Return the readable name of a local."""
        if not is_ours(name) and not name.startswith("."):
            return name
        if name not in self._names:
            self._names[name] = self._free_name(_readable(name))
        return self._names[name]

    def temporary(self, stem: str = "value") -> str:
        """Return a name for a value that the code keeps on the stack."""
        if stem not in self._taken and stem != "value":
            return self._free_name(stem)
        return next(
            self._free_name(f"{stem}_{number}") for number in itertools.count(1) if self._is_free(f"{stem}_{number}")
        )

    def _is_free(self, name: str) -> bool:
        return name not in self._taken and not any(_readable(temporary) == name for temporary in self.loads)

    def _free_name(self, wanted: str) -> str:
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted

    # --- the stack --------------------------------------------------------------------------------------

    def push(self, value: Shown) -> None:
        self.stack.append(value)

    def pop(self) -> Shown:
        return self.stack.pop() if self.stack else Shown("<nothing>")

    def pop_n(self, count: int) -> list[Shown]:
        """Return the top `count` items, the deepest first."""
        return [self.pop() for _ in range(count)][::-1]

    def named(self, value: Shown) -> Shown:
        """Return the value under a name, so that it can be used more than once."""
        if value.names is not None and value.binds == ATOM:
            return value
        named = name_of(self.temporary())
        self.statement(f"{named.text} = {value.text}")
        return named

    def spill(self, below: int = 0, storing: str | None = None) -> None:
        """Give names to items of the stack, except the top `below`, that would not be the same if they were evaluated
        later, and to those that read the variable `storing`."""
        for depth in range(len(self.stack) - below):
            value = self.stack[depth]
            if value.names is None or storing in value.names:
                named = name_of(self.temporary())
                self.write(f"{named.text} = {value.text}")
                self.replace(value, named)

    def replace(self, old: Shown, new: Shown) -> None:
        self.stack[:] = [new if value is old else value for value in self.stack]

    def statement(self, line: str, storing: str | None = None) -> None:
        """Write a statement, after the pending expressions."""
        self.spill(storing=storing)
        self.write(line)


def _readable(name: str) -> str:
    for beginning, readable in READABLE.items():
        if name.startswith(beginning):
            return readable + name[len(beginning) :]
    return "iterable" + name.removeprefix(".")

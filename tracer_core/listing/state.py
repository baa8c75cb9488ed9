"""The state of a code that is being written as Python text: expressions on the stack, and names of variables."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable

from tracer_core.bytecode import Program
from tracer_core.codegen.emit.names import OUTPUTS, READABLE, is_ours
from tracer_core.listing.expressions import is_slice, variables_of, verbatim

NULL = verbatim("NULL")


class State:
    """The expressions on the stack, and the variables, between two instructions. `write` takes a finished line.

    Attributes:
        stack: an expression that is there twice is the same object.
        aliases: the expressions that stand for variables of generated code, which are not written.
        loads: the variables that the code reads.
        declared: the variables for the statements `global` and `nonlocal`.
    """

    def __init__(self, program: Program, write: Callable[[str], None]) -> None:
        code, instructions = program.template, program.instructions
        self.write = write
        self.stack: list[ast.expr] = []
        self.aliases: dict[str, ast.expr] = {}
        self.declared: dict[str, set[str]] = {"global": set(), "nonlocal": set()}
        self.free = frozenset(program.freevars)
        self.loads = {each.arg for each in instructions if each.op == "LOAD_FAST"}
        self._taken = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names}
        self._reserved = {_readable(name) for name in self.loads}
        self._names: dict[str, str] = {}
        self.outputs = self.name(OUTPUTS) if OUTPUTS in self.loads else None

    # --- names ------------------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """Return the readable name of a local."""
        if not is_ours(name) and not name.startswith("."):
            return name
        if name not in self._names:
            self._names[name] = self._free_name(_readable(name))
        return self._names[name]

    def temporary(self, stem: str = "value") -> ast.Name:
        """Return a new variable for a value that the code keeps on the stack."""
        if stem not in self._taken and stem != "value":
            return ast.Name(self._free_name(stem))
        names = (f"{stem}_{number}" for number in itertools.count(1))
        return ast.Name(self._free_name(next(name for name in names if name not in self._taken | self._reserved)))

    def _free_name(self, wanted: str) -> str:
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted

    # --- the stack --------------------------------------------------------------------------------------

    def pop_n(self, count: int) -> list[ast.expr]:
        """Return the top `count` items, the deepest first."""
        return [self.stack.pop() for _ in range(count)][::-1]

    def lasts(self, value: ast.expr) -> bool:
        """Return whether it gives the same wherever it is evaluated, as long as its variables stay as they are. So do
        outputs of the graph, which nothing removes from the tuple."""
        match value:
            case ast.Tuple():
                return all(map(self.lasts, value.elts))
            case ast.Subscript(ast.Name(name), ast.Constant()):
                return name == self.outputs
            case ast.UnaryOp(ast.USub(), ast.Constant()):
                return True
            case ast.Call():
                return is_slice(value) and all(map(self.lasts, value.args))
        return isinstance(value, (ast.Name, ast.Constant))

    def named(self, value: ast.expr) -> ast.expr:
        """Return the value in a form that can be used more than once."""
        return value if isinstance(value, (ast.Name, ast.Constant)) else self.new_name(value)

    def new_name(self, value: ast.expr) -> ast.Name:
        named = self.temporary()
        self.assign(named, value)
        return named

    def spill(self, below: int = 0, storing: str | None = None) -> None:
        """Give names to items of the stack, except the top `below`, that would not be the same if they were evaluated
        later, and to those that read the variable `storing`."""
        for value in dict.fromkeys(self.stack[: len(self.stack) - below]):
            if not self.lasts(value) or (storing is not None and storing in variables_of(value)):
                named = self.temporary()
                self.write(ast.unparse(ast.Assign([named], value, lineno=0)))
                self.replace(value, named)

    def replace(self, old: ast.expr, new: ast.expr) -> None:
        self.stack[:] = [new if value is old else value for value in self.stack]

    def statement(self, statement: ast.stmt, storing: str | None = None) -> None:
        """Write a statement, after the pending expressions."""
        self.spill(storing=storing)
        self.write(ast.unparse(statement))

    def assign(self, target: ast.expr, value: ast.expr, storing: str | None = None) -> None:
        self.statement(ast.Assign([target], value, lineno=0), storing)


def _readable(name: str) -> str:
    for beginning, readable in READABLE.items():
        if name.startswith(beginning):
            return readable + name[len(beginning) :]
    return "iterable" + name.removeprefix(".")

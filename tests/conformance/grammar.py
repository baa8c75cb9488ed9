"""A hypothesis strategy that writes random programs a person could have written.

`Writer` keeps what each name in scope holds, so most programs run to their end; those that raise do so on purpose or
by an index, key or division that may fail. In one call all tensors have one size, so any two can be combined. The
choices are ordered from simple to intricate, because hypothesis shrinks towards the first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

HEAD = '''"""A generated program."""

import contextlib
import functools
import itertools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from tests.conformance.program import program, t

TALLY = 0


class Box:
    def __init__(self, value):
        self.value = value
        self.count = 0

    def bump(self, by=1):
        self.count += by
        return self.count

    @property
    def double(self):
        return self.value * 2


class Noting:
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(None if kind is None else kind.__name__)
        return self.swallow


class Pair(NamedTuple):
    first: int
    second: int = 3


@dataclass
class Settings:
    scale: int = 2
    notes: list = field(default_factory=list)

    def __post_init__(self):
        self.scale = self.scale % 5


class Row:
    def __init__(self, *values):
        self.values = list(values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]

    def __setitem__(self, index, value):
        self.values[index] = value

    def __add__(self, other):
        return Row(*self.values, *other.values)

    def __contains__(self, value):
        return any(value == each for each in self.values)

    def __call__(self, v):
        return v * len(self)


@contextlib.contextmanager
def noted(log, name):
    log.append(name)
    try:
        yield len(log)
    except ValueError as error:
        log.append(str(error))
    finally:
        log.append("left " + name)


def twice(v):
    return v + v


def numbers(n):
    for k in range(n):
        yield k
'''
CALLS = (
    "(t(3), t(3, start=4), 2, 1.5, [1, 2, 3], {'a': 1, 'b': 2})",
    "(t(3, start=9), t(3), 3, 2.5, [4], {'b': 5})",
    "(a := t(5), a, -1, 1.5, [], {'a': 2})",
    "(t(4), t(4, start=2), 0, 0.0, [0, 2], {})",
)
Item = TypeVar("Item")

#: What a name can hold: a tensor, numbers, a str, a bool, lists of ints and tensors, a dict of ints, a set of ints,
#: a function of a tensor, objects of the classes above.
KINDS = (
    "tensor", "int", "str", "bool", "ints", "tensors", "dict", "set", "function", "box", "float", "pair", "settings",
    "row",
)  # fmt: skip


@dataclass
class Writer:
    """Writes one function, line by line. `names` maps each name in scope to its kind."""

    draw: DrawFn
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    names: dict[str, str] = field(default_factory=dict)
    budget: int = 12
    counter: int = 0
    loops: int = 0
    functions: int = 0
    breaks: bool = True
    #: the names of the inner function written last
    inner: dict[str, str] = field(default_factory=dict)

    # --- choices ------------------------------------------------------------------------------------
    def pick(self, options: list[Item] | tuple[Item, ...]) -> Item:
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def fresh(self, kind: str) -> str:
        self.counter += 1
        name = f"{kind[0]}{self.counter}"
        return name

    def of(self, kind: str) -> list[str]:
        return [name for name, held in self.names.items() if held == kind]

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextlib.contextmanager
    def block(self, head: str) -> Iterator[None]:
        """An indented block; names first bound inside it are forgotten after it, as it may not have run."""
        self.put(head)
        self.depth += 1
        before = dict(self.names)
        length = len(self.lines)
        yield
        if len(self.lines) == length:
            self.put("pass")
        self.depth -= 1
        self.names = before

    def expression(self, kind: str, depth: int = 2) -> str:
        """An expression of `kind`; deeper ones contain others."""
        from tests.conformance.grammar_expressions import EXPRESSIONS

        names = self.of(kind)
        if names and (depth <= 0 or not self.chance(55)):
            return self.pick(names)
        if depth <= 0:
            return EXPRESSIONS[kind][0](self, 0)
        return self.pick(EXPRESSIONS[kind])(self, depth - 1)

    def body(self, most: int = 3) -> None:
        """Up to `most` statements, while the budget lasts."""
        for _ in range(self.number(1, most)):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement()

    def statement(self) -> None:
        from tests.conformance.grammar_functions import FUNCTIONS
        from tests.conformance.grammar_statements import BREAKING, COMPOUND, SIMPLE, VALUES

        simple = [*SIMPLE, *(BREAKING if self.breaks else ())]
        compound = [*COMPOUND, *(VALUES if self.breaks else ()), *FUNCTIONS]
        deep = self.depth >= 5 or self.budget <= 0
        self.pick(simple if deep or not self.chance(45) else compound)(self)


Statement = Callable[[Writer], None]
Expression = Callable[[Writer, int], str]


def render(writer: Writer, calls: int) -> str:
    listed = ", ".join(CALLS[:calls])
    body = "\n".join(writer.lines)
    return f'{HEAD}\n\n@program("I1", lambda: [{listed}])\ndef generated(x, y, n, r, items, table):\n{body}\n'


@st.composite
def programs(draw: DrawFn, breaks: bool = True, size: int = 12) -> str:
    """The text of a program file whose only program is called `generated`."""
    names = {"x": "tensor", "y": "tensor", "n": "int", "r": "float", "items": "ints", "table": "dict"}
    writer = Writer(draw, names=dict(names), budget=draw(st.integers(1, size)), breaks=breaks)
    writer.put("global TALLY")
    writer.put("log = []")
    while writer.budget > 0:
        writer.budget -= 1
        writer.statement()
    results = [name for name, kind in writer.names.items() if kind != "function"]
    writer.put(f"return log, {', '.join(results)}")
    return render(writer, draw(st.integers(1, len(CALLS))))

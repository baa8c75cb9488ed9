"""Trackers, fake tensors, nodes and guards of the pretended engine: what an observer may read, and no more."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch

_uids = itertools.count(1)


class SymInt(torch.SymInt):
    """A size that is a symbol."""

    def __init__(self, name: str, hint: int) -> None:
        self.name = name
        self.node = SimpleNamespace(_hint=hint)

    def __str__(self) -> str:
        return self.name


class Fake(torch.Tensor):
    """A tensor without data, row-major."""

    dtype, device, requires_grad = "torch.float32", "cpu", False  # type: ignore[assignment]
    shape: Any = ()

    @staticmethod
    def __new__(cls, *shape: int | SymInt) -> Fake:
        made: Fake = torch.Tensor._make_subclass(cls, _NO_DATA)  # type: ignore[attr-defined]
        made.shape = shape
        return made

    def stride(self) -> tuple[int | SymInt, ...]:
        strides: list[int | SymInt] = []
        step: int | SymInt = 1
        for size in reversed(self.shape):
            strides.insert(0, step)
            step = step * size if isinstance(step, int) and isinstance(size, int) else size
        return tuple(strides)


Fake.__name__ = "FakeTensor"
_NO_DATA = torch.empty(0, device="meta")


@dataclass(frozen=True)
class Source:
    """A chain of names."""

    exact: str
    owner: Source | None = None

    @property
    def name(self) -> str:
        return re.sub(r"^[LG]\['(\w+)'\]", r"\1", self.exact)

    def part(self, text: str) -> Source:
        return Source(self.exact + text, self)


class Graph:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.used: dict[str, int] = {}

    def add(self, op: str, target: Any, args: tuple[Any, ...], name: str) -> Node:
        used = self.used[name] = self.used.get(name, -1) + 1
        unique = f"{name}_{used}" if used else name
        node = Node(self, unique, op, target, args)
        self.nodes.append(node)
        return node


@dataclass(eq=False)
class Node:
    graph: Graph
    name: str
    op: str
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def all_input_nodes(self) -> list[Node]:
        return [arg for arg in self.args if isinstance(arg, Node)]


@dataclass(eq=False)
class Guard:
    source: Source
    kind: str
    text: str
    where = None


class VariableTracker:
    kind = "value"
    literal: Any = None
    may_have = frozenset({"describe", "node", "fake", "parts"})
    node: Node | None = None
    fake: Any = None

    def __init__(self, source: Source | None = None) -> None:
        self.uid = next(_uids)
        self.source = source

    def python_type_name(self) -> str:
        return "object"

    def describe(self) -> str:
        return f"a {self.kind}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return []


class TensorVariable(VariableTracker):
    kind = "tensor"

    def __init__(self, node: Node, fake: Fake, source: Source | None = None) -> None:
        super().__init__(source)
        self.node, self.fake = node, fake

    def python_type_name(self) -> str:
        return "torch.Tensor"

    def describe(self) -> str:
        return f"Tensor f32[{', '.join(map(str, self.fake.shape))}]"


class ConstantVariable(VariableTracker):
    kind = "constant"

    def __init__(self, value: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self.value = value

    def python_type_name(self) -> str:
        return type(self.value).__name__

    def describe(self) -> str:
        return f"Constant {self.value!r}"


class NullVariable(VariableTracker):
    """The empty slot that CPython puts below some callables."""

    kind = "empty slot"

    def describe(self) -> str:
        return "NULL"


NULL = NullVariable()


class ListVariable(VariableTracker):
    kind = "list"

    def __init__(self, items: list[VariableTracker], source: Source | None = None) -> None:
        super().__init__(source)
        self.items = items

    def python_type_name(self) -> str:
        return "list"

    def describe(self) -> str:
        return f"List of {len(self.items)}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(f"[{i}]", item) for i, item in enumerate(self.items)]


class IteratorVariable(VariableTracker):
    kind = "iterator"

    def __init__(self, over: ListVariable) -> None:
        super().__init__()
        self.over = over
        self.at = 0

    def next(self) -> VariableTracker | None:
        """The next item; None at the end."""
        if self.at == len(self.over.items):
            return None
        self.at += 1
        return self.over.items[self.at - 1]

    def python_type_name(self) -> str:
        return "list_iterator"

    def describe(self) -> str:
        return f"Iterator with {len(self.over.items) - self.at} left"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("over", self.over)]


class BaseUserFunctionVariable(VariableTracker):
    kind = "function"

    def __init__(self, function: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self.function = function

    def python_type_name(self) -> str:
        return type(self.function).__name__

    def describe(self) -> str:
        return f"Function {self.function.__name__}"


class UserFunctionVariable(BaseUserFunctionVariable):
    kind = "user function"


class BuiltinVariable(BaseUserFunctionVariable):
    kind = "builtin"


class UserMethodVariable(VariableTracker):
    kind = "method"

    def __init__(self, owner: VariableTracker, name: str) -> None:
        super().__init__(owner.source.part(f".{name}") if owner.source is not None else None)
        self.owner, self.name = owner, name

    def python_type_name(self) -> str:
        return "builtin_function_or_method"

    def describe(self) -> str:
        return f"Method {self.name}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("self", self.owner)]


class CellVariable(VariableTracker):
    kind = "cell"

    def __init__(self) -> None:
        super().__init__()
        self.content: VariableTracker | None = None

    def python_type_name(self) -> str:
        return "cell"

    def describe(self) -> str:
        return "Cell"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [] if self.content is None else [("contents", self.content)]


class ExceptionVariable(VariableTracker):
    kind = "exception"

    def __init__(self, name: str, text: str) -> None:
        super().__init__()
        self.name, self.text = name, text

    def python_type_name(self) -> str:
        return self.name

    def describe(self) -> str:
        return f"{self.name}({self.text!r})"

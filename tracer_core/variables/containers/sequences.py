"""Lists, tuples, named tuples, sizes, slices and ranges."""

from __future__ import annotations

import collections
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.sources import Source
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.keys import key_of
from tracer_core.variables.core.tensors import SymNodeVariable
from tracer_core.variables.core.tracing import Tracing

# Longer sequences are created only by plain Python.
MAX_ITEMS = 1 << 20


def refuse_long(count: int) -> None:
    """Break where a sequence of `count` items would have to be created."""
    if count > MAX_ITEMS:
        raise Unsupported("huge-constant", what=f"a sequence of {count} items")


def numbers_in(numbers: range) -> int:
    """Return `len(numbers)`, also of a range that is longer than `len` can return."""
    step = numbers.step
    return max(0, (numbers.stop - numbers.start + step - (1 if step > 0 else -1)) // step)


class SequenceVariable(VariableTracker):
    """A value that holds its items in order."""

    __slots__ = ("items",)
    kind = "sequence"
    cls: type = tuple

    def __init__(self, items: list[VariableTracker], source: Source | None = None) -> None:
        super().__init__(source)
        self.items = items

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.python_type_name()} of {len(self.items)}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(f"[{i}]", item) for i, item in enumerate(self.items)]

    def make(self, values: list[Any]) -> Any:
        """Return the Python object with these values in it."""
        return self.cls(values)

    def graph_value(self, values: list[Any]) -> Any:
        """Return the value in a node's arguments (the graph knows only plain lists and tuples)."""
        return self.make(values)

    def value(self) -> Any:
        return self.make([item.realize().value() for item in self.items])

    def key(self, tx: Tracing | None) -> Any:
        return tuple(key_of(tx, item) for item in self.items)

    def truth(self, tx: Tracing) -> bool:
        return bool(self.items)

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        return self.items

    def changes(self, tx: Tracing, how: str) -> None:
        """Note that its items are about to change."""
        tx.trace.side_effects.changes(self, self.kind, how)


class TupleVariable(SequenceVariable):
    __slots__ = ()
    kind = "tuple"


class ListVariable(SequenceVariable):
    """A list. `items` is its state now; an external list is written back when the trace changed it."""

    __slots__ = ()
    kind = "list"
    cls = list
    mutable = True


class DequeVariable(SequenceVariable):
    """A deque. `moved` counts the changes that invalidate its iterators: items that were added, removed or
    rotated."""

    __slots__ = ("maxlen", "moved")
    kind = "deque"
    cls = collections.deque
    mutable = True

    def __init__(self, items: list[VariableTracker], maxlen: int | None = None, source: Source | None = None) -> None:
        super().__init__(items, source)
        self.maxlen = maxlen
        self.moved = 0

    def changes(self, tx: Tracing, how: str) -> None:
        super().changes(tx, how)
        self.moved += 1

    def make(self, values: list[Any]) -> Any:
        return collections.deque(values, self.maxlen)


class SizeVariable(TupleVariable):
    """A `torch.Size`."""

    __slots__ = ()
    kind = "size"
    cls = torch.Size

    def describe(self) -> str:
        return f"Size [{', '.join(item.describe() for item in self.items)}]"

    def graph_value(self, values: list[Any]) -> Any:
        return tuple(values)


class NamedTupleVariable(TupleVariable):
    """A `collections.namedtuple`, `NamedTuple`, or one of `torch.return_types`."""

    __slots__ = ("named_cls",)
    kind = "named tuple"

    def __init__(self, items: list[VariableTracker], cls: type, source: Source | None = None) -> None:
        super().__init__(items, source)
        self.named_cls = cls

    @staticmethod
    def is_named(cls: type) -> bool:
        return issubclass(cls, tuple) and (hasattr(cls, "_fields") or cls.__module__ == "torch.return_types")

    @property
    def fields(self) -> tuple[str, ...]:
        names = getattr(self.named_cls, "_fields", None)
        if names is None:  # a torch.return_types class stores its names as descriptors, in the order of the items
            named = [n for n, d in vars(self.named_cls).items() if type(d).__name__ == "member_descriptor"]
            names = tuple(named)
        return tuple(names)

    def python_type(self) -> type:
        return self.named_cls

    def make(self, values: list[Any]) -> Any:
        if hasattr(self.named_cls, "_fields"):
            return tuple.__new__(self.named_cls, values)
        return self.named_cls(values)

    def graph_value(self, values: list[Any]) -> Any:
        return self.make(values) if hasattr(self.named_cls, "_fields") else tuple(values)

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(f".{name}", item) for name, item in zip(self.fields, self.items, strict=False)]

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name in self.fields:
            return self.items[self.fields.index(name)]
        if any("__dict__" in vars(owner) for owner in self.named_cls.__mro__):
            in_class = any(name in vars(owner) for owner in self.named_cls.__mro__)
            if name == "__dict__" or (self.source is not None and not in_class):
                # Instances of a class that inherits from a named tuple's may have more attributes.
                raise Unsupported("attribute", name=name, type=self.python_type_name())
        return None


class SliceVariable(SequenceVariable):
    """A slice: `items` are start, stop, step."""

    __slots__ = ()
    kind = "slice"
    cls = slice

    def make(self, values: list[Any]) -> Any:
        return slice(*values)

    def describe(self) -> str:
        return f"slice({', '.join(item.describe() for item in self.items)})"

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        return None

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        names = ("start", "stop", "step")
        return self.items[names.index(name)] if name in names else None


class RangeVariable(SequenceVariable):
    """A range: `items` are start, stop, step."""

    __slots__ = ()
    kind = "range"
    cls = range

    def make(self, values: list[Any]) -> Any:
        return range(*values)

    def describe(self) -> str:
        return f"range({', '.join(item.describe() for item in self.items)})"

    def key(self, tx: Tracing | None) -> Any:
        return self.value() if tx is None else self.range(tx)

    def truth(self, tx: Tracing) -> bool:
        return bool(self.range(tx))

    def range(self, tx: Tracing) -> range:
        """Return the range with numbers; symbolic bounds become numbers (a guard)."""
        bounds = []
        for item in self.items:
            item = item.realize()
            bounds.append(item.specialize(tx, int) if isinstance(item, SymNodeVariable) else item.value())
        return range(*bounds)

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        numbers = self.range(tx)
        refuse_long(numbers_in(numbers))
        return [ConstantVariable(i) for i in numbers]

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        names = ("start", "stop", "step")
        return self.items[names.index(name)] if name in names else None


def tuple_of(*items: VariableTracker) -> TupleVariable:
    return TupleVariable(list(items))

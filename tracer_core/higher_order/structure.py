"""Containers of tensors and numbers, flattened to their leaves and built again, as `torch.utils._pytree` does it.

Lists, tuples and dicts are flattened here. Objects of other classes that are registered with `torch.utils._pytree`
are flattened by the functions registered for them, which are traced.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch.utils._pytree as pytree

from tracer_core.sources import ConstantSource
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import (
    ListVariable,
    NamedTupleVariable,
    SequenceVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable


@dataclass(frozen=True, slots=True)
class Structure:
    """How leaves are put together: a container of type `cls`, with `keys` (of dicts) or `context` (of registered
    classes), and its parts. A leaf has no `cls`. Two are equal where torch's tree specs are."""

    cls: type | None = None
    keys: tuple[Any, ...] = ()
    parts: tuple[Structure, ...] = ()

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return 1 if self.cls is None else sum(part.leaves for part in self.parts)

    def describe(self) -> str:
        """Write it in a line: `(value, {'a': value})`."""
        if self.cls is None:
            return "value"
        inside = [part.describe() for part in self.parts]
        if self.cls is tuple:
            return f"({', '.join(inside)}{',' if len(inside) == 1 else ''})"
        if self.cls is list:
            return f"[{', '.join(inside)}]"
        if self.keys and len(self.keys) == len(inside):
            inside = [f"{key!r}: {part}" for key, part in zip(self.keys, inside, strict=True)]
            return f"{{{', '.join(inside)}}}" if self.cls is dict else f"{self.cls.__qualname__}({', '.join(inside)})"
        return f"{self.cls.__qualname__}({', '.join(inside)})"


LEAF = Structure()


def flatten(tx: Tracing, value: VariableTracker) -> tuple[list[VariableTracker], Structure]:
    """Return the leaves of `value`, in order, and its structure."""
    value = value.realize()
    parts = _parts_of(tx, value)
    if parts is None:
        return [value], LEAF
    cls, keys, items = parts
    leaves: list[VariableTracker] = []
    structures = []
    for item in items:
        below, structure = flatten(tx, item)
        leaves += below
        structures.append(structure)
    return leaves, Structure(cls, keys, tuple(structures))


def _parts_of(tx: Tracing, value: VariableTracker) -> tuple[type, tuple[Any, ...], list[VariableTracker]] | None:
    """Return a container's class, keys and items; None for a leaf."""
    cls = value.python_type()
    if isinstance(value, SequenceVariable) and (cls in (list, tuple) or isinstance(value, NamedTupleVariable)):
        return cls, (), list(value.items)
    if isinstance(value, ConstDictVariable) and cls is dict:
        entries = value.entries(tx)
        return cls, tuple(key.value() for key, _ in entries), [item for _, item in entries]
    registered = pytree.SUPPORTED_NODES.get(cls)
    if registered is None:
        return None
    flat = tx.call(user_function(registered.flatten_fn), [value])
    items, context = tx.unpack(flat)
    return cls, (_Context(constant_or(context, context), context),), tx.unpack(items)


class _Context:
    """What a registered class keeps beside its parts. Contexts that are constants are compared by value."""

    __slots__ = ("tracker", "value")

    def __init__(self, value: Any, tracker: VariableTracker) -> None:
        self.value = value
        self.tracker = tracker

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Context) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(type(self.value))


def structure_of(tx: Tracing, spec: pytree.TreeSpec) -> Structure:
    """Return the structure that torch describes by `spec`."""
    if spec.is_leaf():
        return LEAF
    parts = tuple(structure_of(tx, each) for each in spec.children())
    if spec.type in (list, tuple):
        return Structure(spec.type, (), parts)
    if spec.type is collections.namedtuple:
        return Structure(spec.context, (), parts)
    if spec.type is dict:
        return Structure(dict, tuple(spec.context), parts)
    return Structure(spec.type, (_Context(spec.context, tx.constant(spec.context)),), parts)


def user_function(function: Callable[..., Any]) -> VariableTracker:
    """Return the tracker of a Python function of torch's."""
    return UserFunctionVariable(function, ConstantSource.of_object(function))  # type: ignore[arg-type]


def unflatten(tx: Tracing, leaves: Iterator[VariableTracker], structure: Structure) -> VariableTracker:
    """Build the containers of `structure` again, with these leaves."""
    cls = structure.cls
    if cls is None:
        return next(leaves)
    items = [unflatten(tx, leaves, part) for part in structure.parts]
    if cls is list:
        return ListVariable(items)
    if cls is tuple:
        return TupleVariable(items)
    if cls is dict:
        made = ConstDictVariable()
        for key, item in zip(structure.keys, items, strict=True):
            made.set(tx, tx.constant(key), item)
        return made
    if NamedTupleVariable.is_named(cls):
        return NamedTupleVariable(items, cls)
    context: _Context = structure.keys[0]
    return tx.call(user_function(pytree.SUPPORTED_NODES[cls].unflatten_fn), [ListVariable(items), context.tracker])

"""All items of an iterable as `list` and its kin take them, which first ask how many there may be."""

from __future__ import annotations

import types

from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.special_methods import call_special
from tracer_core.variables.tracing import ObservedException
from tracer_core.variables.user_objects import UserObjectVariable, static_lookup


def listed(tx: Tracing, iterable: VariableTracker) -> list[VariableTracker]:
    """The items, in a program whose `__len__` or `__length_hint__` is seen to be asked."""
    iterable = iterable.realize()
    if not isinstance(iterable, UserObjectVariable):
        return tx.unpack(iterable)
    iterator = tx.iterate(iterable)
    if not _has_length(tx, iterable):
        _ask_hint(tx, iterable)
    return tx.remaining_items(iterator)


def _has_length(tx: Tracing, iterable: UserObjectVariable) -> bool:
    """Whether `__len__` gives a length; what it raises is raised, but for a TypeError."""
    found, owner = static_lookup(iterable.cls, "__len__")
    if owner is None or found is None:
        return False
    if isinstance(found, types.WrapperDescriptorType):
        return True  # of a builtin container: nobody sees it asked
    try:
        tx.length(iterable)
    except ObservedException as raised:
        if not issubclass(raised.tracker.cls, TypeError):
            raise
        return False
    return True


def _ask_hint(tx: Tracing, iterable: UserObjectVariable) -> None:
    found, owner = static_lookup(iterable.cls, "__length_hint__")
    if owner is None or found is None:
        return
    try:
        hint = call_special(tx, iterable, "__length_hint__", [], "").realize()
    except ObservedException as raised:
        if not issubclass(raised.tracker.cls, TypeError):
            raise
        return
    value = constant_or(hint, 0)
    if value is NotImplemented:
        return
    if not issubclass(hint.python_type(), int):
        tx.raise_(TypeError, f"__length_hint__ must be an integer, not {hint.type_name_in_errors()}")
    if value < 0:
        tx.raise_(ValueError, "__length_hint__() should return >= 0")


def fast_sequence(tx: Tracing, iterable: VariableTracker) -> list[VariableTracker]:
    """The items as taken where any sequence will do: its iterator is asked how many there may be."""
    iterable = iterable.realize()
    return listed(tx, tx.iterate(iterable) if isinstance(iterable, UserObjectVariable) else iterable)

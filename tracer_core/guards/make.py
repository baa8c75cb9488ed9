"""One function for each kind of guard, which the engine calls to create one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FunctionType
from typing import Any

import torch

from tracer_core.guards.constants import is_constant
from tracer_core.guards.describe import class_text, describe
from tracer_core.guards.guard import Guard
from tracer_core.guards.held import Held
from tracer_core.guards.kinds.containers import hold_key
from tracer_core.guards.kinds.libraries import Libraries
from tracer_core.guards.kinds.relations import ShapeExpression
from tracer_core.guards.kinds.tensors import Sizes, TensorProperties
from tracer_core.host.global_state import PROPERTIES
from tracer_core.names.code import code_text
from tracer_core.runtime.containers import dict_keys
from tracer_core.sources import AllUpcomingSource, ConstantSource, GlobalStateSource, Source


def type_is(source: Source, cls: type) -> Guard:
    """Guard that the value's class is exactly `cls`."""
    return Guard(source, "TYPE", Held(cls, class_text(cls)))


def identity(source: Source, value: Any) -> Guard:
    """Guard that the value is this very object. The guard does not keep it alive."""
    if value is None:
        return is_none(source)
    return Guard(source, "ID", Held(value, describe(value)))


def constant(source: Source, value: Any) -> Guard:
    """Guard that the value has the type and value of `value`, a literal, dtype, device, range, slice, or a tuple of
    such.

    Raises:
        TypeError: if `value` is something else, which must be guarded by its parts.
    """
    if not is_constant(value):
        raise TypeError(f"{source.name} cannot be guarded as a constant: it is {describe(value)}")
    return Guard(source, "CONSTANT", value)


def is_none(source: Source) -> Guard:
    return Guard(source, "NONE")


def is_not_none(source: Source) -> Guard:
    return Guard(source, "NOT_NONE")


def length(source: Source, value: int) -> Guard:
    """Guard that `len(...)` is `value`."""
    return Guard(source, "LENGTH", value)


def filled(source: Source, count: int) -> Guard:
    """Guard that an `lru_cache` still has `count` results or more."""
    return Guard(source, "FILLED", count)


def upcoming(source: Source, count: int, more: bool) -> Guard:
    """Guard whether an iterator has `more` than `count` items left."""
    return Guard(AllUpcomingSource(source), "UPCOMING", (count, more))


def dict_keys_are(source: Source, mapping: dict[Any, Any]) -> Guard:
    """Guard that a dict's keys and their order are those of `mapping`."""
    return Guard(source, "DICT_KEYS", tuple(map(hold_key, dict_keys(mapping))))


def set_items_are(source: Source, items: Iterable[Any]) -> Guard:
    """Guard a set's items, all constants, and their iteration order."""
    return Guard(source, "SET_ITEMS", tuple(items))


def contains(source: Source, key: Any) -> Guard:
    """Guard that `key` is in a dict or set."""
    return Guard(source, "DICT_CONTAINS", hold_key(key))


def lacks(source: Source, key: Any) -> Guard:
    """Guard that `key` is not in a dict or set."""
    return Guard(source, "DICT_LACKS", hold_key(key))


def lacks_attr(source: Source, attr: str) -> Guard:
    return Guard(source, "LACKS_ATTR", attr)


def calls_forward(source: Source) -> Guard:
    """The value is a module whose call is one of the `forward` of its class."""
    return Guard(source, "CALLS_FORWARD")


def cell_empty(source: Source) -> Guard:
    return Guard(source, "EMPTY_CELL")


def function_code(source: Source, function: FunctionType) -> Guard:
    """Guard that the value is a function with the code of `function`, whatever its closure and defaults."""
    code = function.__code__
    return Guard(source, "FUNCTION_CODE", Held(code, code_text(code)))


def tensor(
    source: Source,
    value: torch.Tensor,
    sizes: Sizes | None,
    strides: Sizes | None,
    special: tuple[int, ...] = (),
) -> Guard:
    """Guard that the value is a tensor like `value`: class, dtype, device, layout, requires_grad, dispatch keys, and
    the given sizes and strides, where None stands for any; `strides=None` checks no strides, `sizes=None` not even
    the number of dimensions. The sizes of the `special` dimensions are given only because they are 0 or 1."""
    return Guard(source, "TENSOR", TensorProperties.of(value, sizes, strides, special))


def shape(expression: str, sources: Sequence[Source], why: str = "") -> Guard:
    """Guard a Python expression over sources: `shape("{0} % 8 == 0", [SizeSource(x, 0)])`. It may use builtins and
    `math`. `why` is the reason, if no line of the program is."""
    return Guard(sources[0], "SHAPE", ShapeExpression(expression, tuple(sources), why))


def duplicate(source: Source, other: Source) -> Guard:
    """Guard that both sources have the same object."""
    return Guard(source, "DUPLICATE", other)


def not_duplicate(sources: Sequence[Source]) -> Guard:
    """Guard that no two of the sources have the same object."""
    return Guard(sources[0], "NOT_DUPLICATE", tuple(sources[1:]))


def apart(source: Source, others: Sequence[Source]) -> Guard:
    """Guard that the iterator at `source` shares no iterator with those at `others`, and reads no container there."""
    return Guard(source, "APART", tuple(others))


def global_state(setting: str) -> Guard:
    """Guard that a setting of torch (a key of `tracer_core.host.global_state.PROPERTIES`) keeps its present value."""
    return global_state_is(setting, PROPERTIES[setting].read())


def global_state_is(setting: str, value: Any) -> Guard:
    """Guard that a setting of torch has `value` when the frame starts."""
    return Guard(GlobalStateSource(setting), "GLOBAL_STATE", (setting, value))


def libraries(read: Libraries) -> Guard:
    """Guard that the values that a trace read from libraries and classes are unchanged."""
    return Guard(ConstantSource.of_object(read, "libraries"), "LIBRARIES", read)

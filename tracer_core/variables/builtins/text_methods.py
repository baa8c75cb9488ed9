"""Build text from tracked values: `format`, `str.format`, `%`, `join`.

Python's own formatting does the work; it is given stand-ins for values that are not constants, which call the trace
for their text, items and attributes where the formatting does.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.builtins.text import no_text
from tracer_core.variables.containers.sequences import ListVariable, TupleVariable
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, needs_data, specialized
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.exceptions.exceptions import raise_real
from tracer_core.variables.objects.class_lookup import own_method, static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.all_items import fast_sequence
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.iteration import iterable_type
from tracer_core.variables.operations.special_methods import call_special, class_has, has_special

EMPTY = ConstantVariable("")


class Shown:
    """A value that is not constant, as formatting sees it."""

    __slots__ = ("_of", "_tx")

    def __init__(self, tx: Tracing, of: VariableTracker) -> None:
        self._tx = tx
        self._of = of

    def __str__(self) -> str:
        return _text(self._tx, self._of, "__str__")

    def __repr__(self) -> str:
        return _text(self._tx, self._of, "__repr__")

    def __format__(self, spec: str) -> str:
        return str(formatted(self._tx, self._of, spec).value())

    def __int__(self) -> int:
        return int(self._number(int))

    def __float__(self) -> float:
        return float(self._number(float))

    def _number(self, cls: type) -> Any:
        return self._tx.call(self._tx.constant(cls), [self._of]).value()

    def __getattr__(self, name: str) -> Any:
        return shown(self._tx, self._tx.get_attr(self._of, name))


class ShownContainer(Shown):
    """A value that can be subscripted (`%` takes any such object for a mapping)."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return shown(self._tx, self._tx.get_item(self._of, self._tx.constant(key)))


def shown(tx: Tracing, tracker: VariableTracker) -> Any:
    """Return the argument for formatting: its value if that is known, else a stand-in."""
    tracker = tracker.realize()
    if isinstance(tracker, SymNodeVariable):
        return tracker.specialize(tx, tracker.python_type())
    if isinstance(tracker, ConstantVariable):
        return tracker.value()
    return (ShownContainer if class_has(tracker, "__getitem__") else Shown)(tx, tracker)


def _text(tx: Tracing, of: VariableTracker, special: str) -> str:
    text = tx.text_of(of, special)
    if text is None:
        raise no_text(of.realize())
    return str(text.value())


def _made(tx: Tracing, run: Callable[[], str]) -> VariableTracker:
    """Return the result of formatting; an exception of its own is raised in the traced program."""
    try:
        return ConstantVariable(run())
    except (ObservedException, Unsupported, NotConstant):
        raise
    except Exception as error:  # noqa: BLE001
        return raise_real(tx, error)


def formatted(tx: Tracing, value: VariableTracker, spec: str) -> VariableTracker:
    """Return `format(value, spec)`."""
    found, owner = static_lookup(value.python_type(), "__format__")
    if has_special(value, "__format__") and owner is not object:
        if isinstance(found, types.FunctionType):
            return call_special(tx, value, "__format__", [ConstantVariable(spec)], "")
        part = getattr(value, "part", None)
        if part is not None and spec:  # (Without it, builtin types call the subclass's method for its text.)
            return formatted(tx, part, spec)
    if isinstance(value, TensorVariable):
        raise needs_data(value, "__format__")
    value = specialized(tx, value)
    if not spec:
        text = tx.text_of(value, "__str__")
        if text is not None:
            return text
    elif not isinstance(value, ConstantVariable) and owner is object:
        tx.raise_(TypeError, f"unsupported format string passed to {value.type_name_in_errors()}.__format__")
    return _made(tx, lambda: format(value.value(), spec))


@handles(format, VariableTracker)
def format_(tx: Tracing, value: VariableTracker, spec: VariableTracker = EMPTY) -> VariableTracker:
    return formatted(tx, value, spec.value())


@handles(ascii, VariableTracker)
def ascii_(tx: Tracing, value: VariableTracker) -> VariableTracker:
    return ConstantVariable(ascii(shown(tx, value)))


@method(ConstantVariable, "format")
def str_format(
    tx: Tracing, self: ConstantVariable, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker | None:
    if not isinstance(self.value(), str):
        return None
    values = [shown(tx, arg) for arg in args]
    named = {name: shown(tx, value) for name, value in kwargs.items()}
    return _made(tx, lambda: self.value().format(*values, **named))


@method(ConstantVariable, "format_map")
def format_map(tx: Tracing, self: ConstantVariable, mapping: VariableTracker) -> VariableTracker | None:
    if not isinstance(self.value(), str):
        return None
    values = shown(tx, mapping)
    return _made(tx, lambda: self.value().format_map(values))


@handles(operator.mod, ConstantVariable, VariableTracker)
def percent(tx: Tracing, a: ConstantVariable, b: VariableTracker) -> VariableTracker | None:
    """Return `text % values`: formatting takes any object, before its `__rmod__` is called."""
    text = a.value()
    if isinstance(text, bytes) and not b.is_constant():
        raise Unsupported("method", name="__mod__", type="bytes")
    if not isinstance(text, str):
        return None
    if isinstance(b, UserDefinedObjectVariable) and issubclass(b.cls, str):
        # (It is called first. A string is not a mapping.)
        return None if own_method(b.cls, "__rmod__") is not None else _made(tx, lambda: text % Shown(tx, b))
    values = tuple(shown(tx, item) for item in b.items) if isinstance(b, TupleVariable) else shown(tx, b)
    return _made(tx, lambda: text % values)


@method(ConstantVariable, "join")
def join(tx: Tracing, self: ConstantVariable, iterable: VariableTracker) -> VariableTracker | None:
    if not isinstance(self.value(), (str, bytes)):
        return None
    if not iterable_type(iterable):
        tx.raise_(TypeError, "can only join an iterable")
    return fold(tx, self.value().join, [ListVariable(fast_sequence(tx, iterable))], {})

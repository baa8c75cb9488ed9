"""Check the result of a special method that converts to a builtin type: `__int__`, `__index__` and the like."""

from __future__ import annotations

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.special_methods import call_special

#: The type that each must return, and its name in the error for a result of another type.
CONVERSIONS: dict[str, tuple[type, str]] = {
    "__bytes__": (bytes, "__bytes__"),
    "__complex__": (complex, "__complex__"),
    "__float__": (float, "{cls}.__float__"),
    "__index__": (int, "__index__"),
    "__int__": (int, "__int__"),
}


def convert_by(tx: Tracing, obj: VariableTracker, special: str) -> VariableTracker:
    """Return `obj` converted by its own method; a result of the wrong type is refused as Python does.

    Raises:
        Unsupported: it gives an instance of a subclass, of which Python warns.
    """
    wanted, shown = CONVERSIONS[special]
    result = call_special(tx, obj, special, [], "").realize()
    given = result.python_type()
    if given is wanted or (issubclass(given, wanted) and wanted is bytes):
        return result
    if issubclass(given, wanted):
        raise Unsupported("call", what=f"{special} of a {obj.python_type_name()}, which gives a {given.__name__}")
    who = shown.format(cls=obj.type_name_in_errors())
    return tx.raise_(TypeError, f"{who} returned non-{wanted.__name__} (type {result.type_name_in_errors()})")

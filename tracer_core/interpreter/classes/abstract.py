"""`isinstance` and `issubclass` where the class asked about is an abstract one, or a protocol, made in the trace.

Its hooks are placeholders in the real class, so that Python cannot be asked: they are walked.
"""

from __future__ import annotations

import abc
from typing import Any

from tracer_core.variables import overlay
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.classes import ClassVariable
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.registry import handles
from tracer_core.variables.user_objects import static_lookup

_subclasscheck: Any = abc._abc_subclasscheck  # type: ignore[attr-defined]
_instancecheck: Any = abc._abc_instancecheck  # type: ignore[attr-defined]


@handles(_subclasscheck, ClassVariable, ClassVariable)
def abc_subclasscheck(tx: Tracing, cls: ClassVariable, other: ClassVariable) -> VariableTracker:
    """By the class's own hook, then by the order of lookup; nobody has registered classes with one made just now."""
    if cls.known not in overlay.made:
        return ConstantVariable(_subclasscheck(cls.known, other.known))
    hook = static_lookup(cls.known, "__subclasshook__")[1]
    said = None if hook is object else tx.call(tx.get_attr(cls, "__subclasshook__"), [other]).realize()
    if said is None or (isinstance(said, ConstantVariable) and said.value() is NotImplemented):
        return ConstantVariable(cls.known in other.known.__mro__)
    return ConstantVariable(tx.truth(said))


@handles(_instancecheck, ClassVariable, VariableTracker)
def abc_instancecheck(tx: Tracing, cls: ClassVariable, obj: VariableTracker) -> VariableTracker:
    kind = tx.constant(obj.realize().python_type())
    return tx.call(tx.constant(_subclasscheck), [cls, kind])

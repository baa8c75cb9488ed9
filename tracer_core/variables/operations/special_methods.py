"""Find and call special methods written in Python, looked up in the class as Python does."""

from __future__ import annotations

from typing import Any

from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import Args, VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.objects.class_lookup import class_attribute_source, own_method, static_lookup
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.objects.enum_members import EnumMemberVariable, program_method
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


def call_special(tx: Tracing, obj: VariableTracker, name: str, args: Args, missing: str) -> VariableTracker:
    """Call a special method, looked up in the class as Python does; TypeError with `missing` if there is none."""
    cls = obj.cls if isinstance(obj, UserDefinedObjectVariable) else obj.python_type()
    found, owner = static_lookup(cls, name)
    bound = None if owner is None or found is None else _bind_special(tx, obj, name, found, owner)
    if bound is None:
        tx.raise_(TypeError, missing)
    return tx.call(bound, args)


def _bind_special(tx: Tracing, obj: VariableTracker, name: str, found: Any, owner: type) -> VariableTracker | None:
    if isinstance(obj, UserDefinedObjectVariable):
        return obj.bind_descriptor(tx, name, found, owner)
    return UserMethodVariable(tx.build(found, class_attribute_source(owner, name)), obj)


def class_has(tracker: VariableTracker, name: str) -> bool:
    """Return whether the class of a value has `name`, in C or in Python. If it does not, that is guarded."""
    return static_lookup(tracker.python_type(), name)[1] is not None


def has_special(tracker: VariableTracker, name: str) -> bool:
    """Return whether operators on it call a method of its class, rather than a handler for builtin types."""
    if isinstance(tracker, UserDefinedObjectVariable):
        return static_lookup(tracker.cls, name)[1] is not None
    if isinstance(tracker, (EnumMemberVariable, ClassVariable)):
        return program_method(tracker.python_type(), name) is not None
    return isinstance(tracker, _HAVE_METHODS) and written_in_python(tracker, name)


def written_in_python(tracker: VariableTracker, name: str) -> bool:
    """Return whether the class got the method from Python code."""
    return own_method(tracker.python_type(), name) is not None


# Trackers of builtin kinds whose class may still be written in Python.
_HAVE_METHODS = (ConstDictVariable, SequenceVariable, ExceptionVariable)

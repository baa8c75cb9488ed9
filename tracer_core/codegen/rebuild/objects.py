"""Rebuild objects: bare instances, those with a builtin part, exceptions, weak references."""

from __future__ import annotations

import functools
import types
import weakref
from typing import Any

import torch

from tracer_core.class_origins import class_in_c
from tracer_core.codegen.emit.emitter import CannotRebuild, Emitter
from tracer_core.codegen.rebuild.containers import list_of
from tracer_core.codegen.rebuild.keys import check_keys
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.runtime.objects import as_subclass, empty_slot
from tracer_core.runtime.tracebacks import add_traceback, set_outer_context
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.iterators.stand_ins import StandInVariable
from tracer_core.variables.library.weak_references import WeakRefVariable
from tracer_core.variables.objects.builtin_parts import PARTS, DequePart, DictPart, SetPart
from tracer_core.variables.objects.class_lookup import hides_stored, static_lookup
from tracer_core.variables.objects.descriptors import DescriptorVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_POLYFILLS = "tracer_core.polyfills."
"""The modules of our classes that replace classes written in C."""


@rebuilds(UserDefinedObjectVariable)
def _object(emitter: Emitter, tracker: UserDefinedObjectVariable) -> None:
    if tracker.cls.__module__.startswith(_POLYFILLS) and not hasattr(tracker.cls, "real"):
        raise CannotRebuild(tracker)
    if issubclass(tracker.cls, torch.autograd.function.BackwardCFunction):
        raise CannotRebuild(tracker)  # Autograd creates them, as nodes of its graph.
    if tracker.part is None:
        emitter.call_const(_new_of(tracker.cls), lambda: emitter.const(tracker.cls))
        emitter.keep(tracker)
    else:
        _with_part(emitter, tracker, tracker.part)
    set_attributes(emitter, tracker)


def _new_of(cls: type) -> Any:
    """Return the `__new__` that creates bare instances: that of the class in C it comes from."""
    return class_in_c(cls).__new__


def _with_part(emitter: Emitter, tracker: UserDefinedObjectVariable, part: VariableTracker) -> None:
    """Create a new instance, and fill its builtin part past the methods that the class overrides."""
    base: Any = part.python_type()
    cls = functools.partial(emitter.const, tracker.cls)
    if isinstance(part, TensorVariable):
        emitter.call_const(as_subclass, lambda: emitter.load(part), cls)
        emitter.keep(tracker)
        return
    if not isinstance(part, PARTS):
        emitter.call_const(base.__new__, cls, lambda: emitter.load(part))
        emitter.keep(tracker)
        return
    emitter.call_const(base.__new__, cls)
    emitter.keep(tracker)
    if isinstance(part, DictPart):
        if part.default_factory is not None:
            factory = part.default_factory
            emitter.run_const(base.__init__, lambda: emitter.load(tracker), lambda: emitter.load(factory))
        check_keys(part.by_key)
        for key, value in part.entries(None):
            emitter.run_const(base.__setitem__, *(functools.partial(emitter.load, t) for t in (tracker, key, value)))
        return

    def push_items() -> None:
        if isinstance(part, SetPart):
            check_keys(part.by_key)
            list_of(emitter, part.keys())
        else:
            list_of(emitter, part.items)

    extra = [lambda: emitter.const(part.maxlen)] if isinstance(part, DequePart) and part.maxlen is not None else []
    fill = base.__init__
    emitter.run_const(fill, lambda: emitter.load(tracker), push_items, *extra)


@rebuilds(*PARTS)
def _part(emitter: Emitter, tracker: Any) -> None:
    emitter.load(tracker.whole)


@rebuilds(StandInVariable)
def _stand_in(emitter: Emitter, tracker: StandInVariable) -> None:
    """Create our object in its present state, which then creates the real one."""
    if not hasattr(tracker.cls, "real"):
        raise CannotRebuild(tracker)
    _object(emitter, tracker)
    emitter.pop()
    emitter.call_const(tracker.cls.real, lambda: emitter.load(tracker))
    emitter.keep(tracker)


def set_attributes(emitter: Emitter, tracker: VariableTracker) -> None:
    """Emit its attribute deletions and stores, past all hooks, in its first dict and in the one it was
    given. Deletions go first: it may have been set again since, which moves it to the end of the dict."""
    for name in getattr(tracker, "deleted", ()):
        _delete_attribute(emitter, tracker, name)
    if isinstance(tracker, UserDefinedObjectVariable) and tracker.given_dict is not None:
        for name, value in (*tracker.left_behind.items(), ("__dict__", tracker.given_dict)):
            set_attribute(emitter, tracker, name, value)
    for name, value in getattr(tracker, "attributes", {}).items():
        set_attribute(emitter, tracker, name, value)


def _delete_attribute(emitter: Emitter, tracker: VariableTracker, name: str) -> None:
    """Delete an attribute, if there is one: the trace may have created it, too."""
    if isinstance(static_lookup(tracker.python_type(), name)[0], types.MemberDescriptorType):
        emitter.run_const(empty_slot, lambda: emitter.load(tracker), lambda: emitter.const(name))
    else:
        push_dict = functools.partial(_own_dict, emitter, tracker)
        emitter.run_const(dict.pop, push_dict, lambda: emitter.const(name), lambda: emitter.const(None))


def _own_dict(emitter: Emitter, tracker: VariableTracker) -> None:
    emitter.call_const(object.__getattribute__, lambda: emitter.load(tracker), lambda: emitter.const("__dict__"))


def set_attribute(emitter: Emitter, tracker: VariableTracker, name: str, value: VariableTracker) -> None:
    """Set an attribute past the hooks of the class; in the instance's dict if a descriptor hides it."""
    if isinstance(tracker, UserDefinedObjectVariable) and hides_stored(static_lookup(tracker.cls, name)[0]):
        emitter.set_item(
            lambda: _own_dict(emitter, tracker), lambda: emitter.const(name), lambda: emitter.load(value)
        )
        return
    emitter.run_const(
        object.__setattr__,
        lambda: emitter.load(tracker),
        lambda: emitter.const(name),
        lambda: emitter.load(value),
    )


@rebuilds(InstanceDictVariable)
def _instance_dict(emitter: Emitter, tracker: InstanceDictVariable) -> None:
    emitter.attribute(lambda: emitter.load(tracker.owner), "__dict__")


# Exceptions in C that store more of their arguments than `args`.
_STATEFUL = (StopIteration, SystemExit, ImportError, OSError, SyntaxError, UnicodeError)


@rebuilds(ExceptionVariable)
def _exception(emitter: Emitter, tracker: ExceptionVariable) -> None:
    args = tracker.args if tracker.made_of is None else tracker.made_of
    new = functools.partial(emitter.call_const, tracker.cls.__new__, lambda: emitter.const(tracker.cls))
    push_args = [functools.partial(emitter.load, arg) for arg in args]
    new(*push_args)
    emitter.keep(tracker)
    if issubclass(tracker.cls, _STATEFUL) and tracker.made_of is not None:
        owner = class_in_c(tracker.cls)
        emitter.run_const(owner.__init__, lambda: emitter.load(tracker), *push_args)
    if tracker.args != args:
        _set_args(emitter, tracker)
    _as_raised(emitter, tracker)


def _set_args(emitter: Emitter, tracker: ExceptionVariable) -> None:
    args = emitter.loading(tracker.args)
    emitter.set_attribute(lambda: emitter.load(tracker), "args", lambda: emitter.tuple_of(args))


def _as_raised(emitter: Emitter, tracker: ExceptionVariable) -> None:
    """Write the attributes that were set on the exception, and those that raising it has set."""
    if tracker.raised_alone and "__context__" not in tracker.attributes:
        emitter.run_const(set_outer_context, lambda: emitter.load(tracker))
    emitter.set_attributes_of(tracker, tracker.attributes)
    if tracker.trace:
        emitter.run_const(add_traceback, lambda: emitter.load(tracker), lambda: emitter.const(tuple(tracker.trace)))


def write_exception(emitter: Emitter, tracker: ExceptionVariable) -> None:
    """Emit the mutations of an exception that existed before the trace."""
    if tracker.args_set:
        _set_args(emitter, tracker)
    for name in tracker.deleted:
        _delete_attribute(emitter, tracker, name)
    _as_raised(emitter, tracker)


@rebuilds(WeakRefVariable)
def _weak_reference(emitter: Emitter, tracker: WeakRefVariable) -> None:
    parts = [tracker.to] if tracker.callback is None else [tracker.to, tracker.callback]
    emitter.call_const(weakref.ref, *(functools.partial(emitter.load, part) for part in parts))
    emitter.keep(tracker)


@rebuilds(DescriptorVariable)
def _descriptor(emitter: Emitter, tracker: DescriptorVariable) -> None:
    emitter.call_const(tracker.cls, *(functools.partial(emitter.load, part) for part in tracker.made_of))
    emitter.keep(tracker)

"""`torch.nn.Module` objects: their parameters, buffers and submodules are attributes stored in three dicts."""

from __future__ import annotations

from typing import Any

import torch

from tracer_core.guards import make
from tracer_core.sources import InstanceDictSource, MemberSource, ObjectAttrSource, Source
from tracer_core.sources.parts import instance_dict
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.core.base import Args, Kwargs, NotConstant, VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.module_calls import calls_between, forward_alone
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

TABLES = ("_parameters", "_buffers", "_modules")


class NNModuleVariable(UserDefinedObjectVariable):
    """A module. Its Python code is traced like any other, except `__getattr__` and `__setattr__` of `nn.Module`
    itself, which every access of a parameter would run, and the call of a module without hooks; these are done here
    in one step."""

    __slots__ = ()
    kind = "module"

    def call(self, tx: Tracing, args: Args, kwargs: Kwargs) -> VariableTracker | None:
        forward = forward_alone(tx, self)
        if forward is None:
            return None
        args = [arg.realize() for arg in args]
        kwargs = {name: value.realize() for name, value in kwargs.items()}
        return tx.call_through(calls_between(), forward, args, kwargs)

    def _take_dict(self, tx: Tracing, value: VariableTracker) -> bool:
        return False  # its members are looked up in the dict it was created with

    def describe(self) -> str:
        return f"{self.cls.__qualname__} module"

    def fallback_attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        hook, _ = static_lookup(self.cls, "__getattr__")
        if hook is not torch.nn.Module.__getattr__:
            return super().fallback_attribute(tx, name)
        if self.real is None or self.source is None:
            return self._own_member(tx, name)
        for table in TABLES:
            members = self.real.__dict__.get(table)
            changed = self._changed(tx, members)
            if changed is not None:
                found = changed.get(tx, tx.constant(name))
                if found is not None:
                    return found
            elif members is not None and name in members:
                if table in self.attributes:
                    raise NotConstant(f"{self.describe()} with a replaced {table}")
                return tx.build(members[name], MemberSource(self.source, table, name))
        for table in TABLES:
            if self._changed(tx, self.real.__dict__.get(table)) is None:
                tx.guard(make.lacks(ObjectAttrSource(self.source, table), name))
        return None

    def _changed(self, tx: Tracing, members: Any) -> ConstDictVariable | None:
        """Return the tracker of one of the three dicts, if the trace has changed it."""
        tracker = tx.trace.trackers_by_object.get(id(members))
        return (
            tracker if isinstance(tracker, ConstDictVariable) and tracker in tx.trace.side_effects.changed else None
        )

    def _own_member(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return a member of a module that was created in the trace."""
        for table in TABLES:
            members = self.attributes.get(table)
            if isinstance(members, ConstDictVariable):
                found = members.get(tx, tx.constant(name))
                if found is not None:
                    return found
        return None

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        hook, _ = static_lookup(self.cls, "__setattr__")
        if hook is not torch.nn.Module.__setattr__ or self.real is None:
            return super().set_attribute(tx, name, value)
        if value is DELETED or self._registers(tx, name, value):
            return super().set_attribute(tx, name, value)
        return self.plain_set_attribute(tx, name, value)

    def _registers(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        """Return whether setting the attribute adds or replaces a member, or may do so because its dicts were
        changed."""
        cls = value.realize().python_type()
        members = instance_dict(self.real) or {}
        return (
            issubclass(cls, (torch.nn.Parameter, torch.nn.Module))
            or any(name in members.get(table, {}) for table in TABLES)
            or any(self._changed(tx, members.get(table)) is not None for table in TABLES)
        )

    def stored(self, tx: Tracing, name: str) -> VariableTracker | None:
        held = instance_dict(self.real) or {}
        if name in held or name in self.attributes or name in self.deleted or self.source is None:
            return super().stored(tx, name)
        if any(name in held.get(table, ()) for table in TABLES):
            # It is found through `__getattr__`; a shadowing entry can only be set by bypassing `__setattr__`.
            return None
        tx.guard(make.lacks(InstanceDictSource(self.source), name))
        return None


def member_source(table: Source, key: Any) -> Source | None:
    """Return the source of a module's member when `table` is one of its three dicts, named as people write it."""
    if isinstance(table, ObjectAttrSource) and table.attr in TABLES and isinstance(key, str):
        return MemberSource(table.of, table.attr, key)
    return None

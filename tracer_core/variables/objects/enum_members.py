"""Members of enums: constants by identity, with attributes as other objects have."""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Iterable

from tracer_core.class_origins import may_change
from tracer_core.guards import is_constant, make
from tracer_core.guards.kinds.libraries import note_special_methods
from tracer_core.sources import AttrSource, ConstantSource, InstanceDictSource, ObjectAttrSource, Source
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup


class EnumMemberVariable(ConstantVariable):
    """A member of an enum. Code may write to it at any time, so its attributes are guarded where they are read."""

    __slots__ = ()
    kind = "enum member"

    def __init__(self, value: enum.Enum, source: Source | None = None) -> None:
        super().__init__(value, source)
        note_special_methods(type(value))

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the attribute that the member itself holds, or an `enum.property`; None for an attribute of its
        class, or for none at all."""
        member = self.value()
        found, owner = static_lookup(type(member), name)
        if isinstance(found, types.DynamicClassAttribute) and isinstance(found.fget, types.FunctionType):
            assert owner is not None
            getter = tx.build(found.fget, AttrSource(class_attribute_source(owner, name), "fget"))
            return tx.call(getter, [self])
        source = member_source(member)
        if name in member.__dict__ and not isinstance(found, property):
            return tx.build(member.__dict__[name], ObjectAttrSource(source, name))
        tx.guard(make.lacks(InstanceDictSource(source), name))
        return None

    def truth(self, tx: Tracing) -> bool | None:
        """Return the truth of the member; None if the program's class overrides it."""
        own = program_method(self.python_type(), "__bool__") or program_method(self.python_type(), "__len__")
        return None if own is not None else bool(self.value())


def program_method(cls: type, name: str) -> types.FunctionType | None:
    """Return the function that a class of the program defines under this name, but not the library's."""
    found, owner = static_lookup(cls, name)
    if owner is None or not may_change(owner) or not isinstance(found, types.FunctionType):
        return None
    return found


@handles(operator.invert, EnumMemberVariable)
def invert(tx: Tracing, member: EnumMemberVariable) -> VariableTracker | None:
    """Return `~flag`, which the library caches in the member when it is first computed; this cannot be observed."""
    flag = member.value()
    if not isinstance(flag, enum.Flag) or program_method(type(flag), "__invert__") is not None:
        return None
    note_read(tx, [member])
    return tx.constant(~flag)


def note_read(tx: Tracing, members: Iterable[VariableTracker]) -> None:
    """Guard the values that these members were created from, which a Python function reads."""
    for tracker in members:
        if isinstance(tracker, EnumMemberVariable):
            member = tracker.value()
            for name in ("_name_", "_value_"):
                if is_constant(value := getattr(member, name)):
                    tx.guard(make.constant(ObjectAttrSource(member_source(member), name), value))


def member_source(member: enum.Enum) -> Source:
    """Return a source for a member that is independent of its path: there is only one of it."""
    return ConstantSource.of_object(member, str(enum.Enum.__str__(member)))

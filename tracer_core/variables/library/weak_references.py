"""Weak references, and when their referents may have been freed.

An object that a traced program drops is freed when the graph has run and its mutations are replayed. A program that
changed something that may have held the object, and then calls a weak reference, has to call the real one.
"""

from __future__ import annotations

import operator
import weakref
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import AttrSource, ObjectAttrSource, ReferentSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.core.base import ByParts, VariableTracker, constant_or
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.keys import key_of
from tracer_core.variables.core.registry import builds, handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_CONTAINERS = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)


def refuse_after_changes(tx: Tracing) -> None:
    """Break if a weak reference, or a container of them, is read after changes that may have freed an object.

    Torch's own code (schedulers and hooks look up the optimizer or module they belong to) holds the referent
    through the object it is called on, whatever the program changed before.

    Raises:
        Unsupported: the trace changed another external object, which may have held the referent.
    """
    effects = tx.trace.side_effects
    if str(tx.frame.module).startswith("torch."):
        return
    if effects.globals_ or any(not _is_part_of_a_container(tx, tracker) for tracker in effects.changed):
        raise Unsupported("weak-reference-after-change")


def _is_part_of_a_container(tx: Tracing, tracker: VariableTracker) -> bool:
    source = tracker.source
    if not isinstance(source, (AttrSource, ObjectAttrSource)):
        return False
    return isinstance(tx.output.value_at(source.of), _CONTAINERS)


class WeakRefVariable(VariableTracker):
    """A `weakref.ref` to an object that lives as long as the trace; `callback` is the one it was created with."""

    __slots__ = ("callback", "cls", "to")
    kind = "weak reference"

    def __init__(
        self,
        to: VariableTracker,
        source: Source | None = None,
        cls: type = weakref.ReferenceType,
        callback: VariableTracker | None = None,
    ) -> None:
        super().__init__(source)
        self.to = to
        self.cls = cls
        self.callback = callback

    def python_type(self) -> type:
        return self.cls

    def key(self, tx: Tracing | None) -> Any:
        if constant_or(self.to, self) is None:
            raise Unsupported("weak-reference", what="an object that has been freed")
        return ByParts(self, key_of(tx, self.to))

    def parts(self) -> list[tuple[str, VariableTracker]]:
        parts = [("to", self.to)]
        return parts if self.callback is None else [*parts, ("callback", self.callback)]

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if self.cls is not weakref.KeyedRef or name != "key" or self.source is None:
            return None
        return tx.build(tx.trace.real_value(self).key, AttrSource(self.source, "key"))

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        if args or kwargs:
            tx.raise_(TypeError, f"weakref expected 0 arguments, got {len(args) + len(kwargs)}")
        refuse_after_changes(tx)
        return self.to


@handles(weakref.ref, VariableTracker)
def weak_reference(tx: Tracing, to: VariableTracker, callback: VariableTracker | None = None) -> VariableTracker:
    if to.source is None or not isinstance(to, (UserDefinedObjectVariable, UserFunctionVariable)):
        raise Unsupported("weak-reference", what=to.describe())
    if callback is None or constant_or(callback, callback) is None:
        return WeakRefVariable(to)
    if tx.frame.globals is not vars(weakref):
        # (In the library's containers they are keys of objects that the code that looks one up keeps alive.)
        raise Unsupported("weak-reference", what=to.describe())
    return WeakRefVariable(to, callback=callback)


@builds(weakref.ReferenceType, weakref.KeyedRef)
def _weak_reference(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if value() is None:
        build.tx.guard(make.is_none(ReferentSource(source)))
        build.tx.guard(make.type_is(source, type(value)))
        return WeakRefVariable(ConstantVariable(None), source, type(value))
    build.tx.guard(make.type_is(source, type(value)))
    return WeakRefVariable(build(value(), ReferentSource(source)), source, type(value))


@handles(operator.eq, WeakRefVariable, WeakRefVariable)
def weak_reference_eq(tx: Tracing, a: WeakRefVariable, b: WeakRefVariable) -> VariableTracker:
    return tx.compare("==", a.to, b.to)

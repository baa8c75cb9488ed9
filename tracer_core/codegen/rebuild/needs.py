"""List the trackers that rebuilding a tracker loads: the parts of each kind of value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tracer_core.variables.containers.dicts import ConstDictVariable, DictViewVariable, MappingProxyVariable
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NULL, ConstantVariable
from tracer_core.variables.core.lazy import LazyVariableTracker
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.nested_functions import NestedUserFunctionVariable
from tracer_core.variables.functions.partials import FunctoolsPartialVariable
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable
from tracer_core.variables.iterators.iterators import ComposedIterator, DictIterator
from tracer_core.variables.iterators.stand_ins import StandInVariable
from tracer_core.variables.numpy.arrays import NumpyNdarrayVariable
from tracer_core.variables.objects.builtin_parts import PARTS, DictPart
from tracer_core.variables.objects.classes import KnownVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


def needs(tracker: VariableTracker) -> list[VariableTracker]:
    """Return the trackers that rebuilding this one loads."""
    if isinstance(tracker, LazyVariableTracker):
        return [tracker.realized] if tracker.realized is not None else []
    if tracker.source is not None or isinstance(tracker, (ConstantVariable, KnownVariable)):
        return []
    parts = _PARTS.get(type(tracker))
    return parts(tracker) if parts is not None else [part for _, part in tracker.parts()]


def reachable(roots: Iterable[VariableTracker]) -> list[VariableTracker]:
    """Return all trackers that rebuilding these loads, each once."""
    seen: dict[VariableTracker, None] = {}
    waiting = list(roots)[::-1]
    while waiting:
        tracker = waiting.pop()
        if tracker in seen:
            continue
        seen[tracker] = None
        waiting.extend(reversed(needs(tracker)))
    return list(seen)


def _nested_needs(tracker: NestedUserFunctionVariable) -> list[VariableTracker]:
    optional = (tracker.defaults, tracker.kwdefaults, tracker.annotations)
    return [*tracker.closure, *(part for part in optional if part is not None), *tracker.attributes.values()]


def _object_needs(tracker: UserDefinedObjectVariable) -> list[VariableTracker]:
    given = [] if tracker.given_dict is None else [tracker.given_dict]
    return [*tracker.attributes.values(), *given, *_part_needs(tracker.part)]


def _part_needs(part: VariableTracker | None) -> list[VariableTracker]:
    if part is None:
        return []
    if isinstance(part, DictPart):
        return _dict_needs(part)
    return [item for _, item in part.parts()] if isinstance(part, PARTS) else [part]


def _dict_needs(tracker: ConstDictVariable) -> list[VariableTracker]:
    factory = [] if tracker.default_factory is None else [tracker.default_factory]
    return (
        [part for entry in tracker.entries(None) for part in entry] + factory + [*(tracker.attributes or {}).values()]
    )


def _generator_needs(tracker: LocalGeneratorObjectVariable) -> list[VariableTracker]:
    """Return the values in its frame, and its names."""
    if tracker.finished:
        return [name for name in tracker.names if name is not None]
    frame = tracker.frame
    names = [name for name in tracker.names if name is not None]
    held = [*frame.cells.values(), *frame.locals.values(), *(item for item in frame.stack if item is not NULL)]
    return [*names, *held]


def _exception_needs(tracker: ExceptionVariable) -> list[VariableTracker]:
    given = tracker.made_of if tracker.made_of is not None and tracker.made_of != tracker.args else []
    return [*tracker.args, *given, *tracker.attributes.values()]


def _array_needs(tracker: NumpyNdarrayVariable) -> list[VariableTracker]:
    owner = tracker.owner
    if tracker.is_as_created():
        return []
    return [tracker.tensor] if owner is None else [tracker.tensor, owner, owner.tensor]


_PARTS: dict[type, Callable[[Any], list[VariableTracker]]] = {
    NumpyNdarrayVariable: _array_needs,
    NestedUserFunctionVariable: _nested_needs,
    UserDefinedObjectVariable: _object_needs,
    ExceptionVariable: _exception_needs,
    StandInVariable: _object_needs,
    FunctoolsPartialVariable: lambda p: [p.function, *p.args, *p.keywords.values(), *p.attributes.values()],
    **dict.fromkeys(PARTS, lambda part: [part.whole]),
    ConstDictVariable: _dict_needs,
    DictViewVariable: lambda view: [view.of],
    MappingProxyVariable: lambda proxy: [proxy.of],
    LocalGeneratorObjectVariable: _generator_needs,
    InstanceDictVariable: lambda view: [view.owner],
    DictIterator: lambda iterator: [iterator.of],
    ComposedIterator: lambda iterator: [*iterator.before, *iterator.iterators, *iterator.keywords.values()],
}

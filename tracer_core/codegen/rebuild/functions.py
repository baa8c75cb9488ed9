"""Rebuild functions, methods, partials and cells."""

from __future__ import annotations

import functools
import types

from tracer_core.codegen.emit.emitter import Emitter
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable, UserMethodVariable
from tracer_core.variables.functions.nested_functions import NestedUserFunctionVariable
from tracer_core.variables.functions.partials import FunctoolsPartialVariable
from tracer_core.variables.objects.classes import ClassVariable, SuperMethodVariable


@rebuilds(CellVariable)
def _cell(emitter: Emitter, tracker: CellVariable) -> None:
    own = emitter.is_own_cell(tracker)
    if own is not None:
        emitter.emit("LOAD_CLOSURE", own)
        return
    emitter.call_const(types.CellType)
    emitter.keep(tracker)
    if tracker.contents is not None:
        emitter.set_attributes_of(tracker, {"cell_contents": tracker.contents})


@rebuilds(NestedUserFunctionVariable)
def _nested_function(emitter: Emitter, tracker: NestedUserFunctionVariable) -> None:
    emitter.call_const(
        types.FunctionType,
        lambda: emitter.const(tracker.code),
        lambda: emitter.globals_of(tracker.globals),
        lambda: emitter.const(tracker.code.co_name),
        lambda: emitter.const(None),
        lambda: _closure(emitter, tracker),
    )
    emitter.keep(tracker)
    parts = {"__defaults__": tracker.defaults, "__kwdefaults__": tracker.kwdefaults}
    parts.update(tracker.attributes)
    emitter.set_attributes_of(tracker, {name: value for name, value in parts.items() if value is not None})
    if tracker.annotations is not None:
        _annotations(emitter, tracker)


def _closure(emitter: Emitter, tracker: NestedUserFunctionVariable) -> None:
    if not tracker.closure:
        emitter.const(None)
        return
    emitter.tuple_of(emitter.loading(tracker.closure))


def _annotations(emitter: Emitter, tracker: NestedUserFunctionVariable) -> None:
    """Push annotations, which the compiler gives as a flat tuple of names and values."""
    assert tracker.annotations is not None
    flat = tracker.annotations.realize()
    assert isinstance(flat, SequenceVariable)

    def annotations() -> None:
        for item in flat.items:
            emitter.load(item)
        emitter.emit("BUILD_MAP", len(flat.items) // 2)

    emitter.set_attribute(lambda: emitter.load(tracker), "__annotations__", annotations)


@rebuilds(UserMethodVariable)
def _method(emitter: Emitter, tracker: UserMethodVariable) -> None:
    emitter.call_const(types.MethodType, lambda: emitter.load(tracker.function), lambda: emitter.load(tracker.self_))


@rebuilds(BoundBuiltinMethodVariable)
def _builtin_method(emitter: Emitter, tracker: BoundBuiltinMethodVariable) -> None:
    emitter.attribute(lambda: emitter.load(tracker.self_), tracker.name)


@rebuilds(SuperMethodVariable)
def _super_method(emitter: Emitter, tracker: SuperMethodVariable) -> None:
    """Bind the method as `super()` does."""
    if isinstance(tracker.found, types.BuiltinFunctionType):
        emitter.const(tracker.found)
    elif isinstance(tracker.found, types.ClassMethodDescriptorType) and isinstance(tracker.self_, ClassVariable):
        emitter.call_const(tracker.found.__get__, lambda: emitter.const(None), lambda: emitter.load(tracker.self_))
    else:
        emitter.call_const(tracker.found.__get__, lambda: emitter.load(tracker.self_))


@rebuilds(FunctoolsPartialVariable)
def _partial(emitter: Emitter, tracker: FunctoolsPartialVariable) -> None:
    arguments = emitter.loading((tracker.function, *tracker.args, *tracker.keywords.values()))
    emitter.call(lambda: emitter.const(functools.partial), arguments, tracker.keywords)
    emitter.keep(tracker)
    emitter.set_attributes_of(tracker, tracker.attributes)

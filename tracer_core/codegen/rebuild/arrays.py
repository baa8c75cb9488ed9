"""Rebuild arrays and NumPy scalars from the tensors that the graph returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tracer_core.codegen.emit.emitter import Emitter
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.runtime.arrays import (
    array_of,
    based_array_of,
    known_array,
    locked,
    owned_array_of,
    scalar_of,
    view_of,
)
from tracer_core.variables.numpy.arrays import NumpyNdarrayVariable, NumpyScalarVariable, flat_parts
from tracer_core.variables.numpy.layout import broadcast_ones, reversed_dims


def _made_by(tracker: NumpyNdarrayVariable) -> Callable[[torch.Tensor], Any]:
    base = tracker.shadow.base
    if tracker.seen_by_tensors or isinstance(base, torch.Tensor):
        return array_of
    return owned_array_of if base is None else based_array_of


@rebuilds(NumpyNdarrayVariable)
def _array(emitter: Emitter, tracker: NumpyNdarrayVariable) -> None:
    if tracker.shadow.flags.writeable:
        _over_its_memory(emitter, tracker)
    else:
        emitter.call_const(locked, lambda: _over_its_memory(emitter, tracker))
    emitter.keep(tracker)


def _over_its_memory(emitter: Emitter, tracker: NumpyNdarrayVariable) -> None:
    """Rebuild an array over memory as NumPy would: as a view of the array that it is a view of, or as the owner of
    its memory. Memory that tensors share belongs to them."""
    owner, load = tracker.owner, emitter.load
    if tracker.is_as_created():
        emitter.call_const(
            known_array, *((lambda part=part: emitter.const(part)) for part in flat_parts(tracker.known))
        )
    elif owner is None:
        emitter.call_const(_made_by(tracker), lambda: load(tracker.tensor))
    else:
        parts: list[Callable[[], None]] = [
            lambda: load(owner),
            lambda: load(owner.tensor),
            lambda: load(tracker.tensor),
        ]
        backwards, ones = reversed_dims(tracker.shadow), broadcast_ones(tracker.shadow)
        if backwards or ones:
            parts += [lambda: emitter.const(backwards), lambda: emitter.const(ones)]
        emitter.call_const(view_of, *parts)


@rebuilds(NumpyScalarVariable)
def _scalar(emitter: Emitter, tracker: NumpyScalarVariable) -> None:
    emitter.call_const(scalar_of, lambda: emitter.load(tracker.tensor))
    emitter.keep(tracker)

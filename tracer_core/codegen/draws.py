"""Code that draws random numbers before the graph, and gives the streams back if the graph cannot run after all."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tracer_core.bytecode import CallShape, Instruction, make
from tracer_core.codegen.emitter import Emitter
from tracer_core.codegen.rebuild_registry import rebuilds
from tracer_core.codegen.recovery import Undo
from tracer_core.sources import DrawnSource
from tracer_core.variables.draws import Draw
from tracer_core.variables.random_streams import RandomStreamVariable

STREAMS = "___streams"
"""The temporary that holds how generators, and inputs that the graph changes, stood before the first draw."""

States = list[tuple[Callable[[Any], Any], Any]]


def states_of(*streams: Any) -> States:
    """For each generator or tensor, what puts it back and the state to put it back to."""
    return [_state_of(stream) for stream in streams]


def _state_of(stream: Any) -> tuple[Callable[[Any], Any], Any]:
    if isinstance(stream, np.random.RandomState):
        return stream.set_state, stream.get_state(legacy=False)
    if isinstance(stream, np.random.Generator):
        return functools.partial(setattr, stream.bit_generator, "state"), stream.bit_generator.state
    if isinstance(stream, torch.Generator):
        return stream.set_state, stream.get_state()
    if isinstance(stream, torch.Tensor):
        # `.data` has a version counter of its own: nobody can tell that the tensor was changed and put back.
        return functools.partial(_put_back, stream, stream.data), stream.detach().clone()
    return stream.setstate, stream.getstate()


def _put_back(tensor: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> None:
    """Have `tensor` look at its old memory again, with the old values in it."""
    tensor.data = memory
    memory.copy_(values)


def give_back(states: States) -> None:
    """Put all back, so that plain Python draws the same numbers."""
    for put_back, state in states:
        put_back(state)


def keep_states(emitter: Emitter, draws: list[Draw], undo: Undo) -> None:
    """Keep how everything stands that the draws and the graph may change. (Streams that a draw makes are not there
    yet, and nobody sees them should plain Python make them again.)"""
    streams = dict.fromkeys(draw.stream for draw in draws if draw.stream is not None)
    loads: list[Callable[[], None]] = [
        (lambda stream=stream: emitter.load(stream))  # type: ignore[misc]
        for stream in streams
        if not isinstance(stream.source, DrawnSource)
    ]
    if undo.torch_stream:
        loads.append(lambda: emitter.const(torch.default_generator))
    loads += [(lambda source=each.source: emitter.load_source(source)) for each in undo.inputs]  # type: ignore[misc]
    if loads:
        emitter.call_const(states_of, *loads)
        emitter.emit("STORE_FAST", STREAMS)


def draw_all(emitter: Emitter, draws: list[Draw]) -> list[Instruction]:
    """Make the draws, in order.

    Returns:
        The instructions that draw: when one of them raises, the streams are to be given back.
    """
    start = len(emitter.instructions)
    for index, draw in enumerate(draws):
        _call(emitter, draw)
        emitter.emit("STORE_FAST", DrawnSource(index, draw.label).variable)
    return emitter.instructions[start:]


def _call(emitter: Emitter, draw: Draw) -> None:
    emitter.emit("PUSH_NULL")
    if draw.function is not None:
        emitter.const(draw.function)
        if draw.stream is not None:
            emitter.load(draw.stream)
    else:
        assert draw.stream is not None
        emitter.load(draw.stream)
        emitter.emit("LOAD_ATTR", draw.method)
    for value in (*draw.args, *draw.kwargs.values()):
        emitter.load(value)
    count = len(draw.args) + len(draw.kwargs) + (draw.function is not None and draw.stream is not None)
    emitter.emit("CALL", CallShape(count, tuple(draw.kwargs)))


def giving_back() -> list[Instruction]:
    """Instructions that give the streams back."""
    return [
        make("PUSH_NULL"),
        make("LOAD_CONST", give_back),
        make("LOAD_FAST", STREAMS),
        make("CALL", CallShape(1)),
        make("POP_TOP"),
    ]


def temporaries(draws: list[Draw], undo: Undo) -> list[str]:
    """The variables that `keep_states` and the draws set."""
    drawn = [DrawnSource(i, draw.label).variable for i, draw in enumerate(draws)]
    return [STREAMS, *drawn] if draws or undo else []


def stream_at(cls: type[random.Random], state: Any) -> random.Random:
    """A generator in this state."""
    stream = cls(0)
    stream.setstate(state)
    return stream


@rebuilds(RandomStreamVariable)
def _stream(emitter: Emitter, tracker: RandomStreamVariable) -> None:
    emitter.call_const(stream_at, lambda: emitter.const(tracker.cls), lambda: emitter.const(tracker.known.getstate()))
    emitter.keep(tracker)

"""Emit code that draws random numbers before the graph, and restores the generators if the graph cannot run."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tracer_core.bytecode import CodeBuilder, Instruction
from tracer_core.codegen.emit.emitter import Emitter
from tracer_core.codegen.emit.names import STREAMS
from tracer_core.codegen.graph_call.recovery import Undo
from tracer_core.runtime.streams import give_back, states_of
from tracer_core.sources import DrawnSource
from tracer_core.variables.core.draws import Draw


def keep_states(emitter: Emitter, draws: list[Draw], undo: Undo) -> None:
    """Save all state that the draws and the graph may change. (Streams that a draw creates do not exist yet, and
    plain Python creating them again cannot be observed.)"""
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
        emitter.store_local(STREAMS)


def draw_all(emitter: Emitter, draws: list[Draw]) -> list[Instruction]:
    """Emit the draws, in order.

    Returns:
        The instructions that draw: when one of them raises, the streams are to be given back.
    """
    start = len(emitter.instructions)
    for index, draw in enumerate(draws):
        _call(emitter, draw)
        emitter.store_local(DrawnSource(index, draw.label).variable)
    return emitter.instructions[start:]


def _call(emitter: Emitter, draw: Draw) -> None:
    stream = [] if draw.stream is None else emitter.loading([draw.stream])
    arguments = emitter.loading((*draw.args, *draw.kwargs.values()))
    if draw.function is not None:
        emitter.call(lambda: emitter.const(draw.function), [*stream, *arguments], draw.kwargs)
    else:
        emitter.call(lambda: emitter.attribute(stream[0], draw.method), arguments, draw.kwargs)


def giving_back(code: CodeBuilder) -> None:
    """Restore the streams."""
    code.run_const(give_back, lambda: code.load_local(STREAMS))


def temporaries(draws: list[Draw], undo: Undo) -> list[str]:
    """Return the variables that `keep_states` and the draws set."""
    drawn = [DrawnSource(i, draw.label).variable for i, draw in enumerate(draws)]
    return [STREAMS, *drawn] if draws or undo else []

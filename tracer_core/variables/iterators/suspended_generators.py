"""Generators that an earlier graph of ours left suspended: their frames are known, so the trace can resume them.

Codegen rebuilds a generator that is alive at a graph's end as a real one whose code begins with a `yield` of our
own (`tracer_core.codegen.rebuild.generators`). As long as it waits there, all of its frame can be found: variables,
stack items and cells are locals of that code. A trace may run it to its end, and the real one is then closed as well.
One that would wait once more runs as plain Python.
"""

from __future__ import annotations

import types
import weakref
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from tracer_core.bytecode import decode, stack_labels
from tracer_core.guards import make
from tracer_core.names.code import Label
from tracer_core.sources import AttrSource, GetItemSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NULL
from tracer_core.variables.core.registry import builds
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.cells import external_cell
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.external import OpaqueIterator
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable

CELLS = "___cells"
"""The local of such a generator's code that holds its cells."""


@dataclass(frozen=True, slots=True)
class Waits:
    """The point where a generator of the code `code` is suspended: after the instruction at `position`, with the
    stack whose items are in the locals named by `stack` (None for an empty slot), and with the variables and cells of
    these names. `yields` is the offset of our own `yield`."""

    code: weakref.ref[types.CodeType]
    position: int
    stack: tuple[str | None, ...]
    variables: tuple[str, ...]
    cells: tuple[str, ...]
    yields: int


_waits: dict[int, tuple[weakref.ref[types.CodeType], Waits]] = {}


def remember(code: types.CodeType, waits: Waits) -> None:
    """Remember that a new generator of `code` waits at this point."""
    key = id(code)
    _waits[key] = (weakref.ref(code, lambda _: _waits.pop(key, None)), waits)


class WaitingGenerator(LocalGeneratorObjectVariable):
    """A generator that waits at a known point. It has not advanced until the trace advances it."""

    __slots__ = ("moved",)

    def __init__(self, frame: Frame, name: str, source: Source) -> None:
        super().__init__(frame, name, -1)
        self.source = source
        self.started = True
        self.moved = False

    def resume(self, tx: Tracing, value: VariableTracker) -> tuple[bool, VariableTracker]:
        self._moves(tx)
        return super().resume(tx, value)

    def throw(self, tx: Tracing, exception: ExceptionVariable) -> tuple[bool, VariableTracker]:
        self._moves(tx)
        return super().throw(tx, exception)

    def _moves(self, tx: Tracing) -> None:
        if not self.moved:
            tx.trace.side_effects.changes(self, "generator", "a generator is resumed")
            self.moved = True
            self.root_step = tx.root_step
            tx.trace.generators.append(self)


def _cell_label(name: str, generator: Source) -> Label:
    return Label(f"the cell of `{name}` in {generator.atom}")


@builds(types.GeneratorType)
def external_generator(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    tx = build.tx
    tx.guard(make.type_is(source, types.GeneratorType))
    known, frame = _waits.get(id(value.gi_code)), value.gi_frame
    waits = None if known is None else known[1]
    code = None if waits is None else waits.code()
    if waits is None or code is None or frame is None or frame.f_lasti != waits.yields:
        return build.register(value, OpaqueIterator(types.GeneratorType, source))
    at = AttrSource(source, "gi_frame")
    tx.guard(make.identity(AttrSource(source, "gi_code"), value.gi_code))
    tx.guard(make.is_not_none(at))
    tx.guard(make.constant(AttrSource(at, "f_lasti"), waits.yields))
    held, places = frame.f_locals, AttrSource(at, "f_locals")

    def local(name: str, label: Label | None = None) -> VariableTracker:
        return tx.lazy(held[name], GetItemSource(places, name, label))

    program = decode(code)
    items = stack_labels(program, code.co_filename, program.instructions[waits.position])
    labels = [replace(item, given=f"{item.given} in {source.atom}") for item in items]
    in_cells = GetItemSource(places, CELLS, Label(f"the cells of {source.atom}"))
    cells = {
        name: external_cell(tx, cell, GetItemSource(in_cells, position, _cell_label(name, source)))
        for position, (name, cell) in enumerate(zip(waits.cells, held[CELLS], strict=True))
    }
    waiting = Frame(code, frame.f_globals, {name: local(name) for name in waits.variables}, cells, tx.frame)
    waiting.pc = waits.position + 1
    waiting.suspended = True
    waiting.stack = [
        NULL if name is None else local(name, label)
        for name, label in zip_longest(waits.stack, labels[: len(waits.stack)])
    ]
    made = WaitingGenerator(waiting, value.__name__, source)
    usual = {"__name__": code.co_name, "__qualname__": code.co_qualname}
    # Its names are read at once: it may have been dropped when it is to be rebuilt.
    own = {name: getattr(value, name) for name in usual}
    made.names = tuple(
        None if own[name] == was else build(own[name], AttrSource(source, name)) for name, was in usual.items()
    )
    return build.register(value, made)

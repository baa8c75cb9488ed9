"""Mark the state of a trace, and roll back to a mark: an inner graph that is abandoned leaves nothing behind.

Most tables only grow, so their lengths are all that a mark needs. torch's shape environment has no marks, so its
tables are copied.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from torch.fx.experimental.symbolic_shapes import ShapeEnv, ValueRangesSLoc

from tracer_core.graph.fakes import Fakes, SymbolBinding
from tracer_core.graph.operations import OperationsMark
from tracer_core.host.torch_state import forget_answers

Table = list[Any] | dict[Any, Any]
"""A table that only grows: no entry is replaced or removed."""

Lengths = tuple[int, ...]


def lengths_of(tables: tuple[Table, ...]) -> Lengths:
    return tuple(map(len, tables))


def cut_back(tables: tuple[Table, ...], lengths: Lengths) -> None:
    """Remove the entries added to the tables since they had these lengths."""
    for table, length in zip(tables, lengths, strict=True):
        if isinstance(table, list):
            del table[length:]
        else:
            while len(table) > length:
                table.popitem()


@dataclass(frozen=True, slots=True)
class FakesMark:
    """A mark of the fakes and symbols of an attempt. (The `history` of the code's arguments stays: it remains
    true.)"""

    bindings: list[SymbolBinding]
    idle: list[list[int]]
    unknowns: frozenset[Any]
    given: frozenset[Any]
    needs_all_strides: bool
    operations: OperationsMark
    environment: Mapping[str, Any]
    guards: int


def mark_fakes(fakes: Fakes) -> FakesMark:
    env = fakes.shape_env
    return FakesMark(
        [dataclasses.replace(each, sources=list(each.sources)) for each in fakes.symbols.values()],
        [tracked.idle for tracked in fakes.inputs.values()],
        frozenset(fakes.unknowns),
        frozenset(fakes.given),
        fakes.needs_all_strides,
        fakes.operations.mark(),
        {name: _copy(value) for name, value in vars(env).items() if name not in _KEPT},
        len(env.guards),
    )


def roll_back_fakes(fakes: Fakes, mark: FakesMark) -> None:
    cut_back((fakes.symbols, fakes.inputs), (len(mark.bindings), len(mark.idle)))
    for binding, before in zip(fakes.symbols.values(), mark.bindings, strict=True):
        for field in dataclasses.fields(before):
            setattr(binding, field.name, _copy(getattr(before, field.name)))
    for tracked, idle in zip(fakes.inputs.values(), mark.idle, strict=True):
        tracked.idle = idle
    fakes.unknowns = set(mark.unknowns)
    fakes.given = set(mark.given)
    fakes.needs_all_strides = mark.needs_all_strides
    fakes.operations.roll_back(mark.operations)
    _roll_back_environment(fakes.shape_env, mark)


_KEPT = frozenset({"guards", "_version_counter", "_replacements_version_counter"})
"""The list of an environment that is watched, and the counters by which its caches notice changes."""


def _roll_back_environment(env: ShapeEnv, mark: FakesMark) -> None:
    del env.guards[mark.guards :]
    for name, value in mark.environment.items():
        setattr(env, name, _copy(value))
    env._version_counter += 1
    env._replacements_version_counter += 1
    forget_answers()  # Some are kept though computing them adds guards.


_CHANGED_IN_PLACE = (list, set, dict, ValueRangesSLoc)


def _copy(value: Any) -> Any:
    """Return a copy of a table, and of its values that are changed in place."""
    if not isinstance(value, (list, set, dict)):
        return value
    table = copy(value)
    if isinstance(table, dict):
        for key, item in table.items():
            if isinstance(item, _CHANGED_IN_PLACE):
                table[key] = copy(item)
    return table

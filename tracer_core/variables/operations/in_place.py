"""Find the arguments that in-place operations write to, and where they may fail: a table, and the check that reads
it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.fake_copy import version_of
from tracer_core.graph.memory import overlap_refused
from tracer_core.variables.core.tracing import Tracing

Part = Callable[[torch.Tensor, list[Any]], torch.Tensor]

# Keys that consist of these select a view; other keys may need the data.
_VIEWING_KEYS = (int, torch.SymInt, slice, type(None), type(...))


def _whole(tensor: torch.Tensor, operands: list[Any]) -> torch.Tensor:
    return tensor


def _item(tensor: torch.Tensor, operands: list[Any]) -> torch.Tensor:
    """Return the view that the key selects, if it selects one."""
    key = operands[1]
    parts = key if isinstance(key, tuple) else (key,)
    return tensor[key] if all(type(part) in _VIEWING_KEYS for part in parts) else tensor


@dataclass(frozen=True)
class Writes:
    """The part of a tensor that an in-place operation writes to.

    `part`: how much of the tensor. `first_only`: only the first operand is written to; others that are views of it
    have the same count of changes. `casts`: the result is cast to the tensor's type, which fakes do not check.
    `reads`: it reads others while it writes, which must not overlap.
    """

    part: Part = _whole
    first_only: bool = False
    casts: bool = False
    reads: bool = True


_FILLS = Writes(reads=False)
_ARITHMETIC = Writes(casts=True)
_OF_ANY_OTHER = Writes()
_WRITES: dict[str, Writes] = {
    "fill_": _FILLS,
    "zero_": _FILLS,
    "setitem": Writes(part=_item, first_only=True),
    **dict.fromkeys(("mul_", "imul", "add_", "iadd", "sub_", "isub"), _ARITHMETIC),
}


def refuse_writes(
    tx: Tracing, target: Any, name: str, operands: list[Any], tensors: list[torch.Tensor], versions: list[int | None]
) -> None:
    """Break if the operation just run on fakes may refuse to write into real tensors.

    `name` is what people call it. `versions` are the counts of changes that `tensors` had before.
    """
    writes = _WRITES.get(target if isinstance(target, str) else getattr(target, "__name__", ""), _OF_ANY_OTHER)
    for tensor, before in zip(tensors, versions, strict=True):
        changed = version_of(tensor) != before
        if changed and tx.output.fakes.held_elsewhere and not tx.output.runs_as_it_is:
            # In the graph of a back end, the write is to another tensor.
            held = tx.output.fakes.held_elsewhere
            raise Unsupported("lost-by-back-ends", what=f"writes to tensors that a {held} may hold")
        if not changed or not writes.reads or (writes.first_only and tensor is not operands[0]):
            continue
        if writes.casts and not _can_cast_back(tensor, operands):
            raise Unsupported("operation-fails", what=name, error=f"RuntimeError: the result is no {tensor.dtype}")
        with tx.output.fakes.mode:
            others = [each for each in tensors if each is not tensor]
            refused = overlap_refused(writes.part(tensor, operands), others)
        if refused:
            raise Unsupported("operation-fails", what=name, error="RuntimeError: it writes over what it reads")


def _can_cast_back(written: torch.Tensor, operands: list[Any]) -> bool:
    numbers = (torch.Tensor, bool, int, float, complex)
    types = [torch.result_type(written, other) for other in operands[1:2] if isinstance(other, numbers)]
    return all(torch.can_cast(dtype, written.dtype) for dtype in types)

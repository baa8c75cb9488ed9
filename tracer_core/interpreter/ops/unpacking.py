"""Unpacking iterables onto the stack."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.containers.sequences import ListVariable, SequenceVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tensors import InGraphVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.operations.special_methods import class_has


@op("UNPACK_SEQUENCE")
def unpack_sequence(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    items = _unpacked(tx, frame.pop(), ins.arg, ins.arg)
    frame.stack.extend(reversed(items))


@op("UNPACK_EX")
def unpack_ex(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    before, after = ins.arg & 0xFF, ins.arg >> 8
    items = _unpacked(tx, frame.pop(), before + after, None, before)
    middle = ListVariable(items[before : len(items) - after])
    tail = items[len(items) - after :] if after else []
    frame.stack.extend([*reversed(tail), middle, *reversed(items[:before])])


def _unpacked(
    tx: Tracing, tracker: VariableTracker, least: int, most: int | None, listed_from: int | None = None
) -> list[VariableTracker]:
    """Return the items of an iterable of `least` to `most` (None: any number), fetching no more than Python does.
    Python makes a list of the rest from number `listed_from` on, for which it calls `iter()` on the iterator."""
    tracker = tracker.realize()
    if not isinstance(tracker, (SequenceVariable, InGraphVariable)) and not class_has(tracker, "__iter__"):
        if not class_has(tracker, "__getitem__"):
            tx.raise_(TypeError, f"cannot unpack non-iterable {tracker.type_name_in_errors()} object")
    iterator = tx.iterate(tracker)
    items: list[VariableTracker] = []
    while most is None or len(items) <= most:
        if len(items) == listed_from:
            iterator = tx.iterate(iterator)
        item = tx.next_item(iterator)
        if item is None:
            break
        items.append(item)
    if len(items) < least:
        wanted = f"expected {least}" if most is not None else f"expected at least {least}"
        tx.raise_(ValueError, f"not enough values to unpack ({wanted}, got {len(items)})")
    if most is not None and len(items) > most:
        tx.raise_(ValueError, f"too many values to unpack (expected {most})")
    return items

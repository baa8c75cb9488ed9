"""Steps alike share one sentence, so no sentence may depend on a value that their likeness leaves out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tracer_core import bytecode
from tracer_core.bytecode import CallShape
from tracer_core.recording import schema, sentences
from tracer_core.recording.happened import Called
from tracer_core.recording.sentence_parts import VERBS

VALUE = Called(schema.Snapshot(0, 0, "constant", "ConstantVariable", "int", "1", None, None, None, []), "")


class Asked:
    """A step that remembers how far below the top of the stack its sentence looks."""

    def __init__(self, op: str, takes: int, leaves: int, following: int | None) -> None:
        self.instruction = SimpleNamespace(op=op, opname=op, arg="x", takes=takes, leaves=leaves, target=0)
        self.code = SimpleNamespace(instructions=[SimpleNamespace(line=1)])
        self.frame = SimpleNamespace(parent=None)
        self.following = following
        self.inlined: list[Any] = []
        self._index = SimpleNamespace(steps=SimpleNamespace(instruction=[0]))
        self.deepest = self.deepest_after = 0

    def item(self, from_top: int) -> Called:
        self.deepest = max(self.deepest, from_top)
        return VALUE

    def before(self, last: int) -> list[Called]:
        self.deepest = max(self.deepest, last)
        return [VALUE] * last

    def after(self, last: int) -> list[Called]:
        self.deepest_after = max(self.deepest_after, last)
        return [VALUE] * last


@pytest.mark.parametrize("op", sorted(VERBS))
def test_verbs_look_at_what_the_instruction_takes_and_leaves(op: str) -> None:
    assert sentences.VERBS is VERBS
    info = bytecode.OPS[op]
    for argument in range(1, 4):
        shape = CallShape(argument) if op == "CALL" else argument
        takes, leaves = info.takes(shape), info.leaves(shape)
        for following in (None, 0):
            step: Any = Asked(op, takes, leaves, following)
            VERBS[op](step)
            assert step.deepest <= takes
            assert step.deepest_after <= leaves

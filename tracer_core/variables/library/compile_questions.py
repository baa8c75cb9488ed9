"""Calls that check whether the program is being compiled (`tracer_core.compiling.QUESTIONS`)."""

from __future__ import annotations

from typing import Any

from tracer_core.compiling import QUESTIONS
from tracer_core.variables.core.base import Tracing, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.plain_packages import runs_as_plain
from tracer_core.variables.core.registry import handles


def _question(function: Any, text: str) -> None:
    @handles(function)
    def answer(tx: Tracing) -> VariableTracker:
        if tx.trace.told_plainly or runs_as_plain(tx):
            return ConstantVariable(False)
        tx.trace.told = text
        return ConstantVariable(True)

    answer.__qualname__ = f"compile_questions.{function.__name__}"


for _function, _text in QUESTIONS.items():
    _question(_function, _text)

"""Answer calls that check whether the program is being compiled (`tracer_core.compiling.CHECKS`)."""

from __future__ import annotations

from typing import Any

from tracer_core.compiling import CHECKS
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.plain_packages import runs_as_compiled, runs_as_plain
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing


def _answer_check(function: Any, text: str) -> None:
    @handles(function)
    def answer(tx: Tracing) -> VariableTracker:
        if runs_as_compiled(tx):
            return ConstantVariable(True)
        if tx.trace.reports_eager or runs_as_plain(tx):
            return ConstantVariable(False)
        tx.trace.compiling_check = text
        return ConstantVariable(True)

    answer.__qualname__ = f"compiling_checks.{function.__name__}"


for _function, _text in CHECKS.items():
    _answer_check(_function, _text)

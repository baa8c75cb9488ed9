"""Generated programs: well formed, mostly run to their end, and do the same through the engine as without it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, given, settings

from tests.conformance.generated import Differential, Differs, run
from tests.conformance.grammar import programs
from tests.conformance.pool import Workers

COUNT = 70


@given(programs())
@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_programs_are_well_formed(text: str) -> None:
    (function,) = [node for node in ast.parse(text).body if getattr(node, "name", "") == "generated"]
    assert isinstance(function, ast.FunctionDef)
    compile(text, "generated", "exec")


@pytest.mark.row("I1")
@pytest.mark.row("O6")
@pytest.mark.row("O7")
def test_generated_programs_do_as_plain_python(workers: Workers) -> None:
    differential = Differential("ours", workers)
    try:
        run(differential, COUNT, breaks=True, size=12, start=None)
    finally:
        differential.close()
    assert differential.ran >= COUNT
    assert differential.raised < differential.ran / 2, "most programs should run to their end"


def test_a_difference_is_found_and_described(workers: Workers) -> None:
    """A program that asks whether it is being compiled does differ."""
    differential = Differential("torch", workers)
    text = (
        '"""Differs."""\nimport torch\nfrom tests.conformance.program import program, t\n\n\n'
        '@program("I1", lambda: [t(3)])\ndef generated(x):\n    return x + torch.compiler.is_compiling()\n'
    )
    try:
        with pytest.raises(Differs, match="differs in outcome") as found:
            differential.check(text)
    finally:
        differential.close()
    assert "is_compiling" in str(found.value)
    assert "plain call 0 outcome" in str(found.value)

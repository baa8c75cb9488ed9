"""Warnings of Python and torch for what the program does: from its lines, as often as plain Python gives them."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from typing import Any

import pytest
import torch

import tracer_core

OPTIONS = {"raise_internal_faults": True}


def truth_of_not_implemented(x, value):
    return x + 1 if value else x - 1


def pattern(x, value):
    return x + len(re.compile("[[a]").pattern)


def inverted_bool(x, value):
    return x * (1 if ~True else 2)


def transposed_in_three_dimensions(x, value):
    y = x.reshape(2, 1, 1)
    return y.T + 1


def meshgrid(x, value):
    return torch.meshgrid(x, x)[0] * 2


def in_an_inlined_call(x, value):
    y = truth_of_not_implemented(x, value)
    return y * 2


def caught(x, value):
    try:
        return x + 1 if value else x
    except DeprecationWarning as error:
        return x * 5, str(error)


PROGRAMS = [
    truth_of_not_implemented, pattern, inverted_bool, transposed_in_three_dimensions, meshgrid, in_an_inlined_call,
    caught,
]  # fmt: skip


def outcome(function: Any, action: Any) -> Any:
    """What three calls give, and the warnings with their places."""
    globals().pop("__warningregistry__", None)
    re.purge()
    results: list[Any] = []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter(action)
        for _ in range(3):
            try:
                results.append(str(function(torch.ones(2), NotImplemented)))
            except Warning as error:
                results.append(repr(error))
    return results, [(each.category, str(each.message), each.filename, each.lineno) for each in given]


@pytest.mark.row("I12", "O7")
@pytest.mark.parametrize("action", ["default", "always", "error", "ignore", "once"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_warnings_of_what_the_program_does(function, action):
    outcome(function, action)  # torch gives some of its warnings once in a process
    expected = outcome(function, action)
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    assert outcome(compiled, action) == expected
    assert outcome(compiled, action) == expected


GIVEN_ONCE = """
import sys, warnings, torch, tracer_core
def f(x):
    y = x.reshape(2, 1, 1)
    return y.T + 1
compiled = tracer_core.compile(f, backend="eager", options={"raise_internal_faults": True})
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    for _ in range(3):
        compiled(torch.ones(2))
print([(w.filename, w.lineno) for w in given if "T` on tensors" in str(w.message)])
"""


def test_what_torch_gives_once_is_given_once_and_not_lost(tmp_path):
    import subprocess

    script = tmp_path / "script.py"
    script.write_text(GIVEN_ONCE)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"[({str(script)!r}, 5)]\n", done.stderr


def test_what_is_ignored_breaks_no_graph():
    graphs = []

    def backend(module, examples):
        graphs.append(module)
        return module

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = tracer_core.compile(in_an_inlined_call, backend=backend, fullgraph=True)
        assert torch.equal(compiled(torch.ones(2), NotImplemented), torch.ones(2) * 4)
    assert len(graphs) == 1


def test_filters_are_as_before_and_other_threads_keep_theirs():
    seen = []

    def backend_and_thread(x):
        thread = threading.Thread(target=lambda: seen.append(bool(NotImplemented)))
        thread.start()
        thread.join()
        return x + 1

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        before = list(warnings.filters)
        tracer_core.compile(backend_and_thread, backend="eager")(torch.ones(2))
        tracer_core.compile(pattern, backend="eager")(torch.ones(2), None)
        assert warnings.filters == before
    assert seen == [True]
    assert not torch.is_warn_always_enabled()


def reads_a_gradient(x):
    return x.grad is None, x * 2


@pytest.mark.row("I12", "G1")
def test_guards_give_no_warnings_of_their_own():
    def lines(function):
        leaf = torch.ones(2, requires_grad=True)
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            for x in (leaf, leaf * 1, leaf * 2, torch.ones(2), leaf):
                function(x)
        return [(each.filename, each.lineno) for each in given]

    expected = lines(reads_a_gradient)
    assert len(expected) == 2
    compiled = tracer_core.compile(reads_a_gradient, backend="eager", options=OPTIONS)
    assert [lines(compiled), lines(compiled)] == [expected, expected]

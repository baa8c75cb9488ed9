"""The calls that lead to a traced function, across breaks, and the owner of each file."""

from __future__ import annotations

import pytest

from tests.recording.programs_in_files import PACKAGES, module, recorded, torch
from tracer_core.recording import Trace

PROGRAM = """\
def stem(x):
    print(end="")
    return x + 1

def plain(function, x):
    return function(x)

def model(x):
    y = plain(stem, x)
    return y * 2

def step(x):
    return model(x).mean()
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    return recorded(module(PROGRAM)["step"], (torch.ones(2),))


def test_each_compilation_has_the_calls_that_lead_to_it(trace: Trace) -> None:
    said = {
        trace.codes[one.code].qualname: [(trace.codes[at.code].qualname, at.line) for at in one.callers]
        for one in trace.compilations
    }
    # A break ends the graph of each function around it, so each is traced on its own, and so is its rest.
    outer = [("step", 13), ("model", 9), ("plain", 6)]
    assert said == {
        "step": [],
        "model": outer[:1],
        "plain": outer[:2],
        "stem": outer,
        "`stem`, after line 2": outer,
        "`plain`, after line 6": outer[:2],
        "`model`, after line 9": outer[:1],
        "`step`, after line 13": [],
    }


def test_frames_outside_the_recording_are_no_callers(trace: Trace) -> None:
    assert not any("test_" in trace.codes[at.code].qualname for one in trace.compilations for at in one.callers)


def test_codes_have_the_owner_of_their_file() -> None:
    library = module("def layer(x):\n    return x * 2\n", PACKAGES)
    linear = torch.nn.Linear(2, 2)
    function = module("def f(x):\n    return linear(layer(x))\n", linear=linear, layer=library["layer"])["f"]
    trace = recorded(function, (torch.ones(2),))
    owners = {code.qualname: code.owner for code in trace.codes if code.kind == "user"}
    assert owners == {"f": "user", "layer": "package", "Linear.forward": "language"}

"""Prints, log records and warnings: between graphs, or by option replayed after them where nobody can tell."""

from __future__ import annotations

import logging
import warnings

import pytest
import torch

import tracer_core
from tracer_core import Observer, observing

LOG = logging.getLogger("tests.replayed")


class Counter(Observer):
    def __init__(self) -> None:
        self.graphs = 0
        self.breaks: list[str] = []

    def on_graph(self, graph, name):
        self.graphs += 1

    def on_break(self, unsupported, frame, instruction):
        self.breaks.append(unsupported.reason_id)


def run(function, *args, replay):
    counter = Counter()
    options = {"raise_internal_faults": True, "replay_prints": replay}
    compiled = tracer_core.compile(function, backend="eager", options=options)
    with observing(counter):
        result = compiled(*args)
    return result, counter


def prints(x):
    y = x * 2
    print("y is", y.shape, y, sep="|")
    z = y + 1
    print("z", z, end=".\n")
    return z


def prints_then_changes(x):
    y = x * 2
    print(y)
    y.add_(1)
    return y


def prints_a_list(x):
    items = [1]
    print(items)
    items.append(2)
    return x + len(items)


def inner(x):
    print("inner", x)
    return x + 1


def prints_inside(x):
    return inner(x) * 2


def warns_and_logs(x):
    y = x + 1
    warnings.warn("careful", stacklevel=1)
    LOG.warning("seen %s", 3)
    return y * 2


@pytest.mark.row("I12")
@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("function", [prints, prints_then_changes, prints_a_list, prints_inside])
def test_output_is_that_of_plain_python(function, replay, capsys):
    expected = function(torch.ones(2))
    printed = capsys.readouterr().out
    result, _ = run(function, torch.ones(2), replay=replay)
    assert torch.equal(result, expected)
    assert capsys.readouterr().out == printed


@pytest.mark.row("I12")
@pytest.mark.parametrize(
    ("function", "breaks"),
    [(prints, False), (prints_inside, False), (prints_then_changes, True), (prints_a_list, True)],
)
def test_a_replay_needs_no_break_unless_what_is_shown_changes(function, breaks, capsys):
    _, counter = run(function, torch.ones(2), replay=True)
    assert bool(counter.breaks) == breaks
    if not breaks:
        assert counter.graphs == 1


@pytest.mark.row("I12")
def test_without_the_option_a_print_breaks(capsys):
    _, counter = run(prints, torch.ones(2), replay=False)
    assert set(counter.breaks) == {"print"}


@pytest.mark.row("I12")
def test_warnings_and_log_records_keep_their_line(caplog):
    with pytest.warns(UserWarning, match="careful") as plain, caplog.at_level(logging.WARNING):
        warns_and_logs(torch.ones(2))
    (expected,) = caplog.records
    caplog.clear()
    with pytest.warns(UserWarning, match="careful") as ours, caplog.at_level(logging.WARNING):
        result, counter = run(warns_and_logs, torch.ones(2), replay=True)
    (record,) = caplog.records
    assert torch.equal(result, torch.full((2,), 4.0))
    assert counter.breaks == []
    assert (ours[0].filename, ours[0].lineno) == (plain[0].filename, plain[0].lineno)
    assert (record.funcName, record.lineno) == (expected.funcName, expected.lineno)
    assert record.getMessage() == "seen 3"

"""The overview of a run: its headline, and what its rows say, by hand for small programs.

`print`, the summary in HTML and the explorer show the same.
"""

from __future__ import annotations

import re
import signal
import warnings
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tracer_core
import tracewalk as tw
from tests.recording.programs_in_files import USERS, module, recorded
from tracer_core.recording import Trace, views
from tracer_core.recording.messages import Row
from tracewalk.summary import html_summary

PROGRAM = """\
def stem(x):
    y = x * 2
    print(end="")
    return y + 1

def model(x):
    return stem(x).relu()

def step(x):
    return model(x).mean()
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    """`stem` breaks the graphs of all three functions; the second call has other sizes."""
    return recorded(module(PROGRAM)["step"], (torch.ones(2, 3),), (torch.ones(4, 3),))


def rows(trace: Trace, section: str) -> list[Row]:
    return next((each.rows for each in trace.overview().sections if each.name == section), [])


def test_the_headline_counts_graphs_places_and_recompilations(trace: Trace) -> None:
    # A graph before the print and one after it, one after stem() in model, and one after model() in step; twice.
    assert trace.overview().headline == "8 graphs, breaks at 1 place, 4 recompilations."


def test_a_break_has_its_line_its_functions_and_what_to_try(trace: Trace) -> None:
    [row] = rows(trace, "breaks")
    assert (row.text, row.place, row.source) == ("The code calls `print()`.", "model.py:3, in stem", 'print(end="")')
    assert row.notes[0] == "Ends the graphs of 3 functions: stem, step, and model."
    assert any(note.startswith("Try: Remove the call") for note in row.notes)
    assert row.notes[-1].startswith("Instead: ")
    assert row.step is not None
    assert trace.steps[row.step].line == 3
    assert trace.steps[row.step].attempt.outcome == "compiled"


def test_recompilations_name_the_source_the_calls_and_the_line(trace: Trace) -> None:
    row = rows(trace, "recompilations")[0]
    assert row.text == "`x` changed in 1 call of stem (2)."
    assert (row.place, row.source) == ("model.py:2, in stem", "y = x * 2")
    assert row.notes[0] == "It was of shape [2, 3] when it was compiled, then of shape [4, 3]."
    assert row.notes[1].startswith("Try: Mark the dimension of `x`")
    assert row.step is not None
    assert trace.steps[row.step].attempt.compilation == trace.calls[rows_call(trace, "stem", 2)].compilation


def rows_call(trace: Trace, function: str, number: int) -> int:
    [found] = [
        call.id for call in trace.calls if trace.codes[call.code].qualname == function and call.number == number
    ]
    return found


def test_functions_have_their_versions_calls_and_graphs(trace: Trace) -> None:
    said = {row.text.rpartition(", ")[0]: row.notes for row in rows(trace, "functions")}
    assert said == {
        "stem (model.py:1): 2 versions, 2 calls, 4 graphs": ["`stem`, after line 3: 2 versions."],
        "model (model.py:6): 1 version, 2 calls, 2 graphs": ["`model`, after line 7: 2 versions."],
        "step (model.py:9): 1 version, 2 calls, 2 graphs": ["`step`, after line 10: 2 versions."],
    }


def test_the_function_that_took_longest_comes_first(trace: Trace) -> None:
    spent: dict[str, float] = {}
    for one in trace.compilations:
        name = trace.function_of(one.code).qualname
        spent[name] = spent.get(name, 0.0) + one.seconds
    assert [row.text.partition(" ")[0] for row in rows(trace, "functions")] == sorted(
        spent, key=lambda name: -spent[name]
    )


def test_the_largest_graph_comes_first() -> None:
    def two(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        print(end="")
        return (y * 2).relu()

    texts = [row.text.partition(": ") for row in rows(recorded(two, (torch.ones(2),)), "graphs")]
    assert [(head.partition(",")[0], tail) for head, _, tail in texts] == [
        ("graph_1", "2 operations, 4 nodes."),
        ("graph_0", "1 operation, 3 nodes."),
    ]


def test_graphs_are_numbered_from_0_in_each_recording() -> None:
    function = module("def f(x):\n    return x + 1\n")["f"]
    for _ in range(2):
        with tw.record() as trace:
            tw.compile(function, backend="eager")(torch.ones(2))
            tw.compile(function, backend=lambda graph, inputs: graph.forward)(torch.ones(2))
        assert [graph.name for graph in trace.graphs][:1] == ["graph_0"]
        assert all(f"graph_{number}(" in made.listing for number, made in enumerate(trace.generated))


def test_the_parts_of_the_time_add_up_to_the_time_of_the_compilations(trace: Trace) -> None:
    total = sum(one.seconds for one in trace.compilations if one.during_step is None)
    assert sum(stage.seconds for stage in trace.timings) == pytest.approx(total)
    assert all(stage.seconds > 0 for stage in trace.timings)


class Named:
    def __init__(self, name: str) -> None:
        self.name = name


def limited() -> tuple[Trace, list[warnings.WarningMessage]]:
    function = module("def f(x, o):\n    return x * 2 if o.name == 'a' else x + 1\n")["f"]
    compiled = tw.compile(function, backend="eager", options={"cache_size_limit": 2})
    with warnings.catch_warnings(record=True) as caught, tw.record() as trace:
        warnings.simplefilter("always")
        for name in "abcd":
            compiled(torch.ones(2), Named(name))
    return trace, caught


def test_calls_beyond_the_limit_ran_as_plain_python() -> None:
    trace, caught = limited()
    assert trace.overview().headline == ("2 graphs, no breaks, 1 recompilation; 2 calls ran as plain Python.")
    [row] = rows(trace, "plain")
    assert row.text == "f (model.py:1) ran as plain Python in 2 calls (3, 4)."
    assert "was compiled 2 times already" in row.notes[0]
    [warning] = [each for each in caught if each.category is tracer_core.CacheLimitWarning]
    line = limited.__code__.co_firstlineno + 6
    assert (warning.filename, warning.lineno) == (__file__, line), "the line that calls the function"


def test_a_block_without_a_call_says_what_to_do() -> None:
    with tw.record() as trace:
        assert (torch.ones(2) * 2).tolist() == [2, 2]
    assert trace.overview().headline == "Nothing was traced."
    [row] = rows(trace, "advice")
    assert row.text == "No function of yours was called."
    assert row.notes[0].startswith("Try: Put the lines to trace into a function")


def test_a_block_whose_calls_have_no_tensors_says_what_to_do() -> None:
    with tw.record() as trace:
        assert sum([2 * each for each in range(3)]) == (torch.ones(2) * 3).sum().item()
    assert trace.overview().headline == "Nothing was compiled."
    [row] = rows(trace, "advice")
    assert row.text == "No function of yours that computes with tensors was called."
    assert row.notes[0].startswith("Try: Put the lines to trace into a function")


def test_a_function_without_tensors_says_why_it_was_not_compiled() -> None:
    [row] = rows(tw.trace(lambda: 1 + 2), "advice")
    assert row.text.endswith("<lambda> does nothing with tensors, so it runs as plain Python.")
    fails = module("def f():\n    raise ValueError('mine')\n")["f"]
    with pytest.raises(ValueError, match="mine"), tw.record() as trace:
        fails()
    assert rows(trace, "advice") == []


def compiled_by_torch() -> list[Any]:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    return [torch.compile(function, backend="eager"), torch.compile(torch.nn.Linear(2, 2), backend="eager")]


@pytest.mark.parametrize("number", [0, 1])
def test_what_torch_compiled_says_what_to_do(number: int) -> None:
    trace = tw.trace(compiled_by_torch()[number], torch.ones(2))
    [row] = rows(trace, "advice")
    assert row.text == "torch.compile has compiled this function or module already, so it is not traced."
    assert row.notes == ["Try: Trace the original: the function as written, or `_orig_mod` of a module."]


def test_faults_and_losses_come_first(trace: Trace) -> None:
    from tests.recording.synthetic import example

    data = example()
    data.faults.append(SimpleNamespace(attempt=0, step=3, text="Traceback\nKeyError: 'x'"))  # type: ignore[arg-type]
    broken = Trace(data)
    assert broken.overview().headline.endswith("; the engine failed 1 time.")
    assert broken.overview().sections[0].rows[0].text == "KeyError: 'x'"


def test_print_html_and_explorer_say_the_same(trace: Trace) -> None:
    overview = trace.overview()
    assert views.meta_view(trace).overview == overview
    printed = " ".join(str(trace).split())
    html = unescape(re.sub(r"<[^>]+>", "", html_summary(trace)))
    for section in overview.sections:
        for row in section.rows[:20]:
            for text in (row.text, row.place, row.source, *row.notes):
                assert " ".join(text.split()) in printed
                assert text.replace("`", "") in html.replace("`", "")


def test_html_is_escaped() -> None:
    shown = html_summary(
        recorded(module("def f(x):\n    print('<b>', end='')\n    return x + 1\n", USERS)["f"], (torch.ones(2),))
    )
    assert "<b>&#x27;" not in shown
    assert "print(&#x27;&lt;b&gt;&#x27;" in shown


def test_a_run_that_only_reused_says_so() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    x, compiled = torch.ones(3), tw.compile(f, backend="eager")
    compiled(x)
    with tw.record() as trace:
        compiled(x)
    assert trace.only_reused
    assert trace.overview().headline == "Nothing was compiled: 1 call reused what had been."
    assert "`%%trace --fresh`" in str(trace)


def test_a_run_that_was_interrupted_says_where() -> None:
    f = module("def f(x):\n    y = x + 1\n    return y * 2\n")["f"]

    def backend(graph: Any, inputs: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return graph.forward

    with pytest.raises(KeyboardInterrupt), tw.record() as trace:
        tw.compile(f, backend=backend)(torch.ones(2))
    assert trace.overview().headline == "Nothing was compiled; tracing was interrupted."
    [row] = rows(trace, "interrupted")
    assert row.text == "Tracing of f (model.py:1) was interrupted."
    assert (row.place, row.source, row.step) == ("model.py:3, in f", "return y * 2", len(trace) - 1)
    assert rows(trace, "plain") == []
    with tw.record() as again:
        assert tw.compile(f, backend="eager")(torch.ones(2)).tolist() == [4, 4]
    assert again.overview().headline == "1 graph, no breaks, no recompilations."

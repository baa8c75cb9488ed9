"""The widget's side in the kernel: what it answers, refuses, and shows where no script runs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import msgspec
import pytest
import torch
import traitlets

import tracewalk as tw
from tests.fixes import programs
from tracer_core.recording import messages, schema, views
from tracer_core.recording.beside_torch import BesideTorchSoFar
from tracer_core.recording.fixes import Fixes, FixesSoFar
from tracewalk import front_end


class Asked(tw.Explorer):
    """An explorer that keeps what it would send to the front end."""

    def __init__(self, trace: tw.Trace, **traits: Any) -> None:
        self.sent: list[tuple[dict[str, Any], list[bytes]]] = []
        super().__init__(trace, **traits)

    def send(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        self.sent.append((content, buffers or []))

    def ask(self, **message: Any) -> tuple[dict[str, Any], list[bytes]]:
        self._handle_custom_msg(message, [])
        return self.sent[-1]


def test_each_piece_is_answered_as_json_under_its_number(example: tw.Trace) -> None:
    explorer = Asked(example)
    content, (data,) = explorer.ask(id=7, ask="meta", index=0)
    meta = msgspec.json.decode(data, type=messages.Meta)
    assert content == {"id": 7}
    assert meta.steps == len(example)
    _, (data,) = explorer.ask(id=8, ask="window", index=1)
    window = msgspec.json.decode(data, type=messages.Window)
    assert window.first == meta.window
    assert window.texts[window.sentence[0]] == example.steps[meta.window].sentence
    _, (data,) = explorer.ask(id=9, ask="chunk", index=0)
    assert len(msgspec.json.decode(data, type=messages.TrackerChunk).trackers) == min(views.CHUNK, meta.trackers)


@pytest.mark.parametrize(
    "message",
    [
        {"ask": "window", "index": 10**6},
        {"ask": "window", "index": -1},
        {"ask": "files", "index": 0},
        {"ask": "chunk", "index": "x"},
        {},
    ],
)
def test_a_bad_question_is_answered_with_an_error(example: tw.Trace, message: dict[str, Any]) -> None:
    content, buffers = Asked(example).ask(id=3, **message)
    assert content["id"] == 3
    assert content["error"]
    assert buffers == []


def test_the_position_can_be_read_and_set_within_the_trace(example: tw.Trace) -> None:
    explorer = example.show(5)
    assert explorer.position == 5
    explorer.position = len(example) - 1
    with pytest.raises(traitlets.TraitError, match=f"no step {len(example)}.*from 0 to {len(example) - 1}"):
        explorer.position = len(example)
    assert explorer.position == len(example) - 1
    with pytest.raises(traitlets.TraitError):
        example.show(-1)


def test_conditions_are_answered_with_the_steps_to_stop_at(example: tw.Trace) -> None:
    explorer = example.show()
    answers: list[tuple[dict[str, object], list[bytes]]] = []
    explorer.send = lambda content, buffers=None: answers.append((content, buffers))  # type: ignore[method-assign,assignment]
    for text in ("step.line == 2", "total changes", "lin == 2"):
        explorer._answer(explorer, {"id": 1, "ask": "stops", "text": text}, None)
    line, changes, wrong = (msgspec.json.decode(buffers[0]) for _, buffers in answers)
    steps = [step.index for step in example.steps if step.line == 2]
    assert line["steps"] == [step for step in steps if step - 1 not in steps], "once for each run of the line"
    assert changes == {
        "condition": "changes(total)",
        "steps": [step.index for step in example.steps.where("changes(total)")],
        "names": True,
        "error": "",
    }
    assert wrong["error"] == "No function in this recording has a variable `lin` (did you mean `step.line`?)."


def test_two_explorers_can_be_linked(example: tw.Trace) -> None:
    one, other = example.show(), example.show()
    traitlets.link((one, "position"), (other, "position"))
    one.position = 9
    assert other.position == 9


def test_it_shows_itself_with_a_summary_for_where_no_script_runs(example: tw.Trace) -> None:
    data, _ = example.show(embed=False)._repr_mimebundle_()
    assert data["text/plain"] == str(example)
    for text in (
        "5 graphs, breaks at 1 place, 2 recompilations.",
        "The code branches on the value of a tensor (total.sum() &gt; 0).",
        "version 2",
    ):
        assert text in data["text/html"]
    assert "<script" not in data["text/html"]


def test_the_summary_escapes_what_comes_from_the_program(example: tw.Trace) -> None:
    from tests.recording import synthetic

    recorded = synthetic.example()
    recorded.label = recorded.codes[0].qualname = recorded.breaks[0].message = "<b onclick=x>&"
    recorded.nodes[0].name = recorded.breaks[0].hints[0] = "<i>"
    html = tw.Trace(recorded)._repr_mimebundle_()[0]["text/html"]
    assert "<b onclick" not in html
    assert "<i>" not in html
    assert "&lt;b onclick=x&gt;&amp;" in html


def test_the_summary_has_the_programs_line_above_the_librarys() -> None:
    from tests.recording import synthetic

    recorded = synthetic.example()
    library = schema.Place(recorded.codes[1].id, 12)
    (found, *_) = recorded.breaks
    found.library = library
    recorded.notices = [schema.Notice(0, 0, "r", "It is fixed.", "So.", ["leave it"], 0, found.code, 3, library)]
    html = tw.Trace(recorded)._repr_mimebundle_()[0]["text/html"]
    below = f"<br>In a library: model.py:12, in {recorded.codes[1].qualname}.<br>Try: "
    said = f"<code>model.py:{found.line}, in model</code>: {escape(found.message)}"
    assert f"{said}<br><code>if total.sum() &gt; 0:</code>{below}" in html
    assert f"<code>model.py:3, in model</code>: It is fixed.{below}leave it" in html


def test_what_counts_as_the_users_own_is_passed_on(example: tw.Trace) -> None:
    assert example.show(my_code=["timm"]).get_state()["my_code"] == ["timm"]


def test_an_empty_recording_shows_itself_too() -> None:
    with tw.record("nothing") as trace:
        pass
    data, _ = trace._repr_mimebundle_()
    assert "Nothing was traced." in data["text/html"]
    assert trace.show().position == 0


class Stopped(tw.Trace):
    """A recording whose changes are interrupted."""

    def trying(self, seconds: float = 60.0) -> Iterator[FixesSoFar]:
        yield FixesSoFar(Fixes(), 0, 2, "one")
        raise KeyboardInterrupt


def test_changes_are_tried_one_a_message_and_ctrl_c_is_told(example: tw.Trace) -> None:
    explorer = Asked(Stopped(example.data))
    _, (data,) = explorer.ask(id=1, ask="fixes", index=0)
    assert msgspec.json.decode(data, type=FixesSoFar).next == "one"
    content, _ = explorer.ask(id=2, ask="fixes", index=1)
    assert "interrupted" in content["error"]
    content, _ = explorer.ask(id=3, ask="fixes", index=1)
    assert content["error"]
    _, (data,) = explorer.ask(id=4, ask="fixes", index=0)
    assert msgspec.json.decode(data, type=FixesSoFar).done == 0


def test_the_comparison_with_torch_is_sent_part_by_part() -> None:
    with tw.record() as trace:
        programs.prints(torch.ones(3))
    explorer = Asked(trace)
    states = []
    for index in range(4):
        _, (data,) = explorer.ask(id=index, ask="beside", index=index)
        states.append(msgspec.json.decode(data, type=BesideTorchSoFar))
    assert [one.next is None for one in states] == [False, False, False, True]
    assert states[-1].found.headline == trace.beside_torch().headline
    content, _ = explorer.ask(id=4, ask="beside", index=4)
    assert content["error"] == "RuntimeError: Nothing is left to be repeated."


def test_the_parts_of_the_front_end_are_sent_when_they_are_asked_for(example: tw.Trace) -> None:
    for ask, name in (("front-end", "explorer"), ("graphviz", "graphviz"), ("panes", "panes")):
        _, (data,) = Asked(example).ask(id=1, ask=ask, index=0)
        assert data.decode() == front_end.source(name)

"""What an explorer leaves in a notebook's file: the overview, the recording if it is small, the front end once."""

from __future__ import annotations

import base64
import gzip
import re
from types import SimpleNamespace
from typing import Any

import msgspec
import nbformat
import pytest
import torch

import tracewalk as tw
from tests.widgets.conftest import long_trace
from tracer_core.recording import messages
from tracewalk import front_end, host, output

ATTRIBUTE = re.compile(r' (data-[\w-]+)="([^"]*)"')


def attributes(html: str) -> dict[str, str]:
    """The attributes of the element with the overview."""
    return dict(ATTRIBUTE.findall(html[: html.index("<div style=")]))


class Shell:
    """A shell as the carrier knows it, with the cell that runs."""

    def __init__(self, cell: str | None) -> None:
        self.cell = cell
        self.calls: list[Any] = []
        self.events = SimpleNamespace(register=lambda _event, call: self.calls.append(call))

    def get_parent(self) -> dict[str, Any]:
        return {"metadata": {"cellId": self.cell} if self.cell else {}}

    def run(self, cell: str) -> None:
        self.cell = cell
        for call in self.calls:
            call(SimpleNamespace(cell_id=cell))


@pytest.fixture(autouse=True)
def carrier(monkeypatch: pytest.MonkeyPatch) -> output.Carrier:
    made = output.Carrier()
    monkeypatch.setattr(output, "carrier", made)
    return made


def html_of(trace: tw.Trace, embed: bool | None = None, shell: Any = None) -> str:
    return output.html(trace, "place", {"position": 0}, embed, shell)


def test_the_overview_is_too_low_for_notebook_to_put_it_into_a_box_that_scrolls(example: tw.Trace) -> None:
    html = html_of(example)
    found = re.search(r'style="max-height: (\d+)px; overflow: auto"', html[: html.index(">", html.index("<div"))])
    assert found
    assert int(found[1]) < 1.3 * 14 * 100, "what Notebook takes for a hundred lines"


def test_a_small_recording_is_in_the_output_whole(example: tw.Trace) -> None:
    words = attributes(html_of(example))["data-recording"].split(" ")
    blocks = {
        name: gzip.decompress(base64.b64decode(data)) for name, data in zip(words[::2], words[1::2], strict=True)
    }
    meta = msgspec.json.decode(blocks["meta"], type=messages.Meta)
    windows = [
        msgspec.json.decode(data, type=messages.Window) for name, data in blocks.items() if name.startswith("window-")
    ]
    assert meta.steps == sum(len(window.before) for window in windows) == len(example)


def test_a_large_one_is_not_unless_it_is_asked_for(example: tw.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(attributes(html_of(example))["data-recording"])
    monkeypatch.setattr(output, "EMBEDDED_BYTES", size // 4)
    assert "data-recording" not in html_of(example)
    assert "<script" not in html_of(example)
    assert "data-recording" in html_of(example, embed=True)
    monkeypatch.setattr(output, "EMBEDDED_BYTES", size)
    assert "data-recording" in html_of(example)
    assert "data-recording" not in html_of(example, embed=False)


def test_the_recording_before_is_in_the_output_if_both_fit(
    example: tw.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(before: tw.Trace | None) -> list[str]:
        html = output.html(example, "place", {}, None, None, before=before)
        return attributes(html)["data-recording"].split(" ")[::2]

    alone = names(None)
    both = names(example)
    assert both == [*alone, "differences-0", *(f"before-{name}" for name in alone), "panes"]
    size = len(attributes(html_of(example))["data-recording"])
    monkeypatch.setattr(output, "EMBEDDED_BYTES", size)
    assert names(example) == alone


def test_tables_are_not_taken_for_steps_in_the_guess_of_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = long_trace(20_000)
    size = len(attributes(html_of(trace, embed=True))["data-recording"]) * 3 // 4
    monkeypatch.setattr(output, "EMBEDDED_BYTES", size)
    assert "data-recording" in html_of(trace)


def test_the_front_end_is_in_the_first_output_and_again_when_that_is_replaced(example: tw.Trace) -> None:
    shell = Shell("one")

    def carries() -> bool:
        return "data-front-end" in html_of(example, shell=shell)

    assert carries()
    assert not carries(), "the same cell shows a second one"
    shell.run("two")
    assert not carries()
    shell.run("one")
    assert carries()
    shell.run("one")  # without an explorer this time
    shell.run("two")
    assert carries()
    assert not carries()


def test_a_new_kernel_starts_anew(example: tw.Trace) -> None:
    assert "data-front-end" in html_of(example, shell=Shell("one"))
    assert "data-front-end" in html_of(example, shell=Shell("two"))


def test_where_cells_have_no_names_the_first_output_carries_it(example: tw.Trace) -> None:
    shell = Shell(None)
    found = ["data-front-end" in html_of(example, shell=shell) for _ in range(3)]
    assert found == [True, False, False]


def test_the_packed_front_end_is_in_the_output_as_it_is_in_the_package(example: tw.Trace) -> None:
    packed = attributes(html_of(example))["data-front-end"]
    assert packed == front_end.packed()
    assert not set(packed) & set('&<>"\\\n'), "what HTML or JSON writes longer, or would take for its own"


def breaks_once(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    print("hi")
    return y * 2


def test_an_explorer_adds_at_most_60_kb_to_the_file_besides_its_recording() -> None:
    """The explorer of a cell of a notebook as it is saved: overview, settings, front end, and what starts it."""
    data, _ = tw.trace(breaks_once, torch.ones(3)).show()._repr_mimebundle_()
    assert attributes(data["text/html"])["data-front-end"]
    data["text/html"] = data["text/html"].replace(attributes(data["text/html"])["data-recording"], "")
    output_of_cell = nbformat.v4.new_output("display_data", data=data)
    cells = [nbformat.v4.new_code_cell(id="a", outputs=outputs) for outputs in ([], [output_of_cell])]
    sizes = [len(nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode()) for cell in cells]
    assert sizes[1] - sizes[0] <= 60_000


def test_panes_for_a_recording_with_steps_of_the_dispatcher_or_one_before_come_with_it(example: tw.Trace) -> None:
    def names(trace: tw.Trace, before: tw.Trace | None = None) -> list[str]:
        html = output.html(trace, "place", {}, None, None, before=before)
        return attributes(html)["data-recording"].split(" ")[::2]

    assert "panes" not in names(example)
    assert names(example, example).count("panes") == 1
    assert names(tw.trace_dispatch(torch.relu, torch.ones(2))).count("panes") == 1


def test_texts_of_the_program_stay_texts(example: tw.Trace) -> None:
    html = output.html(example, "place", {"my_code": ['"><script>alert(1)</script>']}, False, None)
    assert "<script" not in html


@pytest.mark.parametrize(
    ("environment", "names", "wanted"),
    [
        ({}, {}, False),
        ({"JPY_SESSION_NAME": "a.ipynb", "VSCODE_PID": "1"}, {}, False),  # a server started in VS Code's terminal
        ({"VSCODE_PID": "1"}, {}, True),
        ({"JPY_SESSION_NAME": "a.ipynb"}, {"__vsc_ipynb_file__": "a.ipynb"}, True),
        ({"DATABRICKS_RUNTIME_VERSION": "15"}, {}, True),
    ],
)
def test_hosts_that_start_a_widget_when_its_view_is_shown(
    environment: dict[str, str], names: dict[str, Any], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JPY_SESSION_NAME", "VSCODE_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert host.needs_view(SimpleNamespace(user_ns=names)) is wanted


def test_there_the_output_has_the_view_and_the_overview(example: tw.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "needs_view", lambda _shell: True)
    data, _ = example._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "5 graphs, breaks at 1 place" in data["text/html"]
    assert "data-recording" not in data["text/html"]


def test_the_widgets_state_is_small(example: tw.Trace) -> None:
    state = example.show().get_state()
    assert len(msgspec.json.encode({name: str(value) for name, value in state.items()})) < 5_000

"""Writing the stand-alone page: whole or not at all, and nothing in it that reaches out."""

from __future__ import annotations

import base64
import gzip
import os
import re
from pathlib import Path

import msgspec
import pytest

import tracewalk as tw
from tests.recording import synthetic
from tracer_core.recording import messages
from tracer_core.recording.damage import TraceFileError
from tracewalk import export

BLOCK = re.compile(r'<script type="application/json" data-tracewalk-block="([\w-]+)">([A-Za-z0-9+/=]*)</script>')


def blocks(page: str) -> dict[str, bytes]:
    return {name: gzip.decompress(base64.b64decode(data)) for name, data in BLOCK.findall(page)}


def test_all_of_the_recording_is_in_the_page(example: tw.Trace, tmp_path: Path) -> None:
    page = example.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    held = blocks(page)
    meta = msgspec.json.decode(held["meta"], type=messages.Meta)
    windows = [
        msgspec.json.decode(data, type=messages.Window) for name, data in held.items() if name.startswith("window-")
    ]
    sentences = [window.texts[number] for window in windows for number in window.sentence]
    trackers = [
        tracker
        for name, data in held.items()
        if name.startswith("chunk-")
        for tracker in msgspec.json.decode(data, type=messages.TrackerChunk).trackers
    ]
    assert len(sentences) == meta.steps == len(example)
    assert len(trackers) == meta.trackers
    assert sentences[:20] == [step.sentence for step in example.steps[:20]]


def test_the_page_fetches_nothing(example: tw.Trace, tmp_path: Path) -> None:
    page = example.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page.split("<style>")[0]
    assert not re.findall(r"<(?:script|img|iframe|object|embed)[^>]*\ssrc=|<link|@import|url\((?!#)", page)


def test_text_of_the_program_does_not_end_an_element(tmp_path: Path) -> None:
    recorded = synthetic.example()
    recorded.label = "</title></script><script>alert(1)</script>"
    page = tw.Trace(recorded).to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "alert(1)</script>" not in page


def test_the_same_recording_gives_the_same_page(example: tw.Trace, tmp_path: Path) -> None:
    one, other = example.to_html(tmp_path / "a.html"), example.to_html(str(tmp_path / "b.html"))
    assert one.read_bytes() == other.read_bytes()


def test_a_page_that_cannot_be_finished_leaves_the_old_one(
    example: tw.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")

    def stop(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(export.feed, "blocks", stop)
    with pytest.raises(KeyboardInterrupt):
        example.to_html(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_folder_that_is_not_there_is_told_in_a_sentence(example: tw.Trace, tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="cannot be written to .*nowhere.*: No such file or directory.$"):
        example.to_html(tmp_path / "nowhere" / "page.html")


def test_the_file_can_be_read_as_any_other(example: tw.Trace, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    path = example.to_html(tmp_path / "page.html")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode

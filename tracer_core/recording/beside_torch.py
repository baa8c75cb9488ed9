"""The engine beside the installed `torch.compile` on the same calls, as data and in words."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tracer_core.recording.words import seconds

ENGINE, TORCH = "the engine", "torch.compile"
TITLES = {
    "results": "Results",
    "breaks": "Graph breaks, by line",
    "graphs": "Graphs, by function",
    "compilations": "Compilations, by function",
}


class TorchFigure(msgspec.Struct, frozen=True, gc=False):
    """One number of both compilers."""

    name: str
    engine: float
    torch: float

    @property
    def texts(self) -> tuple[str, str]:
        if self.name == "seconds":
            return seconds(self.engine), seconds(self.torch)
        return f"{self.engine:,.0f}", f"{self.torch:,.0f}"


class TorchRow(msgspec.Struct, gc=False):
    """One thing that either compiler did. `text` says where they part, or that they agree; `engine` and `torch` say
    what each did."""

    kind: str  # results | breaks | graphs | compilations
    same: bool
    text: str
    place: str = ""  # `model.py:12, in forward`, or the function
    source: str = ""  # the line there
    engine: str = ""
    torch: str = ""
    step: int | None = None  # where to look at it in the recording
    pane: str = ""  # the pane that shows more of it
    item: int | None = None  # ... and the id of the break or graph there


class BesideTorch(msgspec.Struct, gc=False):
    """The recorded calls, repeated through the engine and through the installed `torch.compile`. `print` shows it.
    `rows` has the differences of each kind first; it is empty if nothing was compared, for a reason in `notes`."""

    headline: str = ""
    version: str = ""  # of torch
    figures: list[TorchFigure] = []
    rows: list[TorchRow] = []
    notes: list[str] = []

    @property
    def differences(self) -> list[TorchRow]:
        """The rows about what they did differently."""
        return [row for row in self.rows if not row.same]

    def __str__(self) -> str:
        return "\n".join(_lines(self))


class BesideTorchSoFar(msgspec.Struct, gc=False):
    """The state of the comparison: `done` of `total` repetitions are over, and `next` says what comes; None at the
    end."""

    found: BesideTorch
    done: int = 0
    total: int = 0
    next: str | None = None


def _lines(found: BesideTorch) -> Iterator[str]:
    if found.headline:
        yield found.headline
    for figure in found.figures:
        name = "time of the calls, with compiling" if figure.name == "seconds" else figure.name
        engine, torch = figure.texts
        yield f"  {name}: {engine} by {ENGINE}, {torch} by {TORCH}"
    for kind, title in TITLES.items():
        rows = [row for row in found.rows if row.kind == kind]
        if rows:
            yield title
            for row in rows:
                yield from _row(row)
    yield from found.notes


def _row(row: TorchRow) -> Iterator[str]:
    yield f"  {f'{row.place}: ' if row.place else ''}{row.text}"
    if not row.same:
        if row.source:
            yield f"      {row.source}"
        yield from (f"      {who}: {what}" for who, what in ((ENGINE, row.engine), (TORCH, row.torch)) if what)

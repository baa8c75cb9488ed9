"""Provide the recording as a notebook shows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracer_core import recording
from tracer_core.recording.arguments import INTEGER, NAMES, PATH, PIXELS, SECONDS, TEXT, takes
from tracer_core.recording.beside_torch import BesideTorch, BesideTorchSoFar
from tracer_core.recording.fixes import Fixes, FixesSoFar
from tracer_core.recording.trace import RECORDING
from tracewalk.progress import progress, progress_of
from tracewalk.size import HEIGHT

if TYPE_CHECKING:
    import pandas

    from tracer_core.fixes import KeptCalls
    from tracewalk.explorer import Explorer


class Steps(recording.Steps):
    """Steps of a recording, in order; each is read on access. A long search shows how far it is."""

    def where(self, condition: str | Callable[[recording.Step], bool]) -> Steps:
        with progress_of(f"Searching {len(self):,} steps"):
            return type(self)(self._index, super().where(condition)._numbers)


class Trace(recording.Trace):
    """A recording that displays itself: as a cell's last value, by `show()`, or as a page by `to_html(path)`."""

    kept: KeptCalls | None = None
    """The calls of the recording, to be repeated by `try_fixes`; None for recordings from a file."""

    @property
    def steps(self) -> Steps:
        """The steps, in order."""
        return Steps(self.index, range(len(self)))

    @takes(seconds=SECONDS)
    def try_fixes(self, seconds: float = 60.0) -> Fixes:
        """Repeat the recorded calls with each change that may remove a break or a recompilation, on copies of their
        inputs, and return what each change does. Results are checked against plain Python. Your source and your
        objects stay as they are; what the calls do outside of Python, such as writing files, they do again. Ctrl-C
        stops it and leaves all as it was.

        Args:
            seconds: no candidate starts after this time.
        """
        state = FixesSoFar(Fixes())
        with progress(
            lambda: f"Change {state.done + 1} of {state.total}: {state.next}" if state.total else "Trying fixes"
        ):
            for state in self.trying(seconds):  # noqa: B007 - the last one, and the one shown
                pass
        return state.fixes

    @takes(seconds=SECONDS)
    def trying(self, seconds: float = 60.0) -> Iterator[FixesSoFar]:
        """Do what `try_fixes` does, and yield what came of the changes so far, before each one and at the end."""
        from tracer_core.fixes import trying

        return trying(self, self.kept, seconds)

    @takes(seconds=SECONDS)
    def beside_torch(self, seconds: float = 60.0) -> BesideTorch:
        """Repeat the recorded calls through the engine and through the installed `torch.compile`, on copies of their
        inputs, and return where the two part: graphs, breaks by line, compilations, time, and whether the results are
        those of plain Python. `print` shows it. Your source and your objects stay as they are; what the calls do
        outside of Python, such as writing files, they do again. The caches of `torch.compile` are emptied before and
        after. Ctrl-C stops it.

        Args:
            seconds: no call starts after this time.
        """
        state = BesideTorchSoFar(BesideTorch())
        with progress(lambda: f"Running {state.next or 'the calls again'}"):
            for state in self.comparing_with_torch(seconds):  # noqa: B007 - the last one, and the one shown
                pass
        return state.found

    @takes(seconds=SECONDS)
    def comparing_with_torch(self, seconds: float = 60.0) -> Iterator[BesideTorchSoFar]:
        """Do what `beside_torch` does, and yield the state before each repetition of the calls and at the end."""
        from tracer_core.fixes import comparing_with_torch

        return comparing_with_torch(self, self.kept, seconds)

    @takes(position=INTEGER, height=PIXELS, my_code=NAMES, before=RECORDING, pane=TEXT, note=TEXT)
    def show(
        self,
        position: int = 0,
        *,
        height: int = HEIGHT,
        failed_attempts: bool = False,
        my_code: Sequence[str] = (),
        embed: bool | None = None,
        before: recording.Trace | None = None,
        pane: str = "overview",
        note: str = "",
    ) -> Explorer:
        """Return the explorer of this recording, at step `position`; a notebook displays it as the cell's value.

        Args:
            position: the first step shown; 0 is the first of your own code.
            height: of the whole explorer, in pixels.
            failed_attempts: also show the attempts that were abandoned and restarted.
            my_code: packages, modules, folders or files (`"timm"`, `"timm.layers"`, `"/home/me/lib"`) that count as
                your own code, besides your files.
            embed: whether the notebook's file contains the recording, so that the explorer opens without a kernel;
                None for recordings of up to 2 MB, compressed.
            before: another recording, such as that before a change, which the pane Compare compares this one with.
            pane: the pane that is open first, such as `"breaks"` or `"story"`.
            note: a sentence to show above everything.

        Raises:
            TraitError: there is no such step.
        """
        from tracewalk.explorer import Explorer

        return Explorer(
            self,
            before,
            embed=embed,
            position=position,
            height=height,
            failed_attempts=failed_attempts,
            my_code=list(my_code),
            pane=pane,
            note=note,
        )

    @takes(other=RECORDING)
    def diff(self, other: recording.Trace) -> Comparison:
        """Compare this recording, as the one before, with `other`, as the one after a change. A notebook shows both;
        `print` shows the differences: breaks, graphs, guards, compilations, time, and the first line that only one of
        them runs."""
        with progress_of("Comparing both recordings"):
            return Comparison(**vars(super().diff(other)))

    def story(self) -> Story:
        """Tell the recording as some ten stations, from the first call to the outcome. A notebook shows them in the
        explorer; `print` shows them as text."""
        told = Story(super().story())
        told.trace = self
        return told

    @takes(path=PATH)
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording to a file that `load` reads. Raises TraceFileError."""
        with progress_of(f"Saving {path}"):
            super().save(path)

    @takes(what=TEXT)
    def to_dataframe(self, what: str = "steps") -> pandas.DataFrame:
        """Return a table, as `tracer_core.recording.Trace.to_dataframe` describes."""
        with progress_of(f"Reading {what}"):
            return super().to_dataframe(what)

    @takes(path=PATH, my_code=NAMES)
    def to_html(self, path: str | os.PathLike[str], *, my_code: Sequence[str] = ()) -> Path:
        """Write a page with this recording and its explorer, which opens without a kernel and without a network.
        `my_code` is that of `show`.

        Raises:
            TraceFileError: the file cannot be written there.
        """
        from tracewalk.export import to_html

        return to_html(self, path, my_code)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the explorer for a notebook, else the summary."""
        return self.show()._repr_mimebundle_(**kwargs)

    def _display_(self) -> Explorer:
        """Return what marimo shows of it."""
        return self.show()


@dataclass(frozen=True)
class Comparison(recording.Comparison):
    """Two recordings compared. A notebook shows the one after, with the other at hand, in the explorer."""

    @takes(height=PIXELS, my_code=NAMES)
    def show(self, *, height: int = HEIGHT, my_code: Sequence[str] = (), embed: bool | None = None) -> Explorer:
        """Return the explorer of the recording after, compared with the one before; `height`, `my_code` and `embed`
        are those of `Trace.show`."""
        after = Trace(self.after.data)
        return after.show(height=height, my_code=my_code, embed=embed, before=self.before, pane="compare")

    @takes(path=PATH, my_code=NAMES)
    def to_html(self, path: str | os.PathLike[str], *, my_code: Sequence[str] = ()) -> Path:
        """Write a page with both recordings, the explorer and their differences, which opens without a kernel and
        without a network. `my_code` is that of `Trace.show`.

        Raises:
            TraceFileError: the file cannot be written there.
        """
        from tracewalk.export import to_html

        return to_html(self.after, path, my_code, before=self.before, pane="compare")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the explorer for a notebook, else the differences as text."""
        return _with_text(self.show(), str(self), kwargs)

    def _display_(self) -> Explorer:
        """Return what marimo shows of it."""
        return self.show()


class Story(recording.Story):
    """The stations of a recording. A notebook shows them in the explorer."""

    trace: Trace | None = None

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the explorer with its story open, else the stations as text."""
        if self.trace is None:
            return {"text/plain": str(self)}
        return _with_text(self.trace.show(pane="story"), str(self), kwargs)

    def _display_(self) -> Any:
        """Return what marimo shows of it."""
        return str(self) if self.trace is None else self.trace.show(pane="story")


def _with_text(explorer: Explorer, text: str, kwargs: dict[str, Any]) -> Any:
    return explorer.bundle(text, f"<pre>{escape(text)}</pre>", **kwargs)

"""Provide the explorer as a widget, which sends the recording to the front end piece by piece, on request.

Messages from the front end: `{id, ask, index}`, where `ask` is "meta", "window", "chunk", "later", "touched",
"under", "fixes", "beside", "stops" or "differences"; "stops" comes with a condition as `text`, "under" with the
number of a node, and `before` asks for the recording that this one is compared with. Answers: `{id}` with one buffer
of JSON, or `{id, error}` with a sentence. Asked for `front-end`, `panes` and `graphviz`, it answers with the text of
a module.

"under", "stops" and "differences" are answered with `Unfinished` until they are done. They start with `index` 0, and
go on with the `id` of the message that started them; "stop" with that `index` stops them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import anywidget
import msgspec
import traitlets
from IPython.core.getipython import get_ipython

from tracer_core.recording import Trace as Recording
from tracer_core.recording.messages import Unfinished
from tracewalk import feed, front_end, host, output, summary
from tracewalk.size import HEIGHT, LEAST_HEIGHT
from tracewalk.slices import Sliced, Whole

_MODULES = {"front-end": "explorer", "graphviz": "graphviz", "panes": "panes"}
_REPEATING = {"fixes": "trying", "beside": "comparing_with_torch"}
"""The methods of a trace that repeat its calls part by part."""
_SETTINGS = ("position", "height", "failed_attempts", "my_code", "pane", "note", "compared")
"""What the front end is told of an explorer before it is there."""


_LONG: Mapping[str, Callable[[Explorer, Recording, str], Sliced | Whole]] = {
    "stops": lambda _, trace, text: Sliced(lambda: msgspec.json.encode(trace.stops(text))),
    "differences": lambda explorer, trace, _: Sliced(lambda: feed.differences(explorer._recording_before(), trace)),
    "under": lambda _, trace, text: Whole(lambda: host.between_cells(lambda: feed.block(trace, "under", int(text)))),
}
"""What may take long: as long as the recording is, or a part of the program."""


class Explorer(anywidget.AnyWidget):
    """Step through a trace. `position` is the step shown, `trace.steps[position]`; set it, read it, or link it.

    Args:
        trace: the recording.
        position: the first step shown.
        height: of the whole explorer, in pixels.
        failed_attempts: also show the attempts that were abandoned and restarted.
        my_code: packages, modules, folders or files that count as your own code, besides your files. The explorer
            folds the frames of all others, and steps over them.
        embed: whether the notebook's file contains the recording, so that the explorer opens without a kernel;
            None for recordings of up to 2 MB, compressed.
        before: another recording, which the explorer compares this one with.
        pane: the pane that is open first, such as `"breaks"` or `"story"`.
        note: a sentence to show above everything.
    """

    _esm = front_end.LOADER
    _build = traitlets.Unicode(help="the front end that shows it").tag(sync=True)
    _place = traitlets.Unicode(help="the name of its place in the notebook's output").tag(sync=True)

    position = traitlets.Int(0, help="the step shown, from 0").tag(sync=True)
    height = traitlets.Int(HEIGHT, min=LEAST_HEIGHT, help="of the whole explorer, in pixels").tag(sync=True)
    failed_attempts = traitlets.Bool(False, help="show attempts that were abandoned").tag(sync=True)

    my_code = traitlets.List(traitlets.Unicode(), help="what counts as the user's own, too").tag(sync=True)
    pane = traitlets.Unicode("overview", help="the pane that is open first").tag(sync=True)
    note = traitlets.Unicode(help="a sentence to show above everything").tag(sync=True)
    compared = traitlets.Bool(False, help="whether there is a recording to compare with").tag(sync=True)

    def __init__(
        self, trace: Recording, before: Recording | None = None, *, embed: bool | None = None, **traits: Any
    ) -> None:
        self._trace = trace
        self._before = before
        self._embed = embed
        self._repeating: dict[str, Iterator[Any]] = {}
        self._long: dict[int, Sliced | Whole] = {}
        own = {"_build": front_end.build(), "_place": uuid.uuid4().hex, "compared": before is not None}
        super().__init__(**{**own, **traits})
        self.on_msg(self._answer)

    @property
    def trace(self) -> Recording:
        """The recording that is shown."""
        return self._trace

    @traitlets.validate("position")
    def _check_position(self, proposal: dict[str, Any]) -> int:
        wanted: int = proposal["value"]
        steps = len(self._trace)
        if wanted != 0 and not 0 <= wanted < steps:
            raise traitlets.TraitError(
                f"There is no step {wanted}: this recording has {steps} steps, numbered from 0 to {steps - 1}."
            )
        return wanted

    def _answer(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        """Answer one message. Errors are shown to the person in the front end, never raised here."""
        number = content.get("id")
        try:
            ask, index = str(content.get("ask")), int(content.get("index", 0))
            trace = self._recording_before() if content.get("before") else self._trace
            text = str(content.get("text", ""))
            if ask in _LONG and index == 0:
                index = int(number or 0)
                self._long[index] = _LONG[ask](self, trace, text)
            data = self._piece(trace, ask, index)
        except Exception as error:  # noqa: BLE001 - shown in the explorer, where the person looks
            told = type(error) is LookupError  # a sentence that says what to do
            self.send({"id": number, "error": str(error) if told else f"{type(error).__name__}: {error}"})
        else:
            self.send({"id": number}, buffers=[data])

    def _recording_before(self) -> Recording:
        if self._before is None:
            raise ValueError("There is no recording to compare this one with.")
        return self._before

    def _piece(self, trace: Recording, ask: str, index: int) -> bytes:
        if ask in _MODULES:
            return front_end.source(_MODULES[ask]).encode()
        if ask in _LONG:
            return self._go_on(index)
        if ask == "stop":
            self._long.pop(index).stop()
            return b"null"
        return self._repeat(_REPEATING[ask], index) if ask in _REPEATING else feed.block(trace, ask, index)

    def _go_on(self, number: int) -> bytes:
        """Go on for a moment with long work, and return its result, or how far it is."""
        work = self._long.pop(number)
        try:
            if work.go_on():
                return work.result
        except KeyboardInterrupt:
            raise RuntimeError("The kernel was interrupted.") from None
        self._long[number] = work
        return msgspec.json.encode(Unfinished(work.done, work.total))

    def _repeat(self, method: str, index: int) -> bytes:
        """Do the next part of what repeats the recorded calls, and return its state, as JSON. `index` 0 starts anew.
        Between two of these messages the kernel has time for others, and the person can stop."""
        if index == 0:
            start = getattr(self._trace, method, None)
            if start is None:
                raise ValueError("The calls of this recording were not kept, so they cannot be repeated.")
            self._repeating[method] = start()
        try:
            state = host.between_cells(lambda: next(self._repeating.get(method, iter(()))))
            return msgspec.json.encode(state)
        except KeyboardInterrupt:
            self._repeating.pop(method, None)
            raise RuntimeError("The kernel was interrupted.") from None
        except StopIteration:
            raise RuntimeError("Nothing is left to be repeated.") from None

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the explorer's place in the output, with the static overview for where no explorer can be shown."""
        return self.bundle(str(self._trace), summary.html_summary(self._trace, self.note), **kwargs)

    def bundle(self, text: str, html: str, **kwargs: Any) -> Any:
        """Return the explorer's place in the output, with `text` and `html` for where no explorer can be shown."""
        shell = get_ipython()
        if host.needs_view(shell):
            data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
            return {**data, "text/html": html, "text/plain": text}, metadata
        usual = {name: self.traits()[name].default() for name in _SETTINGS}
        settings = {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) != usual[name]}
        shown = output.html(self._trace, self._place, settings, self._embed, shell, before=self._before, static=html)
        return {"text/html": shown, "text/plain": text}, {}

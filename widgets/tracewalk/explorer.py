"""Provide the explorer as a widget, which sends the recording to the front end piece by piece, on request.

Messages from the front end: `{id, ask: "meta" | "window" | "chunk" | "fixes", index}`. Answers: `{id}` with one
buffer of JSON, or `{id, error}` with a sentence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import msgspec
import traitlets

from tracer_core.recording import Trace as Recording
from tracewalk import feed, summary
from tracewalk.size import HEIGHT, LEAST_HEIGHT

STATIC = Path(__file__).parent / "static"


class Explorer(anywidget.AnyWidget):
    """Step through a trace. `position` is the step shown, `trace.steps[position]`; set it, read it, or link it.

    Args:
        trace: the recording.
        position: the first step shown.
        height: of the whole explorer, in pixels.
        failed_attempts: also show the attempts that were abandoned and restarted.
        my_code: packages, modules, folders or files that count as your own code, besides your files. The explorer
            folds the frames of all others, and steps over them.
    """

    _esm = STATIC / "explorer.js"
    _css = STATIC / "explorer.css"

    position = traitlets.Int(0, help="the step shown, from 0").tag(sync=True)
    height = traitlets.Int(HEIGHT, min=LEAST_HEIGHT, help="of the whole explorer, in pixels").tag(sync=True)
    failed_attempts = traitlets.Bool(False, help="show attempts that were abandoned").tag(sync=True)

    my_code = traitlets.List(traitlets.Unicode(), help="what counts as the user's own, too").tag(sync=True)

    def __init__(self, trace: Recording, **traits: Any) -> None:
        self._trace = trace
        super().__init__(**traits)
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
            data = self._fixes() if ask == "fixes" else feed.block(self._trace, ask, index)
        except Exception as error:  # noqa: BLE001 - shown in the explorer, where the person looks
            self.send({"id": number, "error": f"{type(error).__name__}: {error}"})
        else:
            self.send({"id": number}, buffers=[data])

    def _fixes(self) -> bytes:
        """Return what the changes do that are tried for a break or a recompilation, as JSON."""
        try_fixes = getattr(self._trace, "try_fixes", None)
        if try_fixes is None:
            raise ValueError("The calls of this recording were not kept, so they cannot be repeated.")
        return msgspec.json.encode(try_fixes())

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget, with the summary for places where no script runs."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**data, "text/html": summary.html_summary(self._trace), "text/plain": str(self._trace)}, metadata

"""The exceptions that the engine raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracer_core.reasons import REASONS, Reason

if TYPE_CHECKING:
    from tracer_core.names.where import Where


class TracewalkError(Exception):
    """Base of all errors of this package."""


class Unsupported(TracewalkError):
    """The graph cannot continue here. With `fullgraph=True` the user sees it, else the graph breaks.

    Args:
        reason_id: a key of `tracer_core.reasons.REASONS`.
        details: values for the fields of the reason's sentence.
    """

    def __init__(self, reason_id: str, /, **details: Any) -> None:
        self.reason: Reason = REASONS[reason_id]
        self.reason_id = reason_id
        self.details = details
        self.message = self.reason.filled(details)
        # Where it was found: the innermost symbolic frame, and the lines that were running.
        self.frame: Any = None
        self.where: Where | None = None
        # Where it is about the body of a higher-order operator: what cannot be traced in there.
        self.inner: Unsupported | None = None
        super().__init__(self.message)

    @property
    def hints(self) -> tuple[str, ...]:
        """What to try. (Bodies inside bodies have a hint in common.)"""
        inner = () if self.inner is None else self.inner.hints
        return tuple(dict.fromkeys((*inner, *self.reason.hints)))

    def say(self, message: str) -> None:
        """Set the message."""
        self.message, self.args = message, (message,)

    def at(self, where: Where | None) -> Unsupported:
        """Set the line that causes it, if it has none yet, and return it."""
        self.where = self.where or where
        return self

    def placed(self) -> Unsupported:
        """Return the error as the user sees it: with the line that causes it and something to try."""
        place = "" if self.where is None else f"\n{self.where.text}"
        hints = "".join(f"\n  Try: {hint}" for hint in self.hints)
        self.args = (f"{self.message}{place}{hints}",)
        return self.with_traceback(None)


class InternalError(TracewalkError):
    """The engine itself failed; the user's program is not to blame."""


class BackendError(TracewalkError):
    """The back end failed on a graph; neither the user's program nor the engine is to blame."""


class TraceAgain(TracewalkError):
    """The frame is traced again from its start, with the new facts in the history of its code."""


class FloatsMustBeConstants(TraceAgain):
    """The back end cannot take this graph's floats as symbols; next time they are constants."""


class NumpyWarns(TracewalkError):
    """A graph found that NumPy would warn where torch does not; plain Python runs instead, and the user never sees
    this."""


class NoticeWarning(UserWarning):
    """The graph does not break, but depends on something that the user may not know of."""


class CacheLimitWarning(RuntimeWarning):
    """A function was compiled so often that further calls that fit no version run as plain Python."""


class FaultWarning(RuntimeWarning):
    """The engine failed on a function, which runs as plain Python instead."""


class BackendWarning(RuntimeWarning):
    """A back end's compiled code raised where its graph, run eagerly, does not; plain Python runs instead."""

"""An observer that simply copies everything at every step: what the compact recording must agree with."""

from __future__ import annotations

from typing import Any

from tracer_core.observer import Observer


def picture(tracker: Any, depth: int = 2) -> Any:
    """A tracker's text and those of its parts, as plain data."""
    parts = [(label, picture(part, depth - 1)) for label, part in tracker.parts()] if depth else []
    return (tracker.describe(), parts)


def view(frame: Any) -> Any:
    return (
        [picture(one) for one in frame.stack],
        {name: picture(one) for name, one in frame.locals.items()},
        {name: picture(one) for name, one in frame.cells.items()},
    )


class Naive(Observer):
    """`before[i]` and `after[i]` are whole states; `after[i]` is None if the step did not end."""

    def __init__(self) -> None:
        self.before: list[Any] = []
        self.after: list[Any] = []
        self.lines: list[int | None] = []
        self.opnames: list[str] = []
        self.frames: list[int] = []
        self._open: dict[int, int] = {}

    def on_step_start(self, frame: Any, instruction: Any) -> None:
        self._open[frame.uid] = len(self.before)
        self.before.append(view(frame))
        self.after.append(None)
        self.opnames.append(instruction.origin.opname)
        self.lines.append(None if instruction.span is None else instruction.span.line)
        self.frames.append(frame.uid)

    def on_step_end(self, frame: Any, instruction: Any) -> None:
        self.after[self._open[frame.uid]] = view(frame)


class Both(Observer):
    """Tells two observers of everything."""

    def __init__(self, *observers: Observer) -> None:
        self.observers = observers


def _forward(name: str) -> Any:
    def tell(self: Both, *args: Any) -> None:
        for observer in self.observers:
            getattr(observer, name)(*args)

    return tell


for _name in [name for name in vars(Observer) if name.startswith("on_")]:
    setattr(Both, _name, _forward(_name))

"""What a recording shows, as plain data like the naive observer's; and where the example's functions start."""

from __future__ import annotations

from typing import Any

from tests.recording.synthetic import functions
from tracer_core.recording.steps import Value, View

#: the line of each function's first line, by name
LINES = {name: functions()[name].__code__.co_firstlineno for name in ("layer", "number", "model", "counted")}


def seen(value: Value, depth: int = 2) -> Any:
    return (value.text, [(label, seen(part, depth - 1)) for label, part in value.parts] if depth else [])


def seen_view(view: View | None) -> Any:
    if view is None:
        return None
    return (
        [seen(value) for value in view.stack],
        {name: seen(value) for name, value in view.locals.items()},
        {name: seen(value) for name, value in view.cells.items()},
    )

"""`@polyfills`: which Python code of ours stands in for which library function or class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

P = TypeVar("P", bound=Callable[..., Any])

_stand_ins: dict[Any, Any] = {}


def polyfills(*originals: Any) -> Callable[[P], P]:
    """Register a Python function (or iterator class) that is walked where the program calls one of `originals`.

    A class stands in for an iterator type. Its method `real()`, run by generated code, gives the real iterator in the
    same state, for where one is alive when the graph ends; without it the frame is left to Python there.
    """

    def register(stand_in: P) -> P:
        for original in originals:
            _stand_ins[original] = stand_in
        return stand_in

    return register


def stand_in_for(original: Any) -> Any | None:
    """Our Python for `original`, or None."""
    try:
        return _stand_ins.get(original)
    except TypeError:  # unhashable callable
        return None

"""Notice warnings that calls during the trace give, so that plain Python gives them, at the user's line.

While `Noticing` is on, the first of Python's filters is one of ours. It notes a warning of this thread that others
would let through, and has it ignored. Python consults the filters before it notes where a warning was given, so
nothing is left of it: the instruction that warned then runs as plain Python, as often as its filters allow.
"""

from __future__ import annotations

import functools
import re
import threading
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType, TracebackType
from typing import Any, TypeVar

import torch

from tracer_core.host.process_state import restore_after_tracing, restore_attributes_after_tracing

F = TypeVar("F", bound=Callable[..., Any])


class _Now(threading.local):
    """The program's module that this thread traces, None for none; text and module of the warning being checked."""

    program: str | None = None
    text = ""
    module = ""


_now = _Now()
restore_attributes_after_tracing(_now, "program")
noticed: list[str] = []
"""The warnings noticed since they were last taken. (Frames are traced by one thread at a time.)"""
_patterns: Any = getattr(re, "_cache", {})
_known_patterns: set[Any] = set()


def take() -> str:
    """Return the first of the noticed warnings. Patterns that `re` has compiled meanwhile are forgotten, since it
    warns only when it compiles one."""
    first = noticed[0]
    noticed.clear()
    for key in [key for key in _patterns if key not in _known_patterns]:
        _patterns.pop(key, None)
    return first


class _AnyText:
    """The pattern for messages in our filter."""

    def match(self, text: str) -> bool:
        _now.text = text
        return _now.program is not None


class _AnyModule:
    """The pattern for modules in our filter. Calls by our own code count as the program's."""

    def match(self, module: str) -> bool:
        _now.module = (_now.program or "") if module.startswith("tracer_core.") else module
        return True


_ABOUT_FAKES = ("There is a performance drop because we have not yet implemented the batching rule",)
"""How warnings begin that say how an operation runs on the given tensors. Where `vmap` runs it row by row on fakes,
it may have another way for real tensors; where it has none, it warns when the graph runs, as in plain Python."""


class _ShownCategory(type):
    def __subclasscheck__(cls, category: type) -> bool:
        if not _shown(_now.text, category, _now.module):
            return False
        if not _now.text.startswith(_ABOUT_FAKES):
            noticed.append(f"{category.__name__}: {_now.text}")
        return True


class _Shown(Warning, metaclass=_ShownCategory):
    """The categories of warnings that the filters after ours let through."""


_FILTER: Any = ("ignore", _AnyText(), _Shown, _AnyModule(), 0)


def _shown(text: str, category: type, module: str) -> bool:
    """Return whether a warning from a module is not ignored."""
    for entry in list(warnings.filters):
        if entry is _FILTER:
            continue
        action, message, wanted, place, _ = entry
        fits = _matches(message, text) and _matches(place, module)
        if fits and issubclass(category, wanted):
            return action != "ignore"
    return True


def _matches(pattern: re.Pattern[str] | str | None, text: str) -> bool:
    if pattern is None:
        return True
    return pattern == text if isinstance(pattern, str) else pattern.match(text) is not None


class Noticing:
    """Notice the warnings given by calls that the trace makes for code in the module `program`."""

    __slots__ = ("_before", "_filters", "_program")

    def __init__(self, program: str) -> None:
        self._program = program

    def __enter__(self) -> None:
        self._before = _now.program
        _now.program = self._program
        noticed.clear()
        _known_patterns.clear()
        _known_patterns.update(_patterns)
        filters: Any = warnings.filters
        self._filters = filters
        self._filters.insert(0, _FILTER)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _now.program = self._before
        _take_out(self._filters)


def _take_out(filters: Any) -> None:
    """Remove our filter from Python's, whatever its position is by now."""
    position = next((at for at, entry in enumerate(filters) if entry is _FILTER), None)
    if position is not None:
        del filters[position]


restore_after_tracing(lambda: warnings.filters, _take_out)


class WarningAlways:
    """Have torch give its once-only warnings every time, without counting them as given."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = torch.is_warn_always_enabled()
        torch.set_warn_always(True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        torch.set_warn_always(self._before)


def hidden_from_stacklevel(function: F) -> F:
    """Decorate a Python function whose frames `stacklevel=` of `warnings` and `logging` is not to count. Both skip
    the frames of the import machinery, which they recognize by words in the file name (CPython 3.11,
    `is_internal_frame` of `Python/_warnings.c` and of `logging`)."""
    assert isinstance(function, FunctionType)
    function.__code__ = _hidden_code(function.__code__)
    return function


@functools.cache
def _hidden_code(code: CodeType) -> CodeType:
    return code.replace(co_filename="<tracewalk, internal like importlib._bootstrap>")

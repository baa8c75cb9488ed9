"""Warnings that what we call while tracing gives: noticed, so that plain Python gives them, from the user's line.

While `Noticing` is on, the first of Python's filters is one of ours. A warning of this thread that the others would
let through becomes an error, and is noted. Python asks the filters before it writes down where a warning was given,
so nothing is left of it: the instruction that warned then runs as plain Python, as often as its filters say.
"""

from __future__ import annotations

import re
import threading
import warnings
from types import TracebackType
from typing import Any

import torch


class _Noticed(threading.local):
    module: str | None = None
    text = ""
    warning = ""


_noticed = _Noticed()


class _AnyText:
    """Stands in a filter where a compiled pattern does."""

    def match(self, text: str) -> bool:
        _noticed.text = text
        return _noticed.module is not None


class _ShownCategory(type):
    def __subclasscheck__(cls, category: type) -> bool:
        if not _shown(_noticed.text, category, _noticed.module or ""):
            return False
        _noticed.warning = f"{category.__name__}: {_noticed.text}"
        return True


class _Shown(Warning, metaclass=_ShownCategory):
    """The categories of warnings that the filters after ours let through."""


_FILTER: Any = ("error", _AnyText(), _Shown, None, 0)


def _shown(text: str, category: type, module: str) -> bool:
    """Whether a warning of the program's module is more than ignored."""
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
    """Inside, warnings of code in `module` are noticed."""

    __slots__ = ("_before", "_filters", "_module")

    def __init__(self, module: str) -> None:
        self._module = module

    def __enter__(self) -> None:
        self._before = _noticed.module
        _noticed.module, _noticed.warning = self._module, ""
        self._filters: Any = warnings.filters
        self._filters.insert(0, _FILTER)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _noticed.module = self._before
        position = next((at for at, entry in enumerate(self._filters) if entry is _FILTER), None)
        if position is not None:
            del self._filters[position]


def noticed() -> str:
    """The warning noticed since this was last asked, as text; empty if there was none."""
    warning, _noticed.warning = _noticed.warning, ""
    return warning


class WarningAlways:
    """Inside, torch gives also those warnings that it gives once, and does not count them as given."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = torch.is_warn_always_enabled()
        torch.set_warn_always(True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        torch.set_warn_always(self._before)

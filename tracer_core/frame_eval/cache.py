"""The compiled versions of each code object, and what keeps a code from being compiled again.

Versions of one code under one hook live in the dict that the C side keeps for the code, so they die with it. Nothing
here refers strongly to the code: code objects are not garbage collected, a cycle through one would never be freed.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from tracer_core.frame_eval import c_frame
from tracer_core.guards import CompiledGuards

_known: dict[int, weakref.ref[CodeType]] = {}


@dataclass(slots=True, eq=False, weakref_slot=True)
class Version:
    """One compiled version: its guards, the code that runs, and watches on objects it cannot live without."""

    number: int
    guards: CompiledGuards
    code: CodeType | None
    managers: list[weakref.ref[c_frame.GuardManager]] = field(default_factory=list)
    watches: list[weakref.ref[Any]] = field(default_factory=list)

    def drop(self) -> None:
        """Never reuse it again, and free its code."""
        self.code = None
        for reference in self.managers:
            manager = reference()
            if manager is not None:
                manager.drop()


@dataclass(slots=True, eq=False, weakref_slot=True)
class CodeState:
    """What one hook knows about one code. `stopped` is the reason (id, message) not to compile it any more.
    Versions are numbered from 1; `last_number` is that of the last one made. `idle` counts the frames so far that had
    nothing to do with tensors."""

    versions: list[Version] = field(default_factory=list)
    history: dict[str, Any] = field(default_factory=dict)
    stopped: tuple[str, str] | None = None
    last_number: int = 0
    idle: int = 0

    def add(self, version: Version) -> None:
        """Keep `version` until one of the objects that its guards compare with dies."""
        self.versions.append(version)
        self.last_number = version.number
        died = functools.partial(_died, weakref.ref(self), weakref.ref(version))
        for reference in version.guards.mortals():
            mortal = reference()
            if mortal is None:
                self.remove(version)
                return
            version.watches.append(weakref.ref(mortal, died))

    def remove(self, version: Version) -> None:
        if version in self.versions:
            self.versions.remove(version)
        version.drop()

    def holding(self, f_locals: Mapping[str, Any]) -> Version | None:
        """A version whose guards hold."""
        return next((v for v in self.versions if v.code is not None and v.guards.holds(f_locals)), None)


def _died(
    state: weakref.ref[CodeState],
    version: weakref.ref[Version],
    _: weakref.ref[Any],
    at_exit: Callable[[], bool] = sys.is_finalizing,
) -> None:
    if at_exit():  # the modules are already emptied
        return
    alive_state, alive_version = state(), version()
    if alive_state is not None and alive_version is not None:
        alive_state.remove(alive_version)


def remember(code: CodeType) -> None:
    """Note that the C side keeps something for `code`, for `forget_all`."""
    key = id(code)
    if key not in _known:
        _known[key] = weakref.ref(code, lambda _: _known.pop(key, None))


def leave_to_python(code: CodeType, *, recursive: bool) -> None:
    """Never ask about frames of `code` again, nor, if `recursive`, about what runs inside them."""
    remember(code)
    c_frame.mark(code, c_frame.SKIP_ALL if recursive else c_frame.SKIP)


def forget_all() -> None:
    """Drop all versions and marks of all codes."""
    for reference in list(_known.values()):
        code = reference()
        if code is not None:
            c_frame.forget(code)
    _known.clear()

"""Torch's settings as one attempt changes them.

While a program is traced, its settings are changed for real, so that fakes come out as the real values will; `finish`
tells which settings the program left changed and restores all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tracer_core.host.global_state import ON_DEMAND, PROPERTIES


@dataclass(slots=True, eq=False)
class Entered:
    """A context manager the program is in.

    Args:
        manager: the manager's tracker.
        leave: leaves it for real, in the trace.
        may_stay: whether a graph that leaves it open, and settings put back, are all there is to being in it.
        root_step: the number of the root frame's instruction that entered it.
        node: the graph's node that enters it, if there is one.
        name: what people call it, where that is not its manager's type.
    """

    manager: Any
    leave: Callable[[], object]
    may_stay: bool
    root_step: int
    node: Any = None
    name: str = ""


@dataclass(slots=True)
class Change:
    """A setting that the program leaves changed."""

    setting: str
    value: Any

    @property
    def write(self) -> Callable[[Any], object]:
        write = PROPERTIES[self.setting].write
        assert write is not None
        return write


@dataclass(frozen=True, slots=True)
class SettingsMark:
    """The current values of the settings touched so far, and the managers that the program is in."""

    values: dict[str, Any]
    entered: int
    held: int


@dataclass(slots=True)
class TracedSettings:
    """`start` has the settings touched so far, as they were when the frame started; `entered` the managers that the
    program is in, the innermost last; `left` the settings that it leaves changed, once that is known. The first
    `held` managers cannot be left, since they could not be entered again."""

    start: dict[str, Any] = field(default_factory=dict)
    entered: list[Entered] = field(default_factory=list)
    left: list[Change] = field(default_factory=list)
    held: int = 0

    def touch(self, *settings: str) -> None:
        """Note that the program is about to change these settings. (Those that are read on demand belong together:
        all are noted.)"""
        if self.start.keys() >= set(settings):
            return
        names: Iterable[str] = settings
        if any(not PROPERTIES[name].always for name in settings):
            names = (*settings, *ON_DEMAND)
        for name in names:
            if name not in self.start:
                self.start[name] = PROPERTIES[name].read()

    def differing(self) -> dict[str, Any]:
        """Return the settings that differ from the start, with their values now."""
        now = {name: PROPERTIES[name].read() for name in self.start}
        return {name: value for name, value in now.items() if value != self.start[name]}

    def now(self) -> tuple[tuple[str, Any], ...]:
        """Return the settings touched so far with their values now; the others are as they were at the start."""
        return tuple([(name, PROPERTIES[name].read()) for name in self.start])

    def changed(self, setting: str) -> bool:
        """Return whether a setting differs from the start."""
        return setting in self.start and PROPERTIES[setting].read() != self.start[setting]

    def innermost(self, manager: Any) -> Entered | None:
        """Return the manager last entered, if it is this one and may be left."""
        last = self.entered[-1] if len(self.entered) > self.held else None
        return last if last is not None and last.manager is manager else None

    def leave(self, entered: Entered) -> None:
        self.entered.remove(entered)
        entered.leave()

    def finish(self) -> None:
        """Finish the attempt: note the settings that it leaves changed, of those restored by setting them, and
        restore all."""
        self.left = [
            Change(name, value) for name, value in self.differing().items() if PROPERTIES[name].write is not None
        ]
        self.restore()

    def restore(self) -> None:
        """Restore all settings to their values when the frame started."""
        self.roll_back(SettingsMark(dict(self.start), 0, 0))

    def mark(self) -> SettingsMark:
        mark = SettingsMark({name: PROPERTIES[name].read() for name in self.start}, len(self.entered), self.held)
        self.held = len(self.entered)
        return mark

    def keep(self, mark: SettingsMark) -> None:
        """Discard the mark: the trace does not roll back to it."""
        self.held = mark.held

    def roll_back(self, mark: SettingsMark) -> None:
        """Restore all settings to their values at the mark."""
        self.held = mark.held
        while len(self.entered) > mark.entered:
            self.entered.pop().leave()
        wanted = {**self.start, **mark.values}
        # Some settings change others: setting all twice is enough.
        for _ in range(2):
            for name, value in wanted.items():
                write = PROPERTIES[name].write
                if write is not None and PROPERTIES[name].read() != value:
                    write(value)
        self.start = {name: self.start[name] for name in mark.values}

"""Ctrl-C at a chosen place: as Python lets a signal's handler run, after calls, at jumps back and where a function
starts, in all Python code that runs, torch's and ours."""

from __future__ import annotations

import dis
import functools
import signal
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tracer_core.frame_eval import c_frame

Place = tuple[CodeType, int]
"""A code, and the offset of the instruction in it after which the signal comes."""

_LOOKS_AT_SIGNALS = ("CALL", "CALL_FUNCTION_EX", "RESUME", "JUMP_BACKWARD")


@functools.cache
def _offsets(code: CodeType) -> dict[int, int]:
    """The instructions after which handlers run, each with the one that comes next (unless it raises). What handlers
    raise belongs to the instruction; here it can only be raised at the next one, so those are left out where the two
    are in different blocks."""
    table = dis._parse_exception_table(code)  # type: ignore[attr-defined]

    def block(offset: int) -> Any:
        return next((entry.target for entry in table if entry.start <= offset < entry.end), None)

    instructions = list(dis.get_instructions(code))
    return {
        one.offset: one.argval if one.opname == "JUMP_BACKWARD" else after.offset
        for one, after in zip(instructions, instructions[1:], strict=False)
        if one.opname in _LOOKS_AT_SIGNALS
        and (one.opname == "JUMP_BACKWARD" or block(one.offset) == block(after.offset))
    }


class _Tracing:
    """Calls `reach` at each place in codes that are `wanted`."""

    def __init__(self, wanted: Callable[[CodeType], bool], reach: Callable[[Place], None]) -> None:
        self.wanted = wanted
        self.reach = reach
        self.last: dict[FrameType, int] = {}

    def start(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self.wanted(frame.f_code):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self.step

    def step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            self.last.pop(frame, None)
        elif event == "opcode":
            before = self.last.get(frame)
            self.last[frame] = frame.f_lasti
            if before is not None and _offsets(frame.f_code).get(before) == frame.f_lasti:
                self.reach((frame.f_code, before))
        return self.step

    def run(self, function: Callable[[], Any]) -> Any:
        before = sys.gettrace()
        sys.settrace(self.start)
        try:
            return function()
        finally:
            sys.settrace(before)
            self.last.clear()


for _function in (_Tracing.start, _Tracing.step):
    c_frame.mark(
        _function.__code__, c_frame.SKIP
    )  # (All that these call would be left to Python too, and what raises.)
c_frame.mark(_offsets.__wrapped__.__code__, c_frame.SKIP_ALL)


def places(function: Callable[[], Any], wanted: Callable[[CodeType], bool]) -> dict[Place, int]:
    """The places where a signal may come while `function` runs, in the order in which they are reached, and how often
    each is."""
    found: dict[Place, int] = {}

    def reach(place: Place) -> None:
        found[place] = found.get(place, 0) + 1

    c_frame.mark(reach.__code__, c_frame.SKIP)
    _Tracing(wanted, reach).run(function)
    return found


def interrupted(function: Callable[[], Any], place: Place, number: int, time: int = 1) -> Any:
    """The result of `function`, which gets the signal when the place is reached for the `time`-th time."""
    left = time

    def reach(reached: Place) -> None:
        nonlocal left
        left -= reached == place
        if not left:
            left = -1
            sys.settrace(None)
            signal.raise_signal(number)

    c_frame.mark(reach.__code__, c_frame.SKIP)
    code = place[0]
    return _Tracing(lambda each: each is code, reach).run(function)

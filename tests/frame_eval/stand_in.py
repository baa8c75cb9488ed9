"""Stand-ins for tracing, which keep the code of a frame, guard its arguments, and log what they were called with; and
for back ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from tests.guards.static import static_tensor
from tracer_core import Observer
from tracer_core.frame_eval.convert import use_tracer
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame
from tracer_core.guards import Guard, is_constant, make
from tracer_core.sources import LocalSource

Answer = CompiledFrame | SkippedFrame


def guards_on_arguments(frame: FrameInput) -> list[Guard]:
    guards = []
    for name, value in frame.locals.items():
        source = LocalSource(name)
        if isinstance(value, torch.Tensor):
            guards.append(static_tensor(source, value))
        elif is_constant(value):
            guards.append(make.constant(source, value))
        else:
            guards.append(make.identity(source, value))
    return guards


def renamed(frame: FrameInput) -> CompiledFrame:
    """The same code, called `<name>_<version>`."""
    return CompiledFrame(
        frame.code.replace(co_name=f"{frame.code.co_name}_{frame.version}"), guards_on_arguments(frame)
    )


class Tracer:
    """Logs the frames it is asked about as (function, version), and answers with `answer`."""

    def __init__(self, answer: Callable[[FrameInput], Answer] = renamed) -> None:
        self.log: list[tuple[str, int]] = []
        self.frames: list[FrameInput] = []
        self._answer = answer

    def __call__(self, frame: FrameInput) -> Answer:
        self.log.append((frame.code.co_name, frame.version))
        self.frames.append(frame)
        return self._answer(frame)


@contextmanager
def tracing(answer: Callable[[FrameInput], Answer] = renamed) -> Iterator[Tracer]:
    tracer = Tracer(answer)
    with use_tracer(tracer):
        yield tracer


class Log(Observer):
    """Writes the events of frame evaluation down, one line each."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def on_call(self, code: Any, module: str | None = None) -> None:
        self.lines.append(f"call {code.co_name}")

    def on_cache_check(self, code: Any, version: int, failed: Guard | None, seen: str) -> None:
        self.lines.append(
            f"{code.co_name} {version} reused"
            if failed is None
            else f"{code.co_name} {version} {failed.text}: {seen}"
        )

    def on_skip(self, code: Any, reason_id: str, message: str) -> None:
        self.lines.append(f"skip {code.co_name} {reason_id}")

    def on_compile_start(self, code: Any, version: int) -> None:
        self.lines.append(f"compile {code.co_name} {version}")

    def on_compile_end(self, outcome: str, seconds: float) -> None:
        assert seconds >= 0
        self.lines.append(outcome)

    def on_fault(self, text: str) -> None:
        self.lines.append(f"fault {text.splitlines()[-1]}")


class Counting:
    """A back end that counts the graphs it is given."""

    def __init__(self) -> None:
        self.graphs = 0

    def __call__(self, gm: Any, inputs: Any) -> Any:
        self.graphs += 1
        return gm.forward

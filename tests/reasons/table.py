"""The table of programs, and how one is run."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch._dynamo.exc import TorchDynamoException

import tracer_core
from tracer_core.observer import Observer, observing
from tracer_core.reasons import REASONS


@dataclass(slots=True)
class Case:
    """A program, and how to run it: compiled and called with each of `calls`, or as it stands."""

    run: Callable[..., Any]
    calls: Callable[[], list[tuple[Any, ...]]] | None
    options: dict[str, Any] = field(default_factory=dict)


CASES: dict[str, Case] = {}


def given_by(
    reason_id: str,
    calls: Callable[[], list[tuple[Any, ...]]] = lambda: [(torch.ones(3),)],
    **options: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated function, compiled with `options` and called with each of `calls`, gives the reason."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        assert reason_id not in CASES, f"two programs for {reason_id}"
        CASES[reason_id] = Case(fn, calls, {"backend": "eager", **options})
        return fn

    return register


def given_when(reason_id: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Something that the decorated function compiles and calls gives the reason."""

    def register(fn: Callable[[], Any]) -> Callable[[], Any]:
        assert reason_id not in CASES, f"two programs for {reason_id}"
        CASES[reason_id] = Case(fn, None)
        return fn

    return register


TOLD_OTHERWISE = REASONS["told-otherwise"].sentence.partition("{")[0]


class _Listener(Observer):
    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def on_break(self, unsupported: Any, frame: Any, instruction: Any) -> None:
        self.told.append((unsupported.reason_id, unsupported.message))
        if unsupported.inner is not None:
            self.told.append((unsupported.inner.reason_id, unsupported.inner.message))

    def on_skip(self, code: CodeType, reason_id: str, message: str) -> None:
        self.told.append((reason_id, message))

    def on_attempt_end(self, outcome: str, message: str) -> None:
        if message.startswith(TOLD_OTHERWISE):  # said of the attempt that was given up, not of a break
            self.told.append(("told-otherwise", message))

    def on_notice(self, notice: Any) -> None:
        self.told.append((notice.reason_id, notice.message))


def reasons_given(case: Case) -> list[tuple[str, str]]:
    """The id and the message of each reason that running `case` gives. What the program raises is no concern here:
    that it does as plain Python does is shown by the programs of `conformance`."""
    listener = _Listener()
    with observing(listener), warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        run = case.run if case.calls is None else tracer_core.compile(case.run, **case.options)
        for call in [()] if case.calls is None else case.calls():
            with contextlib.suppress(ValueError, TypeError, RuntimeError, ImportError, TorchDynamoException):
                run(*call)
    return listener.told

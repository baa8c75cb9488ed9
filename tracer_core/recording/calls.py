"""Calls of known codes, and which guard of which version did not hold."""

from __future__ import annotations

from typing import Any

from tracer_core.recording import schema
from tracer_core.recording.facts import clean
from tracer_core.recording.losses import Losses


def guard_text(losses: Losses, guard: Any) -> str:
    """What the guard demands; its kind where the engine's words for it fail."""
    return losses.attempt("the text of a guard", lambda: clean(guard.text), clean(guard.kind))


class CallTable:
    """All calls of a recording."""

    def __init__(self, losses: Losses) -> None:
        self.records: list[schema.Call] = []
        self._losses = losses
        self._last_of: dict[int, schema.Call] = {}
        self._guards: dict[int, tuple[Any, int]] = {}
        self._of_attempt: list[int] = []

    def start(self, code: int) -> schema.Call:
        """A frame of `code` starts."""
        last = self._last_of.get(code)
        number = last.number + 1 if last is not None else 1
        call = schema.Call(len(self.records), code, number, [], "skipped", None, None)
        self.records.append(call)
        self._last_of[code] = call
        return call

    def check(
        self,
        code: int,
        version: int,
        failed: Any,
        seen: str,
        place: schema.Place | None = None,
        library: schema.Place | None = None,
    ) -> None:
        """A version was tried at the code's last call. The guard that failed was asked for at `place`."""
        call = self._last_of.get(code) or self.start(code)
        known = self._guards.get(id(failed)) if failed is not None else None
        call.checks.append(
            schema.Check(
                version=version,
                reused=failed is None,
                failed=known[1] if known is not None else None,
                text="" if failed is None else guard_text(self._losses, failed),
                seen=clean(seen, 500),
                place=place,
                library=library,
            )
        )
        if failed is None:
            call.outcome = "reused"
            call.version = version

    def compile(self, compilation: schema.Compilation) -> schema.Call | None:
        """The code's last call makes `compilation` start. None if no call of it was seen, or that one is decided."""
        call = self._last_of.get(compilation.code)
        if call is None or call.compilation is not None or call.outcome == "reused":
            return None
        call.compilation = compilation.id
        call.version = compilation.version
        return call

    def skip(self, code: int, message: str) -> None:
        """The code's last call, and all later ones, are left to plain Python."""
        call = self._last_of.get(code) or self.start(code)
        call.outcome = "skipped"
        call.version = None
        call.message = message

    def know_guard(self, guard: Any, record: schema.Guard) -> None:
        """`guard` may later fail, and is then `record`."""
        self._guards[id(guard)] = (guard, record.id)
        self._of_attempt.append(id(guard))

    def end_attempt(self, outcome: str) -> None:
        """An attempt is over: its guards fail later only where it was compiled."""
        if outcome != "compiled":
            for number in self._of_attempt:
                self._guards.pop(number, None)
        self._of_attempt.clear()

    def release(self) -> None:
        """Let go of the engine's objects."""
        self._guards.clear()

"""Record the calls of known codes, and which guard of which version failed."""

from __future__ import annotations

from typing import Any

from tracer_core.recording import schema
from tracer_core.recording.facts import clean
from tracer_core.recording.losses import Losses


def guard_text(losses: Losses, guard: Any) -> str:
    """Return the text of a guard; its kind where the engine cannot produce the text."""
    try:
        return clean(guard.text)
    except Exception as error:  # noqa: BLE001  whatever it is must not stop the user's program
        losses.note("the text of a guard", error)
        return clean(guard.kind)


class CallTable:
    """All calls of a recording."""

    def __init__(self, losses: Losses) -> None:
        self.records: list[schema.Call] = []
        self._losses = losses
        self._last_of: dict[int, schema.Call] = {}
        self._guards: dict[int, tuple[Any, int]] = {}
        self._of_attempt: list[int] = []

    def start(self, code: int) -> schema.Call:
        """Record that a frame of `code` starts."""
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
        """Record that a version was tried at the code's last call. The failed guard was installed at `place`."""
        call = self._last_of.get(code) or self.start(code)
        call.checks.append(
            schema.Check(
                version=version,
                reused=failed is None,
                failed=None if failed is None else self.number_of(failed),
                text="" if failed is None else guard_text(self._losses, failed),
                seen=clean(seen, 500),
                place=place,
                library=library,
            )
        )
        if failed is None:
            call.outcome = "reused"
            call.version = version

    def fail(self, code: int, version: int, failures: list[schema.FailedGuard]) -> None:
        """Record all guards that failed when a version was tried last."""
        call = self._last_of.get(code)
        if call is not None and call.checks and call.checks[-1].version == version:
            call.checks[-1].failures = failures

    def number_of(self, guard: Any) -> int | None:
        """Return the id of the record of `guard`, if it is in this recording."""
        known = self._guards.get(id(guard))
        return None if known is None else known[1]

    def compile(self, compilation: schema.Compilation) -> schema.Call | None:
        """Return the code's last call, which starts `compilation`. None if there is none, or its outcome is known."""
        call = self._last_of.get(compilation.code)
        if call is None or call.compilation is not None or call.outcome == "reused":
            return None
        call.compilation = compilation.id
        call.version = compilation.version
        return call

    def skip(self, code: int, reason_id: str, message: str) -> None:
        """Record that the code's last call, and all later ones, run as plain Python."""
        call = self._last_of.get(code) or self.start(code)
        call.outcome = "skipped"
        call.version = None
        call.message = message
        call.reason_id = reason_id

    def know_guard(self, guard: Any, record: schema.Guard) -> None:
        """Remember the record of `guard`, which may fail later."""
        self._guards[id(guard)] = (guard, record.id)
        self._of_attempt.append(id(guard))

    def end_attempt(self, outcome: str) -> None:
        """End an attempt: its guards can fail later only if it was compiled."""
        if outcome != "compiled":
            for number in self._of_attempt:
                self._guards.pop(number, None)
        self._of_attempt.clear()

    def release(self) -> None:
        """Release the engine's objects."""
        self._guards.clear()

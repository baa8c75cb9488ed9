"""`Candidate`, one change to try, and the table of functions that propose them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tracer_core.fixes.kept import KeptCalls
from tracer_core.fixes.repeating import Change
from tracer_core.recording import Trace, schema
from tracer_core.recording.recompiling import Recompilation

Problem = schema.Break | Recompilation


@dataclass(frozen=True)
class Candidate:
    """One change: its name, its `diff` for people, and how calls are repeated with it. `why_not` says in a
    sentence why they cannot be. `rehearsal` runs the code that the change adds as plain Python, where what it would
    change outside the process is noticed."""

    name: str
    diff: str = ""
    change: Change = field(default_factory=Change)
    why_not: str = ""
    rehearsal: Change | None = None


@dataclass(frozen=True)
class Recorded:
    """The recording and its calls, as a proposal sees them."""

    trace: Trace
    kept: KeptCalls

    def compile_diff(self, problem: Problem, keyword: str) -> str:
        """Return the diff of a call of `compile` with one more keyword: for the function that has the problem, if the
        program calls it, or else the first of those that it calls."""
        codes = [call.code for call in self.kept.calls]
        number = self.trace.function_of(problem.code).id
        own = self.kept.codes[number] if number < len(self.kept.codes) else None
        called = (own if own is not None and own in codes else codes[0]).co_name
        name = "model" if called == "forward" else called if called.isidentifier() and called != "cell" else "fn"
        return f"- tw.compile({name})\n+ tw.compile({name}, {keyword})"


Propose = Callable[[Recorded, Problem], Iterable[Candidate]]
_FOR_BREAKS: dict[str, list[Propose]] = {}
_FOR_GUARDS: dict[str, list[Propose]] = {}


def candidate(*, breaks: Iterable[str] = (), guards: Iterable[str] = ()) -> Callable[[Propose], Propose]:
    """Register a function that proposes changes for these reasons of breaks, or for these kinds of guards."""

    def register(propose: Propose) -> Propose:
        for reason in breaks:
            _FOR_BREAKS.setdefault(reason, []).append(propose)
        for kind in guards:
            _FOR_GUARDS.setdefault(kind, []).append(propose)
        return propose

    return register


def candidates(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Yield the changes to try for a break or a recompilation, each once."""
    if isinstance(problem, schema.Break):
        proposals = _FOR_BREAKS.get(problem.reason_id, [])
    else:
        found = [propose for kind in problem.kinds for propose in _FOR_GUARDS.get(kind, [])]
        proposals = list(dict.fromkeys([*found, *_FOR_GUARDS.get("*", [])]))
    for propose in proposals:
        yield from propose(recorded, problem)


def known() -> tuple[set[str], set[str]]:
    """Return the reasons of breaks and the kinds of guards for which there are proposals."""
    return set(_FOR_BREAKS), set(_FOR_GUARDS)

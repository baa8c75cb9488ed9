"""Try all candidates for all problems of a recording, and say which of them help."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator

from tracer_core.fixes import options, rewrites
from tracer_core.fixes.candidates import Candidate, Problem, Recorded, candidates
from tracer_core.fixes.kept import KeptCalls, why_not_repeated
from tracer_core.fixes.repeating import Change, Outcome, OutOfTime, run_compiled, run_plainly
from tracer_core.recording import Trace, schema
from tracer_core.recording import fixes as report
from tracer_core.recording.fixes import Figures, Fixes, FixesSoFar, Tried
from tracer_core.recording.overview import plain_calls, where

PROPOSALS = (options, rewrites)
"""The modules that register candidates."""


def try_fixes(trace: Trace, kept: KeptCalls | None, seconds: float = 60.0) -> Fixes:
    """Repeat the recorded calls with each candidate. Starts no candidate, and no call, after that many `seconds`."""
    *_, last = trying(trace, kept, seconds)
    return last.fixes


def trying(trace: Trace, kept: KeptCalls | None, seconds: float = 60.0) -> Iterator[FixesSoFar]:
    """Do what `try_fixes` does, and yield the state before each repetition of the calls, and at the end. Nothing of
    the program is changed at these points, so the iteration may stop there, or go on much later."""
    fixes = Fixes()
    why_not = why_not_repeated(kept)
    if kept is None or why_not is not None:
        fixes.notes.append(f"{why_not} So nothing can be tried.")
        yield FixesSoFar(fixes)
        return
    total = 0
    until = time.monotonic() + seconds
    fixes.notes += kept.notes
    yield FixesSoFar(fixes, next="the calls as plain Python")
    try:
        plain, again = run_plainly(kept, until=until), run_plainly(kept, until=until)
        yield FixesSoFar(fixes, next="the calls without a change")
        before, outcomes = run_compiled(kept, Change(), until)
    except OutOfTime:
        fixes.notes.append(f"Repeating the calls takes more than {seconds:g} seconds; nothing was tried.")
        yield FixesSoFar(fixes)
        return
    if _equal(plain, again) and _equal(plain, outcomes):
        fixes.before = figures(before)
        if fixes.before != figures(trace):
            fixes.notes.append("Repeated, the calls have other graphs, breaks or compilations than in the recording.")
        total = yield from _each(trace, Recorded(trace, kept), fixes, fixes.before, _Runs(kept, plain, until))
    elif _equal(plain, again):
        fixes.before = figures(before)
        fixes.notes.append("The repeated calls give other results than plain Python already without a change.")
    else:
        fixes.notes.append("Plain Python gives other results when the calls are repeated, so none can be checked.")
    yield FixesSoFar(fixes, total, total)


def _each(
    trace: Trace, recorded: Recorded, fixes: Fixes, before: Figures, runs: _Runs
) -> Generator[FixesSoFar, None, int]:
    """Try all candidates for each problem, and return how many there are."""
    problems: list[Problem] = [*trace.break_places, *trace.recompilations]
    found = [(problem, list(candidates(recorded, problem))) for problem in problems]
    done, total = 0, sum(len(ones) for _, ones in found)
    for problem, ones in found:
        kind = "break" if isinstance(problem, schema.Break) else "recompilation"
        tried: list[Tried] = []
        row = report.Problem(kind, problem.id, title(trace, problem), tried, "Not all changes were tried for it.")
        fixes.problems.append(row)
        for one in ones:
            yield FixesSoFar(fixes, done, total, one.name)
            tried.append(_try(trace, before, problem, one, runs))
            done += 1
        row.text = _result(tried)
    return total


class _Runs:
    """The repetitions with candidates; the same change is tried once, whatever it is tried for."""

    def __init__(self, kept: KeptCalls, plain: list[Outcome], until: float) -> None:
        self._kept, self._plain, self._until = kept, plain, until
        self._known: dict[tuple[str, str], tuple[Trace, list[Outcome]] | Tried] = {}

    def run(self, one: Candidate) -> tuple[Trace, list[Outcome]] | Tried:
        """Return the recording with the change and the outcomes, or why there are none."""
        key = one.name, one.diff
        if key not in self._known:
            self._known[key] = self._run(one)
        return self._known[key]

    def _run(self, one: Candidate) -> tuple[Trace, list[Outcome]] | Tried:
        try:
            return run_compiled(self._kept, one.change, self._until)
        except OutOfTime:
            return Tried(one.name, one.diff, "no time", "There was no time left to try it.")
        except Exception as error:  # noqa: BLE001  whatever a changed program does is told to the person
            return Tried(one.name, one.diff, "fails", f"The calls fail with it: {type(error).__name__}: {error}")

    def difference(self, outcomes: list[Outcome]) -> tuple[str, str] | None:
        """Return the verdict and the words, if the outcomes are not those of plain Python."""
        if _equal(self._plain, outcomes):
            return None
        raised = next((outcome.error for outcome in outcomes if outcome.error), "")
        if raised and not any(outcome.error for outcome in self._plain):
            return "fails", f"A call raises with it: {raised.splitlines()[0]}."
        return "changes results", "It changes results: they differ from those of plain Python."


def figures(trace: Trace) -> Figures:
    compiled = sum(one.outcome == "compiled" for one in trace.compilations)
    plain = len(plain_calls(trace))
    return Figures(len(trace.graphs), len(trace.break_places), compiled, plain)


def title(trace: Trace, problem: Problem) -> str:
    if isinstance(problem, schema.Break):
        return f"{where(trace, problem.code, problem.line)}: {problem.message}"
    return problem.text


def _equal(some: list[Outcome], others: list[Outcome]) -> bool:
    return len(some) == len(others) and all(one.equals(other) for one, other in zip(some, others, strict=True))


def _try(trace: Trace, before: Figures, problem: Problem, one: Candidate, runs: _Runs) -> Tried:
    ran = runs.run(one)
    if isinstance(ran, Tried):
        return ran
    after, outcomes = ran
    found = figures(after)
    verdict, text = runs.difference(outcomes) or _verdict(trace, after, before, found, problem)
    return Tried(one.name, one.diff, verdict, text, found)


def _verdict(trace: Trace, after: Trace, before: Figures, found: Figures, problem: Problem) -> tuple[str, str]:
    if isinstance(problem, schema.Break):
        here = _break_key(trace, problem)
        left = any(_break_key(after, other) == here for other in after.break_places)
        if not left and found.breaks < before.breaks:
            return "removes", "It removes the break."
        return "no effect", "The break stays." if left else "Another break takes the place of this one."
    causes = [cause for cause in after.recompilations if cause.source == problem.source]
    name = trace.codes[problem.code].qualname
    same = [cause for cause in causes if after.codes[cause.code].qualname == name]
    if not same:
        fewer = found.compilations < before.compilations or found.plain < before.plain
        if fewer:
            return "removes", "It removes the recompilation."
        return "no effect", "The calls are compiled as often as before, for other reasons."
    if problem.plain and found.plain < before.plain:
        return "removes", "All calls run compiled, at the price of more versions."
    calls = sum(len(cause.calls) for cause in same)
    if calls < len(problem.calls):
        return "reduces", f"It leaves {calls} of {len(problem.calls)} recompilations."
    return "no effect", "The recompilation stays."


def _break_key(trace: Trace, one: schema.Break) -> tuple[str, str, int | None]:
    return one.reason_id, trace.function_of(one.code).qualname, one.line


def _result(tried: list[Tried]) -> str:
    helped = [one.name for one in tried if one.verdict == "removes"]
    if helped:
        return f"Removed by {', or by '.join(helped)}."
    if not tried:
        return "There is no change that can be tried for it automatically."
    if any(one.verdict == "reduces" for one in tried):
        return "No candidate removes it; some make it rarer."
    return "No candidate removes it."

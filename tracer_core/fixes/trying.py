"""Try all candidates for all problems of a recording, and say which of them help."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import NamedTuple

from tracer_core.fixes import options, rewrites
from tracer_core.fixes.candidates import Candidate, Problem, Recorded, candidates
from tracer_core.fixes.isolation import why_not_repeatable
from tracer_core.fixes.kept import KeptCalls
from tracer_core.fixes.outside import ChangesOutside
from tracer_core.fixes.repeating import Change, Outcome, OutOfTime, in_one_line, run_compiled, run_plainly
from tracer_core.names.sentences import counted
from tracer_core.recording import Trace, schema
from tracer_core.recording import fixes as report
from tracer_core.recording.fixes import Figures, Fixes, FixesSoFar, Tried
from tracer_core.recording.overview import plain_calls, where
from tracer_core.recording.recompiling import Recompilation

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
    why_not = why_not_repeatable(kept)
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
    except ChangesOutside as outside:
        fixes.notes.append(f"Repeated, the calls would {outside} again. So nothing can be tried.")
        yield FixesSoFar(fixes)
        return
    varies, wrong = _difference(plain, again), _difference(plain, outcomes)
    if varies:
        said = "Plain Python gives other results when the calls are repeated, so none can be checked."
        fixes.notes.append(f"{said} {varies}")
    elif wrong:
        fixes.before = figures(before)
        said = "The repeated calls give other results than plain Python already without a change."
        fixes.notes.append(f"{said} {wrong}")
    else:
        fixes.before = figures(before)
        if fixes.before != figures(trace):
            fixes.notes.append("Repeated, the calls have other graphs, breaks or compilations than in the recording.")
        total = yield from _each(trace, Recorded(trace, kept), fixes, before, _Runs(kept, plain, until))
    yield FixesSoFar(fixes, total, total)


def _each(
    trace: Trace, recorded: Recorded, fixes: Fixes, before: Trace, runs: _Runs
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


class Judged(NamedTuple):
    """The verdict on a change, in words, and the reason for it, if it does not help."""

    verdict: str
    text: str
    why: str = ""


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
            if one.rehearsal is not None:
                run_plainly(self._kept, one.rehearsal, self._until)
            return run_compiled(self._kept, one.change, self._until)
        except ChangesOutside as outside:
            why = f"With it, the calls would {outside}."
            return Tried(one.name, one.diff, "not tried", "It cannot be tried automatically.", why=why)
        except OutOfTime:
            return Tried(one.name, one.diff, "no time", "There was no time left to try it.")
        except Exception as error:  # noqa: BLE001  whatever a changed program does is told to the person
            why = f"They raise {in_one_line(f'{type(error).__name__}: {error}')}."
            return Tried(one.name, one.diff, "fails", "The calls cannot be repeated with it.", why=why)

    def difference(self, outcomes: list[Outcome]) -> Judged | None:
        """Return what is wrong, if the outcomes are not those of plain Python."""
        why = _difference(self._plain, outcomes)
        if not why:
            return None
        if any(other.error and not one.error for one, other in zip(self._plain, outcomes, strict=True)):
            return Judged("fails", "With it, a call raises an exception.", why)
        return Judged("changes results", "It changes results.", why)


def figures(trace: Trace) -> Figures:
    compiled = sum(one.outcome == "compiled" for one in trace.compilations)
    plain = len(plain_calls(trace))
    return Figures(len(trace.graphs), len(trace.break_places), compiled, plain)


def title(trace: Trace, problem: Problem) -> str:
    if isinstance(problem, schema.Break):
        return f"{where(trace, problem.code, problem.line)}: {problem.message}"
    return problem.text


def _difference(plain: list[Outcome], others: list[Outcome]) -> str:
    """Say in which call, and how, the outcomes first differ from those of plain Python; empty if they do not."""
    pairs = enumerate(zip(plain, others, strict=True), 1)
    differences = ((number, one.difference(other)) for number, (one, other) in pairs)
    number, how = next(((number, how) for number, how in differences if how), (0, ""))
    return f"In call {number}, {how}{'' if how.endswith('...') else '.'}" if how else ""


def _try(trace: Trace, before: Trace, problem: Problem, one: Candidate, runs: _Runs) -> Tried:
    if one.why_not:
        return Tried(one.name, one.diff, "not tried", "It cannot be tried automatically.", why=one.why_not)
    ran = runs.run(one)
    if isinstance(ran, Tried):
        return ran
    after, outcomes = ran
    verdict, text, why = runs.difference(outcomes) or _judged(trace, before, after, problem)
    return Tried(one.name, one.diff, verdict, text, figures(after), why)


def _judged(trace: Trace, before: Trace, after: Trace, problem: Problem) -> Judged:
    """Say what is left of a problem."""
    if isinstance(problem, schema.Break):
        return _break_left(trace, before, after, problem)
    return _recompilation_left(trace, before, after, problem)


def _break_left(trace: Trace, before: Trace, after: Trace, problem: schema.Break) -> Judged:
    here = _break_key(trace, problem)
    was, now = ({_break_key(run, one[0]): one for one in run.breaks_by_place} for run in (before, after))
    if here in now:
        main, others = now[here]
        times, times_before = len(others) + 1, len(was[here][1]) + 1 if here in was else 0
        if times < times_before:
            attempt = after.attempts[main.attempt]
            why = f"Version {after.compilations[attempt.compilation].version} still has it: {main.message}"
            return Judged("reduces", f"It leaves {times} of {counted(times_before, 'break')} there.", why)
        return Judged("no effect", "The break stays.", f"The graph still ends there: {main.message}")
    if len(now) < len(was):
        return Judged("removes", "It removes the break.")
    new = next((main for key, (main, _) in now.items() if key not in was), None)
    why = "" if new is None else f"The graph ends at {title(after, new)}"
    return Judged("no effect", "Another break takes the place of this one.", why)


def _recompilation_left(trace: Trace, before: Trace, after: Trace, problem: Recompilation) -> Judged:
    name = trace.codes[problem.code].qualname
    was, now = figures(before), figures(after)
    same = [
        cause
        for cause in after.recompilations
        if cause.source == problem.source and after.codes[cause.code].qualname == name
    ]
    if not same:
        if now.compilations < was.compilations or now.plain < was.plain:
            return Judged("removes", "It removes the recompilation.")
        known = {cause.text for cause in before.recompilations}
        causes = sorted(after.recompilations, key=lambda cause: cause.text in known)
        why = _cause(causes[0], problem) if causes else ""
        return Judged("no effect", "The calls are compiled as often as before, for other reasons.", why)
    if problem.plain and now.plain < was.plain:
        return Judged("removes", "All calls run compiled, at the price of more versions.")
    calls, why = sum(len(cause.calls) for cause in same), _cause(same[0], problem)
    if calls < len(problem.calls):
        return Judged("reduces", f"It leaves {calls} of {counted(len(problem.calls), 'recompilation')}.", why)
    return Judged("no effect", "The recompilation stays.", why)


def _cause(cause: Recompilation, problem: Recompilation) -> str:
    """Say what still changes; in which calls, if it is not what the problem's title says."""
    if cause.text == problem.text:
        return cause.change
    text = f"{cause.text}: {cause.change[:1].lower()}{cause.change[1:]}"
    return text[:1].upper() + text[1:]


def _break_key(trace: Trace, one: schema.Break) -> tuple[str, str, int | None]:
    return one.reason_id, trace.function_of(one.code).qualname, one.line


def _result(tried: list[Tried]) -> str:
    helped = [one.name for one in tried if one.verdict == "removes"]
    if helped:
        return f"Removed by {', or by '.join(helped)}."
    if all(one.verdict == "not tried" for one in tried):
        return "There is no change that can be tried for it automatically."
    if any(one.verdict == "reduces" for one in tried):
        return "No candidate removes it; some make it rarer."
    return "No candidate removes it."

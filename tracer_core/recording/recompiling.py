"""Find what caused recompilations, and say so in words.

A call that no existing version fits is compiled again. Its cause is what kept it from the version that came nearest:
the guards of that version that failed. Causes are grouped by function and by the value that was guarded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

import msgspec

from tracer_core.names.sentences import with_commas
from tracer_core.recording import schema
from tracer_core.recording.codes import line_text
from tracer_core.recording.damage import reading
from tracer_core.recording.words import quoted

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

T = TypeVar("T")
_OVER_LIMIT = "cache-limit"
_SHOWN_CALLS = 12
_SHOWN_VALUES = 6


class Recompilation(msgspec.Struct, gc=False):
    """A cause of recompilations. `text` and `change` are the words for it: what changed in which calls, and from what
    to what."""

    id: int
    code: int  # the function that was compiled again
    source: str  # the value, as the program calls it
    kinds: list[str]  # of the guards that failed
    text: str
    change: str
    calls: list[int]  # ids of the calls that did not fit because of it, in order
    alone: int  # at how many of them nothing else had changed
    plain: int  # how many of them ran as plain Python, since there were too many versions
    place: schema.Place | None  # the program's line that the guard is there for
    library: schema.Place | None
    line: str  # the text of that line
    guard: int | None  # the first guard that failed, if its compilation was recorded
    step: int | None  # the step that installed it
    remedies: list[str]


_Failing = tuple[schema.Call, schema.FailedGuard, bool]
"""A call, a guard that failed at it, and whether no other value had changed."""


@reading
def recompilations(trace: Trace) -> list[Recompilation]:
    """Return the causes of recompilations, those of most calls first."""
    groups: dict[tuple[int, str, str], list[_Failing]] = {}
    for call in trace.calls:
        nearest = nearest_version(call)
        if nearest is None:
            continue
        failures = nearest.failures or [_first_failure(trace, nearest)]
        alone = len({one.source for one in failures}) == 1
        for failed in failures:
            # What different breaks of a function pass on may have one source, but has a name each.
            key = trace.function_of(call.code).id, failed.source, failed.name
            groups.setdefault(key, []).append((call, failed, alone))
    ordered = sorted(groups.items(), key=lambda group: -len({call.id for call, _, _ in group[1]}))
    return [_cause(trace, number, code, found) for number, ((code, *_), found) in enumerate(ordered)]


def nearest_version(call: schema.Call) -> schema.Check | None:
    """Return the check of the version that came nearest to a call that none fitted: the fewest of its guards failed.
    None if a version was reused, or none was tried."""
    if call.outcome == "reused":
        return None
    failed = [check for check in call.checks if not check.reused]
    return min(failed, key=lambda check: len(check.failures), default=None)


def _first_failure(trace: Trace, check: schema.Check) -> schema.FailedGuard:
    """Return what is known of a failure of which only the first guard was recorded."""
    guard = None if check.failed is None else trace.guards[check.failed]
    kind, source, name = ("", "", "") if guard is None else (guard.kind, guard.source, guard.name)
    source, name = source or check.text, name or check.text
    return schema.FailedGuard(
        check.failed, kind, source, check.text, "", check.seen, [], check.place, check.library, name
    )


def _cause(trace: Trace, number: int, code: int, found: list[_Failing]) -> Recompilation:
    calls = {call.id: call for call, _, _ in found}
    first = found[0][1]
    guard = next((failed.guard for _, failed, _ in found if failed.guard is not None), None)
    plain = sum(call.outcome == "skipped" and call.reason_id == _OVER_LIMIT for call in calls.values())
    subject = f"{quoted(first.name)} changed" if first.was else f"{quoted(first.text)} did not hold"
    return Recompilation(
        id=number,
        code=code,
        source=first.name,
        kinds=_different(failed.kind for _, failed, _ in found),
        text=with_commas(f"{subject} in {_calls(trace, list(calls.values()))}"),
        change=_changes(trace, found, plain),
        calls=list(calls),
        alone=len({call.id for call, _, alone in found if alone}),
        plain=plain,
        place=first.place,
        library=first.library,
        line="" if first.place is None else line_text(trace.codes[first.place.code], first.place.line),
        guard=guard,
        step=None if guard is None else trace.guards[guard].step,
        remedies=_different(_sentence(remedy) for _, failed, _ in found for remedy in failed.remedies),
    )


def _calls(trace: Trace, calls: list[schema.Call]) -> str:
    """Return `3 calls of Net.forward (2, 3, 4)`; numbers count the calls of each code."""
    parts, names = [], {call.id: trace.codes[call.code].qualname for call in calls}
    for name in _different(names.values()):
        numbers = [str(call.number) for call in calls if names[call.id] == name]
        more = f" and {len(numbers) - _SHOWN_CALLS} more" if len(numbers) > _SHOWN_CALLS else ""
        listed = ", ".join(numbers[:_SHOWN_CALLS]) + more
        noun = "call" if len(numbers) == 1 else "calls"
        parts.append(f"{len(numbers)} {noun} of {name} ({listed})")
    return ", and in ".join(parts)


def _changes(trace: Trace, found: list[_Failing], plain: int) -> str:
    """Return what changed to what. A function and its rest after a break, each compiled for a value of its own, are
    told apart."""
    by_name: dict[str, list[schema.FailedGuard]] = {}
    for call, failed, _ in found:
        by_name.setdefault(trace.codes[call.code].qualname, []).append(failed)
    said = [
        _change(failures) if len(by_name) == 1 else f"In {name}{',' * (', ' in name)} {_lowered(_change(failures))}"
        for name, failures in by_name.items()
    ]
    if plain:
        said.append(f"{plain} of these calls ran as plain Python: there were too many versions.")
    return " ".join(said)


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _sentence(remedy: str) -> str:
    return f"{remedy[:1].upper()}{remedy[1:]}."


def _change(failures: list[schema.FailedGuard]) -> str:
    first = failures[0]
    was, *seen = rounded([first.was or first.text, *(one.seen for one in failures)])
    later = _runs(_bare(text) for text in seen)
    more = f" and {len(later) - _SHOWN_VALUES} more" if len(later) > _SHOWN_VALUES else ""
    shown = ", then ".join(later[:_SHOWN_VALUES]) + more
    if first.was:
        subject = "They" if was.startswith("were ") else "It"
        return f"{subject} {was} when it was compiled, then {shown}."
    return f"It was compiled for {quoted(was)}; then {shown}."


def _bare(seen: str) -> str:
    return _VERB.sub("", seen)


_VERB = re.compile(r"(?:it (?:is|has)|there are) ")


def _runs(texts: Iterable[str]) -> list[str]:
    """Return the texts without repetitions of the one before."""
    kept: list[str] = []
    for text in texts:
        if not kept or kept[-1] != text:
            kept.append(text)
    return kept


def _different(items: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(items))


_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?")


def rounded(texts: list[str]) -> list[str]:
    """Return the texts with long fractions rounded: to four digits, or more where two numbers would look alike."""
    numbers = {number for text in texts for number in _LONG_NUMBER.findall(text)}
    for digits in range(4, 18):
        short = {number: _shorter(number, digits) for number in numbers}
        if len(set(short.values())) == len(numbers):
            return [_LONG_NUMBER.sub(lambda found: short[found[0]], text) for text in texts]  # noqa: B023
    return texts


def _shorter(number: str, digits: int) -> str:
    short = f"{float(number):.{digits}g}"
    return short if len(short) < len(number) and not short.isdigit() else number

"""The outcome of trying changes to a program, as data and in words."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Figures(msgspec.Struct, gc=False):
    """The numbers by which a change is judged."""

    graphs: int
    breaks: int
    compilations: int
    plain: int  # calls that ran as plain Python

    def __str__(self) -> str:
        parts = [_count(self.graphs, "graph"), _count(self.breaks, "break"), _count(self.compilations, "compilation")]
        if self.plain:
            parts.append(f"{_count(self.plain, 'call')} as plain Python")
        return ", ".join(parts)


class Tried(msgspec.Struct, gc=False):
    """One change, tried."""

    name: str
    diff: str
    verdict: str  # removes | reduces | no effect | changes results | fails | no time | not tried
    text: str  # the verdict, in a sentence
    after: Figures | None = None
    why: str = ""  # the reason, in a sentence, if it does not help


class Problem(msgspec.Struct, gc=False):
    """A break or a recompilation, and the changes tried for it. `number` is the id of the break, or the number of the
    recompilation."""

    kind: str  # break | recompilation
    number: int
    title: str
    tried: list[Tried]
    text: str  # what came of it, in a sentence


class Fixes(msgspec.Struct, gc=False):
    """What the changes did. `print` shows it. `before` is the repetition without a change; None if nothing was
    tried, for a reason given in `notes`."""

    before: Figures | None = None
    problems: list[Problem] = []
    notes: list[str] = []

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    @property
    def helpful(self) -> list[Tried]:
        """The changes that remove a break or a recompilation."""
        return [one for problem in self.problems for one in problem.tried if one.verdict == "removes"]


class FixesSoFar(msgspec.Struct, gc=False):
    """The state of trying changes: `done` of `total` are tried, and `next` says what comes; None at the end. `total`
    is 0 while the calls are repeated without a change."""

    fixes: Fixes
    done: int = 0
    total: int = 0
    next: str | None = None


def _lines(fixes: Fixes) -> Iterator[str]:
    if fixes.before is not None:
        yield f"Repeated without a change: {fixes.before}"
    yield from fixes.notes
    if fixes.before is not None and not fixes.problems:
        yield "There is nothing to fix: no break, and no recompilation."
    for problem in fixes.problems:
        yield problem.title
        yield f"  {problem.text}"
        for one in problem.tried:
            parts = [one.text, one.why, "" if one.after is None else f"Now {one.after}."]
            yield f"  - {one.name}: {' '.join(filter(None, parts))}"
            yield from (f"      {line}" for line in one.diff.splitlines())


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

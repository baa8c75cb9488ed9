"""Judges the records of one program."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.conformance.program import Listed
from tests.conformance.ways import CallRecord, Record

#: What must be as in plain Python, always.
BEHAVIOUR = ("outcome", "inputs", "globals", "output", "modes")
#: What should be as `torch.compile` does it.
TRACING = ("graphs", "ops", "compilations")


#: Functions of ours, and what torch's compiler calls its own that do the same.
SAME = {
    "tracer_core.graph.tensor_data.count_one_change_less": "torch._dynamo.variables.builtin._lower_version_count_by_1"
}


def traced(record: Record, aspect: str) -> list[object]:
    """One entry per call, comparable between two compilers."""
    reads: dict[str, Callable[[CallRecord], object]] = {
        "graphs": lambda call: len(call.ran),
        "ops": lambda call: [SAME.get(name, name) for graph in call.ran for name in graph],
        "compilations": lambda call: call.compiled,
    }
    return [reads[aspect](call) for call in record.calls]


def unlike_plain(plain: Record, other: Record) -> list[str]:
    """The aspects of behaviour in which `other` is not as plain Python."""
    if other.failure or plain.failure:
        return ["failure"]
    pairs = list(zip(plain.calls, other.calls, strict=True))
    return [aspect for aspect in BEHAVIOUR if any(getattr(a, aspect) != getattr(b, aspect) for a, b in pairs)]


def unlike_torch(torch: Record, ours: Record) -> list[str]:
    """The aspects of tracing in which `ours` is not as `torch`."""
    if torch.failure or ours.failure:
        return ["failure"]
    return [aspect for aspect in TRACING if traced(torch, aspect) != traced(ours, aspect)]


@dataclass(slots=True)
class Verdict:
    """What is to be said of one program; empty lists mean that it agrees."""

    program: Listed
    #: faults of the program's own entry: torch departs from plain Python without a word, and the like
    entry: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    #: texts of the recording that hold names of the engine's own
    unclear: list[str] = field(default_factory=list)
    breaks_more: bool = False

    @property
    def agrees(self) -> bool:
        return not (self.entry or self.wrong or self.differs or self.unclear)


def judge(program: Listed, records: dict[str, Record]) -> Verdict:
    """Compare whatever ways were run; a way that is missing is not judged."""
    verdict = Verdict(program)
    plain, torch, ours = (records.get(way) for way in ("plain", "torch", "ours"))
    if plain is not None and plain.failure:
        verdict.entry.append(f"plain: {plain.failure}")
    elif plain is not None and torch is not None:
        judge_entry(verdict, unlike_plain(plain, torch))
    if plain is not None and ours is not None:
        verdict.wrong = unlike_plain(plain, ours)
    if torch is not None and ours is not None and not torch.failure and not ours.failure:
        judge_tracing(verdict, torch, ours)
    if ours is not None and any(note.startswith("fault:") for note in ours.notes):
        verdict.differs.append("fault")
    if ours is not None:
        verdict.unclear = ours.unclear
    return verdict


def judge_entry(verdict: Verdict, departs: list[str]) -> None:
    marked = verdict.program.differs == "torch_differs"
    if departs and not marked:
        verdict.entry.append(f"torch departs from plain Python in {', '.join(departs)}: mark it torch_differs")
    if marked and not departs:
        verdict.entry.append("marked torch_differs, but torch.compile does as plain Python does")


def judge_tracing(verdict: Verdict, torch: Record, ours: Record) -> None:
    """A program that says nothing of itself must trace as torch traces it, and one that says something must not."""
    word = verdict.program.differs
    if word == "torch_differs":
        return
    pairs = list(zip(torch.calls, ours.calls, strict=True))
    verdict.breaks_more = word != "stricter" and any(breaks_more(theirs, mine) for theirs, mine in pairs)
    does_more = captures_more(torch, ours) and not verdict.breaks_more
    unlike = unlike_torch(torch, ours)
    if word == "fewer_breaks" and not does_more:
        verdict.entry.append("marked fewer_breaks, but torch.compile captures as much")
    elif word == "stricter" and not unlike:
        verdict.entry.append("marked stricter, but it traces as torch.compile does")
    elif word is None and does_more and unlike != ["ops"]:
        verdict.entry.append("captures more than torch.compile, or compiles less often: mark it fewer_breaks")
    elif word is None:
        verdict.differs = unlike


def captures_more(torch: Record, ours: Record) -> bool:
    """Some call has fewer graphs or more operators in them, or fewer graphs were compiled in all."""
    return sum(call.compiled for call in ours.calls) < sum(call.compiled for call in torch.calls) or any(
        len(mine.ran) < len(theirs.ran) or captured(mine) > captured(theirs)
        for theirs, mine in zip(torch.calls, ours.calls, strict=True)
    )


def breaks_more(theirs: CallRecord, mine: CallRecord) -> bool:
    """Less is in graphs, or the same in more graphs. Where torch gave up on a frame, more graphs may hold more."""
    return captured(mine) < captured(theirs) or (
        captured(mine) == captured(theirs) and len(mine.ran) > len(theirs.ran)
    )


def captured(call: CallRecord) -> int:
    """How many operators ran in graphs."""
    return sum(len(graph) for graph in call.ran)


def explain(records: dict[str, Record]) -> list[str]:
    """What differs, line by line, for people."""
    lines: list[str] = []
    plain, torch, ours = (records.get(way) for way in ("plain", "torch", "ours"))
    for name, record in records.items():
        lines += [f"{name}: {record.failure}"] if record.failure else []
    for name, other in (("torch", torch), ("ours", ours)):
        if plain is None or other is None or plain.failure or other.failure:
            continue
        for index, (a, b) in enumerate(zip(plain.calls, other.calls, strict=True)):
            for aspect in BEHAVIOUR:
                before, after = getattr(a, aspect).splitlines(), getattr(b, aspect).splitlines()
                where = f"call {index} {aspect}"
                lines += difflib.unified_diff(before, after, f"plain {where}", f"{name} {where}", n=2, lineterm="")
    if torch is not None and ours is not None and not torch.failure and not ours.failure:
        for index, (a, b) in enumerate(zip(torch.calls, ours.calls, strict=True)):
            if (a.ran, a.compiled) != (b.ran, b.compiled):
                lines.append(f"call {index}: torch compiled {a.compiled}, ran {a.ran}")
                lines.append(f"call {index}: ours  compiled {b.compiled}, ran {b.ran}")
    for name, record in records.items():
        lines += [f"{name} {note}" for note in record.notes]
        lines += [f"{name} unclear {text}" for text in record.unclear]
    return lines

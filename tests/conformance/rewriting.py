"""Our engine with a back end that rewrites graphs, as `aot_eager` and `inductor` do, against plain Python.

Such a back end changes what people can see by itself: which results share memory, what a saved tensor's hooks are
asked. No list says what: where we depart from plain Python, `torch.compile` runs the program with the same back end,
and what it shows as we do does not count. Nor do its `OWN_WORDS`, nor graphs.
"""

from __future__ import annotations

import inspect
import re

from tests.conformance.compare import Verdict, unlike_plain
from tests.conformance.pool import Runner
from tests.conformance.program import Listed, Program
from tests.conformance.ways import Record

#: Names of nodes of autograd, and where among its frames the limit of recursion was met.
OWN_WORDS = re.compile(r"(?<=grad_fn=)(?!leaf)[^\s#]+|(?<=Output \d of )\w+|(?<=recursion depth exceeded) [\w ]+")

#: What looks at torch at work sees the back end at work.
WATCHES = re.compile(r"\.key_averages\(|\bsaved_tensors_hooks\(")


def is_comparable(program: Program) -> bool:
    return WATCHES.search(inspect.getsource(program.fn)) is None


def ask_rewriting(runner: Runner, program: Listed) -> dict[str, Record]:
    """The records of plain Python and of our engine, and that of torch if it is needed."""
    records = {way: runner.run(program, way) for way in ("plain", "ours")}
    if judge_rewriting(program, records).wrong:
        records["torch"] = runner.run(program, "torch")
    return records


def judge_rewriting(program: Listed, records: dict[str, Record]) -> Verdict:
    plain, ours, torch = records["plain"], records["ours"], records.get("torch")
    # Where torch.compile departs from plain Python with every back end, it cannot say what this one does.
    measures = torch is not None and not torch.failure and program.differs != "torch_differs"
    either = (plain, torch if measures else plain)
    wrong = [each for each in unlike_plain(plain, ours) if each == "failure" or not excused(each, ours, *either)]
    faults = ["fault"] if any(note.startswith("fault:") for note in ours.notes) else []
    return Verdict(program, wrong=wrong, differs=faults)


def excused(aspect: str, ours: Record, plain: Record, torch: Record) -> bool:
    """Whether in each call every line is that of plain Python, or that of torch with the back end."""
    calls = zip(ours.calls, plain.calls, torch.calls, strict=True)
    return all(of_either(*(getattr(call, aspect) for call in three)) for three in calls)


def of_either(*texts: str) -> bool:
    ours, plain, torch = (OWN_WORDS.sub("", text).splitlines() for text in texts)
    if ours in (plain, torch):
        return True
    same_length = len(plain) == len(ours) == len(torch)
    return same_length and all(mine in (one, other) for mine, one, other in zip(ours, plain, torch, strict=True))

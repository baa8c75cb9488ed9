"""Candidates that are options of the compiler, or marks of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tracer_core.fixes.candidates import Candidate, Problem, Recorded, candidate
from tracer_core.fixes.copies import Copied
from tracer_core.fixes.repeating import Change
from tracer_core.guards.special_sizes import SPECIAL_SIZES
from tracer_core.recording import schema
from tracer_core.recording.words import listed


@candidate(breaks=["print"])
def replay_prints(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    diff = recorded.compile_diff(problem, "options={'replay_prints': True}")
    yield Candidate("replay_prints", diff, Change(options={"replay_prints": True}))


_DYNAMIC = "mark_dynamic", "_dynamo_dynamic_indices"
_UNBACKED = "decorators.mark_unbacked", "_dynamo_unbacked_indices"
"""Functions of torch._dynamo that mark a dimension, and the attribute of the tensor that has the mark."""
_SPECIAL = set(SPECIAL_SIZES)


@candidate(guards=["TENSOR"])
def mark_dynamic(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Mark the sizes of arguments that differ between the kept calls."""
    marks = {
        name: dims
        for name, sizes in _varying(recorded, problem).items()
        if (dims := {dim: _DYNAMIC for dim, seen in sizes.items() if len(seen - _SPECIAL) > 1})
    }
    yield from _marking("mark_dynamic", marks)


@candidate(guards=["TENSOR", "SHAPE"])
def mark_unbacked(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Mark the sizes of arguments that differ between the kept calls, where they are 0 or 1 in some."""
    marks = {
        name: {dim: _UNBACKED if seen & _SPECIAL else _DYNAMIC for dim, seen in sizes.items()}
        for name, sizes in _varying(recorded, problem).items()
    }
    if any(_UNBACKED in dims.values() for dims in marks.values()):
        yield from _marking("mark_unbacked", marks)


_Marks = dict[str, dict[int, tuple[str, str]]]
"""The marks of the dimensions of arguments."""


def _marking(title: str, marks: _Marks) -> Iterator[Candidate]:
    """Propose to mark dimensions of arguments."""
    if not marks:
        return

    def mark(found: dict[str, Any]) -> None:
        for name, dims in marks.items():
            value = found.get(name)
            if isinstance(value, torch.Tensor):
                for attribute in {attribute for _, attribute in dims.values()}:
                    setattr(value, attribute, {dim for dim, one in dims.items() if one[1] == attribute})

    lines = [
        f"+ torch._dynamo.{one}({name}, {dim})  # before each call"
        for name, dims in marks.items()
        for dim, (one, _) in dims.items()
    ]
    yield Candidate(f"{title} of {listed(list(marks))}", "\n".join(lines), Change(prepare=mark))


def _varying(recorded: Recorded, problem: Problem) -> dict[str, dict[int, set[int]]]:
    """Return the arguments that a recompilation is about, each with the sizes of each dimension in which it differs
    between the kept calls.

    That is the guarded argument. If a function inside the calls was compiled again, or the rest of one, for a value
    that was computed, any argument of the calls may be where its size comes from.
    """
    if isinstance(problem, schema.Break):
        return {}
    calls, function = recorded.kept.calls, recorded.trace.function_of(problem.code).id
    name = problem.source.partition(".size(")[0]
    names = dict.fromkeys(name for call in calls for name in call.locals)
    code = recorded.kept.codes[function] if function < len(recorded.kept.codes) else None
    if name in names and any(call.code is code for call in calls):
        names = {name: None}
    found = {
        name: varying_sizes([one for call in calls if (one := call.argument(name)) is not None]) for name in names
    }
    return {name: sizes for name, sizes in found.items() if sizes}


def varying_sizes(copies: list[Copied]) -> dict[int, set[int]]:
    """Return the sizes of each dimension in which the tensors differ; none if they differ in the number of
    dimensions."""
    shapes = [copied.about.size for copied in copies if copied.form == "tensor"]
    if len({len(shape) for shape in shapes}) != 1:
        return {}
    by_dim = {dim: {shape[dim] for shape in shapes} for dim in range(len(shapes[0]))}
    return {dim: sizes for dim, sizes in by_dim.items() if len(sizes) > 1}


@candidate(guards=["TENSOR", "SHAPE", "CONSTANT"])
def dynamic(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    yield Candidate("dynamic=True", recorded.compile_diff(problem, "dynamic=True"), Change(dynamic=True))


@candidate(guards=["*"])
def larger_limit(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Allow as many versions as there were calls, if some ran as plain Python because of the limit."""
    if isinstance(problem, schema.Break) or not problem.plain:
        return
    limit = 1 + max(call.number for call in recorded.trace.calls)
    keyword = f"options={{'cache_size_limit': {limit}}}"
    change = Change(options={"cache_size_limit": limit})
    yield Candidate("a larger limit of versions", recorded.compile_diff(problem, keyword), change)

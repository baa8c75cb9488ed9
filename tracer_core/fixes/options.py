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


@candidate(breaks=["print"])
def replay_prints(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    diff = recorded.compile_diff("options={'replay_prints': True}")
    yield Candidate("replay_prints", diff, Change(options={"replay_prints": True}))


_DYNAMIC = "mark_dynamic", "_dynamo_dynamic_indices"
_UNBACKED = "decorators.mark_unbacked", "_dynamo_unbacked_indices"
"""Functions of torch._dynamo that mark a dimension, and the attribute of the tensor that has the mark."""
_SPECIAL = set(SPECIAL_SIZES)


@candidate(guards=["TENSOR"])
def mark_dynamic(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Mark the sizes of an argument that differ between the kept calls."""
    name, sizes = _varying(recorded, problem)
    dims = [dim for dim, seen in sizes.items() if len(seen - _SPECIAL) > 1]
    yield from _marking(f"mark_dynamic of {name}", name, dict.fromkeys(dims, _DYNAMIC))


@candidate(guards=["TENSOR", "SHAPE"])
def mark_unbacked(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Mark the sizes of an argument that differ between the kept calls, where they are 0 or 1 in some."""
    name, sizes = _varying(recorded, problem)
    if any(seen & _SPECIAL for seen in sizes.values()):
        marks = {dim: _UNBACKED if seen & _SPECIAL else _DYNAMIC for dim, seen in sizes.items()}
        yield from _marking(f"mark_unbacked of {name}", name, marks)


def _marking(title: str, name: str, marks: dict[int, tuple[str, str]]) -> Iterator[Candidate]:
    """Propose to mark dimensions of the argument `name`."""
    if not marks:
        return

    def mark(found: dict[str, Any]) -> None:
        value = found.get(name)
        if isinstance(value, torch.Tensor):
            for attribute in {attribute for _, attribute in marks.values()}:
                setattr(value, attribute, {dim for dim, one in marks.items() if one[1] == attribute})

    lines = [f"+ torch._dynamo.{one}({name}, {dim})  # before each call" for dim, (one, _) in marks.items()]
    yield Candidate(title, "\n".join(lines), Change(prepare=mark))


def _varying(recorded: Recorded, problem: Problem) -> tuple[str, dict[int, set[int]]]:
    """Return the argument that a recompilation is about, and the sizes of each dimension in which it differs between
    the kept calls."""
    if isinstance(problem, schema.Break):
        return "", {}
    name = problem.source.partition(".size(")[0]
    copies = [copied for call in recorded.kept.calls if (copied := call.argument(name)) is not None]
    return name, varying_sizes(copies)


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
    yield Candidate("dynamic=True", recorded.compile_diff("dynamic=True"), Change(dynamic=True))


@candidate(guards=["*"])
def larger_limit(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Allow as many versions as there were calls, if some ran as plain Python because of the limit."""
    if isinstance(problem, schema.Break) or not problem.plain:
        return
    limit = 1 + max(call.number for call in recorded.trace.calls)
    keyword = f"options={{'cache_size_limit': {limit}}}"
    change = Change(options={"cache_size_limit": limit})
    yield Candidate("a larger limit of versions", recorded.compile_diff(keyword), change)

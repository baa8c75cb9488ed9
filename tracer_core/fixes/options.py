"""Candidates that are options of the compiler, or marks of arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tracer_core.fixes.candidates import Candidate, Problem, Recorded, candidate
from tracer_core.fixes.copies import Copied
from tracer_core.fixes.repeating import Change
from tracer_core.recording import schema


@candidate(breaks=["print"])
def replay_prints(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    diff = recorded.compile_diff("options={'replay_prints': True}")
    yield Candidate("replay_prints", diff, Change(options={"replay_prints": True}))


@candidate(guards=["TENSOR"])
def mark_dynamic(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Mark the sizes of an argument that differ between the kept calls."""
    if isinstance(problem, schema.Break):
        return
    name = problem.source
    dims = varying_dims([copied for call in recorded.kept.calls if (copied := call.argument(name)) is not None])
    if not dims:
        return

    def mark(found: dict[str, Any]) -> None:
        value = found.get(name)
        if isinstance(value, torch.Tensor):
            value._dynamo_dynamic_indices = set(dims)  # type: ignore[attr-defined]

    lines = [f"+ torch._dynamo.mark_dynamic({name}, {dim})  # before each call" for dim in dims]
    yield Candidate(f"mark_dynamic of {name}", "\n".join(lines), Change(prepare=mark))


def varying_dims(copies: list[Copied]) -> list[int]:
    """Return the dimensions whose sizes differ; none if the tensors differ in the number of dimensions."""
    sizes = [copied.about.size for copied in copies if copied.form == "tensor"]
    if len({len(size) for size in sizes}) != 1:
        return []
    return [dim for dim in range(len(sizes[0])) if len({size[dim] for size in sizes}) > 1]


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

"""A census: what the engine takes from schemas and tags, and what happens when the operators really run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

from tests.graph.sample_calls import SampleCall, sample_calls
from tracer_core.frame_eval.engine import load
from tracer_core.graph.fakes import Fakes
from tracer_core.names.where import Where
from tracer_core.sources import LocalSource

WHERE = Where.of(0, [(tree_map.__code__, 1)])


@dataclass
class Told:
    """What the engine knows of a call once it has run on fakes."""

    draws: bool
    written: list[bool]
    may_raise: bool


@dataclass
class Census:
    """Names of what is told and what happens; `calls` are all that ran both ways."""

    calls: set[str] = field(default_factory=set)
    draws_untold: set[str] = field(default_factory=set)
    drew: set[str] = field(default_factory=set)
    told_to_draw: set[str] = field(default_factory=set)
    writes_untold: set[str] = field(default_factory=set)
    wrote: set[str] = field(default_factory=set)
    told_to_write: set[str] = field(default_factory=set)
    raises_untold: dict[str, str] = field(default_factory=dict)
    told_to_raise: set[str] = field(default_factory=set)


def told(call: SampleCall) -> Told:
    fakes = Fakes({}, None, where=lambda: WHERE)
    made: dict[int, Any] = {}

    def fake(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in made:
            made[id(value)] = fakes.tensor(value, LocalSource(f"x{len(made)}"))
        return made[id(value)].fake

    args, kwargs = call.copies()
    args, kwargs = tree_map(fake, args), tree_map(fake, kwargs)
    with fakes.mode:
        call.function(*args, **kwargs)
    operations = fakes.operations
    return Told(operations.draws > 0, [each.mutated for each in made.values()], operations.may_raise > 0)


def happens(call: SampleCall) -> tuple[bool, list[bool]]:
    """Whether torch's generator moves, and which arguments are written to."""
    args, kwargs = call.copies()
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    before = [(each, each._version, each.detach().clone()) for each in tensors]
    torch.manual_seed(42)  # as torch's table has it before some calls
    state = torch.get_rng_state()
    call.function(*args, **kwargs)
    moved = not torch.equal(state, torch.get_rng_state())
    return moved, [each._version != version or not same(each, was) for each, version, was in before]


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.layout is not torch.strided:
        return a.shape == b.shape
    return torch.allclose(a, b, rtol=0, atol=0, equal_nan=True) if a.shape == b.shape else False


def filled(value: Any, by: float) -> Any:
    """The same argument with other elements."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype.is_floating_point or value.dtype.is_complex:
        return torch.full_like(value, by)
    if value.dtype is torch.bool:
        return torch.full_like(value, bool(by))
    bounds = torch.iinfo(value.dtype)
    return torch.full_like(value, 7 if by != by else int(min(max(by, bounds.min), bounds.max)))


def raised(call: SampleCall) -> str:
    """What the call raises for elements that many operators refuse."""
    for by in (0.0, -1.0, 1e6, float("nan")):
        args, kwargs = tree_map(lambda value: filled(value, by), call.copies())  # noqa: B023
        try:
            call.function(*args, **kwargs)
        except (RuntimeError, IndexError, ValueError) as error:
            return f"{by}: {error}"
    return ""


@pytest.fixture(scope="module")
def census() -> Census:
    load()  # what is first imported under a fake mode fails, and is imported again for each call
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tensors are small, and threads wait for each other
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _census()
    finally:
        torch.set_num_threads(threads)
    return found


def _census() -> Census:
    found = Census()
    for call in sample_calls((torch.float32, torch.int64, torch.bool, torch.complex64), 1):
        try:
            answer = told(call)
            moved, written = happens(call)
        except Exception:  # noqa: BLE001
            continue  # it depends on data, or the sample does not fit: the engine breaks there
        name = call.name
        found.calls.add(name)
        found.drew |= {name} if moved else set()
        found.told_to_draw |= {name} if answer.draws else set()
        found.draws_untold |= {name} if moved and not answer.draws else set()
        found.wrote |= {name} if any(written) else set()
        found.told_to_write |= {name} if any(answer.written) else set()
        if any(wrote and not said for wrote, said in zip(written, answer.written, strict=True)):
            found.writes_untold.add(name)
        if answer.may_raise:
            found.told_to_raise.add(name)
        else:
            said = raised(call)
            found.raises_untold |= {name: said} if said else {}
    return found


@pytest.mark.row("I5")
def test_the_census_is_of_nearly_all_operators(census: Census) -> None:
    assert len(census.calls) > 700
    assert len(census.drew) > 20 and len(census.wrote) > 100


@pytest.mark.row("I5")
def test_whatever_draws_is_told_to(census: Census) -> None:
    assert census.draws_untold == set()


@pytest.mark.row("I5")
def test_hardly_anything_is_told_to_draw_that_does_not(census: Census) -> None:
    # (It calls an operator that runs functions, of which nothing is known.)
    assert census.told_to_draw - census.drew <= {"nn.functional.linear_cross_entropy"}


@pytest.mark.row("I5")
def test_whatever_writes_is_told_to(census: Census) -> None:
    assert census.writes_untold == set()


@pytest.mark.row("I5")
def test_hardly_anything_is_told_to_write_that_does_not(census: Census) -> None:
    # (The first makes other views of its arguments in place, the second has nothing to do in the sample.)
    assert census.told_to_write - census.wrote <= {"nn.functional.bilinear", "resize_as_, in place"}


@pytest.mark.row("I5")
def test_what_raises_for_its_data_is_told_to(census: Census) -> None:
    assert census.raises_untold == {}


@pytest.mark.row("I5")
def test_most_operators_on_floats_are_known_not_to_raise(census: Census) -> None:
    assert len(census.told_to_raise) < len(census.calls) / 2

"""Compares a function with itself compiled by `tracer_aot`, in all that a caller can observe."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

import tracer_core
from tracer_core.aot import Lowered

Make = Callable[[], Sequence[Any]]


@dataclass
class Observed:
    """What a caller sees of one call."""

    values: list[Any]
    changed: list[bool]
    autograd: list[Any]
    shared: list[list[bool]]
    after_writes: list[Any]
    gradients: list[tuple[torch.Tensor | None, ...]]
    total: tuple[torch.Tensor | None, ...]
    drawn: torch.Tensor


def compiled(function: Callable[..., Any], **options: Any) -> tuple[Callable[..., Any], list[Lowered]]:
    """The function compiled by `tracer_aot` as one graph, and the list to which its lowered graphs are added."""
    lowered: list[Lowered] = []
    dynamic = options.pop("dynamic", None)
    options = {"on_lowered": lowered.append, "raise_internal_faults": True, **options}
    call = tracer_core.compile(function, backend="tracer_aot", fullgraph=True, dynamic=dynamic, options=options)
    return call, lowered


def observe(function: Callable[..., Any], make: Make) -> Observed:
    torch.manual_seed(0)
    leaves = make()
    # What is not a leaf may be changed under autograd.
    args = [each * 1 if isinstance(each, torch.Tensor) and hasattr(each, "computed") else each for each in leaves]
    versions = [each._version for each in args if isinstance(each, torch.Tensor)]
    outputs = function(*args)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    tensors = [each for each in args if isinstance(each, torch.Tensor)]
    changed = [each._version != version for each, version in zip(tensors, versions, strict=True)]
    every = [*tensors, *(each for each in outputs if isinstance(each, torch.Tensor))]
    values = [each.detach().clone() if isinstance(each, torch.Tensor) else each for each in (*tensors, *outputs)]
    autograd = [
        (each.requires_grad, each.is_leaf, each.stride(), [each is other for other in every],
         [each._base is other for other in every] if each.requires_grad else None)
        for each in every
    ]  # fmt: skip
    shared = [[share_memory(one, other) for other in every] for one in every]
    used = [each for each in every if each.requires_grad and each.is_floating_point()]
    wanted = [each for each in leaves if isinstance(each, torch.Tensor) and each.requires_grad]
    losses = [(each * (place + 1)).sin().sum() for place, each in enumerate(used)] if wanted else []
    gradients = [torch.autograd.grad(loss, wanted, retain_graph=True, allow_unused=True) for loss in losses]
    total = torch.autograd.grad(sum(losses), wanted, allow_unused=True) if losses else ()
    after: list[Any] = []
    with torch.no_grad():
        for each in every[len(tensors) :]:
            if each.is_floating_point() and 0 not in each.stride():
                each.add_(1)
            after += [other.detach().clone() for other in every]
    return Observed(values, changed, autograd, shared, after, gradients, total, torch.rand(1))


def share_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr() != 0


def check(function: Callable[..., Any], make: Make, *, lowers: bool = True, **options: Any) -> list[Lowered]:
    """Check that compiled calls show what plain ones do, and that the graphs were lowered."""
    expected = observe(function, make)
    call, lowered = compiled(function, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if lowers else "ignore")
        for _ in range(2):
            check_same(observe(call, make), expected)
    assert lowered
    if lowers:
        assert [each.reason for each in lowered] == [""] * len(lowered)
    return lowered


def check_same(found: Observed, expected: Observed) -> None:
    torch.testing.assert_close(found.values, expected.values, rtol=0, atol=0)
    assert found.changed == expected.changed
    assert found.autograd == expected.autograd
    assert found.shared == expected.shared
    torch.testing.assert_close(found.after_writes, expected.after_writes, rtol=0, atol=0)
    # Of each result alone, the gradient is the same to the last bit; what several results add up to depends on the
    # order.
    torch.testing.assert_close(found.gradients, expected.gradients, rtol=0, atol=0)
    torch.testing.assert_close(found.total, expected.total)
    assert torch.equal(found.drawn, expected.drawn)


def computed(tensor: torch.Tensor) -> torch.Tensor:
    """Mark a leaf for which the call is given a tensor computed from it."""
    tensor.computed = True  # type: ignore[attr-defined]
    return tensor


def is_at_call(filename: str, warning: Any) -> bool:
    """Return whether the warning is at the line of the test in this file that calls the compiled function."""
    return warning.filename == filename and "call(" in linecache.getline(filename, warning.lineno)

"""Guards on tensors and on expressions of their sizes: what they let pass, and what they say of what they do not."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.guards.static import static_tensor
from tracer_core.guards import Guard, compile_guards, make
from tracer_core.sources import LocalSource, SizeSource

x, y, z = map(LocalSource, "xyz")


def compiled(*guards: Guard) -> Any:
    return compile_guards(guards, globals(), vars(builtins))


def base() -> torch.Tensor:
    return torch.arange(32.0).reshape(4, 8)


class Mine(torch.Tensor):
    pass


TENSOR_CHANGES: list[tuple[str, Callable[[], Any], str, str]] = [
    ("class", lambda: torch.nn.Parameter(base(), requires_grad=False), "of class Tensor", "Parameter"),
    ("subclass", lambda: base().as_subclass(Mine), "of class Tensor", "Mine"),
    ("dtype", lambda: base().double(), "of dtype f32", "of dtype f64"),
    ("device", lambda: base().to("meta"), "on device cpu", "on device meta"),
    ("layout", lambda: base().to_sparse(), "torch.strided", "torch.sparse_coo"),
    ("requires_grad", lambda: base().requires_grad_(), "requires_grad=False", "requires_grad=True"),
    ("dimensions", lambda: base()[None], "with 2 dimensions", "with 3 dimensions"),
    ("size", lambda: base()[:3], "of shape [4, 8]", "of shape [3, 8]"),
    ("strides", lambda: base().t().contiguous().t(), "of strides [8, 1]", "of strides [1, 4]"),
    ("negative view", lambda: torch._neg_view(base()), "dispatch keys", "Negative"),
    ("not a tensor", lambda: [1.0], "a Tensor f32[4, 8]", "[1.0]"),
]


@pytest.mark.row("G1")
@pytest.mark.parametrize(("what", "changed", "was", "seen"), TENSOR_CHANGES, ids=[c[0] for c in TENSOR_CHANGES])
@pytest.mark.parametrize("alive", [True, False], ids=["in a batch", "example gone"])
def test_tensor_properties(what: str, changed: Callable[[], Any], was: str, seen: str, alive: bool) -> None:
    example = base()
    guard = static_tensor(x, example)
    if not alive:
        del example
    check = compiled(guard)
    assert check.holds({"x": base()})
    assert not check.holds({"x": changed()})
    failure = check.explain({"x": changed()})
    assert failure is not None
    assert was in failure.expected
    assert seen in failure.seen
    assert "x" in re.findall(r"\w+", failure.advice)


MARK = "mark the dimension of `x` that varies with `torch._dynamo.mark_dynamic`"
SMALL = "keep this size of `x` at 2 or more: pad it, or leave out a last batch of 1"


@pytest.mark.parametrize(
    ("compiled_for", "seen", "first", "others"),
    [
        ((4, 8), (5, 8), MARK, "`dynamic=True`"),
        ((4, 8), (1, 8), SMALL, "0 and 1, which are always specialized, also with `dynamic=True`"),
        ((1, 8), (4, 8), SMALL, "mark_unbacked"),
        ((4, 8), (0, 8), SMALL, "mark_unbacked"),
        ((4, 8), (1, 9), MARK, "mark_unbacked"),
    ],
)
def test_remedies_of_sizes(compiled_for: tuple[int, ...], seen: tuple[int, ...], first: str, others: str) -> None:
    """torch never makes a symbol of a size of 0 or 1, unless it is unbacked."""
    failure = compiled(static_tensor(x, torch.ones(compiled_for))).explain({"x": torch.ones(seen)})
    assert failure is not None
    assert failure.remedies[0] == first
    assert any(others in remedy for remedy in failure.remedies[1:])
    assert (MARK in failure.remedies) == (first == MARK)
    assert ("mark_dynamic" in failure.advice) == (first == MARK)


@pytest.mark.parametrize("alive", [True, False], ids=["in a batch", "example gone"])
def test_symbolic_sizes_and_strides_may_vary(alive: bool) -> None:
    example = base()
    guard = make.tensor(x, example, (None, 8), (None, 1))
    if not alive:
        del example
    check = compiled(guard)
    assert guard.text == "x is a Tensor f32[*, 8], strides [*, 1], requires_grad=False"
    assert check.holds({"x": torch.ones(2, 8)})
    assert check.holds({"x": torch.ones(2, 16)[:, :8]})
    assert not check.holds({"x": torch.ones(2, 9)})
    assert not check.holds({"x": torch.ones(8)})


def test_no_strides_means_any() -> None:
    example = base()
    check = compiled(make.tensor(x, example, (None, None), None))
    assert check.holds({"x": base().t()})


def test_sparse_tensors_can_be_guarded() -> None:
    example = base().to_sparse()
    check = compiled(static_tensor(x, example))
    assert check.holds({"x": base().to_sparse()})
    assert not check.holds({"x": base()})


def test_other_dispatcher_modes_fail_even_without_a_guard_on_them() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    example = base()
    check = compiled(static_tensor(x, example))
    with Mode():
        failure = check.explain({"x": example})
    assert failure is not None
    assert failure.seen == "used under other dispatcher modes"


@pytest.mark.row("G5")
def test_shape_expressions() -> None:
    rows = SizeSource(x, 0)
    guards = [make.shape("2 <= {0} <= {1}", [rows, SizeSource(y, 0)]), make.shape("{0} % 2 == 0", [rows])]
    check = compiled(*guards)
    assert guards[0].text == "2 <= x.size(0) <= y.size(0)"
    assert check.holds({"x": torch.ones(4), "y": torch.ones(4)})
    too_long = check.explain({"x": torch.ones(6), "y": torch.ones(5)})
    assert too_long is not None
    assert too_long.guard == guards[0]
    assert too_long.seen == "x.size(0) == 6, y.size(0) == 5"
    odd = check.explain({"x": torch.ones(3), "y": torch.ones(5)})
    assert odd is not None
    assert odd.guard == guards[1]
    assert odd.sentence.startswith("It was compiled for x.size(0) % 2 == 0, and now x.size(0) == 3. To avoid this, ")


def test_shape_expression_that_stops_early_still_assigns_what_others_use() -> None:
    rows, columns = SizeSource(x, 0), SizeSource(y, 0)
    guards = [make.shape("{0} == 1 or {1} == 2", [rows, columns]), make.shape("{0} < 5", [columns])]
    check = compiled(*guards)
    assert check.holds({"x": torch.ones(1), "y": torch.ones(4)})
    assert not check.holds({"x": torch.ones(1), "y": torch.ones(5)})

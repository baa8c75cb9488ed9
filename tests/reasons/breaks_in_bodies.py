"""Breaks at higher-order operators, and in the functions that they are given."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from tests.reasons.table import given_by


@given_by("body-breaks")
def prints_in_a_branch(x: Any) -> Any:
    def branch(a: Any) -> Any:
        print(end="")
        return a + 1

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


@given_by("body-changes")
def appends_in_a_branch(x: Any) -> Any:
    kept = []

    def branch(a: Any) -> Any:
        kept.append(a)
        return a + 1

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


@given_by("body-returns-alias")
def returns_its_input(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda a: a, torch.cos, (x,))


@given_by("body-result")
def returns_a_text(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda a: object(), lambda a: object(), (x,))


@given_by("branches-differ")
def returns_a_list_or_a_tensor(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda a: [a + 1], torch.cos, (x,))


@given_by("constant-predicate")
def chooses_by_the_rank(x: Any) -> Any:
    return torch.cond(x.dim() > 1, torch.sin, torch.cos, (x,))


@given_by("operator-refuses")
def chooses_by_several_elements(x: Any) -> Any:
    try:
        return torch.cond(x > 0, torch.sin, torch.cos, (x,))
    except RuntimeError:
        return x


@given_by("carried-differs")
def carries_a_value_that_grows(x: Any) -> Any:
    try:
        return torch.while_loop(lambda a: a.sum() < 9, lambda a: (torch.cat([a, a]),), (x,))
    except RuntimeError:
        return x


@given_by("body-inputs-alias", backend="aot_eager")
def uses_a_tensor_and_its_view(x: Any) -> Any:
    try:
        return torch.cond(x.sum() > 0, torch.add, torch.sub, (x, x.view(1, 3)))
    except RuntimeError:
        return x


@given_by("checkpoint-without-gradient")
def checkpoints_what_needs_no_gradient(x: Any) -> Any:
    return checkpoint(torch.sin, x, use_reentrant=True)


@given_by("option-not-constant")
def chooses_a_kind_by_a_tensor(x: Any) -> Any:
    return checkpoint(torch.sin, x, use_reentrant=x.sum() > 0)


def _leaf() -> list[tuple[Any, ...]]:
    return [(torch.ones(3, requires_grad=True),)]


@given_by("hook-handle", _leaf)
def removes_a_hook(x: Any) -> Any:
    y = x * 2
    y.register_hook(torch.neg).remove()
    return y


@given_by("body-reads-strides", _leaf)
def asks_how_a_gradient_lies(x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda grad: grad if grad.is_contiguous() else grad.contiguous())
    return y


@given_by("checkpoint-kind", lambda: [(torch.ones(3, requires_grad=True),)])
def checkpoints_without_a_kind(x: Any) -> Any:
    return checkpoint(torch.sin, x * 2)


KERNEL: Any = type("JITFunction", (), {"__module__": "triton.runtime.jit"})()
KERNEL.__name__ = "scale"


@given_by("triton-kernel")
def reads_an_attribute_of_a_kernel(x: Any) -> Any:
    return x + len(KERNEL.__name__)

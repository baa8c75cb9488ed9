"""Mutations, aliases and what autograd knows of the results: as in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.aot.comparing import check, computed


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(shape, requires_grad=True)


def one() -> tuple[torch.Tensor]:
    return (leaf(4, 3),)


def later() -> tuple[torch.Tensor]:
    return (computed(leaf(4, 3)),)


def plain() -> tuple[torch.Tensor]:
    return (torch.randn(4, 3),)


def two() -> tuple[torch.Tensor, torch.Tensor]:
    return computed(leaf(4, 3)), torch.randn(4, 3)


# --- mutations --------------------------------------------------------------------------------------------------


def adds_in_place(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


def reads_then_writes(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    x.add_(y)
    return y


def writes_a_row(x: torch.Tensor) -> torch.Tensor:
    x[1] = 0
    return x.exp()


def writes_through_a_view(x: torch.Tensor) -> torch.Tensor:
    x.view(-1)[2:5].mul_(3)
    return x.sin()


def writes_without_gradients(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        x.mul_(2)
    return x.sin()


def writes_through_detached(x: torch.Tensor) -> torch.Tensor:
    x.detach().mul_(2)
    return x.sin()


def makes_a_buffer_require_gradients(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    b.copy_(x.sin())
    return x + 1


def counts(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    b.add_(1)
    return x * b


def returns_nothing(x: torch.Tensor, b: torch.Tensor) -> None:
    b.add_(x.detach())


def writes_twice(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    b.zero_()
    b.add_(2)
    x.add_(b)
    return x.relu_()


def saves_what_it_writes(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    y = x * b.clone()
    b.add_(1)
    return y


def fills(x: torch.Tensor) -> torch.Tensor:
    x.fill_(3)
    return x


# --- aliases ----------------------------------------------------------------------------------------------------


def returns_its_input(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x, x * 2


def returns_views(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.t(), x[1:3], x.view(2, 6), x.unsqueeze(0).expand(2, 4, 3), x.diagonal()


def returns_pieces(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(x.split(2)) + tuple(x.unbind(1))


def returns_a_detached_view(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.detach(), x.detach()[1:], x[1:].detach(), x + 1


def returns_what_it_wrote(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    x.add_(1)
    return x, x[1:], x.detach()


def returns_one_result_twice(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = x.sin()
    return y, y


def returns_a_result_and_its_view(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = x.sin()
    return y.view(-1), y, y.t()


def returns_views_of_what_it_keeps(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = x.sin()
    return y.view(-1), y.t(), y[1]


def returns_one_view_of_what_it_keeps(x: torch.Tensor) -> torch.Tensor:
    return x.sin().view(-1)


def returns_a_result_and_it_detached(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = x.sin()
    return y.detach(), y, y.detach()[0]


def returns_a_view_without_gradients(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch.no_grad():
        y = x.t()
    return y, x.sin()


def writes_its_own_result(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = x.sin()
    z = y[0]
    y.mul_(2)
    z.add_(1)
    return y, z


def returns_real_parts(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    z = torch.complex(x, x.sin())
    return z.real, z.imag, z


def returns_a_chunk_it_wrote(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    a, b = x.sin().chunk(2)
    return a + b, a


# --- requires_grad, numbers, settings -------------------------------------------------------------------------------


def returns_integers(x: torch.Tensor) -> tuple[Any, ...]:
    return x.argmax(1), x.max(), x.shape[0], x > 0, None


def ignores_gradients(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch.no_grad():
        y = x.sin()
    return y, y * x


def draws(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = torch.nn.functional.dropout(x, 0.5)
    return y, torch.rand(3), torch.randn_like(x) * y


def writes_random_numbers(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    b.uniform_()
    return x * b.normal_()


def creates(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.zeros(2), torch.arange(3), x + torch.tensor([1.0, 2.0, 3.0])


def uses_autocast(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.t()
    return y.float().exp()


def detaches_part(x: torch.Tensor) -> torch.Tensor:
    return x.sin() * x.cos().detach()


def expanded() -> tuple[torch.Tensor]:
    return (torch.zeros(1, 3).expand(2, 3),)


def expanded_in_no_way() -> tuple[torch.Tensor]:
    return (torch.zeros(3).as_strided((1, 3), (0, 1)),)


def overlapping() -> tuple[torch.Tensor]:
    return (torch.arange(6.0).unfold(0, 3, 1),)


def writes_the_first_row(x: torch.Tensor) -> torch.Tensor:
    x[0].add_(1)
    return x * 2


def takes_gradients(x: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(lambda y: (y**3).sum())(x) * x


CASES: list[tuple[Callable[..., Any], tuple[Callable[[], Any], ...]]] = [
    (adds_in_place, (later, plain)),
    (reads_then_writes, (later, plain)),
    (writes_a_row, (later, plain)),
    (writes_through_a_view, (later, plain)),
    (writes_without_gradients, (one, later, plain)),
    (writes_through_detached, (one, later, plain)),
    (makes_a_buffer_require_gradients, (two,)),
    (counts, (two,)),
    (returns_nothing, (two,)),
    (writes_twice, (two,)),
    (saves_what_it_writes, (two,)),
    (fills, (later, plain)),
    (returns_its_input, (one, later, plain)),
    (returns_views, (one, later, plain)),
    (returns_pieces, (one, plain)),
    (returns_a_detached_view, (one, later, plain)),
    (returns_what_it_wrote, (later, plain)),
    (returns_one_result_twice, (one, plain)),
    (returns_a_result_and_its_view, (one, plain)),
    (returns_views_of_what_it_keeps, (one, plain)),
    (returns_one_view_of_what_it_keeps, (one, plain)),
    (returns_a_result_and_it_detached, (one, plain)),
    (returns_a_view_without_gradients, (one, later, plain)),
    (writes_its_own_result, (one, plain)),
    (returns_real_parts, (one, plain)),
    (returns_a_chunk_it_wrote, (one, plain)),
    (returns_integers, (one, later, plain)),
    (ignores_gradients, (one, plain)),
    (draws, (one, plain)),
    (writes_random_numbers, (two,)),
    (creates, (one, plain)),
    (uses_autocast, (one, plain)),
    (detaches_part, (one, plain)),
    (takes_gradients, (one, plain)),
    (writes_the_first_row, (plain, expanded_in_no_way, overlapping)),
]
ALL = [
    pytest.param(function, make, id=f"{function.__name__}-{make.__name__}")
    for function, makes in CASES
    for make in makes
]


@pytest.mark.parametrize(("function", "make"), ALL)
def test_a_call_shows_what_plain_python_shows(function: Callable[..., Any], make: Any) -> None:
    check(function, make)


@pytest.mark.parametrize(("function", "make"), ALL)
def test_with_symbols_for_sizes(function: Callable[..., Any], make: Any) -> None:
    check(function, make, dynamic=True)


@pytest.mark.parametrize(("function", "make"), ALL)
def test_with_the_least_kept_for_the_backward_pass(function: Callable[..., Any], make: Any) -> None:
    check(function, make, partitioner="min_cut")


@pytest.mark.parametrize(("function", "make"), ALL)
def test_without_gradients(function: Callable[..., Any], make: Any) -> None:
    with torch.no_grad():
        expected = [each.detach() if isinstance(each, torch.Tensor) else each for each in make()]
    check(function, lambda: [each.detach().clone() if isinstance(each, torch.Tensor) else each for each in expected])


@pytest.mark.parametrize("dynamic", [False, True])
def test_an_expanded_input_that_is_written_to_runs_eagerly(dynamic: bool) -> None:
    (lowered,) = check(writes_the_first_row, expanded, lowers=False, dynamic=dynamic)
    assert lowered.reason == "it writes to an input that is expanded"

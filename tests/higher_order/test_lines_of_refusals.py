"""What is refused in a body is told with the line of the body that causes it: a `return`, a `raise`, a change."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import map as map_function
from torch._higher_order_ops import scan
from torch.nn.attention.flex_attention import flex_attention

from tests.higher_order.three_ways import refused

pytestmark = pytest.mark.row("H1")

Program = Callable[..., Any]
CASES: dict[Program, tuple[str, str, tuple[Any, ...]]] = {}


def told(reason_id: str, words: str, *others: Any) -> Callable[[Program], Program]:
    """Note with which reason the program, called with a tensor and `others`, is refused, and in which words. The line
    that causes it is marked `# the cause`."""

    def note(program: Program) -> Program:
        CASES[program] = reason_id, words, others
        return program

    return note


@told("body-breaks", "torch.cond needs branch as one graph, which it cannot be: the function returns a tensor that ")
def returns_its_input(x: torch.Tensor) -> Any:
    def branch(a: torch.Tensor) -> torch.Tensor:
        a.sin()
        return a  # the cause

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


@told("body-breaks", "shares memory with `y`, which it is given.")
def returns_a_captured_tensor(x: torch.Tensor) -> Any:
    y = x * 2

    def branch(a: torch.Tensor) -> torch.Tensor:
        return y  # the cause

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


@told("body-breaks", "shares memory with another of its results.")
def returns_a_tensor_twice(x: torch.Tensor) -> Any:
    def step(carry: torch.Tensor, row: torch.Tensor) -> Any:
        total = carry + row
        return total, total  # the cause

    return scan(step, torch.zeros(()), x)


@told("body-breaks", "it raises ValueError('no').")
def raises(x: torch.Tensor) -> Any:
    def branch(a: torch.Tensor) -> torch.Tensor:
        if a.dim() == 1:
            raise ValueError("no")  # the cause
        return a + 1

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


@told("body-breaks", "it raises KeyError('missing').")
def raises_in_a_callee(x: torch.Tensor) -> Any:
    def look_up(table: dict[str, Any]) -> Any:
        return table["missing"]  # the cause

    def branch(a: torch.Tensor) -> torch.Tensor:
        return a + look_up({})  # type: ignore[no-any-return]

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


@told("branches-differ", "different structures: [value] (one) and value (other).")
def returns_a_list(x: torch.Tensor) -> Any:
    def one(a: torch.Tensor) -> Any:
        return [a + 1]  # the cause

    def other(a: torch.Tensor) -> Any:
        return a + 2

    return torch.cond(x.sum() > 0, one, other, (x,))


@told("branches-differ", "different dtypes: int32 (one) and float32 (torch.cos).")
def returns_another_dtype(x: torch.Tensor) -> Any:
    def one(a: torch.Tensor) -> Any:
        return a.int()  # the cause

    return torch.cond(x.sum() > 0, one, torch.cos, (x,))


@told("branches-differ", "different types: NoneType (one) and Tensor (torch.cos).")
def returns_nothing(x: torch.Tensor) -> Any:
    def one(a: torch.Tensor) -> None:
        a.sin()  # the cause

    return torch.cond(x.sum() > 0, one, torch.cos, (x,))


@told("body-result", "torch.cond cannot return an object of type str, as branch does.")
def returns_a_text(x: torch.Tensor) -> Any:
    def branch(a: torch.Tensor) -> str:
        return "text"  # the cause

    return torch.cond(x.sum() > 0, branch, branch, (x,))


@told("carried-differs", "needs step to return what it can be called with next, but sizes differ: (3,) given, (6,) ")
def carries_other_sizes(x: torch.Tensor) -> Any:
    def step(a: torch.Tensor) -> Any:
        return (torch.cat([a, a]),)  # the cause

    return torch.while_loop(lambda a: a.sum() < 9, step, (x,))


@told("carried-differs", "dtypes differ: float32 given, float64 returned.")
def carries_another_dtype(x: torch.Tensor) -> Any:
    def step(carry: torch.Tensor, row: torch.Tensor) -> Any:
        return (carry + row).double(), row + 1  # the cause

    return scan(step, torch.zeros(()), x)


@told("carried-differs", "numbers of values differ: 1 given, 2 returned.")
def carries_more(x: torch.Tensor) -> Any:
    def step(a: torch.Tensor) -> Any:
        return a + 1, a + 2  # the cause

    return torch.while_loop(lambda a: a.sum() < 9, step, (x,))


@told("operator-refuses", "more returns f32[3], not a bool or a tensor with one bool.")
def has_no_condition(x: torch.Tensor) -> Any:
    def more(a: torch.Tensor) -> Any:
        return a + 1  # the cause

    return torch.while_loop(more, lambda a: (a + 1,), (x,))


@told("operator-refuses", "cond_fn returns True whatever it is given")
def never_ends(x: torch.Tensor) -> Any:
    def more(a: torch.Tensor) -> Any:
        return True  # the cause

    return torch.while_loop(more, lambda a: (a + 1,), (x,))


@told("operator-refuses", "step returns value, not a carry and an output.")
def returns_no_output(x: torch.Tensor) -> Any:
    def step(carry: torch.Tensor, row: torch.Tensor) -> Any:
        return carry + row  # the cause

    return scan(step, torch.zeros(()), x)


@told("body-result", "cannot return an object of type int, as row does.")
def maps_to_numbers(x: torch.Tensor) -> Any:
    def row(a: torch.Tensor) -> Any:
        return 1  # the cause

    return map_function(row, x)


@told("body-result", "flex_attention cannot return an object of type float, as score does.")
def scores_are_numbers(x: torch.Tensor) -> Any:
    def score(score: torch.Tensor, *places: torch.Tensor) -> Any:
        return 1.0  # the cause

    given = x.expand(1, 1, 16, 3)
    return flex_attention(given, given, given, score_mod=score)


@told("body-breaks", "torch.cond needs branch as one graph, which it cannot be: the function changes `total`.")
def changes_a_variable(x: torch.Tensor) -> Any:
    total = 0

    def branch(a: torch.Tensor) -> torch.Tensor:
        nonlocal total
        total += 1  # the cause
        return a + 1

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,)), total


@told("body-breaks", "the function changes `kept`.")
def changes_a_list(x: torch.Tensor) -> Any:
    kept: list[torch.Tensor] = []

    def branch(a: torch.Tensor) -> torch.Tensor:
        kept.append(a)  # the cause
        return a + 1

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,)), kept


@told("body-breaks", "the function changes `state['seen']`.", {"seen": []})
def changes_an_argument(x: torch.Tensor, state: dict[str, Any]) -> Any:
    def branch(a: torch.Tensor) -> torch.Tensor:
        state["seen"].append(a)  # the cause
        return a + 1

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


@told("body-breaks", "torch.cond needs inner (in middle of torch.cond, in outer of torch.cond) as one graph, which ")
def breaks_three_deep(x: torch.Tensor) -> Any:
    def inner(a: torch.Tensor) -> torch.Tensor:
        print(end="")  # the cause
        return a + 1

    def middle(a: torch.Tensor) -> torch.Tensor:
        return torch.cond(a.sum() > 1, inner, torch.sin, (a,))

    def outer(a: torch.Tensor) -> torch.Tensor:
        return torch.cond(a.sum() > 2, middle, torch.sin, (a,))

    return torch.cond(x.sum() > 0, outer, torch.cos, (x,))


class Saves(torch.autograd.Function):
    """Doubles. Subclasses do something that cannot be in a graph."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient * 2


def applied(reason_id: str, words: str) -> Callable[[type[Saves]], type[Saves]]:
    def note(function: type[Saves]) -> type[Saves]:
        def program(x: torch.Tensor) -> Any:
            return function.apply(x)

        program.__name__, program.function = function.__name__, function  # type: ignore[attr-defined]
        told(reason_id, words)(program)
        return function

    return note


@applied("autograd-function", "its backward returns 3 gradients for 1 argument.")
class GivesTooMany(Saves):
    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient, gradient, gradient  # the cause


@applied("autograd-function", "its backward returns an int as a gradient.")
class GivesANumber(Saves):
    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return 3  # the cause


@applied("autograd-function", "its forward returns one tensor twice.")
class ReturnsOneTwice(Saves):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        doubled = x * 2
        return doubled, doubled  # the cause


@pytest.mark.parametrize("program", CASES, ids=lambda program: program.__name__)
def test_a_refusal_names_the_line_that_causes_it(program: Program) -> None:
    reason_id, words, others = CASES[program]
    function = getattr(program, "function", program)
    tensor = torch.ones(3, requires_grad=function is not program)
    error = refused(program, lambda: (tensor, *others))
    assert error.reason_id == reason_id
    assert words in str(error)
    lines, first = inspect.getsourcelines(function)
    cause = first + next(at for at, line in enumerate(lines) if "# the cause" in line)
    found = re.search(r'File "(.*)", line (\d+)', str(error))
    assert found is not None
    assert (found[1], int(found[2])) == (__file__, cause)

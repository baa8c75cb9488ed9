"""`torch.cond` as plain Python, through the engine and through `torch.compile`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.higher_order import three_ways
from tests.higher_order.three_ways import Graphs, agree, outcome, refused, torch_refuses
from tests.recording.programs_in_files import recorded
from tracer_core.errors import NoticeWarning
from tracewalk import record

pytestmark = pytest.mark.row("H2")

same_three_ways = functools.partial(three_ways.same_three_ways, back_ends=True)

WEIGHT, OTHER = torch.linspace(-1, 1, 3), torch.linspace(2, 3, 3)


def vector(sign: int = 1) -> tuple[torch.Tensor]:
    return (torch.full((3,), 0.5 * sign),)


def with_gradient(sign: int = 1) -> tuple[torch.Tensor]:
    return (torch.full((2, 3), 0.5 * sign, requires_grad=True),)


def both_branches(function: Callable[..., Any], arguments: Callable[[int], tuple[Any, ...]], **how: Any) -> None:
    same_three_ways(function, lambda: arguments(1), lambda: arguments(-1), **how)


# --- branches -------------------------------------------------------------------------------------------------


class Scale:
    def __init__(self, k: int) -> None:
        self.k = k

    def method(self, a: torch.Tensor) -> torch.Tensor:
        return a * self.k

    def __call__(self, a: torch.Tensor) -> torch.Tensor:
        return a + self.k

    @staticmethod
    def plain(a: torch.Tensor) -> torch.Tensor:
        return a - 1


SCALE = Scale(3)


def halves(a: torch.Tensor) -> torch.Tensor:
    def inner(b: torch.Tensor) -> torch.Tensor:
        return b / 2

    return inner(a)


def branches(x: torch.Tensor) -> dict[str, Callable[..., Any]]:
    return {
        "torch's function": torch.sin,
        "a function": halves,
        "a lambda": lambda a: a * 2,
        "a closure": lambda a: a * x.cos(),
        "globals": lambda a: a + WEIGHT - OTHER,
        "a partial": functools.partial(torch.add, alpha=2, other=x),
        "a method": SCALE.method,
        "a static method": Scale.plain,
        "an object that can be called": SCALE,
    }


@pytest.mark.parametrize("name", branches(torch.ones(3)))
def test_a_branch_of_any_kind(name: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, branches(x)[name], torch.cos, (x + 1,)) * 2

    both_branches(program, vector)


def test_a_method_of_a_tensor_is_a_branch() -> None:
    # torch.compile cannot tell whether it can be called.
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, x.mul, torch.cos, (x,))

    torch_refuses(program, vector)
    assert tracer_core.compile(program, backend="eager", fullgraph=True)(*vector()).equal(torch.full((3,), 0.25))


class Gate(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.register_buffer("shift", torch.ones(3))
        self.factor = torch.nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        operands = (torch.cond(x.sum() > 0, self.left, self.right, (x,)) + 1,)
        return torch.cond(x.mean() > 0, self.scaled, lambda a: a - self.shift, operands) * self.factor

    def scaled(self, a: torch.Tensor) -> torch.Tensor:
        return a * self.factor + self.shift


def test_modules_their_methods_parameters_and_buffers() -> None:
    torch.manual_seed(0)
    gate = Gate()
    both_branches(lambda x, module: module(x), lambda sign: (*with_gradient(sign), gate))


# --- arguments and results ------------------------------------------------------------------------------------


def nested(x: torch.Tensor) -> Any:
    given = {"a": [x + 1], "b": (x, x * 2)}
    return torch.cond(
        x.sum() > 0,
        lambda d, e: {"p": [d["a"][0] * e], "q": (d["b"][1].sin(),)},
        lambda d, e: {"p": [d["b"][0] - e], "q": (d["b"][1].cos(),)},
        (given, x),
    )


def by_keywords(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(pred=x.sum() > 0, operands=[x], false_fn=torch.cos, true_fn=torch.sin)


def without_operands(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda: x + 1, lambda: x * 2)


def by_a_float_tensor(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum().relu(), torch.sin, torch.cos, (x,))


def by_one_element(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x[:1] > 0, torch.sin, torch.cos, (x,))


def the_same_tensor_twice(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, torch.add, torch.sub, (x, x))


def by_the_operator(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.higher_order.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


def several_captured(x: torch.Tensor) -> torch.Tensor:
    z, a, m = x.exp(), x + 1, x * 2
    return torch.cond(x.sum() > 0, lambda b: b + z + a, lambda b: b - m - a + WEIGHT, (x,))


def several_from_cells(x: torch.Tensor) -> torch.Tensor:
    """(torch orders what is lifted by the names of the variables that first held it.)"""
    second = x.exp()
    first = second @ x

    def halves(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        middle = a.sin()
        return middle, middle / 2

    third, fourth = halves(x)
    on_true, on_false = lambda: first * second + third, lambda: second - fourth - third - first
    return torch.cond(x.sum() > 0, on_true, on_false)


def twice(x: torch.Tensor) -> torch.Tensor:
    y = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)) * 2
    return torch.cond(y.mean() > 0, torch.cos, torch.sin, (y,)) - x


def same_ints(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: (a.sin(), 1), lambda a: (a.cos(), 1), (x,))


def differing_sizes(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda a: a[:2].sin(), lambda a: a.cos(), (x,))


def one_without_gradient(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.detach().cos(), (x,))


def some_without_gradient(x: torch.Tensor) -> Any:
    on_true = lambda a: (a.sin(), a.detach().cos())
    return torch.cond(x.sum() > 0, on_true, lambda a: (a * 2, a.detach() * 3), (x,))


def two_deep(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    inner = lambda a: torch.cond(a.mean() > 0.6, lambda b: b.sin() * y, torch.cos, (a,))
    return torch.cond(x.sum() > 0, inner, torch.tan, (x,))


def three_deep(x: torch.Tensor) -> torch.Tensor:
    def innermost(b: torch.Tensor) -> torch.Tensor:
        return torch.cond(b.sum() > x.sum(), lambda c: c * WEIGHT, lambda c: c + x, (b,))

    def inner(a: torch.Tensor) -> torch.Tensor:
        return torch.cond(a.mean() > 0, innermost, torch.cos, (a * 2,))

    return torch.cond(x.mean() > 0, inner, lambda a: innermost(a) - 1, (x + 1,))


PROGRAMS = [
    *(nested, by_keywords, without_operands, by_a_float_tensor, by_one_element, the_same_tensor_twice),
    *(several_captured, several_from_cells, twice, one_without_gradient, some_without_gradient, two_deep),
]


@pytest.mark.row("O2")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_results_gradients_and_graphs(program: Callable[..., Any]) -> None:
    both_branches(program, lambda sign: (vector(sign)[0].requires_grad_(),))


@pytest.mark.parametrize("program", [by_the_operator, same_ints, differing_sizes], ids=lambda each: each.__name__)
def test_results_and_graphs_of_what_torch_takes_no_gradient_of(program: Callable[..., Any]) -> None:
    both_branches(program, vector)


@pytest.mark.row("O2")
def test_three_deep() -> None:
    # Back ends that take gradients while compiling fail in torch's rule for merging strides.
    both_branches(three_deep, lambda sign: (vector(sign)[0].requires_grad_(),), back_ends=False)
    both_branches(three_deep, vector)


def ints(x: torch.Tensor) -> Any:
    y, n = torch.cond(x.sum() > 0, lambda a: (a.sin(), 1), lambda a: (a.cos(), 2), (x,))
    return y + n, torch.zeros(n), n


def goes_on_with_a_size(x: torch.Tensor) -> Any:
    y = torch.cond(x.sum() > 0, lambda a: a[:2] + 1, lambda a: a.cos(), (x,))
    return y * 2, y.shape[0] + 1, torch.ones(y.shape[0])


def a_size_in_a_body(x: torch.Tensor) -> Any:
    y = torch.cond(x.sum() > 0, lambda a: a[:2] + 1, lambda a: a.cos(), (x,))
    return torch.cond(x.sum() > 0, lambda a: a * a.shape[0] + y.sum(), lambda a: a.sin(), (y,))


@pytest.mark.parametrize("program", [ints, goes_on_with_a_size, a_size_in_a_body], ids=lambda each: each.__name__)
def test_numbers_and_sizes_that_a_branch_decides(program: Callable[..., Any]) -> None:
    # torch.compile adds checks of what it knows of these sizes, which change the order of nodes.
    both_branches(program, vector, graphs=False)


def test_none_from_both_branches() -> None:
    # torch.compile refuses constants that are no ints, though its operator takes None.
    def program(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda a: (a + 1, None), lambda a: (a * 2, None), (x,))

    torch_refuses(program, vector)
    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    for sign, expected in ((1, 1.5), (-1, -1.0)):
        one, none = compiled(*vector(sign))
        assert one.equal(torch.full((3,), expected))
        assert none is None


def test_none_from_branches_that_are_differentiated() -> None:
    """torch's operator takes it, and fails in the backward pass."""

    def program(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda a: (a.sin(), None), lambda a: (a.cos(), None), (x,))

    arguments = lambda: (torch.ones(3, requires_grad=True),)
    torch_refuses(program, arguments)
    error = refused(program, arguments)
    assert "torch.cond cannot return an object of type NoneType" in str(error)
    with torch.no_grad():
        compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
        assert compiled(*arguments())[1] is None


# --- dynamic shapes -------------------------------------------------------------------------------------------


def by_a_size(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.shape[0] > 2, torch.sin, torch.cos, (x,))


def by_an_int(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.shape[0], torch.sin, torch.cos, (x,))


def captured_size(x: torch.Tensor) -> torch.Tensor:
    n = x.shape[0]
    return torch.cond(x.sum() > 0, lambda a: a + n, lambda a: a.cos(), (x,))


def several_sizes(x: torch.Tensor) -> torch.Tensor:
    y, n = torch.cat([x, x]), x.shape[0]
    return torch.cond(x.sum() > 0, lambda a: a + y.sum() * n, lambda a: a.cos() * y.shape[0], (x,))


@pytest.mark.row("O2")
@pytest.mark.parametrize("program", [by_a_size, by_an_int, captured_size], ids=lambda p: p.__name__)
def test_dynamic_shapes(program: Callable[..., Any]) -> None:
    both_branches(program, lambda sign: (torch.full((5,), 0.5 * sign, requires_grad=True),), dynamic=True)


@pytest.mark.row("O2")
def test_sizes_of_a_captured_tensor() -> None:
    # torch.compile has the tensor as an input of the body, where ours has the symbol of its sizes alone.
    both_branches(several_sizes, vector, dynamic=True, graphs=False)


@pytest.mark.parametrize("program", [by_a_size, captured_size], ids=lambda program: program.__name__)
def test_one_graph_serves_all_sizes(program: Callable[..., Any]) -> None:
    graphs = Graphs()
    tracer_core.reset()
    compiled = tracer_core.compile(program, backend=graphs, fullgraph=True, dynamic=True)
    for size in (2, 3, 5):
        for sign in (1, -1):
            x = torch.full((size,), 0.5 * sign)
            torch.testing.assert_close(compiled(x), program(x))
    assert len(graphs.graphs) == 1


def sized_operand(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda a, n: a + n, lambda a, n: a - n, (x, x.shape[0]))


@pytest.mark.parametrize("dynamic", [False, True])
def test_an_int_is_an_operand(dynamic: bool) -> None:
    # As plain Python, torch.cond takes tensors alone.
    for sign in (1, -1):
        plain = lambda x, sign=sign: x + sign * x.shape[0]
        same_three_ways(sized_operand, lambda sign=sign: vector(sign), plain=plain, dynamic=dynamic)


# --- writes ---------------------------------------------------------------------------------------------------


def writes(x: torch.Tensor) -> Any:
    with torch.no_grad():
        return torch.cond(x.sum() > 0, lambda a: a.add_(1).mul_(2) * 1, lambda a: a.cos(), (x,)), x + 1


def writes_to_a_captured_one(x: torch.Tensor) -> Any:
    kept = torch.zeros(3)
    with torch.no_grad():
        y = torch.cond(x.sum() > 0, lambda a: a + kept.add_(1), lambda a: a.cos(), (x,))
        return y, kept * 2


@pytest.mark.parametrize("program", [writes, writes_to_a_captured_one], ids=lambda program: program.__name__)
def test_without_gradients_a_branch_may_write_to_what_it_is_given(program: Callable[..., Any]) -> None:
    both_branches(program, vector)


def test_without_gradients_a_branch_may_return_what_it_is_given() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return torch.cond(x.sum() > 0, lambda a: a, lambda a: a.cos(), (x,))

    both_branches(program, vector, back_ends=False)  # which refuse it, torch's with torch's own graph, too


# --- constants ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choose", [lambda x: True, lambda x: x.dim() > 1, lambda x: x.dim(), lambda x: 0.0])
def test_a_constant_predicate_specializes_and_is_told(choose: Callable[..., Any]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(choose(x), torch.sin, halves, (x,)) + 1

    with pytest.warns(UserWarning, match=r"Pred is a Python constant|The predicate of torch\.cond is"):
        same_three_ways(program, vector)
    tracer_core.reset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trace = recorded(program, vector())
    (notice,) = trace.notices
    assert notice.reason_id == "constant-predicate"
    assert "so only" in notice.message
    line = program.__code__.co_firstlineno + 1
    assert notice.line == line
    told = [one for one in caught if "torch.cond" in str(one.message) and one.category is NoticeWarning]
    assert (told[-1].filename, told[-1].lineno) == (__file__, line)
    assert not trace.breaks


def test_a_call_between_breaks_is_in_a_graph() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        print(end="")
        z = torch.cond(y.sum() > 3, torch.sin, torch.cos, (y,))
        print(end="")
        return z * 2

    compiled = tracer_core.compile(program, backend="eager")
    for sign in (1, -1):
        agree(outcome(compiled, lambda sign=sign: vector(sign)), outcome(program, lambda sign=sign: vector(sign)))
    tracer_core.reset()
    given = vector()
    with record() as trace:
        tracer_core.compile(program, backend="eager")(*given)
    assert len(trace.graphs) == 3
    assert all("print" in each.message for each in trace.breaks)

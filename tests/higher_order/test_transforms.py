"""Transforms of `torch.func`, alone and in each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops.map import map as higher_order_map
from torch.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

import tracer_core
from tests.higher_order.three_ways import agree, outcome, refused, same_three_ways
from tracewalk import record

pytestmark = pytest.mark.row("F12")

NET = torch.nn.Linear(3, 3)
STATE = stack_module_state([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
W = torch.arange(1.0, 4)
Program = Callable[[Any], Any]


@vmap
def doubled(a: torch.Tensor) -> torch.Tensor:
    return a.sum() * 2


def cubed(a: torch.Tensor) -> torch.Tensor:
    return (a**3).sum()


def loss(params: Any, x: torch.Tensor) -> torch.Tensor:
    return (functional_call(NET, params, (x,)) ** 2).sum()


def maml(x: torch.Tensor) -> Any:
    def inner(w: torch.Tensor) -> torch.Tensor:
        return ((x @ w) ** 2).sum()

    def outer(w: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            w = w - 0.1 * grad(inner)(w)
        return inner(w)

    return grad(outer)(W)


def in_a_branch(transform: Program) -> Program:
    return lambda x: torch.cond(x.sum() > 0, transform, lambda a: a * 1, (x,))


PROGRAMS: dict[str, Program] = {
    "jvp_in_a_branch": in_a_branch(lambda a: jvp(torch.sin, (a,), (a * 2,))[1]),
    "jacfwd_in_a_branch": in_a_branch(lambda a: jacfwd(torch.sin)(a[0]) @ a.t() + 0 * a[0, 0]),
    "vmap": lambda x: vmap(torch.sin)(x),
    "vmap_of_a_lambda": lambda x: vmap(lambda a: a * W + x.size(1))(x),
    "vmap_dims": lambda x: vmap(lambda a, d: a * 2 + d["b"], in_dims=(1, {"b": None}), out_dims=1)(x, {"b": x[:, 0]}),
    "vmap_keywords": lambda x: vmap(lambda a, k=1: a * k)(x, k=3),
    "vmap_of_vmap": lambda x: vmap(vmap(lambda a: a * 2))(x),
    "vmap_in_chunks": lambda x: vmap(torch.sin, chunk_size=2)(x),
    "vmap_containers": lambda x: vmap(lambda a: {"s": a.sin(), "c": [a.cos(), a.sum()]})(x),
    "vmap_in_place": lambda x: vmap(lambda a: a.clone().add_(1))(x),
    "vmap_draws_different": lambda x: vmap(lambda a: a + torch.rand(3), randomness="different")(x),
    "vmap_draws_same": lambda x: vmap(lambda a: a + torch.rand(3), randomness="same")(x),
    "vmap_as_a_decorator": lambda x: doubled(x) + doubled(x + 1),
    "grad": lambda x: grad(cubed)(x),
    "grad_aux": lambda x: grad(lambda a: (cubed(a), a * 2), has_aux=True)(x),
    "grad_argnums": lambda x: grad(lambda a, b: (a * b**2).sum(), argnums=(0, 1))(x, x + 1),
    "grad_and_value": lambda x: grad_and_value(cubed)(x),
    "grad_of_grad": lambda x: grad(lambda v: grad(cubed)(v).sum())(x),
    "grad_of_a_capture": lambda x: grad(lambda v: (v * x).sum())(x.sin()),
    "vjp": lambda x: vjp(lambda a, b: (a * b, a + b), x, x + 1)[1]((x, x)),
    "vjp_keeps_results": lambda x: vjp(torch.sin, x)[0],
    "jvp": lambda x: jvp(torch.sin, (x,), (x + 1,)),
    "jvp_of_vmap": lambda x: jvp(lambda a: vmap(torch.sin)(a), (x,), (x + 1,)),
    "jacrev": lambda x: jacrev(torch.sin)(x[0]),
    "jacrev_in_chunks": lambda x: jacrev(torch.sin, chunk_size=2)(x[0]),
    "jacfwd": lambda x: jacfwd(torch.sin)(x[0]),
    "vmap_of_jacrev": lambda x: vmap(jacrev(torch.sin))(x),
    "hessian": lambda x: hessian(cubed)(x[0]),
    "functional_call": lambda x: functional_call(NET, {"weight": x[:3], "bias": W}, (x,)),
    "per_sample_gradients": lambda x: vmap(grad(loss), in_dims=(None, 0))(dict(NET.named_parameters()), x),
    "ensemble": lambda x: vmap(lambda p, b: functional_call(NET, (p, b), (x,)))(*STATE),
    "inner_loop": maml,
    "twice": lambda x: vmap(torch.sin)(x) + vmap(torch.sin)(x + 1),
    "of_a_branch": lambda x: vmap(lambda a: torch.cond(a.sum() > 0, lambda b: b.sin() * W, torch.cos, (a,)))(x),
    "in_a_branch": lambda x: torch.cond(x.sum() > 0, lambda a: vmap(torch.sin)(a), lambda a: a + 1, (x,)),
}


def plain() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 2, 12).reshape(4, 3),)


def leaf() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 2, 12).reshape(4, 3).requires_grad_(),)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_transform(name: str) -> None:
    def program(x: torch.Tensor) -> Any:
        return PROGRAMS[name](x * 2), x + 1

    same_three_ways(program, plain, graphs=name != "in_a_branch")


@pytest.mark.parametrize("name", ["vmap", "vmap_dims", "grad", "vjp", "jvp", "hessian", "vmap_of_a_lambda"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_what_a_transform_returns_is_differentiated(name: str, dynamic: bool) -> None:
    def program(x: torch.Tensor) -> Any:
        return PROGRAMS[name](x * 2)

    same_three_ways(program, leaf, dynamic=dynamic, graphs=not dynamic)


@pytest.mark.parametrize("name", ["vmap", "grad", "vjp", "per_sample_gradients", "inner_loop", "jacrev"])
def test_a_back_end_that_rewrites_the_graph_takes_it(name: str) -> None:
    compiled = tracer_core.compile(PROGRAMS[name], backend="aot_eager", fullgraph=True)
    agree(outcome(compiled, plain), outcome(PROGRAMS[name], plain))


def prints(a: torch.Tensor) -> torch.Tensor:
    print("seen", end="")
    return a * 2


def test_a_break_inside_runs_the_whole_call_as_plain_python() -> None:
    def program(x: torch.Tensor) -> Any:
        y = x + 1
        z = vmap(vmap(prints))(y)
        return z * 2

    error = refused(program, plain)
    assert error.reason_id == "print"
    (x,) = plain()
    with record() as trace:
        result = tracer_core.compile(program, backend="eager")(x)
    assert torch.equal(result, program(x))
    assert len(trace.graphs) == 2
    assert torch._C._functorch.peek_interpreter_stack() is None


def test_an_exception_inside_leaves_no_level_entered() -> None:
    def failing(a: torch.Tensor) -> torch.Tensor:
        raise ArithmeticError("no")

    def program(x: torch.Tensor) -> Any:
        y = x + 1
        try:
            grad(failing)(y)
        except ArithmeticError as error:
            return y * 2, str(error)

    same = tracer_core.compile(program, backend="eager", fullgraph=True)(*plain())
    agree(same, program(*plain()))
    assert torch._C._functorch.peek_interpreter_stack() is None


@pytest.mark.parametrize("use", [vmap, lambda f: grad(lambda a: f(a).sum()), lambda f: lambda x: jvp(f, (x,), (x,))])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_graph_that_raises_inside_leaves_no_level_entered(use: Any, backend: str) -> None:
    def program(x: torch.Tensor, index: torch.Tensor) -> Any:
        return use(lambda a: a.index_select(0, index) * 2)(x)

    compiled = tracer_core.compile(program, backend=backend)
    good, bad = torch.tensor([1]), torch.tensor([9])
    agree(compiled(*plain(), good), program(*plain(), good))
    with pytest.raises((RuntimeError, IndexError), match="out of (bounds|range)"):
        compiled(*plain(), bad)
    assert torch._C._functorch.peek_interpreter_stack() is None
    agree(compiled(*plain(), good), program(*plain(), good))
    agree(jvp(torch.sin, plain(), plain()), jvp(torch.sin, plain(), plain()))


@pytest.mark.parametrize(
    ("use", "match"),
    [
        (lambda x: vmap(torch.sin, randomness="often")(x), "Only allowed values for randomness"),
        (lambda x: vmap(torch.add)(x, x[:2]), "same size in the mapped dimension"),
        (lambda x: grad(torch.sin)(x), "return a scalar Tensor"),
        (lambda x: vmap(torch.sin)(), "no inputs"),
    ],
)
def test_what_torch_refuses_is_refused_with_its_error(use: Program, match: str) -> None:
    compiled = tracer_core.compile(lambda x: use(x + 1), backend="eager")
    with pytest.raises((ValueError, RuntimeError), match=match):
        use(*plain())
    with pytest.raises((ValueError, RuntimeError), match=match):
        compiled(*plain())
    assert torch._C._functorch.peek_interpreter_stack() is None


def test_one_value_read_inside_breaks() -> None:
    def program(x: torch.Tensor) -> Any:
        return vmap(lambda a: a * 2 if a.sum() > 0 else a)(x)

    assert refused(program, plain).reason_id == "tensor-branch"
    with pytest.raises(RuntimeError, match="vmap"):
        tracer_core.compile(program, backend="eager")(*plain())


def test_what_an_operator_cannot_do_inside_is_refused() -> None:
    def program(x: torch.Tensor) -> Any:
        return vmap(lambda a: higher_order_map(torch.sin, a))(x)

    def differentiated(x: torch.Tensor) -> Any:
        return grad(lambda a: torch.cond(a.sum() > 0, torch.sin, torch.cos, (a,)).sum())(x)

    assert refused(program, plain).reason_id == "operator-refuses"
    assert refused(differentiated, plain).reason_id == "operator-refuses"


def test_a_mixture_of_devices_that_torch_makes_itself_is_not_the_programs_fault() -> None:
    """torch.compile raises an error here."""

    def program(x: torch.Tensor, w: torch.Tensor) -> Any:
        slopes = lambda w: vmap(jacfwd(grad(lambda a: (a * w).sin().sum())))(x)
        return grad(lambda w: slopes(w).sum())(w)

    arguments = lambda: (torch.linspace(-1, 1, 6).reshape(2, 3), torch.arange(1.0, 4))
    assert refused(program, arguments).reason_id == "fake-tensors"
    tracer_core.reset()
    agree(outcome(tracer_core.compile(program, backend="eager"), arguments), outcome(program, arguments))


def test_a_mixture_of_devices_of_the_program_is_told_as_such() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(3, device="meta")

    assert refused(program, lambda: (torch.ones(3),)).reason_id == "operation-fails"


def test_the_programs_error_is_raised_where_a_full_graph_raises_inside_a_transform() -> None:
    def program(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return vmap(lambda a: a.index_select(0, i) * 2)(x)

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    (x,) = plain()
    assert torch.equal(compiled(x, torch.tensor([1])), program(x, torch.tensor([1])))
    with pytest.raises((IndexError, RuntimeError), match="out of range|out of bounds"):
        compiled(x, torch.tensor([9]))
    assert torch.equal(compiled(x, torch.tensor([2])), program(x, torch.tensor([2])))

"""Operators of linear algebra, some of which check the values of their inputs while they run."""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import Any

import pytest
import torch
from torch import linalg
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import default_partition
from torch._higher_order_ops.print import print as hop_print
from torch.utils.checkpoint import checkpoint

from tests.aot.comparing import check, compiled

Function = Callable[[torch.Tensor], Any]

ONES = torch.ones(3, 2)


def inverts_one_of_two(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: linalg.inv(x), lambda x: linalg.inv(x * 2), (x,))


def inverts_again_in_the_backward_pass(x: torch.Tensor) -> Any:
    return checkpoint(linalg.inv, x, use_reentrant=False).sin()


def inverts_each(x: torch.Tensor) -> Any:
    return torch.vmap(linalg.inv)(torch.stack([x, x + 1]))


def differentiates(x: torch.Tensor) -> Any:
    return torch.func.grad(lambda y: linalg.inv(y).sum())(x)


def factors_once(x: torch.Tensor) -> Any:
    factors, pivots = linalg.lu_factor(x)
    return linalg.lu_solve(factors, pivots, ONES)


FUNCTIONS: dict[str, Function] = {
    "cholesky": lambda x: linalg.cholesky(x),
    "cholesky_inverse": lambda x: torch.cholesky_inverse(x),
    "cholesky_solve": lambda x: torch.cholesky_solve(ONES, x),
    "det": lambda x: linalg.det(x),
    "eig": lambda x: linalg.eig(x)[0].abs(),
    "eigh": lambda x: linalg.eigh(x)[0],
    "householder_product": lambda x: linalg.householder_product(x, torch.ones(3)),
    "inv": lambda x: linalg.inv(x),
    "inv_ex": lambda x: linalg.inv_ex(x),
    "inv of a batch": lambda x: linalg.inv(x.expand(2, 3, 3)),
    "logdet": lambda x: torch.logdet(x),
    "lu": lambda x: linalg.lu(x),
    "matrix_exp": lambda x: linalg.matrix_exp(x),
    "matrix_power": lambda x: linalg.matrix_power(x, -2),
    "matrix_rank": lambda x: linalg.matrix_rank(x),
    "norm": lambda x: linalg.norm(x),
    "pinv": lambda x: linalg.pinv(x),
    "qr": lambda x: linalg.qr(x),
    "slogdet": lambda x: linalg.slogdet(x),
    "solve": lambda x: linalg.solve(x, ONES),
    "solve_triangular": lambda x: linalg.solve_triangular(x, ONES, upper=True),
    "tensorinv": lambda x: linalg.tensorinv(x, ind=1),
    "tensorsolve": lambda x: linalg.tensorsolve(x, ONES[:, 0]),
    **{each.__name__: each for each in (
        inverts_one_of_two, inverts_again_in_the_backward_pass, inverts_each, differentiates, factors_once,
    )},
}  # fmt: skip

TRACED_OTHERWISE: dict[str, Function] = {
    "cond": lambda x: linalg.cond(x),
    "eigvalsh": lambda x: linalg.eigvalsh(x),
    "svdvals": lambda x: linalg.svdvals(x),
}
"""Traced, these compute vectors too, by an algorithm that rounds otherwise."""


def matrix(requires_grad: bool) -> torch.Tensor:
    """A positive definite matrix."""
    values = torch.arange(9.0).view(3, 3).sin()
    return (values @ values.T + torch.eye(3)).requires_grad_(requires_grad)


@pytest.mark.parametrize("partitioner", ["default", "min_cut"])
@pytest.mark.parametrize("requires_grad", [True, False], ids=["training", "inference"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_operator_is_lowered_and_gives_what_plain_python_gives(
    name: str, requires_grad: bool, partitioner: str
) -> None:
    check(FUNCTIONS[name], lambda: [matrix(requires_grad)], partitioner=partitioner)


@pytest.mark.parametrize("requires_grad", [True, False], ids=["training", "inference"])
@pytest.mark.parametrize("name", ["cholesky", "det", "inv", "matrix_power", "pinv", "solve", *TRACED_OTHERWISE])
def test_the_operators_are_those_of_aot_eager(name: str, requires_grad: bool) -> None:
    theirs: list[list[Any]] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        theirs.append(operators(graph))
        return make_boxed_func(graph)

    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep, partition_fn=default_partition)  # type: ignore[no-untyped-call]
    program = {**FUNCTIONS, **TRACED_OTHERWISE}[name]
    call, lowered = compiled(program)
    for function in (call, torch.compile(program, backend=backend)):
        result = function(matrix(requires_grad))
        if requires_grad:
            result = result if isinstance(result, torch.Tensor) else result[0]
            result.sum().backward()
    ours = [operators(graph) for graph in (lowered[0].forward, lowered[0].backward) if graph is not None]
    assert ours == theirs
    assert torch.ops.aten._linalg_check_errors.default in ours[0] or name in ("det", "pinv", *TRACED_OTHERWISE)


def operators(graph: torch.fx.GraphModule) -> list[Any]:
    """Return the operators that the graph calls, in order."""
    nodes = [node for node in graph.graph.nodes if node.op == "call_function" and node.target is not getitem]
    return [node.args[1] if node.target is torch.ops.higher_order.with_effects else node.target for node in nodes]


@pytest.mark.parametrize("requires_grad", [True, False], ids=["training", "inference"])
@pytest.mark.parametrize("name", ["inv", "cholesky", "solve"])
def test_an_input_that_an_operator_refuses_raises_what_plain_python_raises(name: str, requires_grad: bool) -> None:
    function = FUNCTIONS[name]
    call, lowered = compiled(function)
    call(matrix(requires_grad))
    refused = torch.zeros(3, 3, requires_grad=requires_grad)
    with pytest.raises(linalg.LinAlgError) as plain:
        function(refused)
    with pytest.raises(linalg.LinAlgError) as found:
        call(refused)
    assert str(found.value) == str(plain.value)
    assert [each.reason for each in lowered] == [""]


@pytest.mark.parametrize("partitioner", ["default", "min_cut"])
def test_side_effects_happen_once_in_the_order_of_the_program(
    partitioner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def says(x: torch.Tensor) -> torch.Tensor:
        hop_print("before {x}", x=x.detach() * 2)
        y = x.sin().exp()
        hop_print("after {y}", y=y.detach())
        return y.cos()

    call, lowered = compiled(says, partitioner=partitioner)
    for function in (says, call):
        x = torch.ones(1, requires_grad=True)
        function(x).sum().backward()
        assert capsys.readouterr().out == "before tensor([2.])\nafter tensor([2.3198])\n"
    assert [each.reason for each in lowered] == [""]

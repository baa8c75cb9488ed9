"""Higher-order operators under `make_fx`: the graphs of torch's, their bodies among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._decomp import core_aten_decompositions
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.hints_wrap import hints_wrapper
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.print import print as hop_print
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.strict_mode import strict_mode
from torch._higher_order_ops.triton_kernel_wrap import (
    kernel_side_table,
    triton_kernel_wrapper_functional,
    triton_kernel_wrapper_mutation,
)
from torch._higher_order_ops.while_loop import while_loop
from torch._higher_order_ops.wrap import wrap
from torch._ops import HigherOrderOperator
from torch._prims.rng_prims import run_and_save_rng_state
from torch.compiler import nested_compile_region
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils.checkpoint import checkpoint

from tests.higher_order.test_triton import JIT
from tests.proxy_tensor.checking import MODES, check_same
from tracer_core import make_fx
from tracer_core.proxy_tensor.torch_adapter import implementation, registered_operators

pytestmark = pytest.mark.row("P11")

SCALE = torch.nn.Parameter(torch.full((4,), 2.0))


def gradients_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def traced(x: Any) -> Any:
        x = x.detach().requires_grad_()
        results = [r for r in torch.utils._pytree.tree_leaves(function(x)) if r.requires_grad]
        return torch.autograd.grad(sum(r.sum() for r in results), [x])

    traced.__name__ = f"gradients_of_{function.__name__}"
    return traced


def branches(x: Any) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x.sin() * 2, lambda x: x.cos() + 1, (x,))


def branch_in_branch(x: Any) -> Any:
    def inner(x: Any) -> Any:
        return torch.cond(x.max() > 1, lambda x: x + 1, lambda x: torch.nn.functional.softmax(x, -1), (x,))

    return torch.cond(x.sum() > 0, inner, lambda x: x * 1.0, (x,))


def loop(x: Any) -> Any:
    return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.tanh()), (torch.tensor(0), x))


def mapped(x: Any) -> Any:
    return map_rows(lambda row, by: row.sin() * by, x, x[0].clone())


def scanned(x: Any) -> Any:
    return scan(lambda carry, row: (carry + row, carry * row), torch.zeros(4), x)


def scanned_associatively(x: Any) -> Any:
    return associative_scan(lambda a, b: a * b, x, 0, combine_mode="generic")


def wrapped(x: Any) -> Any:
    return wrap(lambda x: x.sin() + 1, x)


def checkpointed(x: Any) -> Any:
    return checkpoint(lambda x: x.sin().cos(), x, use_reentrant=False)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 3 * ctx.saved_tensors[0] * grad


def own_function(x: Any) -> Any:
    return Square.apply(x)


def attention(x: Any) -> Any:
    heads = x.view(1, 1, *x.shape)
    return flex_attention(heads, heads, heads, lambda score, b, h, q, kv: score + (q - kv))


def masked_attention(x: Any) -> Any:
    heads = x.view(1, 1, *x.shape)
    mask = create_block_mask(lambda b, h, q, kv: q >= kv, 1, 1, 3, 3, device="cpu")
    return flex_attention(heads, heads, heads, block_mask=mask)


def repeated(x: Any) -> Any:
    @nested_compile_region
    def layer(x: Any) -> Any:
        return x.sin() + 1

    return layer(layer(x))


class Cube(torch.autograd.Function):
    """Its context is set up apart from its forward."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * grad


def own_function_with_context(x: Any) -> Any:
    return Cube.apply(x)


def branches_use_a_tensor_around(x: Any) -> Any:
    y = x + 1
    return torch.cond(x.sum() > 0, lambda x: x + y, lambda x: x - y, (x,))


def branches_in_rows(x: Any) -> Any:
    return map_rows(lambda row: torch.cond(row.sum() > 0, lambda r: r.sin(), lambda r: r.cos(), (row,)), x)


def computed_in_another_type(x: Any) -> Any:
    return out_dtype(torch.ops.aten.mm.default, torch.int32, x.to(torch.int8), x.to(torch.int8).t())


def strictly(x: Any) -> Any:
    return strict_mode(lambda x: x.sin() + 1, (x,))


def hinted(x: Any) -> Any:
    return hints_wrapper(lambda x: x.sin() + 1, (x,), {}, hints={"a": 1})


def drawn_with_state(x: Any) -> Any:
    return run_and_save_rng_state(torch.ops.aten.rand_like.default, x, device=torch.device("cpu"))


def printed(x: Any) -> Any:
    hop_print("x is {x}", x=x)
    return x + 1


PROGRAMS = [
    branches,
    branch_in_branch,
    loop,
    mapped,
    scanned,
    scanned_associatively,
    wrapped,
    own_function,
    attention,
    masked_attention,
    repeated,
    checkpointed,
    own_function_with_context,
    branches_use_a_tensor_around,
    branches_in_rows,
    computed_in_another_type,
    strictly,
    hinted,
    drawn_with_state,
    printed,
    *map(gradients_of, (branches, mapped, checkpointed, own_function, own_function_with_context, wrapped, repeated)),
    *map(gradients_of, (branches_use_a_tensor_around, branches_in_rows, scanned_associatively)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("mode", "pre_dispatch"), [("real", True), ("fake", False), ("symbolic", False), ("symbolic", True)]
)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_an_operator_gives_the_graph_of_torch(program: Any, mode: str, pre_dispatch: bool) -> None:
    check_same(program, torch.randn(3, 4), tracing_mode=mode, pre_dispatch=pre_dispatch)


@pytest.fixture
def launch() -> dict[str, Any]:
    """The arguments of a launch of a kernel of three places that does nothing."""

    def kernel(x: Any, out: Any, n: int) -> None:
        pass

    return {
        "kernel_idx": kernel_side_table.add_kernel(JIT.JITFunction(kernel)),
        "constant_args_idx": kernel_side_table.add_constant_args({"n": 3}),
        "grid": [(3, 1, 1)],
        "tma_descriptor_metadata": {},
    }


@pytest.mark.parametrize("pre_dispatch", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_launch_of_a_triton_kernel_gives_the_graph_of_torch(
    mode: str, pre_dispatch: bool, launch: dict[str, Any]
) -> None:
    def writes(x: Any) -> Any:
        out = torch.zeros_like(x)
        triton_kernel_wrapper_mutation(**launch, kwargs={"x": x, "out": out})
        return out + 1

    def returns(x: Any) -> Any:
        given = {"x": x, "out": torch.zeros_like(x)}
        return triton_kernel_wrapper_functional(**launch, kwargs=given, tensors_to_clone=["out"])["out"] + 1

    for function, name in ((writes, "mutation"), (returns, "functional")):
        graph = check_same(function, torch.randn(3), tracing_mode=mode, pre_dispatch=pre_dispatch)
        assert f"triton_kernel_wrapper_{name}" in graph.code


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [branch_in_branch, mapped], ids=lambda f: f.__name__)
@pytest.mark.row("P9")
def test_bodies_are_decomposed_by_the_same_table(program: Any) -> None:
    check_same(program, torch.randn(3, 4), decomposition_table=core_aten_decompositions())


@pytest.mark.row("P9")
def test_a_body_is_traced_under_the_modes_of_the_graph_around() -> None:
    graph = make_fx(branches, tracing_mode="symbolic")(torch.randn(3, 4))
    bodies = [child for _, child in graph.named_children()]
    assert len(bodies) == 2
    outer = next(node.meta["val"] for node in graph.graph.nodes if node.op == "placeholder")
    for body in bodies:
        inner = next(node.meta["val"] for node in body.graph.nodes if node.op == "placeholder")
        assert inner.fake_mode is outer.fake_mode and str(inner.shape) == str(outer.shape)


def test_every_operator_that_torch_traces_has_a_rule_under_our_modes() -> None:
    """Those without one in torch are refused by name."""
    without = [operator for operator in registered_operators() if implementation(operator) is None]

    class Unruled(HigherOrderOperator):
        def __init__(self) -> None:
            super().__init__("tracewalk_unruled")

        def __call__(self, x: Any) -> Any:
            return super().__call__(x)

    operator = Unruled()
    with pytest.raises(NotImplementedError, match="tracewalk_unruled"):
        make_fx(lambda x: operator(x))(torch.randn(2))
    assert len(without) < len(registered_operators()) / 2


def test_calls_of_higher_order_operators_are_seen() -> None:
    from tests.proxy_tensor.test_events import Steps

    steps = Steps()
    with steps.watching():
        make_fx(branches)(torch.randn(3, 3))
    assert ("enter", "cond") in steps.events

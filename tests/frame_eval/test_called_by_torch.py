"""Compiled functions that torch calls: from transforms, checkpointing, autograd and higher-order operators."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._higher_order_ops as higher_order_ops
from torch.autograd import functional
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint

import tracer_core
from tracer_core import Unsupported
from tracer_core.observer import Observer, observing
from tracer_core.reasons import REASONS

X = torch.arange(6.0).reshape(2, 3) / 4
QUERY = torch.arange(48.0).reshape(1, 2, 6, 4).sin()


class Watching(Observer):
    """How many graphs were compiled, and why frames of this file were left to Python."""

    def __init__(self) -> None:
        self.graphs = 0
        self.skipped: list[tuple[str, str]] = []

    def on_graph(self, module: Any, name: str) -> None:
        self.graphs += 1

    def on_skip(self, code: Any, reason_id: str, message: str) -> None:
        if code.co_filename == __file__:
            self.skipped.append((reason_id, message))


def rows(x):
    return x.sin() * x + 1


def total(x):
    return (x.sin() * x).sum()


def shifted(score, batch, head, i, j):
    return score + (i - j) * 0.1


TRANSFORMS: list[tuple[str, Any, Callable[[Any], Any]]] = [
    ("torch.func.vmap", rows, lambda f: torch.vmap(f)(X)),
    ("torch.func.grad", total, lambda f: torch.func.grad(f)(X)),
    ("torch.func.grad", total, lambda f: torch.func.grad_and_value(f)(X)),
    ("torch.func.grad", rows, lambda f: torch.func.vjp(f, X)[1](X)),
    ("torch.func.jvp", rows, lambda f: torch.func.jvp(f, (X,), (X,))),
    ("torch.func.grad", rows, lambda f: torch.func.jacrev(f)(X[0])),
    ("torch.func.jvp", rows, lambda f: torch.func.jacfwd(f)(X[0])),
    ("torch.func.grad", total, lambda f: torch.func.hessian(f)(X[0])),
    ("torch.func.grad", total, lambda f: torch.vmap(torch.func.grad(f))(X)),
    ("torch.func.functionalize", rows, lambda f: torch.func.functionalize(f)(X)),
]


@pytest.mark.row("F12")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(("name", "function", "use"), TRANSFORMS)
def test_inside_a_transform_it_runs_as_plain_python(
    name: str, function: Any, use: Callable[[Any], Any], backend: str
) -> None:
    expected = use(function)
    compiled, watching = tracer_core.compile(function, backend=backend), Watching()
    with observing(watching):
        assert str(use(compiled)) == str(expected)
        assert watching.graphs == 0
        start = f"{function.__name__} is called inside {name}"
        assert watching.skipped
        assert all(why.startswith("inside-") and said.startswith(start) for why, said in watching.skipped)
        # And after it, compiled, as ever.
        assert torch.allclose(compiled(X), function(X))
        assert watching.graphs == 1
        assert str(use(compiled)) == str(expected)
        assert watching.graphs == 1


@pytest.mark.row("F12")
def test_a_full_graph_is_refused_inside_a_transform() -> None:
    compiled = tracer_core.compile(rows, backend="eager", fullgraph=True)
    with pytest.raises(Unsupported) as error:
        torch.vmap(compiled)(X)
    assert error.value.reason_id == "inside-vmap"
    said = str(error.value)
    assert said.startswith("rows is called inside torch.func.vmap, so it runs as plain Python.")
    assert f'File "{__file__}", line {rows.__code__.co_firstlineno}, in rows' in said
    assert torch.allclose(compiled(X), rows(X))


@pytest.mark.row("F12")
@pytest.mark.parametrize("transform", ["vmap", "grad", "jacrev", "jacfwd", "hessian", "functionalize"])
def test_a_transformed_function_that_is_compiled_runs_as_plain_python_and_says_so(transform: str) -> None:
    transformed = getattr(torch.func, transform)(total)
    skips: list[tuple[str, str]] = []

    class Skips(Observer):
        def on_skip(self, code: Any, reason_id: str, message: str) -> None:
            skips.append((reason_id, message))

    with observing(Skips()):
        result = tracer_core.compile(transformed, backend="eager")(X)
    assert str(result) == str(transformed(X))
    name = "jacfwd" if transform == "hessian" else transform
    said = REASONS["function-transform" if transform == "functionalize" else "transform-called"].filled(
        {"name": f"torch.func.{name}"}
    )
    assert skips == [("function-transform" if transform == "functionalize" else "transform-called", said)]
    with pytest.raises(Unsupported, match=re.escape(said)):
        tracer_core.compile(transformed, backend="eager", fullgraph=True)(X)


@pytest.mark.row("F12")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_functions_that_are_differentiated_twice_do_not_go_through_a_back_end(backend: str) -> None:
    def program(x):
        return functional.hessian(total, x * 1) * 2, functional.hvp(total, x, v=x)

    assert str(tracer_core.compile(program, backend=backend)(X[0])) == str(program(X[0]))


@pytest.mark.row("F12")
def test_a_tensor_that_a_transform_left_behind_is_named() -> None:
    kept = []

    def leaks(x):
        kept.append(x * 2)
        return x.sum()

    torch.func.grad(leaks)(X)
    with pytest.raises(Unsupported, match="was created inside a torch.func transform that has ended"):
        tracer_core.compile(rows, backend="eager", fullgraph=True)(kept[0])
    assert str(tracer_core.compile(rows, backend="eager")(kept[0])) == str(rows(kept[0]))


def with_gradient(use: Callable[[Any], Any]) -> Any:
    x = X.clone().requires_grad_()
    y = use(x)
    y.sum().backward()
    return y, x.grad


class Through(torch.autograd.Function):
    there: Any
    back: Any

    @staticmethod
    def forward(ctx, x):
        return Through.there(x)

    @staticmethod
    def backward(ctx, g):
        return Through.back(g)


def by_a_function(f: Any) -> Any:
    Through.there = Through.back = f
    return with_gradient(lambda x: Through.apply(x * 1))


def by_a_hook(f: Any) -> Any:
    def hooked(x):
        y = x * 2
        y.register_hook(f)
        return y * 3

    return with_gradient(hooked)


def by_a_modules_hook(f: Any) -> Any:
    module = torch.nn.Tanh()
    module.register_full_backward_hook(lambda module, inputs, outputs: tuple(map(f, inputs)))
    return with_gradient(lambda x: module(x * 1))


def saved_by_hooks(f: Any) -> Any:
    seen = []

    def pack(v):
        seen.append(tuple(v.shape))
        return v.clone()

    def use(x):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda v: v):
            return f(x)

    return with_gradient(use), len(seen) > 0


def saved_on_the_cpu(f: Any) -> Any:
    def use(x):
        with torch.autograd.graph.save_on_cpu():
            return f(x)

    return with_gradient(use)


def kept_little(f: Any, x: Any) -> Any:
    return checkpoint(f, x, use_reentrant=False)


CALLERS: list[tuple[Any, Callable[[Any], Any], int]] = [
    (rows, lambda f: with_gradient(lambda x: kept_little(f, x * 2)), 1),
    (rows, lambda f: with_gradient(lambda x: checkpoint(f, x * 2, use_reentrant=True)), 2),
    (rows, lambda f: with_gradient(lambda x: kept_little(f, kept_little(f, x))), 1),
    (rows, lambda f: with_gradient(lambda x: kept_little(lambda a: f(f(a)) * 2, x)), 1),
    (rows, by_a_function, 2),
    (rows, by_a_hook, 1),
    (rows, by_a_modules_hook, 1),
    (rows, saved_by_hooks, 1),
    (rows, saved_on_the_cpu, 1),
    (rows, lambda f: functional.jacobian(f, X[0]), 1),
    (rows, lambda f: functional.jacobian(f, X[0], vectorize=True), 1),
    (total, lambda f: functional.vjp(f, X), 1),
    (rows, lambda f: higher_order_ops.foreach_map(f, [X, X * 2]), 1),
    (rows, lambda f: torch.ops.higher_order.hints_wrapper(f, (X,), {}, hints={}), 1),
    (rows, lambda f: torch.ops.higher_order.wrap(f, X), 1),
]  # fmt: skip


def without_histories(value: Any) -> str:
    """Values as text, but for how autograd came to them, where graphs have names of their own."""
    return re.sub(r", grad_fn=<\w+>", "", str(value))


@pytest.mark.row("F12", "H7", "H14")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(("function", "use", "graphs"), CALLERS)
def test_it_is_compiled_where_it_is_called_on_plain_tensors(
    function: Any, use: Callable[[Any], Any], graphs: int, backend: str
) -> None:
    expected = use(function)
    watching = Watching()
    with observing(watching):
        result = use(tracer_core.compile(function, backend=backend, options={"raise_internal_faults": True}))
    assert without_histories(result) == without_histories(expected)
    assert watching.graphs == graphs
    assert not watching.skipped


TRACED_BY_TORCH: list[tuple[Any, Callable[[Any], Any]]] = [
    (rows, lambda f: torch.cond(X.sum() > 0, f, f, (X,))),
    (rows, lambda f: torch.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, f(a)), (torch.tensor(0), X))),
    (rows, lambda f: higher_order_ops.map(f, X)),
    (rows, lambda f: higher_order_ops.scan(lambda a, b: (f(a), b * 2), X[0], X)),
    (rows, lambda f: higher_order_ops.strict_mode(f, (X,))),
    (shifted, lambda f: flex_attention(QUERY, QUERY, QUERY, score_mod=f)),
    (rows, lambda f: torch.compile(lambda x: f(x) * 2, backend="eager", fullgraph=True)(X)),
    (rows, lambda f: torch.compile(f, backend="eager", fullgraph=True)(X)),
]


@pytest.mark.row("H2", "H3", "H4", "H5", "H9", "H13")
@pytest.mark.parametrize(("function", "use"), TRACED_BY_TORCH)
def test_where_torchs_own_compiler_traces_it_our_wrapper_is_not_in_the_way(
    function: Any, use: Callable[[Any], Any]
) -> None:
    expected = use(function)
    torch._dynamo.reset()
    watching = Watching()
    with observing(watching):
        assert str(use(tracer_core.compile(function, backend="eager"))) == str(expected)
    assert watching.graphs == 0


@pytest.mark.row("H7")
def test_what_a_hook_for_saved_tensors_raises_leaves_the_graph() -> None:
    """Run again from its start, the function would have the hook called once more."""
    seen = []

    def pack(v):
        seen.append(v)
        raise BufferError("full")

    def saves(x):
        return x.sin().exp()

    for function in (saves, tracer_core.compile(saves, backend="eager")):
        seen.clear()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda v: v), pytest.raises(BufferError, match="full"):
            function(X.clone().requires_grad_())
        assert len(seen) == 1


@pytest.mark.row("F12", "H7")
def test_bodies_of_a_checkpoint_in_a_compiled_function_run_once_forwards_and_once_backwards() -> None:
    ran = []

    def body(x):
        ran.append(x.requires_grad)
        return x.sin() * x

    def program(x):
        return checkpoint(body, x + 1, use_reentrant=False) * 2

    for function in (program, tracer_core.compile(program, backend="eager")):
        ran.clear()
        with_gradient(function)
        assert ran == [True, True]

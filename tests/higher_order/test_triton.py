"""Launches of Triton kernels are nodes of the graph. (`torch.compile` captures them only where there is a GPU.)

The kernels here are of classes with the names and the interface of Triton's own, so that Triton, which is large, need
not be installed: a kernel is launched once for each place of a grid, which `place()` gives.
"""

from __future__ import annotations

import types
from typing import Any

import pytest
import torch
from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table, triton_kernel_wrapper_mutation

import tracer_core
from tests.higher_order.three_ways import Graphs, agree, outcome, refused

pytestmark = pytest.mark.row("F9")


def module(name: str, text: str) -> Any:
    """Return a module of this name, to which the classes defined by `text` belong."""
    made = types.ModuleType(name)
    exec(text, made.__dict__)  # noqa: S102 - the classes belong to a module of that name
    return made


JIT = module(
    "triton.runtime.jit",
    """
import itertools

current = []

class JITFunction:
    def __init__(self, fn):
        self.fn = fn
        self.__name__ = fn.__name__
        self.arg_names = fn.__code__.co_varnames[:fn.__code__.co_argcount]

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

    def run(self, *args, grid, warmup, num_warps=4, **kwargs):
        if callable(grid):
            grid = grid(dict(zip(self.arg_names, args)) | kwargs)
        for current[:] in itertools.product(*map(range, grid)):
            self.fn(*args, **kwargs)
""",
)
TUNER = module(
    "triton.runtime.autotuner",
    """
class Config:
    def __init__(self, kwargs):
        self.kwargs = kwargs

class Autotuner:
    def __init__(self, fn, configs, reset_to_zero=()):
        self.fn, self.configs, self.reset_to_zero = fn, configs, list(reset_to_zero)
        self.arg_names = fn.arg_names

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

    def run(self, *args, **kwargs):
        self.fn.run(*args, **kwargs, **self.configs[0].kwargs)
""",
)


def place() -> int:
    return JIT.current[0]  # type: ignore[no-any-return]


def scaled(x: Any, out: Any, n: Any, by: Any = 2, BLOCK: constexpr = 1) -> None:  # type: ignore[name-defined]  # noqa: F821
    for index in range(place() * BLOCK, min(n, (place() + 1) * BLOCK)):
        out[index] = x[index].item() * by


KERNEL = JIT.JITFunction(scaled)
TUNED = TUNER.Autotuner(KERNEL, [TUNER.Config({"BLOCK": 2})])
CHOOSING = TUNER.Autotuner(KERNEL, [TUNER.Config({"BLOCK": 2}), TUNER.Config({"BLOCK": 4})])
RESET = TUNER.Autotuner(KERNEL, [TUNER.Config({"BLOCK": 2})], reset_to_zero=["out"])


def by_subscript(x: Any) -> Any:
    out = torch.empty_like(x)
    KERNEL[(x.numel(),)](x, out, x.numel())
    return out + 1


def by_run(x: Any) -> Any:
    out = torch.empty_like(x)
    KERNEL.run(x, out, n=x.numel(), by=1.5, grid=(x.numel(), 1), warmup=False)
    return out + 1


def by_a_function(x: Any) -> Any:
    out = torch.empty_like(x)
    size = x.numel()

    def grid(meta: Any) -> Any:
        return ((size + meta["BLOCK"] - 1) // meta["BLOCK"],)

    KERNEL[grid](x, out, size, BLOCK=4)
    KERNEL[grid](out, out, size, BLOCK=2)
    return out.sin()


def by_an_autotuner(x: Any) -> Any:
    out = torch.empty_like(x)
    TUNED[(x.numel(),)](x, out, x.numel())
    return out + 1


def into_an_input(x: Any) -> Any:
    before = x + 1
    KERNEL[(x.numel(),)](x, x, x.numel())
    return before * x


def of_a_leaf(x: Any) -> Any:
    y = x * 2
    out = torch.empty_like(x)
    KERNEL[(x.numel(),)](y, out, x.numel())
    return out + y


def wrapped(x: Any) -> Any:
    out = torch.empty_like(x)
    torch.library.wrap_triton(KERNEL)[(x.numel(),)](x, out, x.numel())
    return out + 1


PROGRAMS = (by_subscript, by_run, by_a_function, by_an_autotuner, into_an_input, of_a_leaf, wrapped)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dynamic", [None, True])
def test_a_launch_is_a_node(program: Any, dynamic: bool | None) -> None:
    graphs = Graphs()
    options = {"graph_runs_as_it_is": True}
    compiled = tracer_core.compile(program, backend=graphs, fullgraph=True, dynamic=dynamic, options=options)
    plain = by_subscript if program is wrapped else program  # torch's wrapper takes Triton's own kernels alone
    for size in (5, 5, 7, 8):
        arguments = lambda size=size: (torch.arange(float(size)).requires_grad_(program is of_a_leaf),)
        agree(outcome(compiled, arguments), outcome(plain, arguments))
    assert not graphs.raised
    launches = graphs.graphs[0].graph.find_nodes(op="call_function", target=triton_kernel_wrapper_mutation)
    assert kernel_side_table.get_kernel(launches[0].kwargs["kernel_idx"]) in (KERNEL, TUNED)
    assert len(graphs.graphs) == (1 if dynamic else 2)


def by_a_choosing_autotuner(x: Any) -> Any:
    out = torch.empty_like(x)
    CHOOSING[lambda meta: (-(-x.numel() // meta["BLOCK"]), 2)](x, out, x.numel())
    return out


def test_a_grid_for_each_configuration() -> None:
    seen = []
    compiled = tracer_core.compile(by_a_choosing_autotuner, fullgraph=True, backend=lambda graph, examples: (
        seen.append(graph), lambda *args: args)[1])  # fmt: skip
    compiled(torch.arange(5.0))
    (node,) = seen[0].graph.find_nodes(op="call_function", target=triton_kernel_wrapper_mutation)
    assert node.kwargs["grid"] == [(3, 2, 1), (2, 2, 1)]
    assert {name: str(value) for name, value in node.kwargs["kwargs"].items()} == {
        "x": "x",
        "out": "empty_like",
        "n": "5",
    }


def with_an_option(x: Any) -> Any:
    out = torch.empty_like(x)
    KERNEL[(x.numel(),)](x, out, x.numel(), num_warps=2)
    return out + 1


def by_a_resetting_autotuner(x: Any) -> Any:
    out = torch.empty_like(x)
    RESET[(x.numel(),)](x, out, x.numel())
    return out + 1


def asks_for_its_name(x: Any) -> Any:
    return x + len(KERNEL.arg_names)


REFUSED = {
    with_an_option: "it is launched with the option num_warps",
    by_a_resetting_autotuner: "its autotuner has more than configurations and keys",
    asks_for_its_name: "the code reads arg_names of it",
}


@pytest.mark.parametrize("program", REFUSED)
def test_other_launches_break_by_name_and_run(program: Any) -> None:
    arguments = lambda: (torch.arange(4.0),)
    error = refused(program, arguments)
    assert error.reason_id == "triton-kernel"
    assert error.message == f"The launch of the Triton kernel scaled cannot be in a graph: {REFUSED[program]}."
    agree(outcome(tracer_core.compile(program, backend="eager"), arguments), outcome(program, arguments))


def test_arguments_that_overlap() -> None:
    """Back ends give each argument that a kernel writes to memory of its own."""
    arguments = lambda: (torch.arange(4.0),)
    compiled = tracer_core.compile(into_an_input, backend="aot_eager")
    agree(outcome(compiled, arguments), outcome(into_an_input, arguments))
    assert refused(into_an_input, arguments, backend="aot_eager").reason_id == "lost-by-back-ends"


KINDS = module("triton.language.core", "class dtype:\n    def __init__(self, size): self.size = size")
SMALL, LARGE = KINDS.dtype(1), KINDS.dtype(2)


def sized(x: Any, out: Any, kind: Any) -> None:
    out[place()] = x[place()].item() * kind.size


SIZED = JIT.JITFunction(sized)


def with_a_type(x: Any, kind: Any) -> Any:
    out = torch.empty_like(x)
    SIZED[(x.numel(),)](x, out, kind)
    return out + 1


def test_types_of_triton_are_constants_beside_the_graph() -> None:
    graphs = Graphs()
    compiled = tracer_core.compile(with_a_type, backend=graphs, fullgraph=True)
    for kind in (SMALL, LARGE, SMALL):
        arguments = lambda kind=kind: (torch.arange(4.0), kind)
        agree(compiled(*arguments()), with_a_type(*arguments()))
    assert len(graphs.graphs) == 2
    assert not graphs.raised

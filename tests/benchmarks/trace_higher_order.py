"""What tracing operators that take functions costs: `python -m tests.benchmarks.trace_higher_order [name ...]`.

Programs with bodies and transforms are traced by the engine and by the installed `torch.compile`, in turns, as one
graph, both with a back end that does nothing. Seconds, the least of several cold runs in one process, without those
in which the graph itself runs: in training, torch traces the backward pass of some operators then.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch.func import functional_call, grad, vmap
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint

import tracer_core
from tests.benchmarks.trace_models import RUNS

Program = tuple[Callable[..., Any], dict[str, Any]]


def nested_cond() -> Program:
    """A decision tree: `torch.cond` in `torch.cond`, four deep, with captured weights."""
    weights = [torch.randn(8, 8) for _ in range(4)]

    def leaf(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + 1)

    def node(depth: int) -> Callable[[torch.Tensor], torch.Tensor]:
        if depth == len(weights):
            return leaf

        def decide(x: torch.Tensor) -> torch.Tensor:
            y = x @ weights[depth]
            return torch.cond(y.sum() > 0, node(depth + 1), node(depth + 1), (y,))  # type: ignore[no-any-return]

        return decide

    return node(0), {"x": torch.randn(4, 8)}


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.to_qkv, self.to_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.to_qkv(self.norm1(x)).chunk(3, dim=-1)
        q, k, v = (each.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for each in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.to_out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Checkpointed(nn.Module):
    """Twelve blocks, each checkpointed, and a loss."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(64, 4) for _ in range(12)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x.square().mean()


def checkpointed_transformer() -> Program:
    return Checkpointed().train(), {"x": torch.randn(2, 16, 64)}


def per_sample_gradients() -> Program:
    """`vmap(grad)` of a network of six layers."""
    sizes = [8, 32, 32, 32, 32, 32, 4]
    layers = [each for a, b in zip(sizes, sizes[1:], strict=False) for each in (nn.Linear(a, b), nn.Tanh())]
    net = nn.Sequential(*layers)
    weights = {name: parameter.detach() for name, parameter in net.named_parameters()}

    def loss(weights: dict[str, torch.Tensor], sample: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(functional_call(net, weights, (sample,)), target)  # type: ignore[arg-type]

    def gradients(samples: torch.Tensor, targets: torch.Tensor) -> Any:
        return vmap(grad(loss), in_dims=(None, 0, 0))(weights, samples, targets)

    return gradients, {"samples": torch.randn(16, 8), "targets": torch.randn(16, 4)}


def while_loops() -> Program:
    """Newton's method for a square root, in four loops one after the other."""

    def refine(i: torch.Tensor, root: torch.Tensor, x: torch.Tensor) -> Any:
        return i + 1, (root + x / root) / 2, x.clone()

    def run(x: torch.Tensor) -> torch.Tensor:
        for rounds in (3, 4, 5, 6):
            before = (torch.zeros((), dtype=torch.int64), torch.ones_like(x), x)
            _, x, _ = while_loop(lambda i, root, x, rounds=rounds: i < rounds, refine, before)
        return x

    return run, {"x": torch.rand(8) + 1}


def scanned_cells() -> Program:
    """Four recurrent cells, each scanned over a sequence."""
    cells = [nn.GRUCell(16, 16) for _ in range(4)]

    def run(sequence: torch.Tensor) -> torch.Tensor:
        for cell in cells:

            def step(state: torch.Tensor, x: torch.Tensor, cell: nn.GRUCell = cell) -> Any:
                new = torch.tanh(F.linear(x, cell.weight_ih[:16]) + F.linear(state, cell.weight_hh[:16]))
                return new, new.clone()

            _, sequence = scan(step, torch.zeros(2, 16), sequence, dim=0)
        return sequence

    return run, {"sequence": torch.randn(5, 2, 16)}


class Swish(torch.autograd.Function):
    """`x * sigmoid(x)` with a backward of its own, which keeps only x."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: float) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * torch.sigmoid(scale * x)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(ctx.scale * x)
        return gradients[0] * gate * (1 + ctx.scale * x * (1 - gate)), None


def autograd_functions() -> Program:
    """A network of twelve layers with an `autograd.Function` after each, in training."""
    layers = nn.ModuleList([nn.Linear(32, 32) for _ in range(12)])

    def run(x: torch.Tensor) -> torch.Tensor:
        for layer in layers:
            x = Swish.apply(layer(x), 1.5)
        return x.square().mean()

    return run, {"x": torch.randn(4, 32)}


def flex_attentions() -> Program:
    """Six layers of `flex_attention`, with a score function that reads a table, and grouped heads."""
    bias = torch.randn(4, 16, 16)
    layers = nn.ModuleList([nn.Linear(32, 64) for _ in range(6)]).requires_grad_(False)

    def score(value: torch.Tensor, batch: Any, head: Any, query: Any, key: Any) -> torch.Tensor:
        return torch.where(query >= key, value + bias[head, query, key], -float("inf"))

    def run(x: torch.Tensor) -> torch.Tensor:
        for layer in layers:
            q, k, v = layer(x).split([32, 16, 16], dim=-1)
            q, k, v = (each.unflatten(-1, (-1, 8)).transpose(1, 2) for each in (q, k, v))
            y = flex_attention(q, k, v, score_mod=score, enable_gqa=True)
            x = x + y.transpose(1, 2).flatten(2)
        return x

    return run, {"x": torch.randn(2, 16, 32)}


PROGRAMS: dict[str, Callable[[], Program]] = {
    each.__name__: each
    for each in (
        nested_cond, checkpointed_transformer, per_sample_gradients, while_loops, scanned_cells, autograd_functions,
        flex_attentions,
    )
}  # fmt: skip


@dataclass(slots=True)
class Timed:
    """A back end that runs graphs as they are, and counts their nodes and the seconds in which they run."""

    nodes: int = 0
    running: float = 0.0

    def __call__(self, graph: torch.fx.GraphModule, examples: list[Any]) -> Callable[..., Any]:
        self.nodes += sum(node.op.startswith("call") for node in graph.graph.nodes)
        return lambda *args: self._run(graph, args)

    def _run(self, graph: torch.fx.GraphModule, args: tuple[Any, ...]) -> Any:
        started = time.perf_counter()
        try:
            return graph.forward(*args)
        finally:
            self.running += time.perf_counter() - started


@dataclass(slots=True)
class Traced:
    seconds: float
    nodes: int
    result: Any


def trace(compiler: Any, forget: Callable[[], None], function: Callable[..., Any], inputs: dict[str, Any]) -> Traced:
    """One cold compilation."""
    forget()
    backend = Timed()
    compiled = compiler(function, backend=backend, fullgraph=True)
    started = time.perf_counter()
    result = compiled(**inputs)
    return Traced(time.perf_counter() - started - backend.running, backend.nodes, result)


WAYS: list[tuple[Any, Callable[[], None]]] = [
    (tracer_core.compile, tracer_core.reset),
    (torch.compile, torch._dynamo.reset),
]


def measure(name: str) -> str:
    torch.manual_seed(0)
    function, inputs = PROGRAMS[name]()
    runs = [[trace(compiler, forget, function, inputs) for compiler, forget in WAYS] for _ in range(RUNS)]
    ours, theirs = (min((run[way] for run in runs), key=lambda traced: traced.seconds) for way in (0, 1))
    return (
        f"{name:24} ours {ours.seconds:5.2f} s, torch {theirs.seconds:5.2f} s, "
        f"ratio {ours.seconds / theirs.seconds:.2f}; nodes {ours.nodes}, torch {theirs.nodes}; "
        f"{'results equal' if _same(ours, theirs) else 'DIFFERENT RESULTS'}"
    )


def _same(one: Traced, other: Traced) -> bool:
    pairs = zip(pytree.tree_leaves(one.result), pytree.tree_leaves(other.result), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in names or list(PROGRAMS):
        print(measure(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

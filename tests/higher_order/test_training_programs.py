"""Modules as people train them, with the operators in the middle: one graph each, and after two steps with plain
Python's results, gradients and buffers, forward and backward, as it is and as back ends get it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, vmap
from torch.nn import functional as F
from torch.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention
from torch.utils.checkpoint import checkpoint

import tracer_core
from tests.higher_order.three_ways import Graphs, agree


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out, self.drop = nn.Linear(8, 24), nn.Linear(8, 8), nn.Dropout(0.2)

    def forward(self, x: torch.Tensor, attention_mask: Any = None, past: Any = None, output_attentions: Any = False):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / 2
        weights = self.drop(F.softmax(scores + attention_mask, dim=-1))
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed), (weights if output_attentions else None)


class Layer(nn.Module):
    """Checkpoints itself as the layers of transformers do: its keywords are bound, and others replaced."""

    run_checkpointed: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.norm = Attention(), nn.LayerNorm(8)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.run_checkpointed is None or not self.training:
            return super().__call__(*args, **kwargs)
        kwargs["past"] = None
        return self.run_checkpointed(partial(super().__call__, **kwargs), *args)

    def forward(self, x: torch.Tensor, **kwargs: Any) -> tuple[torch.Tensor, Any]:
        mixed, weights = self.attention(self.norm(x), **kwargs)
        return x + mixed, weights


class Model(nn.Module):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(11, 8), nn.Linear(8, 11)
        self.layers = nn.ModuleList(Layer() for _ in range(3))
        for layer in self.layers:
            layer.run_checkpointed = partial(checkpoint, use_reentrant=reentrant)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> Any:
        x, least = self.embed(ids), torch.finfo(torch.float32).min
        added = torch.full((6, 6), least).triu(1)[None, None].masked_fill(mask[:, None, None, :] == 0, least)
        attentions: tuple[Any, ...] = ()
        for layer in self.layers:
            x, weights = layer(x, attention_mask=added, output_attentions=True, past=3)
            attentions += (weights,)
        logits = self.head(x)
        return {"loss": F.cross_entropy(logits.flatten(0, 1), ids.flatten()), "attentions": attentions}


def tokens() -> tuple[Any, ...]:
    mask = torch.ones(2, 6, dtype=torch.int64)
    mask[0, 4:] = 0
    return torch.arange(12).reshape(2, 6) % 11, mask


class PerSample(nn.Module):
    """Gradients of each sample, clipped, of a network whose batch norm is in evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 4, 3, padding=1), nn.BatchNorm1d(4), nn.Flatten(), nn.Linear(32, 2)
        ).eval()

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        params = {name: each.detach() for name, each in self.net.named_parameters()}
        buffers = dict(self.net.named_buffers())

        def loss(params: Any, buffers: Any, one: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            return F.cross_entropy(functional_call(self.net, (params, buffers), (one[None],)), label[None])

        slopes, losses = vmap(grad_and_value(loss), in_dims=(None, None, 0, 0))(params, buffers, x, y)
        norms = torch.stack([each.flatten(1).norm(dim=1) for each in slopes.values()], 1).norm(dim=1)
        clip = (1 / (norms + 1e-6)).clamp(max=1)
        return {name: torch.einsum("i,i...->...", clip, each) for name, each in slopes.items()}, losses


class Meta(nn.Module):
    """Steps of gradient descent on each of several tasks, with a rate that is learned."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.rate = (
            nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)),
            nn.Parameter(torch.tensor(0.1)),
        )

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        params = dict(self.net.named_parameters())
        loss = lambda params, x, y: F.mse_loss(functional_call(self.net, params, (x,)), y)

        def task(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            own = params
            for _ in range(3):
                slopes = grad(loss)(own, x, y)
                own = {name: each - self.rate * slopes[name] for name, each in own.items()}
            return loss(own, x.flip(0), y.flip(0))  # type: ignore[no-any-return]

        return vmap(task)(x, y).mean()


class Documents(nn.Module):
    """Attention within documents and a window, with a bias by distance."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.slopes = nn.Linear(16, 48).requires_grad_(False), torch.tensor([0.1, 0.2])
        self.register_buffer("window", torch.tensor(8))

    def forward(self, x: torch.Tensor, docs: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).view(2, 32, 3, 2, 8).permute(2, 0, 3, 1, 4)
        causal = lambda b, h, i, j: i >= j
        within = lambda b, h, i, j: docs[b, i] == docs[b, j]
        near = lambda b, h, i, j: i - j <= self.window
        mask = create_block_mask(and_masks(causal, within, near), 2, None, 32, 32, device="cpu", BLOCK_SIZE=16)
        bias = lambda score, b, h, i, j: score + self.slopes[h] * (j - i)
        return flex_attention(q, k, v, score_mod=bias, block_mask=mask)


class Clamped(torch.autograd.Function):
    """A linear layer with options and names beside its tensors; its gradient is scaled, to be seen."""

    @staticmethod
    def forward(ctx, x, weights, options, names):
        y = x @ weights[0].t() + weights[1]
        mask = y > options["limit"]
        ctx.options, ctx.names = options, names
        ctx.save_for_backward(x, weights[0], mask)
        ctx.mark_non_differentiable(mask)
        return torch.clamp(y, max=options["limit"]), mask

    @staticmethod
    def backward(ctx, slope, _):
        x, weight, mask = ctx.saved_tensors
        slope = slope * ~mask * ctx.options.get("scale", 1.0) * len(ctx.names)
        return slope @ weight, None, None, None


class UsesClamped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(4, 3)), nn.Parameter(torch.zeros(4))
        self.before, self.options = nn.Linear(3, 3), {"limit": 0.5, "scale": 2.0}

    def forward(self, x: torch.Tensor) -> Any:
        y, mask = Clamped.apply(self.before(x), (self.weight, self.bias), self.options, ["a", "b"])
        return y * mask.logical_not(), mask.sum()


def samples() -> tuple[Any, ...]:
    return torch.linspace(-1, 1, 40).reshape(5, 1, 8), torch.arange(5) % 2


def tasks() -> tuple[Any, ...]:
    return torch.linspace(-1, 1, 24).reshape(4, 6, 1), torch.linspace(1, 2, 24).reshape(4, 6, 1)


def documents() -> tuple[Any, ...]:
    return torch.linspace(-1, 1, 1024).reshape(2, 32, 16), (torch.arange(32) // 10).expand(2, 32)


PROGRAMS: list[Any] = [
    pytest.param(partial(Model, False), tokens, id="checkpoints", marks=pytest.mark.row("H7")),
    pytest.param(partial(Model, True), tokens, id="reentrant", marks=pytest.mark.row("H7")),
    pytest.param(PerSample, samples, id="per_sample", marks=pytest.mark.row("F12")),
    pytest.param(Meta, tasks, id="meta", marks=pytest.mark.row("F12")),
    pytest.param(Documents, documents, id="documents", marks=pytest.mark.row("H13")),
    pytest.param(
        UsesClamped, lambda: (torch.linspace(-1, 1, 15).reshape(5, 3),), id="function", marks=pytest.mark.row("H14")
    ),
]


@pytest.mark.parametrize(("create", "arguments"), PROGRAMS)
def test_a_module_in_training(create: Callable[[], nn.Module], arguments: Callable[[], tuple[Any, ...]]) -> None:
    def two_steps(compiled: Callable[[nn.Module], Any]) -> list[Any]:
        torch.manual_seed(0)
        module = create()
        run, found = compiled(module), []
        for _ in range(2):
            results = torch.utils._pytree.tree_leaves(run(*arguments()))
            total = [each.sum() for each in results if isinstance(each, torch.Tensor) and each.requires_grad]
            if total:
                torch.stack(total).sum().backward()
            found.append([each.detach().clone() for each in results if isinstance(each, torch.Tensor)])
        return [found, [each.grad for each in module.parameters()], [each.clone() for each in module.buffers()]]

    expected = two_steps(lambda module: module)
    ours = Graphs()
    for backend in (ours, "aot_eager"):
        tracer_core.reset()
        agree(two_steps(lambda module, b=backend: tracer_core.compile(module, backend=b, fullgraph=True)), expected)
    assert len(ours.graphs) == 1
    assert not ours.raised


@pytest.mark.row("F12")
def test_what_only_fakes_are_mapped_slowly_for_is_no_warning_of_the_program() -> None:
    """`vmap` has a rule for batch norm of real tensors, and none for the operator that fakes come down to."""
    module, ours = PerSample(), Graphs()
    tracer_core.reset()
    for run in (module, tracer_core.compile(module, backend=ours, fullgraph=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run(*samples())
    assert len(ours.graphs) == 1
    assert not ours.raised


@pytest.mark.row("F12")
def test_what_is_mapped_slowly_is_so_where_the_graph_runs() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return vmap(torch.histc)(x)

    x, ours = torch.ones(3, 4), Graphs()
    tracer_core.reset()
    torch.set_warn_always(True)  # torch gives the warning once in the life of a process
    try:
        for run in (program, tracer_core.compile(program, backend=ours, fullgraph=True)):
            with pytest.warns(UserWarning, match="batching rule"):
                run(x)
    finally:
        torch.set_warn_always(False)
    assert len(ours.graphs) == 1
    assert not ours.raised

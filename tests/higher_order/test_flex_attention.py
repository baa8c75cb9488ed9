"""`flex_attention`: functions of scores and of masks as bodies, and the block masks that programs pass around."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.nn.attention import flex_attention as module
from torch.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)

import tracer_core
from tests.higher_order.three_ways import Graphs, agree, outcome, same_three_ways, written

pytestmark = [
    pytest.mark.row("H13"),
    pytest.mark.filterwarnings("ignore:flex_attention called without"),
    pytest.mark.filterwarnings("ignore:return_lse is deprecated"),
]

LENGTH = 8
BIAS = torch.linspace(-1, 1, LENGTH)
TABLE = torch.linspace(0, 2, LENGTH * LENGTH).reshape(LENGTH, LENGTH)
SLOPES = torch.tensor([0.5, 0.25])
DOCUMENTS = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2])
FACTOR = 0.25


def qkv(length: int = LENGTH, heads: int = 2, kv_heads: int = 2) -> tuple[torch.Tensor, ...]:
    return (torch.randn(2, heads, length, 4), *(torch.randn(2, kv_heads, length, 4) for _ in "kv"))


def causal(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q >= k


def window(b: Any, h: Any, q: Any, k: Any) -> Any:
    return (q - k).abs() < 3


def same_document(b: Any, h: Any, q: Any, k: Any) -> Any:
    return DOCUMENTS[q] == DOCUMENTS[k]


def mask_of(mask_mod: Callable[..., Any], length: int = LENGTH) -> BlockMask:
    return create_block_mask(mask_mod, None, None, length, length, device="cpu")


CAUSAL, DOCUMENT = mask_of(causal), mask_of(same_document)
BOTH, EITHER = mask_of(and_masks(causal, window)), mask_of(or_masks(causal, same_document))


def relative(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    return score + (q - k)


def biased(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    return score + BIAS[q] + TABLE[q, k] * FACTOR + BIAS[0]


def alibi(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    return score - SLOPES[h] * (q - k).abs()


def capped(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    return torch.tanh(score / 2.0) * 2.0


def with_factor(score: Any, b: Any, h: Any, q: Any, k: Any, factor: Any = 3.0) -> Any:
    return score * factor


class Scores:
    """A score function that is an object."""

    def __init__(self) -> None:
        self.bias = BIAS

    def __call__(self, score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return score + self.bias[k]

    def method(self, score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return score * self.bias[k]


SCORES = Scores()


def of_the_call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scale, shift = q.abs().mean(), k.size(2)
    return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s * scale + (i - j) / shift)


def twice(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    first = flex_attention(q, k, v, block_mask=CAUSAL)
    return flex_attention(first, k, v, score_mod=biased, block_mask=CAUSAL) + first


@torch.no_grad()
def without_gradients(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return flex_attention(q, k, v, biased, CAUSAL)


def with_autocast(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return flex_attention(q, k, v, biased, CAUSAL)


CALLS = {
    "plain": lambda q, k, v: flex_attention(q, k, v),
    "relative": lambda q, k, v: flex_attention(q, k, v, relative),
    "buffers": lambda q, k, v: flex_attention(q, k, v, biased),
    "alibi": lambda q, k, v: flex_attention(q, k, v, alibi, CAUSAL),
    "capped": lambda q, k, v: flex_attention(q, k, v, score_mod=capped),
    "default_of_a_score": lambda q, k, v: flex_attention(q, k, v, score_mod=with_factor),
    "partial": lambda q, k, v: flex_attention(q, k, v, score_mod=functools.partial(with_factor, factor=0.5)),
    "method": lambda q, k, v: flex_attention(q, k, v, score_mod=SCORES.method),
    "causal": lambda q, k, v: flex_attention(q, k, v, block_mask=CAUSAL),
    "document": lambda q, k, v: flex_attention(q, k, v, block_mask=DOCUMENT),
    "and": lambda q, k, v: flex_attention(q, k, v, block_mask=BOTH),
    "or": lambda q, k, v: flex_attention(q, k, v, score_mod=relative, block_mask=EITHER),
    "scale": lambda q, k, v: flex_attention(q, k, v, scale=0.3),
    "options": lambda q, k, v: flex_attention(q, k, v, kernel_options={"BLOCK_M": 16, "PRESCALE_QK": True}),
    "lse": lambda q, k, v: flex_attention(q, k, v, return_lse=True),
    "aux": lambda q, k, v: flex_attention(q, k, v, block_mask=CAUSAL, return_aux=AuxRequest(lse=True)),
    "no_aux": lambda q, k, v: flex_attention(q, k, v, return_aux=AuxRequest()),
    "of_the_call": of_the_call,
    "twice": twice,
    "without_gradients": without_gradients,
    "autocast": with_autocast,
}
WITH_MASKS = {"alibi", "causal", "document", "and", "or", "aux", "twice"}
"""The calls whose graphs are compared: others compute an empty mask in the graph, whose nodes are not the matter
here."""


def written_alike(graph: torch.fx.GraphModule) -> list[Any]:
    """Return the calls of the operator, with bodies, in the order of the graph."""
    return [line for line in written(graph)[1:] if line[1] == "flex_attention"]


SYMBOLIC = ("relative", "buffers", "causal", "lse", "of_the_call", "twice")


@pytest.mark.parametrize(
    ("name", "dynamic"), [*((name, False) for name in CALLS), *((name, True) for name in SYMBOLIC)]
)
def test_calls(name: str, dynamic: bool) -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        return CALLS[name](q * 2, k, v), q + 1

    # (With symbols, torch computes the scale in the graph, though the size it depends on is a number by then.)
    graphs = not dynamic and name in WITH_MASKS
    same_three_ways(program, qkv, dynamic=dynamic, calls=2, graphs=graphs)


def local_mask(q: torch.Tensor) -> BlockMask:
    return create_block_mask(causal, None, None, q.size(2), q.size(2), device=q.device)


def mask_of_data(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    lengths = (q[:, 0, :, 0] > 0).sum(1)
    mask = create_block_mask(lambda b, h, i, j: j < lengths[b], 2, None, LENGTH, LENGTH, device="cpu")
    return flex_attention(q, k, v, block_mask=mask)


def mask_of_scores(q: torch.Tensor) -> torch.Tensor:
    def score(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return torch.where(i >= j, s, -float("inf"))

    return create_mask(score, 1, 1, LENGTH, LENGTH, device="cpu")


INSIDE = {
    "causal": lambda q, k, v: flex_attention(q, k, v, block_mask=local_mask(q)),
    "document": lambda q, k, v: flex_attention(q, k, v, block_mask=mask_of(same_document)),
    "and": lambda q, k, v: flex_attention(q, k, v, block_mask=mask_of(and_masks(causal, window))),
    "or": lambda q, k, v: flex_attention(q, k, v, biased, block_mask=mask_of(or_masks(causal, window))),
    "whole_blocks": lambda q, k, v: flex_attention(
        q, k, v, block_mask=create_block_mask(causal, None, None, LENGTH, LENGTH, device="cpu", BLOCK_SIZE=4)
    ),
    "of_data": mask_of_data,
    "noop": lambda q, k, v: flex_attention(q, k, v, block_mask=mask_of(noop_mask)),
    "dense": lambda q, k, v: torch.where(create_mask(same_document, 1, 1, LENGTH, LENGTH, device="cpu"), q @ k.mT, 0),
    "dense_of_scores": lambda q, k, v: mask_of_scores(q),
    "returned": lambda q, k, v: local_mask(q).to_dense(),
    "sparsity": lambda q, k, v: q.sum() + CAUSAL.numel() + CAUSAL.shape[-1],
    "adjusted": lambda q, k, v: flex_attention(
        q[:, :, :6], k[:, :, :6], v[:, :, :6], block_mask=CAUSAL._adjust(6, 6)
    ),
    "from_blocks": lambda q, k, v: flex_attention(
        q, k, v,
        block_mask=BlockMask.from_kv_blocks(
            CAUSAL.kv_num_blocks, CAUSAL.kv_indices, BLOCK_SIZE=LENGTH, mask_mod=causal
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dynamic"), [*((name, False) for name in INSIDE), ("causal", True), ("of_data", True), ("dense", True)]
)
def test_masks_created_inside(name: str, dynamic: bool) -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        return INSIDE[name](q, k, v), q + 1

    same_three_ways(program, qkv, dynamic=dynamic, calls=2, graphs=False)


def test_symbolic_sizes_are_passed_to_bodies() -> None:
    """Torch passes the tensor that the size is of as well, which its body does not use."""

    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        shift = q.mean()
        return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + (i - j) * shift / k.size(2))

    ours, theirs = Graphs(), Graphs()
    for compile, seen in ((tracer_core.compile, ours), (torch.compile, theirs)):
        torch._dynamo.reset()
        agree(outcome(compile(program, backend=seen, fullgraph=True, dynamic=True), qkv), outcome(program, qkv))
    kinds = [[type(each.meta["example_value"]) for each in attention(seen).args[7]] for seen in (ours, theirs)]
    assert [kind is torch.SymInt for kind in kinds[0]] == [False, True]
    assert kinds[1].count(torch.SymInt) == 1


def attention(seen: Graphs) -> torch.fx.Node:
    """Return the operator's node in a graph."""
    target = torch.ops.higher_order.flex_attention
    return next(node for node in seen.graphs[0].graph.nodes if node.target is target)


@pytest.mark.parametrize("mask", [lambda q: None, local_mask], ids=["none", "local"])
def test_lengths_that_vary(mask: Callable[[torch.Tensor], BlockMask | None]) -> None:
    """Lengths are symbols from the second on, until the mask has more blocks."""

    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return flex_attention(q, k, v, lambda s, b, h, i, j: s + (i - j) / q.size(2), mask(q))

    torch._dynamo.reset()
    counters = [CompileCounter() for _ in "ab"]
    compiled = tracer_core.compile(program, backend=counters[0], fullgraph=True)
    by_torch = torch.compile(program, backend=counters[1], fullgraph=True)
    for length in (8, 10, 12, 140):
        args = qkv(length)
        expected = program(*args)
        torch.testing.assert_close(compiled(*args), expected)
        torch.testing.assert_close(by_torch(*args), expected)
        assert counters[0].frame_count == counters[1].frame_count


@pytest.mark.parametrize(("table", "name"), [(CALLS, "buffers"), (CALLS, "of_the_call"), (INSIDE, "of_data")])
def test_through_a_back_end(table: dict[str, Any], name: str) -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return table[name](q, k, v) * 2

    agree(outcome(tracer_core.compile(program, backend="aot_eager", fullgraph=True), qkv), outcome(program, qkv))


def test_in_a_branch() -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        attend = lambda a: flex_attention(a, k, v, biased, CAUSAL)
        return torch.cond(q.sum() > 0, attend, lambda a: a.sin(), (q,))

    def plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return flex_attention(q, k, v, biased, CAUSAL) if q.sum() > 0 else q.sin()

    same_three_ways(program, qkv, plain=plain, graphs=False)


def test_numbers_as_indices() -> None:
    """Torch fails on a number beside a tensor as an index, in a mask that is created inside."""

    def program(x: torch.Tensor) -> Any:
        def mod(b: Any, h: Any, i: Any, j: Any) -> Any:
            return TABLE[0, j] + DOCUMENTS[1] > TABLE[i, 2] * TABLE[True][j]

        return create_mask(mod, 1, 1, LENGTH, LENGTH, device="cpu"), x + 1

    arguments = lambda: (torch.ones(2),)
    agree(
        outcome(tracer_core.compile(program, backend="eager", fullgraph=True), arguments), outcome(program, arguments)
    )


@pytest.fixture
def gradients_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the check with which torch refuses gradients on a CPU, in front of an operator that has them."""
    monkeypatch.setattr(module, "_validate_device", lambda *args: None)


def leaves() -> tuple[torch.Tensor, ...]:
    return tuple(each.requires_grad_() for each in (*qkv(), torch.linspace(-1, 1, LENGTH)))


def with_bias(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    def score(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return s * bias[i] + bias[j]

    return flex_attention(q.sin(), k, v, score_mod=score, block_mask=BOTH).cos()


@pytest.mark.usefixtures("gradients_on_cpu")
def test_gradients() -> None:
    same_three_ways(with_bias, leaves, calls=2)


def test_gradients_are_refused_on_a_cpu() -> None:
    for function in (with_bias, tracer_core.compile(with_bias, backend="eager")):
        with pytest.raises(NotImplementedError, match="backward on CPU"):
            function(*leaves())


class Attention(torch.nn.Module):
    """A block of a small model: a bias for each distance, which is learned, and a mask that it was created with."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.norm = torch.nn.LayerNorm(width)
        self.distances = torch.nn.Parameter(torch.linspace(-1, 1, 2 * LENGTH))
        self.register_buffer("slopes", torch.linspace(0.1, 0.5, heads))
        self.mask = CAUSAL

    def score(self, s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return s + self.distances[i - j + LENGTH] * self.slopes[h]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.project(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = flex_attention(q, k, v, score_mod=self.score, block_mask=self.mask)
        return x + self.out(seen.transpose(1, 2).flatten(2))


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(11, 8)
        self.blocks = torch.nn.ModuleList(Attention(2, 8) for _ in range(2))
        self.head = torch.nn.Linear(8, 11)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.mark.usefixtures("gradients_on_cpu")
def test_a_model() -> None:
    torch.manual_seed(0)
    model, tokens = Model(), torch.arange(2 * LENGTH).reshape(2, LENGTH) % 11
    (graph,) = same_three_ways(model, lambda: (tokens,), calls=2)
    assert len(written_alike(graph)) == 2


def trained(model: Model, call: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    """Return the losses and the parameters after a few steps."""
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(call(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [*losses, *(parameter.detach() for parameter in model.parameters())]


@pytest.mark.usefixtures("gradients_on_cpu")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_training(backend: str) -> None:
    tokens, results = torch.arange(2 * LENGTH).reshape(2, LENGTH) % 11, []
    for compile in (lambda model: model, functools.partial(tracer_core.compile, backend=backend, fullgraph=True)):
        torch.manual_seed(0)
        model = Model()
        results.append(trained(model, compile(model), tokens))
    agree(*results)

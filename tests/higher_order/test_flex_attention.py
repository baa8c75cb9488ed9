"""`flex_attention`: functions of scores and of masks as bodies, and the block masks that programs pass around."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
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
from tests.higher_order.three_ways import agree, outcome, refused, same_three_ways, torch_refuses

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
}
WITH_MASKS = {"alibi", "causal", "document", "and", "or", "aux", "twice"}



def written_alike(graph: torch.fx.GraphModule) -> list[Any]:
    """Return the calls of the operator, with bodies, in the order of the graph."""
    return [line for line in written(graph)[1:] if line[1] == "flex_attention"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_calls(name: str, dynamic: bool) -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        return CALLS[name](q * 2, k, v), q + 1

    # Torch computes the scale in a graph with symbols, though the size it depends on is a number by then; and it
    # computes an empty block mask in the graph where none is given, by vmap.
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
    "dense_of_numbers": lambda q, k, v: create_mask(
        lambda b, h, i, j: TABLE[0, j] + DOCUMENTS[1] > TABLE[i, 2], 1, 1, LENGTH, LENGTH, device="cpu"
    ),
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


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("dynamic", [False, True])
def test_masks_created_inside(name: str, dynamic: bool) -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        return INSIDE[name](q, k, v), q + 1

    same_three_ways(program, qkv, dynamic=dynamic, calls=2, graphs=False)

"""`flex_attention`: masks that come and go, breaks around it, and what cannot be captured."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.nn.attention.flex_attention import AuxRequest, BlockMask, flex_attention

import tracer_core
from tests.higher_order.test_flex_attention import (
    CAUSAL,
    DOCUMENT,
    LENGTH,
    biased,
    causal,
    local_mask,
    mask_of,
    qkv,
    relative,
)
from tests.higher_order.three_ways import Graphs, agree, outcome, refused, same_three_ways, torch_refuses

pytestmark = [
    pytest.mark.row("H13"),
    pytest.mark.filterwarnings("ignore:flex_attention called without"),
    pytest.mark.filterwarnings("ignore:return_lse is deprecated"),
]


def test_another_mask_compiles_anew() -> None:
    """What a mask function does is in the graph; tensors of the mask are inputs."""
    counter = CompileCounter()
    compiled = tracer_core.compile(flex_attention, backend=counter, fullgraph=True)
    args = qkv()
    for mask, graphs in ((CAUSAL, 1), (mask_of(causal), 1), (DOCUMENT, 2), (CAUSAL, 2), (None, 3)):
        torch.testing.assert_close(compiled(*args, block_mask=mask), flex_attention(*args, block_mask=mask))
        assert counter.frame_count == graphs


def test_a_mask_leaves_the_function() -> None:
    def program(q: torch.Tensor) -> BlockMask:
        return local_mask(q)

    q = qkv()[0]
    mask, expected = tracer_core.compile(program, backend="eager", fullgraph=True)(q), program(q)
    assert type(mask) is BlockMask and mask.mask_mod is expected.mask_mod and mask.shape == expected.shape
    agree([part for part in mask.as_tuple()[:-1]], [part for part in expected.as_tuple()[:-1]])


def test_breaks_before_and_after() -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        q = q + 1
        torch._dynamo.graph_break()
        out = flex_attention(q, k, v, biased, CAUSAL) * 2
        torch._dynamo.graph_break()
        return out + q

    agree(outcome(tracer_core.compile(program, backend="eager"), qkv), outcome(program, qkv))


WRONG = {
    "heads": lambda q, k, v: flex_attention(q, k[:, :1], v[:, :1]),
    "gqa": lambda q, k, v: flex_attention(torch.cat([q, q[:, :1]], 1), k, v, enable_gqa=True),
    "width": lambda q, k, v: flex_attention(q, k[..., :2], v),
    "length": lambda q, k, v: flex_attention(q[:, :, :5], k, v, block_mask=CAUSAL),
    "both_kinds": lambda q, k, v: flex_attention(q, k, v, return_lse=True, return_aux=AuxRequest(lse=True)),
    "max_scores": lambda q, k, v: flex_attention(q, k, v, return_aux=AuxRequest(max_scores=True)),
    "sliced": lambda q, k, v: flex_attention(q, k, v, block_mask=CAUSAL[:, :, 0]),
}


@pytest.mark.parametrize("name", WRONG)
def test_torch_refuses_arguments(name: str) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - of any kind
        WRONG[name](*qkv())
    with pytest.raises(type(expected.value)) as raised:
        tracer_core.compile(WRONG[name], backend="eager")(*qkv())
    assert str(raised.value) == str(expected.value)


def test_grouped_queries() -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return flex_attention(q, k, v, relative, CAUSAL, enable_gqa=True)

    same_three_ways(program, lambda: qkv(heads=4), calls=2)


SEEN: list[Any] = []


def reads(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    return s * 2 if i.item() > 2 else s


def notes(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    SEEN.append(1)
    return s


def number(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    return 1.0


def pair(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    return s, s


REFUSED = {
    reads: "it cannot be: the code reads the data of a tensor",
    notes: "which it cannot be: the function changes SEEN",
    number: "flex_attention cannot return an object of type float, as number does.",
    pair: "flex_attention cannot return an object of type tuple, as pair does.",
}


@pytest.mark.parametrize("score", REFUSED)
def test_functions_that_cannot_be_bodies(score: Any) -> None:
    def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        return flex_attention(q, k, v, score)

    torch_refuses(program, qkv)
    assert REFUSED[score] in refused(program, qkv).message


def test_a_body_that_writes_runs_as_plain_python() -> None:
    """Torch's operator refuses it too, once its graph is made functional."""
    counts = torch.zeros(2, LENGTH)
    results = []
    for count, compile in zip(
        counts, (lambda f: f, functools.partial(tracer_core.compile, backend="eager")), strict=True
    ):

        def writes(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
            count.add_(1)  # noqa: B023 - it is called here
            return s + count[i]  # noqa: B023

        def program(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
            return flex_attention(q, k, v, writes) + 1  # noqa: B023

        torch.manual_seed(0)
        results.append(compile(program)(*qkv()))
    torch.testing.assert_close(results[0], results[1])
    assert counts[0].equal(counts[1])
    assert "writes to the tensor" in refused(program, qkv).message


@pytest.mark.row("H13", "B8")
def test_sizes_marked_as_static() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.mark_static(x, 0)
        return x * x.size(0) + x.size(1)

    counter = CompileCounter()
    compiled = tracer_core.compile(program, backend=counter, fullgraph=True, dynamic=True)
    for sizes, graphs in (((3, 4), 1), ((3, 5), 1), ((4, 5), 2)):
        x = torch.ones(sizes)
        assert compiled(x).equal(program(x))
        assert counter.frame_count == graphs


def test_annotations_are_in_the_graph() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.fx.traceback.annotate({"part": 1}):
            x = x.sin()
            with torch.fx.traceback.annotate({"inner": "a"}):
                x = x * 2
        return x + 1

    graphs = []
    for compile in (tracer_core.compile, torch.compile):
        seen = Graphs()
        compile(program, backend=seen, fullgraph=True)(torch.ones(3))
        calls = [node for node in seen.graphs[0].graph.nodes if node.op in ("call_function", "call_method")]
        graphs.append([node.meta.get("custom") for node in calls])
    assert graphs[0] == graphs[1] == [{"part": 1}, {"part": 1, "inner": "a"}, None]


def test_a_break_among_annotations() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.fx.traceback.annotate({"part": 1}):
            x = x.sin()
            torch._dynamo.graph_break()
            x = x * 2
        return x + 1

    x = torch.ones(3)
    assert tracer_core.compile(program, backend="eager")(x).equal(program(x))
    assert not torch.fx.traceback.current_meta

"""Which of torch's public functions draw: told by their operators' tags, not by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import tracer_core

X = torch.arange(48.0).reshape(1, 2, 4, 6) / 50
ATTENTION = torch.nn.MultiheadAttention(4, 2, dropout=0.5)

FACTORIES = [
    *(lambda x, f=f: f(2, 3) for f in (torch.rand, torch.randn)),
    lambda x: torch.randint(5, (3,)),
    lambda x: torch.randint(2, 9, (3,)),
    lambda x: torch.randperm(7),
    *(lambda x, f=f: f(x) for f in (torch.rand_like, torch.randn_like, torch.bernoulli, torch.poisson)),
    lambda x: torch.randint_like(x, 5),
    lambda x: torch.normal(0.0, 1.0, (3,)),
    lambda x: torch.normal(x, 1.0),
    lambda x: torch.normal(0.0, x + 1),
    lambda x: torch.binomial(torch.full_like(x, 9.0), x),
    lambda x: torch.multinomial(x.reshape(-1), 2),
    lambda x: torch._standard_gamma(x + 1),
    lambda x: torch._sample_dirichlet(x + 1),
    *(
        lambda x, name=name, args=args: getattr(torch.empty(4), name)(*args)
        for name, args in {
            "uniform_": (),
            "normal_": (),
            "random_": (),
            "exponential_": (),
            "cauchy_": (),
            "log_normal_": (),
            "geometric_": (0.5,),
            "bernoulli_": (0.5,),
        }.items()
    ),
]
LAYERS = [
    *(
        lambda x, f=f: f(x, 0.5, training=True)
        for f in (F.dropout, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout)
    ),
    lambda x: F.dropout1d(x[0], 0.5),
    lambda x: F.rrelu(x - 0.5, training=True),
    lambda x: F.gumbel_softmax(x),
    lambda x: F.gumbel_softmax(x, hard=True),
    lambda x: F.fractional_max_pool2d(x, 2, output_size=2),
    lambda x: F.fractional_max_pool3d(x.unsqueeze(0), (1, 2, 2), output_size=(1, 2, 2)),
    lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
    lambda x: ATTENTION(*[x[0, :, :, :4]] * 3)[0],
    lambda x: torch.nn.init.xavier_uniform_(torch.empty(3, 4)),
    lambda x: torch.nn.init.kaiming_normal_(torch.empty(3, 4)),
]
NOT_RANDOM = [
    lambda x: F.scaled_dot_product_attention(x, x, x),
    lambda x: F.normalize(x),
    lambda x: F.grid_sample(x, x.reshape(1, 4, 6, 2)),
    lambda x: F.local_response_norm(x, 2),
    lambda x: F.dropout(x, 0.5, training=False),
    lambda x: F.interpolate(x, scale_factor=2.0),
    lambda x: torch.special.ndtri(x) + torch.special.log_ndtr(x),
    lambda x: F.gaussian_nll_loss(x, x, x + 1),
    lambda x: F.poisson_nll_loss(x, x),
    lambda x: torch.norm(x) + torch.linalg.norm(x),
]

# The tag is of the operator, whatever it is called with.
PERHAPS = [lambda x: F.rrelu(x, training=False)]


def drawing_nodes(function: Callable[..., Any]) -> tuple[int, int, Any]:
    """How many nodes are told to draw, how many graphs there are, and what a call gives, with the number that torch's
    generator gives next."""
    found: list[bool] = []

    def backend(gm: torch.fx.GraphModule, examples: Any) -> Any:
        found.append(any(node.meta.get("draws") for node in gm.graph.nodes))
        return gm.forward

    compiled = tracer_core.compile(function, backend=backend, options={"graph_runs_as_it_is": True})
    torch.manual_seed(3)
    result = compiled(X)
    return sum(found), len(found), (str(result), torch.rand(2).tolist())


def plainly(function: Callable[..., Any]) -> tuple[bool, Any]:
    """Whether torch's generator moves, and what a call gives."""
    torch.manual_seed(3)
    state = torch.get_rng_state()
    result = function(X)
    return not torch.equal(state, torch.get_rng_state()), (str(result), torch.rand(2).tolist())


@pytest.mark.row("I5")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [*FACTORIES, *LAYERS, *NOT_RANDOM])
def test_draws_are_told_where_the_generator_moves(function: Any) -> None:
    moves, expected = plainly(function)
    drawing, graphs, result = drawing_nodes(function)
    assert result == expected
    assert graphs and bool(drawing) == moves


@pytest.mark.row("I5")
@pytest.mark.parametrize("function", PERHAPS)
def test_what_may_draw_may_also_not(function: Any) -> None:
    moves, expected = plainly(function)
    drawing, _, result = drawing_nodes(function)
    assert (drawing, moves) == (1, False) and result == expected


@pytest.mark.row("I5")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("functions", "random"), [(FACTORIES, True), (LAYERS, True), (NOT_RANDOM, False)])
def test_the_lists_are_what_they_say(functions: Any, random: bool) -> None:
    assert [plainly(function)[0] for function in functions] == [random] * len(functions)


@pytest.mark.row("I5")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", LAYERS[:6])
def test_draws_that_nobody_uses_still_move_the_generator(function: Any) -> None:
    def unused(x):
        function(x)
        return x + 1

    torch.manual_seed(3)
    unused(X)
    expected = torch.rand(2).tolist()
    compiled = tracer_core.compile(unused, backend="aot_eager")
    torch.manual_seed(3)
    compiled(X)
    assert torch.rand(2).tolist() == expected

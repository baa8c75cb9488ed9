"""Branches on data of which one side only raises: the graph checks, and plain Python raises where the check fails."""

import pytest
import torch
from torch import distributions

import tracer_core

OPTIONS = {"raise_internal_faults": True}
BACKENDS = ["eager", "aot_eager"]


def checks_twice(x):
    y = x * 2
    if torch.isnan(y).any():
        raise ValueError("nan")
    x.add_(1)
    if not torch.isfinite(y).all():  # pytest rewrites assert statements
        raise AssertionError("inf")
    return y + 1


@pytest.mark.row("I4")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_check_that_holds_leaves_one_graph(backend: str) -> None:
    compiled = tracer_core.compile(checks_twice, backend=backend, fullgraph=True, options=OPTIONS)
    x = torch.ones(2, 3)
    assert torch.equal(compiled(x), torch.full((2, 3), 3.0))
    assert torch.equal(x, torch.full((2, 3), 2.0))


@pytest.mark.row("I4")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("value", "error", "after"), [(float("nan"), ValueError("nan"), 0.0), (float("inf"), AssertionError("inf"), 1.0)]
)
def test_a_check_that_fails_raises_the_programs_own_error(
    backend: str, value: float, error: Exception, after: float
) -> None:
    compiled = tracer_core.compile(checks_twice, backend=backend, options=OPTIONS)
    compiled(torch.ones(2))
    x = torch.tensor([value, 0.0])
    with pytest.raises(type(error), match=str(error)):
        compiled(x)
    assert x[1] == after, "what came before the check is done once, what comes after is not"


@pytest.mark.row("I4")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_distribution_refuses_its_arguments(backend: str) -> None:
    def log_probability(x):
        return distributions.Normal(x, 1.0, validate_args=True).log_prob(x)

    compiled = tracer_core.compile(log_probability, backend=backend, options=OPTIONS)
    assert torch.equal(compiled(torch.ones(2)), log_probability(torch.ones(2)))
    with pytest.raises(ValueError, match="Expected parameter loc"):
        compiled(torch.tensor([float("nan"), 1.0]))

"""Every optimizer of torch: two steps in one compiled function, with gradients that change, give plain Python's
numbers. Their step counters are tensors that are written to in place and read again in each step."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_map_only

import tracer_core

OPTIMIZERS = sorted(
    (cls for cls in vars(torch.optim).values() if inspect.isclass(cls) and issubclass(cls, torch.optim.Optimizer)),
    key=lambda cls: cls.__name__,
)
OPTIMIZERS.remove(torch.optim.Optimizer)
#: What is chosen by more than a switch.
MORE: dict[str, list[dict[str, Any]]] = {
    "SGD": [{"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}],
    "RMSprop": [{"momentum": 0.9, "centered": True, "weight_decay": 0.1}],
    "Adam": [{"amsgrad": True, "maximize": True, "weight_decay": 0.1}, {"lr": torch.tensor(0.1), "foreach": False}],
    "AdamW": [{"amsgrad": True, "foreach": True}],
    "NAdam": [{"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RAdam": [{"decoupled_weight_decay": True, "weight_decay": 0.1}],
}


def choices() -> list[tuple[Any, dict[str, Any]]]:
    """Each optimizer as it comes, and with each of its switches on; some fail on the CPU, in plain Python too."""
    found: list[tuple[Any, dict[str, Any]]] = []
    for cls in OPTIMIZERS:
        parameters = inspect.signature(cls).parameters.values()
        switches = [p.name for p in parameters if p.default is False or (p.default is None and p.name == "foreach")]
        found += [(cls, {}), *((cls, {name: True}) for name in switches)]
        found += [(cls, options) for options in MORE.get(cls.__name__, [])]
    return found


def two_steps(optimizer: Any, parameters: list[Any]) -> None:
    def closure() -> torch.Tensor:
        return parameters[0].detach().abs().sum()

    for number in range(2):
        for parameter in parameters:
            parameter.grad.mul_(-0.5 - number)
        optimizer.step(closure) if type(optimizer) is torch.optim.LBFGS else optimizer.step()


def outcome(cls: Any, options: dict[str, Any], steps: Callable[..., Any]) -> Any:
    """The numbers after two calls, or what is raised."""
    parameters = [torch.nn.Parameter(torch.tensor([[1.0, 2.0]])), torch.nn.Parameter(torch.tensor([[3.0], [-1.0]]))]
    for parameter in parameters:
        gradient = torch.full_like(parameter, 0.5).cumsum(0)
        parameter.grad = gradient.to_sparse() if cls is torch.optim.SparseAdam else gradient
    try:
        optimizer = cls(parameters, **options)
        steps(optimizer, parameters)
        steps(optimizer, parameters)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)
    state = [dict(optimizer.state[parameter]) for parameter in parameters]
    return tree_map_only(torch.Tensor, lambda each: (each.dtype, each.tolist()), (parameters, state))


@pytest.mark.row("O9")
@pytest.mark.usefixtures("optimizers_unmarked")
@pytest.mark.parametrize(
    ("cls", "options"),
    choices(),
    ids=lambda each: (
        each.__name__ if inspect.isclass(each) else "-".join(f"{k}={v}" for k, v in each.items()) or "plain"
    ),
)
def test_two_steps_in_one_function(cls: Any, options: dict[str, Any]) -> None:
    compiled = tracer_core.compile(two_steps, backend="eager", options={"raise_internal_faults": True})
    plain, ours = outcome(cls, options, two_steps), outcome(cls, options, compiled)
    assert ours == plain


@pytest.mark.row("B12")
def test_a_step_is_one_graph_also_after_torch_compile_was_used() -> None:
    """torch's compiler marks parts of optimizers as not to be compiled, for its own sake."""
    torch.compile(torch.sin, backend="eager")(torch.ones(1))
    assert any(
        "_torchdynamo_orig_callable" in vars(part) for part in vars(torch.optim.SGD).values() if callable(part)
    )
    weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    weight.grad = torch.tensor([0.5, -0.5])
    optimizer = torch.optim.SGD([weight], lr=0.5)
    tracer_core.compile(lambda optimizer: optimizer.step(), backend="eager", fullgraph=True)(optimizer)
    assert weight.tolist() == [0.75, 2.25]

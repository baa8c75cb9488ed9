"""Models of the transformers library, forward and backward. (Those of `tests.benchmarks.trace_models`.)"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import torch.utils._pytree as pytree

from tests.benchmarks.trace_models import MODELS
from tests.proxy_tensor.cases import Built, Case

OPTIONS = {"_allow_non_fake_inputs": True}


def forward(name: str, layers: int | None = None) -> Built:
    """The model as a function of its parameters, its buffers and its inputs, in evaluation."""
    model, inputs = built(name, layers)
    state = {key: each.detach() for key, each in state_of(model.eval()).items()}

    def run(state: dict[str, torch.Tensor], inputs: dict[str, Any]) -> Any:
        with torch.no_grad():
            return outputs(torch.func.functional_call(model, state, (), inputs))

    return run, (state, inputs)


def backward(name: str, layers: int | None = None) -> Built:
    """The loss and the gradients of all parameters that it depends on, in training."""
    model, inputs = built(name, layers)
    state = state_of(model.train())
    state = {key: each.detach().requires_grad_(isinstance(each, torch.nn.Parameter)) for key, each in state.items()}

    def step(state: dict[str, torch.Tensor], inputs: dict[str, Any]) -> Any:
        result = outputs(torch.func.functional_call(model, state, (), inputs))
        loss = torch.stack([each.square().mean() for each in result if each.is_floating_point()]).sum()
        parameters = [each for each in state.values() if each.requires_grad]
        return loss, torch.autograd.grad(loss, parameters, allow_unused=True)

    return step, (state, inputs)


def built(name: str, layers: int | None) -> tuple[Any, dict[str, Any]]:
    import transformers

    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    return MODELS[name](transformers, **({} if layers is None else {"layers": layers}))


def state_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def outputs(result: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(dict(result)) if isinstance(leaf, torch.Tensor)]


PARTS: dict[str, Callable[[str, int | None], Built]] = {"forward": forward, "backward": backward}


def cases_of(name: str, layers: int | None = None) -> list[Case]:
    """The parts of a model, or the one that the name ends with, as in `t5.forward`."""
    name, _, only = name.partition(".")
    return [
        Case(f"models.{name}.{part}", lambda build=build: build(name, layers), OPTIONS)
        for part, build in PARTS.items()
        if only in ("", part)
    ]

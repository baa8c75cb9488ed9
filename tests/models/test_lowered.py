"""Models of the transformers library as operators, by `tracer_aot`: outputs, losses and gradients of plain Python.

One layer of each has all its operators."""

from __future__ import annotations

import os
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import torch
import transformers

from tests.aot.comparing import compiled
from tests.benchmarks.trace_models import MODELS
from tests.models.outputs import tensors


@pytest.mark.parametrize("name", MODELS)
def test_inference(name: str) -> None:
    torch.manual_seed(0)
    model, inputs = MODELS[name](transformers, layers=1)
    model.eval()
    call, lowered = compiled(model)
    with torch.no_grad():
        expected = tensors(model(**inputs))
        found = tensors(call(**inputs))
    assert len(found) == len(expected)
    assert all(torch.equal(mine, plain) for mine, plain in zip(found, expected, strict=True))
    assert [each.reason for each in lowered] == [""]


@pytest.mark.parametrize(
    ("name", "partitioner"), [*((name, "min_cut") for name in MODELS), ("bert", "default"), ("t5", "default")]
)
def test_a_training_step_with_dropout(name: str, partitioner: str) -> None:
    torch.manual_seed(0)
    model, inputs = MODELS[name](transformers, layers=1)
    model.train()
    call, lowered = compiled(model, partitioner=partitioner)

    def step(forward: Any) -> tuple[torch.Tensor, dict[str, torch.Tensor | None]]:
        torch.manual_seed(1)
        model.zero_grad()
        loss = tensors(forward(**inputs))[0].square().mean()
        loss.backward()
        return loss.detach(), {key: parameter.grad for key, parameter in model.named_parameters()}

    (loss, gradients), (mine, found) = step(model), step(call)
    assert torch.equal(mine, loss)
    assert any(gradient is not None for gradient in gradients.values())
    for key, gradient in gradients.items():
        given = found[key]
        assert (given is None) == (gradient is None), key
        assert gradient is None or given is None or torch.equal(given, gradient), key
    assert [each.reason for each in lowered] == [""]
    assert lowered[0].backward is not None

"""Attributes that a program hangs on tensors itself."""

from __future__ import annotations

import pytest
import torch

import tracer_core

OPTIONS = {"raise_internal_faults": True}


def scaled(x):
    return x * 2 if getattr(x, "important", False) else x + 1


@pytest.mark.row("B5")
def test_an_attribute_hung_on_a_tensor_is_seen_and_guarded():
    compiled = tracer_core.compile(scaled, backend="eager", options=OPTIONS)
    x = torch.ones(3)
    assert torch.equal(compiled(x), scaled(x))
    x.important = True
    assert torch.equal(compiled(x), scaled(x))
    x.important = False
    assert torch.equal(compiled(x), scaled(x))

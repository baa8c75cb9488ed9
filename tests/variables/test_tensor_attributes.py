"""Attributes and methods of tensors that operators do not answer."""

from __future__ import annotations

import warnings

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


def address_and_storage(x):
    y = x + 1
    return x.storage_type(), y.storage_type(), x.const_data_ptr() == x.data_ptr(), y.const_data_ptr() != 0


@pytest.mark.row("B5")
def test_what_only_the_real_tensor_knows_is_asked_of_it():
    x = torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch deprecates typed storages
        given = tracer_core.compile(address_and_storage, backend="eager", options=OPTIONS)(x)
        assert given == address_and_storage(x) == (torch.FloatStorage, torch.FloatStorage, True, True)

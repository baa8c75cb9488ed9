"""Forward-mode differentiation around, inside and across a compiled function: tangents are those of plain Python."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch.autograd import forward_ad

import tracer_core

OPTIONS = {"raise_internal_faults": True}


def tangent_of_a_product(x):
    return forward_ad.unpack_dual(x * 2).tangent


def taken_apart(x):
    primal, tangent = forward_ad.unpack_dual(x)
    return primal + 1, tangent


def level_inside(x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(forward_ad.make_dual(x * 1, x * 3) * 2).tangent


def level_with_a_break(x):
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x * 1, x * 3)
        print("inside")
        return forward_ad.unpack_dual(y * 2).tangent


def outcome(function, around):
    with forward_ad.dual_level() if around else contextlib.nullcontext():
        x = torch.arange(2.0)
        given = forward_ad.make_dual(x, torch.full((2,), 3.0)) if around else x
        result = function(given)
        return [
            None if each is None else each.tolist() for each in (result if isinstance(result, tuple) else [result])
        ]


@pytest.mark.row("F12", "I6")
@pytest.mark.parametrize("function", [tangent_of_a_product, taken_apart])
@pytest.mark.parametrize("first", [True, False], ids=["around first", "alone first"])
def test_tangents_from_outside_arrive(function, first):
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    if not first:
        assert outcome(compiled, around=False) == outcome(function, around=False)
    assert outcome(compiled, around=True) == outcome(function, around=True)


@pytest.mark.row("F12", "I6")
@pytest.mark.parametrize("function", [level_inside, level_with_a_break])
def test_tangents_of_a_level_inside(function):
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    assert outcome(compiled, around=False) == outcome(function, around=False)

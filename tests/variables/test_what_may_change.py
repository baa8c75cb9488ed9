"""What a program relied on changes between two calls: the second call is right, because a guard noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core

OPTIONS = {"raise_internal_faults": True}


class Base:
    k = 3

    def scaled(self, x):
        return x * self.k

    @property
    def twice(self):
        return self.k * 2


class Thing(Base):
    pass


def method(thing, x):
    return thing.scaled(x)


def prop(thing, x):
    return x + thing.twice


def has_q(thing, x):
    return x + (1 if hasattr(thing, "q") else 2)


def truth(thing, x):
    return x + (1 if thing else 2)


def equal(thing, x):
    return x + (1 if thing == 3 else 2)


CHANGES: list[tuple[Callable[..., Any], str, Any]] = [
    (method, "k", 9),
    (method, "scaled", lambda self, x: x - 1),
    (prop, "twice", property(lambda self: 99)),
    (prop, "twice", 5),
    (has_q, "q", 1),
    (truth, "__bool__", lambda self: False),
    (truth, "__len__", lambda self: 0),
    (equal, "__eq__", lambda self, other: True),
]


@pytest.mark.row("G1")
@pytest.mark.parametrize(("function", "name", "value"), CHANGES)
def test_a_class_that_gains_an_attribute(function, name, value):
    class Own(Thing):
        pass

    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    thing, x = Own(), torch.ones(2)
    assert torch.equal(compiled(thing, x), function(thing, x))
    setattr(Own, name, value)
    assert torch.equal(compiled(thing, x), function(thing, x))
    delattr(Own, name)
    assert torch.equal(compiled(thing, x), function(thing, x))


def helper(x):
    return x + 1


def calls_helper(x):
    return helper(x)


@pytest.mark.row("G1")
def test_code_exchanged_as_reloading_does():
    compiled = tracer_core.compile(calls_helper, backend="eager", options=OPTIONS)
    x, before = torch.ones(2), helper.__code__
    assert torch.equal(compiled(x), torch.full((2,), 2.0))
    try:
        helper.__code__ = (lambda x: x * 50).__code__
        assert torch.equal(compiled(x), torch.full((2,), 50.0))
    finally:
        helper.__code__ = before


def grows(a, b, x):
    a.append(1)
    return x + len(b)


def tells_apart(a, b, x):
    return x + (1 if a is b else 2)


@pytest.mark.row("G1")
@pytest.mark.parametrize("function", [grows, tells_apart])
def test_two_lists_that_become_one(function):
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    x = torch.ones(2)
    assert torch.equal(compiled([], [], x), function([], [], x))
    one, same = [], []
    assert torch.equal(compiled(one, one, x), function(same, same, x))
    assert one == same


def adds_up(s, x):
    return x + sum(s)


@pytest.mark.row("G1")
@pytest.mark.parametrize("other", [{1.0}, {True}, {2}, {1, 2}])
def test_a_set_whose_items_only_look_the_same(other):
    compiled = tracer_core.compile(adds_up, backend="eager", options=OPTIONS)
    x = torch.ones(2, dtype=torch.int64)
    compiled({1}, x)
    result, expected = compiled(other, x), adds_up(other, x)
    assert result.dtype == expected.dtype
    assert torch.equal(result, expected)


@pytest.mark.row("B5")
def test_tensors_made_in_inference_mode():
    compiled = tracer_core.compile(lambda x: x * 2, backend="eager", options=OPTIONS)
    with torch.inference_mode():
        x = torch.ones(2)
        assert torch.equal(compiled(x), x * 2)
    assert torch.equal(compiled(x), torch.full((2,), 2.0))


@pytest.mark.row("B4")
def test_a_float_that_varies_keeps_the_sign_of_zero():
    def rounded(x, k):
        return x + k, round(k, 1), str(k)

    compiled = tracer_core.compile(rounded, backend="eager", options=OPTIONS)
    for k in (5.5, 6.5, -0.0, 0.0, 7.25):
        (total, *others), (expected, *plain) = compiled(torch.ones(1), k), rounded(torch.ones(1), k)
        assert torch.equal(total, expected)
        assert list(map(repr, others)) == list(map(repr, plain))

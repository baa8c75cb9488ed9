"""Classes of the program that change between calls: what a lookup did not find, and how it found what it found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.back_ends import Graphs

pytestmark = pytest.mark.row("G1")


def agrees_after(function: Callable[[], Any], *changes: Callable[[], object]) -> int:
    """Whether compiled code does as plain Python before and after each change; how many graphs that took."""
    backend = Graphs()
    compiled = tracer_core.compile(function, backend=backend)
    assert torch.equal(compiled(), function())
    for change in changes:
        change()
        assert torch.equal(compiled(), function())
    return len(backend.graphs)


ONE = torch.ones(1)


def test_an_attribute_comes_as_another_goes() -> None:
    class Holder:
        version = 1

    holder = Holder()

    def change() -> None:
        del Holder.version
        Holder.scale = 3

    agrees_after(lambda: ONE + getattr(holder, "scale", 5), change)


def test_truth_and_calls_that_a_class_learns() -> None:
    class Thing:
        version = 1

    thing = Thing()

    def becomes_empty() -> None:
        del Thing.version
        Thing.__len__ = lambda self: 0

    def becomes_callable() -> None:
        del Thing.__len__
        Thing.__call__ = lambda self: 0

    agrees_after(lambda: ONE + (2 if thing else 3) + callable(thing), becomes_empty, becomes_callable)


def test_a_property_becomes_a_value() -> None:
    class Holder:
        scale = property(lambda self: 3)

    holder = Holder()
    agrees_after(lambda: ONE + holder.scale, lambda: setattr(Holder, "scale", 7), lambda: setattr(Holder, "scale", 8))


def test_a_setter_that_an_exception_gains() -> None:
    class Failure(Exception):
        pass

    def run() -> torch.Tensor:
        failure = Failure(1)
        failure.code = 3
        return ONE + failure.code

    agrees_after(run, lambda: setattr(Failure, "code", property(lambda self: 9, lambda self, value: None)))


def test_what_nobody_looks_at_makes_no_new_code() -> None:
    class Holder:
        scale = 2

    holder = Holder()
    changes = [lambda: setattr(Holder, "other", 1), lambda: delattr(Holder, "other")]
    assert agrees_after(lambda: ONE * holder.scale, *changes) == 1

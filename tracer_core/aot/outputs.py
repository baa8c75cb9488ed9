"""The outputs of a captured graph: how each is built from the inputs and the results of the lowered function.

Outputs that share memory with an input, or with each other, are rebuilt after the lowered function ran: only so does
autograd know them as views of the very tensor that the caller has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from tracer_core.aot.lowered import CannotLower


class Output(Protocol):
    """Builds one output from the inputs of a call, after they were mutated, and from the results."""

    def build(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any: ...


@dataclass(frozen=True, slots=True)
class Constant:
    """What is not a tensor, and the same in each call."""

    value: Any

    def build(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
        return self.value


@dataclass(frozen=True, slots=True)
class Place:
    """A result as it is."""

    index: int

    def build(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
        return results[self.index]


@dataclass(frozen=True, slots=True)
class Given:
    """An input as it is."""

    index: int

    def build(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
        return inputs[self.index]


Base = Place | Given


@dataclass(frozen=True, slots=True)
class View:
    """A view that autograd knows: `example` is one, of a fake, whose steps are done again on the real base. They take
    `numbers` (sizes, offsets), some of which are results of their own (`places`). Where gradients were off, autograd
    knows the base, but has not `recorded` the steps."""

    base: Base
    example: torch.Tensor
    numbers: tuple[Any, ...]
    places: Mapping[int, Place]
    recorded: bool

    def build(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
        numbers = iter(
            self.places[i].build(inputs, results) if i in self.places else number
            for i, number in enumerate(self.numbers)
        )
        base = self.base.build(inputs, results)
        with torch.set_grad_enabled(self.recorded or (torch.is_grad_enabled() and not base.requires_grad)):
            return self.example._view_func_unsafe(base, lambda _: next(numbers))


@dataclass(frozen=True, slots=True)
class Detached:
    """All of a tensor, detached."""

    base: Base

    def build(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
        return self.base.build(inputs, results).detach()


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a tensor, detached: it lies in the base as the result `like` does, or as `like` lies in the result
    `written`, the new value of the base."""

    base: Base
    like: Place
    written: Place | None

    def build(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
        base, like = self.base.build(inputs, results).detach(), results[self.like.index]
        offset = like.storage_offset()
        if self.written is not None:
            offset += base.storage_offset() - results[self.written.index].storage_offset()
        return base.as_strided(like.size(), like.stride(), offset)


def numbers_of(view: torch.Tensor) -> list[Any]:
    """Return the numbers that the steps from the base to `view` take."""
    numbers: list[Any] = []
    tensors: list[torch.Tensor] = []

    def number(value: Any) -> Any:
        numbers.append(value)
        return value

    def tensor(value: torch.Tensor) -> torch.Tensor:
        tensors.append(value)
        return value

    assert view._base is not None
    view._view_func_unsafe(view._base, number, tensor)
    if tensors:
        raise CannotLower("an output is a view whose steps depend on other tensors")
    return numbers


def is_same_region(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors of one storage are the same elements in the same order."""
    return is_same_kind(one, other) and are_equal(
        (*one.shape, *one.stride(), one.storage_offset()), (*other.shape, *other.stride(), other.storage_offset())
    )


def is_same_kind(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors read memory in the same way."""
    return (one.dtype, one.is_conj(), one.is_neg()) == (other.dtype, other.is_conj(), other.is_neg())


def has_elements_in_one_place(tensor: torch.Tensor) -> bool:
    """Return whether a dimension repeats the same elements, as in an expanded tensor. Such a tensor cannot be the
    target of a copy."""
    return any(
        are_equal([stride], [0]) and not statically_known_true(size <= 1)
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )


def are_equal(mine: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether these numbers are always equal."""
    return len(mine) == len(others) and all(statically_known_true(a == b) for a, b in zip(mine, others, strict=True))

"""Draw random numbers, and restore generators, and inputs that a graph mutates, to their state before it."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

States = list[tuple[Callable[[Any], Any], Any]]


def states_of(*streams: Any) -> States:
    """Return, for each generator or tensor, a function that restores it, and the state to restore."""
    return [_state_of(stream) for stream in streams]


def _state_of(stream: Any) -> tuple[Callable[[Any], Any], Any]:
    if isinstance(stream, np.random.RandomState):
        return stream.set_state, stream.get_state(legacy=False)
    if isinstance(stream, np.random.Generator):
        return functools.partial(setattr, stream.bit_generator, "state"), stream.bit_generator.state
    if isinstance(stream, torch.Generator):
        return stream.set_state, stream.get_state()
    if isinstance(stream, torch.Tensor):
        # `.data` has a version counter of its own: it cannot be observed that the tensor was changed and restored.
        return functools.partial(_put_back, stream, stream.data), stream.detach().clone()
    return stream.setstate, stream.getstate()


def _put_back(tensor: torch.Tensor, memory: torch.Tensor, values: torch.Tensor) -> None:
    """Point `tensor` at its old memory again, with the old values in it."""
    tensor.data = memory
    memory.copy_(values)


def give_back(states: States | None) -> None:
    """Restore all, so that plain Python draws the same numbers. (None: there was nothing to keep.)"""
    for put_back, state in states or ():
        put_back(state)


def stream_at(cls: type[random.Random], state: Any) -> random.Random:
    """Return a generator in this state."""
    stream = cls(0)
    stream.setstate(state)
    return stream


def shuffled(stream: random.Random, items: list[Any]) -> list[Any]:
    """Return `items`, a new list, in the order into which `stream` shuffles them."""
    stream.shuffle(items)
    return items


def seed_legacy(stream: Any, value: Any) -> None:
    """Seed the generator behind `numpy.random`, as its own function does."""
    np.random.seed(value)


def shuffled_array(stream: Any, array: Any) -> Any:
    """Return a copy of `array` in the order into which `stream` shuffles it."""
    array = array.copy()
    stream.shuffle(array)
    return array

"""Programs that keep state in many places: what repeated calls would change, if they were not kept apart."""

from __future__ import annotations

import functools
import logging
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from tests.fixes import state_elsewhere

LOG = logging.getLogger("tests.fixes.state_programs")
HISTORY: list[float] = []
SEEN = np.zeros(3)
DICE, NEW_DICE = random.Random(0), np.random.default_rng(0)
LINES = iter(range(100))


class Registry:
    calls = 0
    names: list[str] = []


class Slotted:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


SLOTTED = Slotted()


class Tags(dict[str, int]):
    """A dict of the program's own class."""


TAGS = Tags()


def appends(x: torch.Tensor) -> torch.Tensor:
    HISTORY.append(1.0)
    print(end="")
    return x * len(HISTORY)


def _counter() -> Callable[[], int]:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return count

    return step


COUNTER = _counter()


def closes_over(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    return x * COUNTER()


def with_default(x: torch.Tensor, seen: list[int] = []) -> torch.Tensor:  # noqa: B006
    seen.append(1)
    print(end="")
    return x * len(seen)


def calls_with_default(x: torch.Tensor) -> torch.Tensor:
    return with_default(x) + 1


def keeps_attribute(x: torch.Tensor) -> torch.Tensor:
    keeps_attribute.calls = getattr(keeps_attribute, "calls", 0) + 1  # type: ignore[attr-defined]
    print(end="")
    return x + 1


def trainer() -> Callable[[torch.Tensor], torch.Tensor]:
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step.model = model  # type: ignore[attr-defined]
    return step


STEP = trainer()
PARTIAL = functools.partial(lambda module, x: module(x), nn.BatchNorm1d(3))


def trains(x: torch.Tensor) -> torch.Tensor:
    return STEP(x) + 1


def calls_partial(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    return PARTIAL(x) + 1  # type: ignore[no-any-return]


def counts_in_class(x: torch.Tensor) -> torch.Tensor:
    Registry.calls += 1
    Registry.names.append("a")
    print(end="")
    return x * Registry.calls


def elsewhere(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    return state_elsewhere.scaled(x)


def writes_array(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    SEEN[0] += 1
    return x * float(SEEN[0])


def draws(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    return x + DICE.random() + NEW_DICE.random()


def advances(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    return x + next(LINES)


def logs(x: torch.Tensor) -> torch.Tensor:
    LOG.warning("%s", x)
    return x + 1


def sets_environment(x: torch.Tensor) -> torch.Tensor:
    os.environ["STATE_PROGRAMS"] = str(int(os.environ.get("STATE_PROGRAMS", "0")) + 1)
    print(end="")
    return x + 1


def sets_default_dtype(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    torch.set_default_dtype(torch.float64)
    return x + torch.ones(3)


def slots(x: torch.Tensor) -> torch.Tensor:
    SLOTTED.count += 1
    print(end="")
    return x + SLOTTED.count


def own_dict(x: torch.Tensor) -> torch.Tensor:
    TAGS[str(len(TAGS))] = 1
    print(end="")
    return x + len(TAGS)


def generated(source: Iterator[torch.Tensor]) -> torch.Tensor:
    print(end="")
    return next(source) + 1


def state() -> dict[str, Any]:
    """What all of these keep."""
    return {
        "history": list(HISTORY),
        "counter": COUNTER.__closure__[0].cell_contents,  # type: ignore[index]
        "default": list(with_default.__defaults__[0]),  # type: ignore[index]
        "attribute": dict(vars(keeps_attribute)),
        "trainer": [value.tolist() for value in STEP.model.state_dict().values()],  # type: ignore[attr-defined]
        "gradients": [one.grad is None for one in STEP.model.parameters()],  # type: ignore[attr-defined]
        "partial": [value.tolist() for value in PARTIAL.args[0].state_dict().values()],
        "class": (Registry.calls, list(Registry.names)),
        "elsewhere": dict(state_elsewhere.SETTINGS),
        "array": SEEN.tolist(),
        "dice": (DICE.getstate(), NEW_DICE.bit_generator.state),
        "lines": LINES.__reduce__(),
        "environment": dict(os.environ),
        "dtype": torch.get_default_dtype(),
        "slots": SLOTTED.count,
        "tags": dict(TAGS),
        "random": (torch.get_rng_state().tolist(), random.getstate(), str(np.random.get_state())),
    }

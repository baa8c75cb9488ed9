"""Small programs as people have them, each with something to fix. Fixes are applied to the text of this file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LOG = logging.getLogger("tests.fixes.real_programs")
HISTORY: list[torch.Tensor] = []


class SmallCNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4 * 6 * 6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.bn(self.conv(x)))
        print("features", x.dim())
        return self.fc(x.flatten(1))  # type: ignore[no-any-return]


class Normalized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        scale = y.abs().max().item()  # of the batch
        return y / scale  # type: ignore[no-any-return]


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        if y.sum() > 0:
            y = y * 2
        else:
            y = y - 1
        return y  # type: ignore[no-any-return]


def clips(x: torch.Tensor, mode: str) -> torch.Tensor:
    if mode == "none":
        return x
    elif x.norm() > 1.0:
        x = x / x.norm()
    return x + 1


def chooses(x: torch.Tensor) -> torch.Tensor: return x + 1 if x.mean() > 0 else x - 1  # fmt: skip


def two_in_a_line(x: torch.Tensor) -> torch.Tensor:
    s = x.sum().item(); y = x + 1  # fmt: skip # noqa: E702
    return y * s


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return x * 2 if self.steps % 2 else x * 3


def batches(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).sum(0)


def decays(x: torch.Tensor, rate: float) -> torch.Tensor:
    return x * rate


def grows(x: torch.Tensor) -> torch.Tensor:
    HISTORY.append(x.mean())
    return x * len(HISTORY)


def configured(x: torch.Tensor, config: dict[str, Any]) -> torch.Tensor:
    h = x * config["alpha"]
    return F.relu(h) if config["mode"] == "relu" else torch.tanh(h)


class Drops(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.drop(x)
        print("kept", y.dim())
        return y  # type: ignore[no-any-return]


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.detach()  # type: ignore[no-any-return]


class Running(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        print(end="")
        return x - self.mean


def _parts(x: torch.Tensor) -> Iterator[torch.Tensor]:
    for number in range(2):
        yield x * number


def generates(x: torch.Tensor) -> torch.Tensor:
    total = x
    for part in _parts(x):
        print("part")
        total = total + part
    return total


def logs(x: torch.Tensor) -> torch.Tensor:
    LOG.warning("shape %s", x.shape)
    return x * 2


def percentiles(x: torch.Tensor) -> torch.Tensor:
    return x * float(np.percentile(x.numpy(), 90))


def toggles(x: torch.Tensor, grad: bool) -> torch.Tensor:
    with torch.set_grad_enabled(grad):
        print(end="")
        return x * 2

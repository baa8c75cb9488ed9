"""Programs of the kinds that people trace, for tests of the names that they read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.recording import named_helpers
from tests.recording.named_helpers import scaled

SHIFT = torch.ones(4)
LIMIT = 3


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.conv(x)) + x


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.ReLU())
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        pooled = x.mean((2, 3))
        return self.head(pooled)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x: Tensor, attention_mask: Tensor | None = None, *, scale: float = 0.5) -> Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) * scale
        if attention_mask is not None:
            scores = scores + attention_mask
        return x + self.out(scores.softmax(-1) @ v)


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.options = {"gain": 2.0, "names": ["a", "b"]}
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.steps += 1
        if self.steps % 2:
            x = x * self.options["gain"]
        return x + self.seen + len(self.options["names"])


def masked(x: Tensor, mask: Tensor | None = None, *, gain: float = 2.0, shift: Tensor = SHIFT) -> Tensor:
    return x * gain + shift if mask is None else x * mask


def with_defaults(x: Tensor) -> Tensor:
    return masked(x) + SHIFT


def in_a_closure() -> Callable[..., Any]:
    weight, count = torch.ones(4), 2

    def inner(x: Tensor) -> Tensor:
        return x * weight * count

    def outer(x: Tensor) -> Tensor:
        return inner(x) + weight

    return outer


def other_globals(x: Tensor) -> Tensor:
    return scaled(x) + named_helpers.BIAS


def resumed(x: Tensor, y: Tensor) -> Tensor:
    z = x * 2
    total = z.sum().item()
    print(end="")
    for row in y.unbind():
        z = z + F.relu(row) * total
        print(end="")
    return z


def comprehended(xs: list[Tensor]) -> Tensor:
    doubled = [x * 2 for x in xs if x.dim() == 1]
    return torch.stack(doubled).sum(0)


@dataclass
class Batch:
    inputs: Tensor
    sizes: dict[str, int]


def of_a_dataclass(batch: Batch) -> Tensor:
    y = batch.inputs * batch.sizes["rows"]
    return y.view(batch.inputs.size(0), -1)


class Trainer:
    def __init__(self) -> None:
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def step(self, x: Tensor) -> Tensor:
        loss = self.model(x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def broken_in_a_layer() -> Callable[..., Any]:
    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            x = self.linear(x)
            print(end="")
            return F.relu(x) * x.sum().item()

    return nn.Sequential(Inner(), nn.Linear(4, 2))


def ones(*sizes: int) -> Tensor:
    return torch.ones(*sizes)


PROGRAMS: dict[str, tuple[Callable[[], Callable[..., Any]], list[tuple[Any, ...]]]] = {
    "cnn": (CNN, [(ones(1, 3, 4, 4),), (ones(2, 3, 4, 4),)]),
    "transformer": (Block, [(ones(2, 3, 8),), (ones(2, 3, 8), ones(3, 3))]),
    "training": (lambda: Trainer().step, [(ones(3, 4),), (ones(5, 4),), (ones(3, 4),)]),
    "counter": (Counter, [(ones(4),), (ones(4),), (ones(4),)]),
    "defaults": (lambda: with_defaults, [(ones(4),)]),
    "closure": (in_a_closure, [(ones(4),)]),
    "globals": (lambda: other_globals, [(ones(4),)]),
    "resumed": (lambda: resumed, [(ones(3), ones(2, 3)), (ones(3) * 2, ones(2, 3))]),
    "comprehension": (lambda: comprehended, [([ones(3), ones(3)],), ([ones(4), ones(4), ones(4)],)]),
    "dataclass": (lambda: of_a_dataclass, [(Batch(ones(2, 6), {"rows": 2}),), (Batch(ones(3, 6), {"rows": 3}),)]),
    "layer": (broken_in_a_layer, [(ones(2, 4),)]),
}

"""Programs with something to fix. They are in a file, so that their lines can be rewritten."""

from __future__ import annotations

import os

import torch
from torch import nn

COUNT = {"calls": 0}


def prints(x: torch.Tensor) -> torch.Tensor:
    print("now")
    return x * 2


def branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y * 2


def returns(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x + 1
    return x - 1


def chooses(x: torch.Tensor) -> torch.Tensor:
    y = x * 2 if x.sum() > 0 else x * 3
    return y + 1


def numbers(x: torch.Tensor) -> tuple[torch.Tensor, float]:
    y = 1.0 if x.sum() > 0 else 2.0
    return x + 1, y


def shapes(x: torch.Tensor) -> torch.Tensor:
    y = x[:1] if x.sum() > 0 else x
    return y + 1


def scalar(x: torch.Tensor) -> torch.Tensor:
    s = x.sum().item()
    return x * s


def scalar_returned(x: torch.Tensor) -> tuple[torch.Tensor, float]:
    s = x.sum().item()
    return x + 1, s


def repeats(x: torch.Tensor) -> torch.Tensor:
    n = int(x.sum().item())
    return x.repeat(n)


def item_branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum().item() > 0:
        return x + 1
    return x - 1


def setting(x: torch.Tensor) -> torch.Tensor:
    return x * float(open(os.devnull).read() or "3")


def plain(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def mode(x: torch.Tensor, how: str) -> torch.Tensor:
    return x * 2 if how == "twice" else x * 3


def counts(x: torch.Tensor) -> torch.Tensor:
    COUNT["calls"] += 1
    print(end="")
    return x * COUNT["calls"]


def random(x: torch.Tensor) -> torch.Tensor:
    print("drawn")
    return x + torch.rand(3)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("seen", torch.zeros(()))
        self.steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        self.seen += 1
        y = self.fc(x)
        if y.sum() > 0:
            y = y * 2
        return y


def calls_net(net: Net, x: torch.Tensor) -> torch.Tensor:
    return net(x) + 1


def where_it_starts(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    start = x.storage_offset()
    return y * (start + 2)


def breaks_in_a_loop(x: torch.Tensor) -> torch.Tensor:
    y = x * 3
    for _ in range(2):
        y = y + 1
        print("again")
    return y


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.scale = 0.1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.fc(x) * self.scale).relu()


class Printing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        print("inside")
        return self.fc(y)


class Stacked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Printing()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x * 2).relu()


def lists(x: torch.Tensor) -> torch.Tensor:
    first = x.tolist()[0]
    return x * first


def two_assignments(x: torch.Tensor) -> torch.Tensor:
    y, z = x, x
    if x.sum() > 0:
        y = x + 1
        z = x + 2
    return y * z


def writes_in_branches(x: torch.Tensor, seen: list[int]) -> torch.Tensor:
    y = _noted(x, seen) if x.sum() > 0 else x - 1
    return y * 2


def _noted(x: torch.Tensor, seen: list[int]) -> torch.Tensor:
    seen.append(1)
    return x + 1


def talks_in_branches(x: torch.Tensor) -> torch.Tensor:
    y = _talks(x) if x.sum() > 0 else x - 1
    return y * 2


def _talks(x: torch.Tensor) -> torch.Tensor:
    print("positive")
    return x + 1


def prints_in_a_loop(x: torch.Tensor) -> torch.Tensor:
    for number in [1, 2]:
        print("item", number)
        x = x + number
    return x


def without_else(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x + 1
    return x * 2


def draws_in_a_branch(x):
    """The result is the same whichever branch runs, but not what is drawn next."""
    if x.sum() > 0:
        y = torch.rand(3)
    else:
        y = x + 1
    return y * 0 + x

"""What is traced: a function and its arguments, built anew for each trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch._decomp import core_aten_decompositions

MODES = ("real", "fake", "symbolic")

Built = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """`build` returns the function and its arguments, which share nothing with those of another call of `build`."""

    name: str
    build: Callable[[], Built]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setting:
    """How a case is traced."""

    mode: str
    decomposed: bool

    def __str__(self) -> str:
        return f"{self.mode}, decomposed" if self.decomposed else self.mode

    @property
    def options(self) -> dict[str, Any]:
        return {"tracing_mode": self.mode, "decomposition_table": core_decompositions() if self.decomposed else None}


SETTINGS = tuple(Setting(mode, decomposed) for decomposed in (False, True) for mode in MODES)


@cache
def core_decompositions() -> dict[Any, Callable[..., Any]]:
    return dict(core_aten_decompositions())


FUNCTIONS: dict[str, Case] = {}
"""The functions written for the comparison, by name."""


def function(*arguments: Callable[[], Any], **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that is traced with what each of `arguments` returns."""

    def register(traced: Callable[..., Any]) -> Callable[..., Any]:
        add(traced.__name__, lambda: (traced, tuple(argument() for argument in arguments)), options)
        return traced

    return register


def builder(**options: Any) -> Callable[[Callable[[], Built]], Callable[[], Built]]:
    """Register a function that returns what is traced, and its arguments."""

    def register(build: Callable[[], Built]) -> Callable[[], Built]:
        add(build.__name__, build, options)
        return build

    return register


def add(name: str, build: Callable[[], Built], options: dict[str, Any]) -> None:
    assert name not in FUNCTIONS, name
    FUNCTIONS[name] = Case(f"functions.{name}", build, options)


def floats(*shape: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.randn(*shape)


def numbers(*shape: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.randint(0, 10, shape)


def value(constant: Any) -> Callable[[], Any]:
    return lambda: constant

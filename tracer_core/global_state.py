"""Torch's settings that a graph depends on, each with a text and a cheap way to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Property:
    """`text` names it for people, `read` gives its value now (compared with `==`), `advice` says how a user keeps
    it the same."""

    text: str
    read: Callable[[], Any]
    advice: str


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _autocast() -> tuple[tuple[str, torch.dtype], ...]:
    """(device, dtype) for each device whose autocast is on."""
    return tuple((d, torch.get_autocast_dtype(d)) for d in ("cpu", "cuda") if torch.is_autocast_enabled(d))


def _torch_function_modes() -> tuple[type, ...]:
    """The classes of the active modes, the bottom one first."""
    depth = torch._C._len_torch_function_stack()
    return tuple(type(torch._C._get_function_stack_at(i)) for i in range(depth)) if depth else ()


def _functorch_depth() -> int:
    top = torch._C._functorch.peek_interpreter_stack()
    return 0 if top is None else top.level()


def _default_device() -> torch.device:
    return torch.get_default_device() if torch._C._len_torch_function_stack() else _CPU


_CPU = torch.device("cpu")


PROPERTIES: dict[str, Property] = {
    "grad_mode": Property(
        "torch.is_grad_enabled()",
        torch.is_grad_enabled,
        "call it always inside, or always outside, torch.no_grad()",
    ),
    "inference_mode": Property(
        "torch.is_inference_mode_enabled()",
        torch.is_inference_mode_enabled,
        "call it always inside, or always outside, torch.inference_mode()",
    ),
    "deterministic": Property(
        "deterministic algorithms (enabled, warn only)",
        _deterministic,
        "call torch.use_deterministic_algorithms() once, before the first call",
    ),
    "default_dtype": Property(
        "torch.get_default_dtype()",
        torch.get_default_dtype,
        "call torch.set_default_dtype() once, before the first call",
    ),
    "default_device": Property(
        "torch.get_default_device()",
        _default_device,
        "call torch.set_default_device() once, before the first call",
    ),
    "autocast": Property(
        "autocast (device, dtype)",
        _autocast,
        "call it always inside, or always outside, the same torch.autocast()",
    ),
    "autocast_cache": Property(
        "torch.is_autocast_cache_enabled()",
        torch.is_autocast_cache_enabled,
        "keep the same cache_enabled= for torch.autocast()",
    ),
    "torch_function": Property(
        "torch function overrides enabled",
        torch._C._is_torch_function_enabled,
        "call it always inside, or always outside, torch._C.DisableTorchFunctionSubclass()",
    ),
    "torch_function_modes": Property(
        "active TorchFunctionModes",
        _torch_function_modes,
        "call it always inside, or always outside, the same TorchFunctionMode blocks",
    ),
    "torch_dispatch_modes": Property(
        "number of active TorchDispatchModes",
        torch._C._len_torch_dispatch_stack,
        "call it always inside, or always outside, the same TorchDispatchMode blocks",
    ),
    "functorch": Property(
        "depth of torch.func transforms",
        _functorch_depth,
        "call it always inside, or always outside, the same torch.func transforms",
    ),
    "threads": Property(
        "torch.get_num_threads()",
        torch.get_num_threads,
        "call torch.set_num_threads() once, before the first call",
    ),
}

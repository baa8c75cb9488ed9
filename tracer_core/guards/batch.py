"""Check many guards by one call into torch: tensors' properties, and torch's settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._C._dynamo import guards as c_guards

from tracer_core.guards.guard import Guard
from tracer_core.host.global_state import PROPERTIES

IN_STATE_GUARD = frozenset(
    ("grad_mode", "deterministic", "default_dtype", "autocast", "autocast_cache", "torch_function", "threads")
)
"""The settings that torch's own state guard checks."""


def batchable(guard: Guard) -> bool:
    """Return whether a TENSOR guard can be checked in a batch: its example is alive and is an ordinary strided
    tensor."""
    expected = guard.expected
    example = expected.example()
    return (
        example is not None
        and expected.sizes is not None
        and expected.layout == torch.strided
        and not example.is_nested
        and guard.rule.holds(example, expected)
    )


def tensor_check(guards: Sequence[Guard]) -> Callable[..., bool]:
    """Return a check of as many tensors as there are guards, all of them `batchable` and with different examples. It
    also fails if two of the tensors are one object, or if other dispatcher modes are active than now."""
    examples = [guard.expected.example() for guard in guards]
    sizes: Any = [list(guard.expected.sizes) for guard in guards]
    strides: Any = [list(guard.expected.strides or (None,) * len(guard.expected.sizes)) for guard in guards]
    checks = c_guards.TensorGuards(*examples, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides)
    return checks.check


def state_check(guards: Sequence[Guard]) -> Callable[[], bool] | None:
    """Return one check that implies all the given GLOBAL_STATE guards (of settings in `IN_STATE_GUARD`), or None if
    they do not hold now. It may fail although they hold."""
    expected: list[tuple[str, Any]] = [guard.expected for guard in guards]
    if any(PROPERTIES[setting].read() != value for setting, value in expected):
        return None
    return c_guards.GlobalStateGuard().check

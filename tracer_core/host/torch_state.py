"""Save state that torch keeps for this thread while its functions run: modes, dispatch keys, the context of a
compilation.

Fake tensors, back ends, and the functions they call switch it; `process_state` restores it after them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import torch
import torch._guards
import torch.utils._python_dispatch as python_dispatch
from torch._C._dynamo.guards import set_is_in_mode_without_ignore_compile_internals
from torch.autograd import forward_ad
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from tracer_core.host.global_state import PROPERTIES
from tracer_core.host.process_state import restore_after_tracing, restore_attributes_after_tracing

Modes = tuple[Any, ...]


def _dispatch_modes() -> Modes:
    """Return the active dispatch modes, the bottom one first."""
    return tuple(torch._C._get_dispatch_stack_at(i) for i in range(torch._C._len_torch_dispatch_stack()))


def _set_dispatch_modes(modes: Modes) -> None:
    now = _dispatch_modes()
    if now != modes:
        for mode in reversed(now):
            torch._C._pop_torch_dispatch_stack(getattr(mode, "_mode_key", None))
        for mode in modes:
            torch._C._push_on_torch_dispatch_stack(mode)


def _function_modes() -> Modes:
    """Return the active function modes, the bottom one first."""
    return tuple(torch._C._get_function_stack_at(i) for i in range(torch._C._len_torch_function_stack()))


def _set_function_modes(modes: Modes) -> None:
    now = _function_modes()
    if now != modes:
        for _ in now:
            torch._C._pop_torch_function_stack()
        for mode in modes:
            torch._C._push_on_torch_function_stack(mode)


def undo_transforms(depth: int) -> None:
    """Leave the transforms of `torch.func` that were entered since the depth was `depth`."""
    if torch._C._functorch.get_dynamic_layer_stack_depth() > depth:
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)


def undo_dual_level() -> None:
    """Leave the level of forward-mode differentiation that a graph entered, if it has not left it. There can be one,
    and `torch.autograd.forward_ad` knows of it unless a graph entered it."""
    if forward_ad._current_level >= 0:
        return
    with contextlib.suppress(RuntimeError):  # It was entered, which nothing else tells.
        torch._C._enter_dual_level()
    torch._C._exit_dual_level(level=0)


def _dispatch_keys() -> tuple[Any, Any]:
    """Return the dispatch keys that are always included, and those always excluded."""
    return torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()


def _set_dispatch_keys(keys: tuple[Any, Any]) -> None:
    if _dispatch_keys() != keys:
        included, excluded = keys
        for key in torch._C.DispatchKey.__members__.values():
            if torch._C._dispatch_tls_is_dispatch_key_included(key) != included.has(key):
                torch._C._dispatch_tls_set_dispatch_key_included(key, included.has(key))
            if torch._C._dispatch_tls_is_dispatch_key_excluded(key) != excluded.has(key):
                torch._C._dispatch_tls_set_dispatch_key_excluded(key, excluded.has(key))


def autocast_depth() -> int:
    depth = torch.autocast_increment_nesting()
    torch.autocast_decrement_nesting()
    return depth - 1


def undo_autocast(depth: int) -> None:
    """Leave the blocks of autocast that were entered since the depth was `depth`."""
    for _ in range(autocast_depth() - depth):
        torch.autocast_decrement_nesting()


def saved_tensors_traced() -> bool:
    """Return whether hooks on tensors saved for backward are off, as they are while a back end traces."""
    before = torch._C._autograd._saved_tensors_hooks_set_tracing(False)  # (which alone returns the value)
    torch._C._autograd._saved_tensors_hooks_set_tracing(before)
    return before


def _set_contexts(contexts: dict[str, Any]) -> None:
    now = vars(torch._guards._TLS)
    for name in now.keys() - contexts.keys():
        del now[name]
    now.update(contexts)


def forget_answers() -> None:
    """Empty the caches that all shape environments share, and which keep every one of them alive."""
    for method in _ANSWERING:
        method.cache_clear()


_ANSWERING: list[Any] = [method for method in vars(ShapeEnv).values() if hasattr(method, "cache_clear")]


_FLAGS = (
    "_is_in_torch_dispatch_mode",
    "_is_in_non_infra_torch_dispatch_mode",
    "_is_in_any_mode_without_ignore_compile_internals",
)
_SETTINGS = (
    "grad_mode", "autocast", "autocast_cache", "saved_tensors_hooks", "multithreading_enabled", "view_replay_enabled"
)  # fmt: skip
"""The settings that belong to a thread. Others are restored where the traced program has set them
(`graph/settings.py`): another thread may set one meanwhile."""


def _put_back_settings(names: Iterable[str]) -> None:
    for name in names:
        setting = PROPERTIES[name]
        assert setting.write is not None
        restore_after_tracing(setting.read, setting.write)


restore_after_tracing(torch._C._functorch.get_dynamic_layer_stack_depth, undo_transforms)
restore_after_tracing(_dispatch_modes, _set_dispatch_modes)
restore_after_tracing(_function_modes, _set_function_modes)
restore_after_tracing(_dispatch_keys, _set_dispatch_keys)
restore_attributes_after_tracing(python_dispatch, *_FLAGS)
restore_after_tracing(
    lambda: python_dispatch._is_in_any_mode_without_ignore_compile_internals,
    set_is_in_mode_without_ignore_compile_internals,
)
restore_after_tracing(torch._C._only_lift_cpu_tensors, torch._C._set_only_lift_cpu_tensors)
restore_after_tracing(
    torch._C._get_torch_function_state,  # type: ignore[attr-defined]
    torch._C._set_torch_function_state,  # type: ignore[attr-defined]
)
restore_after_tracing(torch._C._is_fwd_grad_enabled, torch._C._set_fwd_grad_enabled)
restore_after_tracing(saved_tensors_traced, torch._C._autograd._saved_tensors_hooks_set_tracing)
restore_after_tracing(torch.is_warn_always_enabled, torch.set_warn_always)
restore_after_tracing(autocast_depth, undo_autocast)
restore_after_tracing(lambda: dict(vars(torch._guards._TLS)), _set_contexts)
_put_back_settings(_SETTINGS)
restore_after_tracing(lambda: None, lambda _: forget_answers())

"""Decide which frames run as plain Python before anything is traced."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import CodeType
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.frame_eval.origins import folder, outer_caller, written_in
from tracer_core.frame_input import SkippedFrame
from tracer_core.higher_order_table import defined_as
from tracer_core.host.global_state import programs_mode
from tracer_core.names.code import code_name, frame_name
from tracer_core.names.files import shown_file
from tracer_core.names.folders import LIBRARY_FOLDERS, SITE_FOLDERS
from tracer_core.reasons import REASONS
from tracer_core.sources.parts import instance_dict

UNTRACED_PACKAGES = (
    *("torch", "functorch", "triton", "numpy", "scipy", "sympy", "pandas", "networkx", "numba", "matplotlib"),
    "typing_extensions",
    *("IPython", "ipykernel", "jupyter_client", "jupyter_core", "traitlets", "comm", "zmq", "tornado"),
    *(
        "ipywidgets",
        "anywidget",
        "msgspec",
        "_distutils_hack",
        "setuptools",
        "matplotlib_inline",
        "pygments",
        "nbclient",
        "nbformat",
        "debugpy",
        "pydevd",
    ),
    *("pytest", "_pytest", "pluggy", "hypothesis", "xdist", "coverage"),
)
"""Packages whose functions are not traced on their own, though they may be inlined or called from a graph."""

TRACED_PARTS = ("torch.nn.modules", "torch.nn.attention.flex_attention", "torch.optim")
"""Parts of these packages that are traced all the same: a graph may start at a module's `forward`, at an optimizer's
`step`, or at `flex_attention`, which people compile by itself."""
_CALLING_A_MODULE = ("Module._wrapped_call_impl", "Module._call_impl", "Module._slow_forward")
"""Methods of `torch.nn.Module` itself that are traced as frames; the rest sets, registers and looks up members."""
_RUNNING_A_GRAPH = "AutogradFunctionApply.__call__."
"""Functions of torch that run graphs which were captured already, by an interpreter in Python."""


def _folders(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(found for found in map(folder, packages) if found is not None)


_UNTRACED = _folders(UNTRACED_PACKAGES)
_TRACED = _folders(TRACED_PARTS)
_MODULE_FILE = os.path.realpath(torch.nn.modules.module.__file__)


def _skipped(reason_id: str, **details: Any) -> SkippedFrame:
    return SkippedFrame(reason_id, REASONS[reason_id].filled(details))


def _by_kind(code: CodeType, globals: dict[str, Any]) -> SkippedFrame | None:
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE):
        return _skipped("frame-async", function=code_name(code))
    if code.co_flags & inspect.CO_GENERATOR:
        return _skipped("frame-generator", function=code_name(code))
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return _skipped("frame-not-function", function=code_name(code))
    return None


def _by_file(code: CodeType, globals: dict[str, Any]) -> SkippedFrame | None:
    path = code.co_filename
    if path.startswith("<frozen "):
        skipped = _skipped("frame-library", function=code_name(code), file=path)
        # An import runs its code once, and users do not want to see that.
        return replace(skipped, recursive=path.startswith("<frozen importlib"))
    path = written_in(code, globals)
    if path.startswith("<"):
        return None
    path = os.path.realpath(path)
    if path.startswith(_TRACED) and (path != _MODULE_FILE or code.co_qualname.startswith(_CALLING_A_MODULE)):
        return None
    if path.startswith(_UNTRACED) or (path.startswith(LIBRARY_FOLDERS) and not path.startswith(SITE_FOLDERS)):
        skipped = _skipped("frame-library", function=code_name(code), file=shown_file(code.co_filename))
        return replace(skipped, recursive=code.co_qualname.startswith(_RUNNING_A_GRAPH))
    return None


_TESTS: tuple[Callable[[CodeType, dict[str, Any]], SkippedFrame | None], ...] = (_by_file, _by_kind)


def why_skip_here(code: CodeType) -> SkippedFrame | None:
    """Return why a frame of `code` that starts now runs as plain Python, given its caller; others may be traced."""
    caller = outer_caller()
    if caller is None or caller.f_code.co_name != "nonrecursive_disable_wrapper":
        return None
    return replace(_skipped("frame-disabled", function=code_name(code)), forever=False)


def transform_called(code: CodeType, globals: dict[str, Any]) -> Unsupported | None:
    """Return why a frame of `code`, and all it calls, is not traced if the code belongs to a transform of functions,
    which calls functions on wrapped tensors, or differentiates them more often than back ends can."""
    entry = defined_as(globals.get("__name__"), code)
    if entry is None or not entry.is_transform:
        return None
    return Unsupported(entry.reason_id, name=entry.name)


def mode_around(code: CodeType, f_locals: Mapping[str, Any]) -> Unsupported | None:
    """Return why a frame of `code` that starts now, and all it calls, is not traced if a mode of the program is
    active, which sees every operation on tensors, would see those on fakes, and may change any of them."""
    mode = programs_mode()
    if mode is None:
        return None
    return Unsupported("inside-torch-mode", function=frame_name(code, f_locals), mode=type(mode).__qualname__)


def refusal_now(code: CodeType, f_locals: Mapping[str, Any]) -> Unsupported | None:
    """Return why a frame of `code` that starts now cannot be traced, because of torch's state or of its arguments;
    other frames of the code may be."""
    top = torch._C._functorch.peek_interpreter_stack()
    if top is not None:
        reason_id, transform = _TRANSFORMS.get(top.key().name, ("inside-transform", "a transform of torch.func"))
        return Unsupported(reason_id, function=frame_name(code, f_locals), transform=transform)
    if code in _CALLS_MODULES and _has_backward_hooks(f_locals.get("self")):
        # Its forward, which is called between the hooks, is traced on its own.
        return Unsupported("backward-hooks", cls=type(f_locals["self"]).__qualname__)
    return None


_CALL = torch.nn.Module._call_impl.__code__
_CALLS_MODULES = {
    torch.nn.Module._wrapped_call_impl.__code__,
    _CALL,
    *(const for const in _CALL.co_consts if isinstance(const, CodeType)),
}


def _has_backward_hooks(module: Any) -> bool:
    held = instance_dict(module) or {}
    shared = torch.nn.modules.module
    return bool(
        held.get("_backward_hooks")
        or held.get("_backward_pre_hooks")
        or shared._global_backward_hooks
        or shared._global_backward_pre_hooks
    )


_TRANSFORMS = {
    "Vmap": ("inside-vmap", "torch.func.vmap"),
    "Grad": ("inside-derivative", "torch.func.grad, or another transform that differentiates"),
    "Jvp": ("inside-derivative", "torch.func.jvp, or another transform that differentiates forwards"),
    "Functionalize": ("inside-transform", "torch.func.functionalize"),
}


def why_skip(code: CodeType, globals: dict[str, Any]) -> SkippedFrame | None:
    """Return why frames of `code` run as plain Python whatever their values; None to trace them."""
    for test in _TESTS:
        skipped = test(code, globals)
        if skipped is not None:
            return skipped
    return None

"""Which frames are left to Python before anything is traced."""

from __future__ import annotations

import collections
import dataclasses
import importlib.util
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tracer_core.frame_input import SkippedFrame
from tracer_core.reasons import REASONS

UNTRACED_PACKAGES = (
    *("torch", "functorch", "triton", "numpy", "scipy", "sympy", "pandas", "networkx", "numba", "matplotlib"),
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

TRACED_PARTS = ("torch.nn.modules", "torch.optim")
"""Parts of these packages that are traced all the same: a graph may start at a module's `__call__` or `forward`, or
at an optimizer's `step`."""


def _folder(package: str) -> str | None:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return os.path.join(os.path.realpath(next(iter(spec.submodule_search_locations))), "")


def _folders(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(folder for folder in map(_folder, packages) if folder is not None)


_PATHS = sysconfig.get_paths()
_SITE = tuple({os.path.join(os.path.realpath(_PATHS[key]), "") for key in ("purelib", "platlib")})
_LIBRARY = tuple({os.path.join(os.path.realpath(_PATHS[key]), "") for key in ("stdlib", "platstdlib")})
_UNTRACED = _folders(UNTRACED_PACKAGES)
_TRACED = _folders(TRACED_PARTS)


def _skipped(reason_id: str, **details: Any) -> SkippedFrame:
    return SkippedFrame(reason_id, REASONS[reason_id].sentence.format(**details))


def _by_kind(code: CodeType, globals: dict[str, Any]) -> SkippedFrame | None:
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE):
        return _skipped("frame-async", function=code.co_name)
    if code.co_flags & inspect.CO_GENERATOR:
        return _skipped("frame-generator", function=code.co_name)
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return _skipped("frame-not-function", function=code.co_name)
    return None


def _written_in(code: CodeType, globals: dict[str, Any]) -> str:
    """The file of the code; for code that was made of text, as `namedtuple` and `dataclass` do, that of what made it
    or is for."""
    path = code.co_filename
    if path != "<string>":
        return path
    name, file = globals.get("__name__"), globals.get("__file__")
    if type(name) is str and name.startswith("namedtuple_"):
        return str(collections.__file__)
    return file if type(file) is str else path


def _by_file(code: CodeType, globals: dict[str, Any]) -> SkippedFrame | None:
    path = code.co_filename
    if path.startswith("<frozen "):
        skipped = _skipped("frame-library", function=code.co_name, file=path)
        # What an import runs is done once, and is not what anyone wants to see.
        return dataclasses.replace(skipped, recursive=path.startswith("<frozen importlib"))
    path = _written_in(code, globals)
    if path.startswith("<"):
        return None
    path = os.path.realpath(path)
    if path.startswith(_TRACED):
        return None
    if path.startswith(_UNTRACED) or (path.startswith(_LIBRARY) and not path.startswith(_SITE)):
        return _skipped("frame-library", function=code.co_name, file=code.co_filename)
    return None


_TESTS: tuple[Callable[[CodeType, dict[str, Any]], SkippedFrame | None], ...] = (_by_file, _by_kind)


def why_skip_here(code: CodeType) -> SkippedFrame | None:
    """Why a frame of `code` that starts now is left to Python, as its caller says; others may be traced."""
    caller: FrameType | None = sys._getframe(1)
    while caller is not None and is_ours(caller.f_globals):
        caller = caller.f_back
    if caller is None or caller.f_code.co_name != "nonrecursive_disable_wrapper":
        return None
    skipped = _skipped("frame-disabled", function=code.co_name)
    skipped.forever = False
    return skipped


def is_ours(globals: dict[str, Any]) -> bool:
    """Whether code with these globals belongs to this product: it is left alone, and nobody is told."""
    name = globals.get("__name__")
    return type(name) is str and name.partition(".")[0] in ("tracer_core", "tracewalk")


def why_skip(code: CodeType, globals: dict[str, Any]) -> SkippedFrame | None:
    """Why frames of `code` are left to Python without a look at their values; None to trace them."""
    for test in _TESTS:
        skipped = test(code, globals)
        if skipped is not None:
            return skipped
    return None

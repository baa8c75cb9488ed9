"""The engine: graph capture by interpreting Python's bytecode, and the recording of every step of it.

Its names are loaded when they are first used, so that `tracer_core.recording` works where torch is not installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracer_core.compiling import is_compiling
    from tracer_core.errors import (
        BackendError,
        BackendWarning,
        CacheLimitWarning,
        FaultWarning,
        InternalError,
        NoticeWarning,
        TracewalkError,
        Unsupported,
    )
    from tracer_core.frame_eval.api import compile, disable, make_config, reset
    from tracer_core.frame_eval.cache import afresh
    from tracer_core.frame_eval.hook import disabled, enabled
    from tracer_core.frame_input import Config
    from tracer_core.names.files import name_files
    from tracer_core.observer import Observer, observing
    from tracer_core.proxy_tensor.entry import make_fx
    from tracer_core.proxy_tensor.under_node import trace_call

_HOMES = {
    "BackendError": "errors",
    "BackendWarning": "errors",
    "CacheLimitWarning": "errors",
    "Config": "frame_input",
    "FaultWarning": "errors",
    "NoticeWarning": "errors",
    "InternalError": "errors",
    "Observer": "observer",
    "TracewalkError": "errors",
    "Unsupported": "errors",
    "afresh": "frame_eval.cache",
    "compile": "frame_eval.api",
    "disable": "frame_eval.api",
    "disabled": "frame_eval.hook",
    "enabled": "frame_eval.hook",
    "is_compiling": "compiling",
    "make_fx": "proxy_tensor.entry",
    "trace_call": "proxy_tensor.under_node",
    "make_config": "frame_eval.api",
    "name_files": "names.files",
    "observing": "observer",
    "reset": "frame_eval.api",
}
_MODULES = ("errors", "observer", "recording")

__all__ = [
    "BackendError",
    "BackendWarning",
    "CacheLimitWarning",
    "Config",
    "FaultWarning",
    "InternalError",
    "NoticeWarning",
    "Observer",
    "TracewalkError",
    "Unsupported",
    "afresh",
    "compile",
    "disable",
    "disabled",
    "enabled",
    "is_compiling",
    "make_config",
    "make_fx",
    "name_files",
    "observing",
    "reset",
    "trace_call",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"tracer_core.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tracer_core' has no attribute {name!r}")
    value = getattr(import_module(f"tracer_core.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_MODULES])

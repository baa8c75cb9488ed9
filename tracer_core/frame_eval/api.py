"""The public functions: `compile`, `disable`, `reset`."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Hashable
from types import FunctionType, MethodType
from typing import Any, TypeVar, overload

import torch

from tracer_core.bytecode import forget_decoded
from tracer_core.codegen import resume
from tracer_core.compiling import is_compiling
from tracer_core.errors import Unsupported
from tracer_core.frame_eval import backends, c_frame, cache, lookup, sweep, threads
from tracer_core.frame_eval.compiled_object import as_called, region_of
from tracer_core.frame_eval.convert import prepare
from tracer_core.frame_eval.hook import Hook, after_call, disabled, hook_for
from tracer_core.frame_eval.modules import CompiledModule, compiled_module
from tracer_core.frame_eval.rules import why_skip
from tracer_core.frame_input import Config
from tracer_core.host import noticed_warnings
from tracer_core.names.code import code_name
from tracer_core.names.files import shown_file
from tracer_core.sources import ById

F = TypeVar("F", bound=Callable[..., Any])

ORIGINAL = "_tracewalk_original"
"""The attribute of the results of `compile` and `disable` that holds their argument."""

_shared: weakref.WeakValueDictionary[Hashable, Config] = weakref.WeakValueDictionary()


@overload
def compile(
    fn: F,
    *,
    backend: str | backends.Backend = ...,
    dynamic: bool | None = ...,
    fullgraph: bool = ...,
    mode: str | None = ...,
    options: dict[str, Any] | None = ...,
    disable: bool = ...,
) -> F: ...


@overload
def compile(
    fn: None = None,
    *,
    backend: str | backends.Backend = ...,
    dynamic: bool | None = ...,
    fullgraph: bool = ...,
    mode: str | None = ...,
    options: dict[str, Any] | None = ...,
    disable: bool = ...,
) -> Callable[[F], F]: ...


def compile(
    fn: Any = None,
    *,
    backend: str | backends.Backend = "inductor",
    dynamic: bool | None = None,
    fullgraph: bool = False,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Capture graphs of `fn` and the functions it calls, and run them through a back end, with the results of plain
    Python.

    Args:
        fn: a function, method or `nn.Module`; None to use it as a decorator.
        backend: a name (see `torch.compiler.list_backends`, and `"eager"`), or a function of (graph, example inputs)
            that gives a callable.
        dynamic: True makes sizes symbolic from the start, False never, None those that varied.
        fullgraph: raise `tracer_core.errors.Unsupported` where the graph would break.
        mode: as for `torch.compile`, for `"inductor"`.
        options: options of ours (`tracer_core.frame_eval.options.OPTIONS`) and of the back end.
        disable: give `fn` back as it is.

    Raises:
        TypeError, ValueError: for what cannot be compiled, and for unknown back ends and options.
    """
    config = make_config(backend=backend, dynamic=dynamic, fullgraph=fullgraph, mode=mode, options=options)
    if fn is None:
        return functools.partial(_compile, config=config, disable=disable)
    return _compile(fn, config=config, disable=disable)


def make_config(
    *,
    backend: str | backends.Backend = "inductor",
    dynamic: bool | None = None,
    fullgraph: bool = False,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> Config:
    """Return the checked `Config` for these keywords of `compile`. Equal keywords give one `Config`, so that
    functions compiled in the same way share code.

    Raises:
        TypeError, ValueError: for unknown back ends, options and modes.
    """
    if dynamic not in (None, True, False):
        raise TypeError(f"dynamic= must be True, False or None, not {dynamic!r}")
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"options= must be a dict of option names and values, not {type(options).__name__}")
    with disabled():
        ours, theirs = backends.split_options(backend, options or {}, mode)
        which = backend if isinstance(backend, str) else ById(backend)
        how = (dynamic, bool(fullgraph), *sorted(ours.items()), repr(theirs))
        key = (which, *how)
        config = _shared.get(key)
        if config is None:
            function = backends.wrapped(
                backend,
                theirs,
                suppress_errors=ours.get("suppress_backend_errors", False),
                verify=ours.get("verify_correctness", False),
            )
            if backend in ("eager", backends.eager):
                ours["graph_runs_as_it_is"] = True
            scope = cache.scope_of_backend(backend, how)
            config = _shared[key] = Config(function, dynamic, bool(fullgraph), ours, scope)
    return config


def _compile(fn: Any, *, config: Config, disable: bool) -> Any:
    with disabled():
        return _compiled(fn, config, disable)


def _compiled(fn: Any, config: Config, disable: bool) -> Any:
    if isinstance(fn, classmethod | staticmethod):
        return type(fn)(_compiled(fn.__func__, config, disable))
    fn = original(fn)
    if disable:
        return fn
    if isinstance(fn, torch.nn.Module):
        hook = hook_for(config)
        return compiled_module(fn, lambda module: _switched(module, hook))
    if isinstance(fn, type):
        raise TypeError(f"{fn.__qualname__} is a class: compile its methods, or a function that makes and uses it")
    if not callable(fn):
        raise TypeError(f"compile needs a function, a method or an nn.Module, not {type(fn).__qualname__}")
    return _compiled_function(fn, hook_for(config))


def _compiled_function(fn: Callable[..., Any], hook: Hook) -> Callable[..., Any]:
    if hook.config.fullgraph:
        _refuse_skipped(fn)
    return _like(_switched(fn, hook), fn)


def _switched(fn: Callable[..., Any], hook: Hook | None) -> Callable[..., Any]:
    """Return `fn` with the thread's hook set to `hook` while it runs."""
    region = c_frame.NO_REGION if hook is None else region_of(fn)
    module = fn if isinstance(fn, torch.nn.Module) else None

    @noticed_warnings.hidden_from_stacklevel
    def switched(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # IPython and pytest show the program's frames alone.
        if _torch_traces() or is_compiling():
            return fn(*args, **kwargs)
        prepare()
        call = fn if module is None else as_called(module)
        thread = (
            threads.this.thread
        )  # (As `threads.enter` and `leave` do, but inline, since every call comes through here.)
        region_before, depth_before, previous = thread.region, thread.depth, c_frame.callback()
        try:  # Ctrl-C may come after each call
            thread.region = region
            thread.depth = depth_before + 1
            c_frame.set_region(region)
            c_frame.set_callback(hook)
            return call(*args, **kwargs)
        finally:
            thread.region = region_before
            thread.depth = depth_before
            try:
                c_frame.set_callback(previous)
            finally:
                c_frame.set_region(region_before)
            if sweep.due or lookup.interrupted:
                after_call()

    return switched


def _torch_traces() -> bool:
    """Return whether torch's own compiler traces the call; it then has to see the function's own code."""
    return torch.compiler.is_dynamo_compiling()


c_frame.mark(_torch_traces.__code__, c_frame.SKIP_ALL)
_SWITCHED_CODE = _switched(len, None).__code__


def _refuse_skipped(fn: Callable[..., Any]) -> None:
    """Raise for a function that would never be traced, which `fullgraph` promises."""
    function = inspect.unwrap(getattr(fn, "__func__", fn))
    code = getattr(function, "__code__", None)
    if code is None:
        return
    skipped = why_skip(code, function.__globals__)
    if skipped is not None:
        raise Unsupported(skipped.reason_id, function=code_name(code), file=shown_file(code.co_filename))


def _like(wrapper: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
    functools.update_wrapper(wrapper, fn)
    setattr(wrapper, ORIGINAL, fn)
    return wrapper


def original(fn: Any) -> Any:
    """Return the argument of `compile`, given its result; else `fn` itself."""
    if isinstance(fn, CompiledModule):
        return fn._tracewalk_original
    if isinstance(fn, MethodType):
        plain = original(fn.__func__)
        return fn if plain is fn.__func__ else plain.__get__(fn.__self__)
    if isinstance(fn, FunctionType) and fn.__code__ is _SWITCHED_CODE:
        return getattr(fn, ORIGINAL)
    return fn


def disable(fn: F) -> F:
    """Run `fn` as plain Python, with all that it calls, also from compiled code. A decorator too."""
    plain = original(fn)
    if isinstance(plain, torch.nn.Module):
        return compiled_module(plain, _disabled)  # type: ignore[return-value]
    return _like(_disabled(plain), plain)  # type: ignore[return-value]


def _disabled(fn: Callable[..., Any]) -> Callable[..., Any]:
    @noticed_warnings.hidden_from_stacklevel
    def disabled(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    disabled._tracewalk_disable = True  # type: ignore[attr-defined]
    return disabled


c_frame.mark(_disabled(len).__code__, c_frame.SKIP_ALL)


def reset() -> None:
    """Forget all compiled code, which sizes varied, and which functions run as plain Python."""
    cache.forget_all()
    resume.forget()
    forget_decoded()

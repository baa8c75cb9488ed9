"""Find back ends by name, and call one so that its failures are told apart from ours.

The only module of the engine that imports `torch._dynamo`, and only for back ends that torch keeps there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.errors import BackendError, FloatsMustBeConstants
from tracer_core.frame_eval import c_frame
from tracer_core.frame_eval.options import OPTIONS, checked, nearest
from tracer_core.frame_eval.verify import verified
from tracer_core.runtime.gradients import run_graph

if TYPE_CHECKING:
    import torch

Compiled = Callable[..., Any]
Backend = Callable[..., Compiled]


def eager(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Compiled:
    """Run the graph as it is."""
    return gm.forward


def _inductor(gm: torch.fx.GraphModule, example_inputs: Sequence[Any], **options: Any) -> Compiled:
    from torch._inductor.compile_fx import compile_fx

    compiled: Any = compile_fx(gm, example_inputs, config_patches=options)
    return compiled  # type: ignore[no-any-return]


def _tracer_aot(
    gm: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: dict[str, Any] | None = None
) -> Compiled:
    # (Torch's partitioner imports torch._dynamo, for which others need not wait.)
    from tracer_core.aot import tracer_aot

    return tracer_aot(gm, example_inputs, options=options)


_OWN: dict[str, Backend] = {"eager": eager, "inductor": _inductor, "tracer_aot": _tracer_aot}


def names() -> list[str]:
    """Return the names of all named back ends."""
    import torch

    return sorted({*_OWN, "aot_eager", *torch.compiler.list_backends()})


def lookup(backend: str | Backend) -> Backend:
    """Return the back end called `backend`, or `backend` itself if it is a callable.

    Raises:
        ValueError: if there is none of this name.
        TypeError: if it is neither a name nor callable.
    """
    if not isinstance(backend, str):
        if not callable(backend):
            raise TypeError(f"backend= must be a name or a function of (graph, example inputs), not {backend!r}")
        return backend
    if backend in _OWN:
        return _OWN[backend]
    from torch._dynamo.backends.registry import list_backends, lookup_backend

    if backend not in list_backends(exclude_tags=None):
        raise ValueError(f"there is no back end called {backend!r}. {nearest(backend, names())}")
    return lookup_backend(backend)


def split_options(
    backend: str | Backend, options: dict[str, Any], mode: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Check the options, and split them into ours and keywords for the back end (`mode` among them).

    Raises:
        ValueError: for an option that neither has.
        TypeError: for a value of the wrong type.
    """
    ours = {name: checked(name, value) for name, value in options.items() if name in OPTIONS}
    rest = {name: value for name, value in options.items() if name not in OPTIONS}
    keywords = _KEYWORDS.get(backend) if isinstance(backend, str) else None
    return ours, _keywords(lookup(backend), rest, mode) if keywords is None else keywords(rest, mode)


def _keywords(backend: Backend, options: dict[str, Any], mode: str | None) -> dict[str, Any]:
    """Return the keywords for a back end whose options are not known here."""
    accepted = _accepted(backend)
    keywords: dict[str, Any] = {}
    if options:
        if accepted is not None and "options" not in accepted:
            name = next(iter(options))
            raise ValueError(f"there is no option called {name!r}. {nearest(name, OPTIONS)}")
        keywords["options"] = options
    if mode is not None:
        if accepted is not None and "mode" not in accepted:
            raise ValueError(f"mode={mode!r} is for the back end 'inductor'; the one given takes none. Leave it out.")
        keywords["mode"] = mode
    return keywords


def _tracer_aot_keywords(options: dict[str, Any], mode: str | None) -> dict[str, Any]:
    from tracer_core.aot import check_options

    check_options(options)
    return _keywords(_tracer_aot, options, mode)


def _inductor_keywords(options: dict[str, Any], mode: str | None) -> dict[str, Any]:
    if not options and mode is None:
        return {}
    import torch._inductor as inductor

    if mode is not None and options:
        raise ValueError("give either mode= or options of inductor, not both")
    if mode is not None:
        modes = inductor.list_mode_options()
        if mode != "default" and mode not in modes:
            raise ValueError(f"there is no mode called {mode!r}. {nearest(mode, [*modes, 'default'])}")
        return dict(modes.get(mode, {}))
    known = inductor.list_options()
    patches = {name.replace("-", "_"): value for name, value in options.items()}
    for name in patches:
        if name not in known:
            raise ValueError(f"there is no option called {name!r}. {nearest(name, [*known, *OPTIONS], OPTIONS)}")
    return patches


_KEYWORDS = {"inductor": _inductor_keywords, "tracer_aot": _tracer_aot_keywords}
"""The functions that check the options of a back end, and return its keywords."""


def _accepted(backend: Backend) -> set[str] | None:
    """Return the keywords `backend` takes; None if it takes any, or has no signature."""
    try:
        parameters = inspect.signature(backend).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {parameter.name for parameter in parameters}


def wrapped(
    backend: str | Backend, keywords: dict[str, Any], *, suppress_errors: bool, verify: bool = False
) -> Backend:
    """Return `backend` as `Config` wants it: its errors become `BackendError`, or with `suppress_errors` the graph
    runs as it is; the function that it returns runs with the frame hook off, and with `verify` its first results are
    compared with those of the graph."""
    name = backend if isinstance(backend, str) else getattr(backend, "__qualname__", type(backend).__qualname__)
    function = lookup(backend)

    def call_backend(gm: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Compiled:
        try:
            compiled = function(gm, example_inputs, **keywords)
            if not callable(compiled):
                raise TypeError(f"it returned {compiled!r}, which cannot be called")
        except Exception as error:
            if _wants_constants(error):
                raise FloatsMustBeConstants from error
            if suppress_errors:
                return _outside(gm.forward)
            raise BackendError(
                f"the back end {name!r} failed: {type(error).__name__}: {error}. The traced code is not at "
                f"fault; try backend='eager', or options={{'suppress_backend_errors': True}} to run graphs that it "
                f"cannot compile as they are."
            ) from error
        if compiled is gm:
            compiled = gm.forward  # Hooks that the program registers for all modules are not for graphs.
        return _outside(verified(name, gm, compiled) if verify else compiled)

    call_backend.__name__ = call_backend.__qualname__ = name
    return call_backend


def _wants_constants(error: BaseException | None) -> bool:
    """Return whether the back end requests a graph in which floats are constants: each in its own way."""
    from torch._dynamo.exc import TensorifyScalarRestartAnalysis

    requests = (TensorifyScalarRestartAnalysis, FloatsMustBeConstants)
    while error is not None and not isinstance(error, requests):
        error = error.__cause__ or error.__context__
    return error is not None


def _outside(compiled: Compiled) -> Compiled:
    """Return `compiled` with the frame hook off inside it."""
    code = getattr(compiled, "__code__", None)
    if isinstance(code, CodeType) and code.co_filename.startswith("<eval_with_key>"):
        c_frame.mark(code, c_frame.SKIP_ALL)
        return compiled

    return _graph_call(compiled)


def _graph_call(compiled: Compiled) -> Compiled:
    def graph_call(*args: Any) -> Any:
        return compiled(*args)

    return graph_call


for _function in (_graph_call(eager), run_graph):
    c_frame.mark(_function.__code__, c_frame.SKIP_ALL)

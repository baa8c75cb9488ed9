"""Call a compiled graph, and handle an exception that it raises."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import CodeType, TracebackType
from typing import Any

import torch
from torch._C._dynamo.eval_frame import get_eval_frame_callback, set_eval_frame
from torch._higher_order_ops.wrap import tag_activation_checkpoint
from torch.utils.checkpoint import checkpoint

from tracer_core.errors import BackendError
from tracer_core.host.global_state import PROPERTIES
from tracer_core.host.signals import clear_frames, code_of, handlers_part, is_external_error
from tracer_core.host.torch_state import autocast_depth, undo_autocast, undo_dual_level, undo_transforms
from tracer_core.runtime.tracebacks import Entry, traceback_of


def unless_shared(compiled: Callable[..., Any], module: torch.fx.GraphModule) -> Callable[..., Any]:
    """Return `compiled`, but with the eager graph in calls where inputs share memory: a back end that saw separate
    inputs may defer or reorder writes to one, which the others then would not see."""
    forward = module.forward
    if getattr(compiled, "__code__", None) is forward.__code__ or len(module.graph.find_nodes(op="placeholder")) < 2:
        return compiled

    def call(*args: Any) -> Any:
        return forward(*args) if _share_memory(args) else compiled(*args)

    return call


def _share_memory(values: tuple[Any, ...]) -> bool:
    """Return whether two tensors use one storage, or the memory of one array (if each has a storage of its own)."""
    storages = [value.untyped_storage() for value in values if isinstance(value, torch.Tensor)]
    ranges = sorted((storage.data_ptr(), storage.nbytes()) for storage in storages if storage.nbytes())
    return any(start + size > after for (start, size), (after, _) in itertools.pairwise(ranges))


def untraced(
    name: str, settings: Mapping[str, Any], checked: Callable[[Any], Any]
) -> tuple[Callable[..., Any], Callable[[Callable[..., Any]], None]]:
    """Return the function with the frame hook off, and a description of it. Results whose number or type differs from
    the last call's are passed to `checked`."""
    function: Callable[..., Any]
    kind: Any = None
    count = 0

    def be(compiled: Callable[..., Any]) -> None:
        nonlocal function
        function = compiled

    def call(*args: Any) -> Any:
        nonlocal kind, count
        results: Any
        previous = get_eval_frame_callback()  # (Ctrl-C may come before the result of switching it off is stored)
        depth = torch._C._functorch.get_dynamic_layer_stack_depth()
        try:
            set_eval_frame(None)
            results = function(*args)
        except BaseException:
            undo_transforms(depth)  # The graph enters and leaves them one by one.
            undo_dual_level()
            raise
        finally:
            set_eval_frame(previous)
        if type(results) is not kind or len(results) != count:
            results = checked(results)
            kind, count = type(results), len(results)
        return results

    made = _putting_back(call, settings) if settings else call
    made.__name__ = made.__qualname__ = name
    made._tracewalk_disable = True  # type: ignore[attr-defined]
    return made, be


def _putting_back(function: Callable[..., Any], settings: Mapping[str, Any]) -> Callable[..., Any]:
    kept = [
        (PROPERTIES[name].read, write, value)
        for name, value in settings.items()
        if (write := PROPERTIES[name].write) is not None
    ]

    def call(*args: Any) -> Any:
        nested = autocast_depth()
        try:
            return function(*args)
        except BaseException as error:
            # Inference mode lasts as long as the object that the graph's frame holds.
            clear_frames(error)
            for read, write, value in kept:
                if read() != value:  # (values that mean unset to torch cannot always be written)
                    write(value)
            undo_autocast(nested)
            raise

    return call


# --- exceptions of a graph ----------------------------------------------------------------------------------


def is_of_the_graph(error: BaseException) -> bool:
    """Return whether the graph is to blame for an exception raised while it ran. Other errors leave the frame
    unchanged."""
    if isinstance(error, BackendError):
        return False
    part = _hooks_part(error)
    if part is None and not is_external_error(error):
        return True
    if error.__traceback__ is not None:
        error.__traceback__.tb_next = part or handlers_part(error)
    return False


def _hooks_part(error: BaseException) -> TracebackType | None:
    """Return the part of the traceback of `error` that begins in the hook for tensors that autograd saves, None if
    none does. This is how checkpointing ends its recomputation, once it has all that it needs."""
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    pack = None if hooks is None else code_of(hooks[0])
    return None if pack is None else _part_of(error.__traceback__, pack)


def _part_of(trace: TracebackType | None, code: CodeType) -> TracebackType | None:
    """Return the part of a traceback that begins in a frame of `code`, None where no frame is one."""
    while trace is not None and trace.tb_frame.f_code is not code:
        trace = trace.tb_next
    return trace


class Places:
    """For each line of a graph's own code, the calls of the program that it comes from, the innermost first."""

    def __init__(self, code: CodeType, calls: Mapping[int, tuple[Entry, ...]]) -> None:
        self._code = code
        self._calls = calls

    def point(self, error: BaseException) -> None:
        """Make the traceback of `error`, which the graph raised in the calling frame, end where plain Python's would.
        A back end's own code does not record its origin: then the traceback stays."""
        outermost = error.__traceback__
        if outermost is None:
            return
        if is_external_error(error):
            outermost.tb_next = handlers_part(error)
            return
        calls = self._calls_of(outermost.tb_next)
        if calls:
            error.__traceback__ = traceback_of(calls, outermost.tb_frame)

    def _calls_of(self, trace: TracebackType | None) -> tuple[Entry, ...]:
        part = _part_of(trace, self._code)
        return () if part is None else self._calls.get(part.tb_lineno, ())


def checkpoint_keeping_random_state(module: torch.fx.GraphModule, *args: Any, **options: Any) -> Any:
    """Checkpoint a graph that draws random numbers: computed again, it draws the same ones. A back end that traces
    the graph meets torch's operator, and keeps the numbers by its own means."""
    if torch._C._len_torch_dispatch_stack():
        return tag_activation_checkpoint(module, *args, **options)
    options["use_reentrant"] = False
    return checkpoint(torch.fx.Interpreter(module).run, *args, **options)


def checkpoint_that_writes(
    module: torch.fx.GraphModule, *args: Any, captured: tuple[int, ...], **options: Any
) -> Any:
    """Checkpoint a graph that writes to tensors that the program does not pass, such as running statistics. Their
    places are `captured`: as arguments, autograd would refuse them in the backward pass, as they have changed.
    Computed again, the graph writes again, as in plain Python, and draws the same random numbers."""
    if torch._C._len_torch_dispatch_stack():
        return tag_activation_checkpoint(module, *args, **options)
    options["use_reentrant"] = False
    passed = [place for place in range(len(args)) if place not in captured]

    def run(*given: Any) -> Any:
        inputs = dict(enumerate(args)) | dict(zip(passed, given, strict=True))
        return torch.fx.Interpreter(module).run(*inputs.values())

    return checkpoint(run, *(args[place] for place in passed), **options)


def run_region(module: torch.fx.GraphModule, name: str, *args: Any) -> Any:
    """Run a region's graph."""
    return module(*args)

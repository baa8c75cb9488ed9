"""The finished graph: cleaned up, handed to the back end, and wrapped so that its own frames are not traced."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.fx
from torch._C._dynamo.eval_frame import set_eval_frame
from torch._guards import TracingContext, tracing
from torch.fx.graph_module import _loader

from tracer_core.codegen.blame import Blame
from tracer_core.codegen.places import Places
from tracer_core.codegen.recovery import may_draw
from tracer_core.errors import BackendError, FloatsMustBeConstants
from tracer_core.global_state import PROPERTIES
from tracer_core.graph.cleanup import clean_up
from tracer_core.graph.fakes import CONSTANT
from tracer_core.graph.numpy_warnings import WOULD_WARN
from tracer_core.graph.output import OutputGraph
from tracer_core.signals import clear_frames
from tracer_core.sources import FloatTensorSource
from tracer_core.torch_state import autocast_depth, undo_autocast


def finish_graph(output: OutputGraph, results: list[torch.fx.Node]) -> torch.fx.GraphModule:
    """Close the graph with its results; drop what nothing uses."""
    output.root.close((*results, *_unused_draws(output, results)))
    clean_up(output.root)
    module = output.root.module()
    module.graph.lint()
    code = type(module).forward.__code__
    weakref.finalize(code, _forget_source, code.co_filename).atexit = False
    return module


def _forget_source(filename: str) -> None:
    """Drop the source of a graph whose code is gone; `torch.fx` keeps it for ever."""
    _loader.eval_cache.pop(filename, None)
    linecache.cache.pop(filename, None)


def _unused_draws(output: OutputGraph, results: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """Random tensors that no result needs: made results too, or a back end would not draw them, and later draws were
    others than in plain Python."""
    if output.runs_as_it_is:
        return []
    needed: set[torch.fx.Node] = set()
    todo = list(results)
    while todo:
        node = todo.pop()
        if node not in needed:
            needed.add(node)
            todo += node.all_input_nodes
    draws = [node for node in output.root.graph.nodes if may_draw(node) and node not in needed]
    return [node for node in draws if isinstance(node.meta.get("example_value"), torch.Tensor)]


def call_backend(output: OutputGraph, module: torch.fx.GraphModule) -> Callable[..., Any]:
    """What the back end makes of the graph.

    Raises:
        BackendError: the back end failed, or gave nothing that can be called.
    """
    backend = output.frame.config.backend
    examples = [argument.fake for argument in output.root.inputs]
    try:
        with tracing(TracingContext(output.fakes.mode)):
            compiled = backend(module, examples)
    except FloatsMustBeConstants:
        sources = [each.source.of for each in output.root.inputs if isinstance(each.source, FloatTensorSource)]
        if sources:
            output.frame.history.update({source.name: CONSTANT for source in sources})
            raise
        # Its floats come of sizes or of other numbers, which stay what they are.
        compiled = module.forward
    except BackendError as error:
        if WOULD_WARN not in str(error):
            raise
        # It computes with constants while it compiles. The check shall fail where the graph runs.
        compiled = module.forward
    except Exception as error:
        name = getattr(backend, "__name__", type(backend).__name__)
        raise BackendError(f"the back end {name} failed: {type(error).__name__}: {error}") from error
    if not callable(compiled):
        raise BackendError(f"the back end returned {type(compiled).__name__}, which cannot be called")
    if any(tracked.mutated for tracked in output.fakes.inputs.values()):
        return _unless_shared(compiled, module)
    return compiled


def _unless_shared(compiled: Callable[..., Any], module: torch.fx.GraphModule) -> Callable[..., Any]:
    """`compiled`, but the graph as it is in calls where inputs share memory: a back end that saw separate inputs
    may put off or reorder changes to one that the others then would not see."""
    forward = module.forward
    if getattr(compiled, "__code__", None) is forward.__code__ or len(module.graph.find_nodes(op="placeholder")) < 2:
        return compiled

    def call(*args: Any) -> Any:
        return forward(*args) if _share_memory(args) else compiled(*args)

    return call


def _share_memory(values: tuple[Any, ...]) -> bool:
    """Whether two tensors look at memory of one storage, or of one array (where each has a storage of its own)."""
    storages = [value.untyped_storage() for value in values if isinstance(value, torch.Tensor)]
    ranges = sorted((storage.data_ptr(), storage.nbytes()) for storage in storages if storage.nbytes())
    return any(start + size > after for (start, size), (after, _) in itertools.pairwise(ranges))


class GraphCall:
    """A finished graph and the function that runs it, which new code can hold before the back end was asked: it is
    asked only once there is such code.

    `function` runs what the back end made with the frame hook off. Should that raise, torch's settings (those that
    it changes) are put back as they were: what it had entered is not left by anyone else.
    """

    def __init__(self, output: OutputGraph, module: torch.fx.GraphModule, name: str) -> None:
        self.module = module
        self.name = name
        self.places = Places(output.root.places, module)
        self._output = output
        check = _check_of(module, output.frame.config.backend)
        self.function, self._be = _untraced(name, output.settings.start, check)
        self.blame = Blame(output, module, self.function)

    def compile(self) -> None:
        """Ask the back end.

        Raises:
            BackendError: see `call_backend`.
        """
        compiled = call_backend(self._output, self.module)
        self.blame.compiled(compiled)
        self._be(compiled)


def _check_of(module: torch.fx.GraphModule, backend: Any) -> Callable[[Any], Any]:
    """A function that gives the results of a back end as they are, where there is one for each output of the graph,
    and else raises BackendError. It holds neither."""
    outputs: Any = module.graph.output_node().args[0]
    expected = len(outputs)
    name = getattr(backend, "__name__", type(backend).__name__)

    def checked(results: Any) -> Any:
        if isinstance(results, tuple | list):
            if len(results) == expected:
                return results
            given = _counted(len(results), "result")
        elif results is None and not expected:
            return ()
        else:
            given = f"an object of type {type(results).__qualname__}"
        raise BackendError(
            f"the back end {name!r} returned {given} for a graph with {_counted(expected, 'output')}: what it "
            f"compiles must return a tuple or a list with one result for each output of the graph."
        )

    return checked


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _untraced(
    name: str, settings: Mapping[str, Any], checked: Callable[[Any], Any]
) -> tuple[Callable[..., Any], Callable[[Callable[..., Any]], None]]:
    """The function with the frame hook off, and how to say which one that is. Results of another number than at the
    last call, or of another type, go through `checked`."""
    function: Callable[..., Any]
    kind: Any = None
    count = 0

    def be(compiled: Callable[..., Any]) -> None:
        nonlocal function
        function = compiled

    def call(*args: Any) -> Any:
        nonlocal kind, count
        results: Any
        previous = set_eval_frame(None)
        try:
            results = function(*args)
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
                if read() != value:  # (what torch takes for unset cannot always be written)
                    write(value)
            undo_autocast(nested)
            raise

    return call

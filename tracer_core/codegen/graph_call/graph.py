"""The finished graph: cleaned up, passed to the back end, and wrapped so that its own frames are not traced."""

from __future__ import annotations

import linecache
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
import torch.fx
from torch._functorch.autograd_function import autograd_function_apply
from torch._guards import TracingContext, tracing
from torch.fx.graph_module import _loader

from tracer_core.codegen.graph_call.blame import Blame
from tracer_core.codegen.graph_call.places import places_of
from tracer_core.codegen.graph_call.recovery import may_draw
from tracer_core.errors import BackendError, FloatsMustBeConstants
from tracer_core.graph.cleanup import clean_up
from tracer_core.graph.fakes import CONSTANT
from tracer_core.graph.memory import storage_of
from tracer_core.graph.numpy_warnings import WOULD_WARN
from tracer_core.graph.output import OutputGraph
from tracer_core.runtime.graphs import unless_shared, untraced
from tracer_core.sources import FloatTensorSource


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
    """Drop the source text of a graph whose code has been freed; `torch.fx` keeps it for ever."""
    _loader.eval_cache.pop(filename, None)
    linecache.cache.pop(filename, None)


def _unused_draws(output: OutputGraph, results: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """Return random tensors that no result needs: they become outputs too, since a back end would not draw them
    otherwise, and later draws would differ from plain Python's."""
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
    """Compile the graph with the back end.

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
            output.frame.history.update({source.exact: CONSTANT for source in sources})
            raise
        # Its floats are computed from sizes or from other numbers, which stay the same.
        compiled = module.forward
    except BackendError as error:
        if WOULD_WARN not in str(error):
            raise
        # It computes with constants while it compiles. The check must fail when the graph runs.
        compiled = module.forward
    except Exception as error:
        name = getattr(backend, "__name__", type(backend).__name__)
        raise BackendError(f"the back end {name} failed: {type(error).__name__}: {error}") from error
    if not callable(compiled):
        raise BackendError(f"the back end returned {type(compiled).__name__}, which cannot be called")
    if not output.runs_as_it_is and _returns_what_functions_share(module):
        return module.forward
    if any(tracked.mutated for tracked in output.fakes.inputs.values()):
        return unless_shared(compiled, module)
    return compiled


def _returns_what_functions_share(module: torch.fx.GraphModule) -> bool:
    """Return whether two outputs share memory that no input has, and one of them may be a result of a
    `torch.autograd.Function`. Back ends rebuild such outputs as views of one tensor, past the function's backward."""
    applied = module.graph.find_nodes(op="call_function", target=autograd_function_apply)
    if not applied:
        return False
    inputs = set(_storages(module.graph.find_nodes(op="placeholder")))
    outputs = Counter(_storages(module.graph.output_node().all_input_nodes))
    shared = {storage for storage, count in outputs.items() if count > 1} - inputs
    return any(storage in shared for node in applied for storage in _storages(node.users))


def _storages(nodes: Iterable[torch.fx.Node]) -> Iterator[int]:
    for node in nodes:
        fake = node.meta.get("example_value")
        if isinstance(fake, torch.Tensor):
            yield storage_of(fake) if fake.layout is torch.strided else id(fake)


class GraphCall:
    """A finished graph and the function that runs it. New code can hold it before the back end is called, which
    happens only once that code exists.

    `function` runs the back end's function with the frame hook off. Should that raise, torch's settings (those that
    it changes) are put back as they were: what it had entered is not left by anyone else.
    """

    def __init__(self, output: OutputGraph, module: torch.fx.GraphModule, name: str) -> None:
        self.module = module
        self.name = name
        self.places = places_of(output, module)
        self._output = output
        self.function, self._be = untraced(
            name, output.settings.start, _check_of(module, output.frame.config.backend)
        )
        self.blame = Blame(output, module, self.function)

    def compile(self) -> None:
        """Call the back end.

        Raises:
            BackendError: see `call_backend`.
        """
        compiled = call_backend(self._output, self.module)
        self.blame.compiled(compiled)
        self._be(compiled)


def _check_of(module: torch.fx.GraphModule, backend: Any) -> Callable[[Any], Any]:
    """Return a function that passes the results of a back end on, if there is one for each output of the graph, and
    raises BackendError otherwise. It keeps neither alive."""
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

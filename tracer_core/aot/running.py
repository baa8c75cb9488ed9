"""Run lowered graphs in place of the captured one."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.fx
from torch._C._dynamo.eval_frame import get_eval_frame_callback, set_eval_frame
from torch.autograd import forward_ad
from torch.autograd.function import FunctionCtx

from tracer_core.aot.effects import Effects, Mutation
from tracer_core.aot.layout import Layout
from tracer_core.aot.partition import Halves
from tracer_core.aot.unused import without_tangents

Run = Callable[[Sequence[Any]], Sequence[Any]]

_SAVED = object()
"""Stands for a tensor among what is kept for the backward pass. The others are numbers, and None, by which some
operators say that they kept nothing."""


class Program:
    """Computes what the captured graph does, with its mutations, aliases and settings.

    Args:
        captured: the captured graph.
        run: computes the results from the inputs.
        held: tensors that the captured graph holds: inputs after those of the call.
    """

    def __init__(
        self, captured: torch.fx.GraphModule, effects: Effects, run: Run, held: Sequence[torch.Tensor]
    ) -> None:
        self._captured = captured.forward
        self._run = run
        self._held = tuple(held)
        self._settings = [(change.write, change.value) for change in effects.settings]
        self._mutations = [
            (index, effects.mutations[index], place.index) for index, place in effects.places_of_mutations().items()
        ]
        self._outputs = tuple(effects.outputs)

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        inputs = (*args, *self._held)
        if forward_ad._current_level >= 0 and any(map(_has_tangent, inputs)):
            return self._captured(*args)  # type: ignore[no-any-return]  # (the graphs of operators know no tangents)
        results = self._run(inputs)
        for index, mutation, place in self._mutations:
            _write(inputs[index], results[place], mutation)
        outputs = tuple(output.build(inputs, results) for output in self._outputs)
        for write, value in self._settings:
            write(value)
        return outputs


def _has_tangent(value: Any) -> bool:
    """Return whether forward-mode differentiation follows the value."""
    if not isinstance(value, torch.Tensor):
        return False
    return forward_ad.unpack_dual(value).tangent is not None  # type: ignore[no-untyped-call]


def _write(target: torch.Tensor, value: torch.Tensor, mutation: Mutation) -> None:
    if mutation is Mutation.RECORDED:
        with torch.enable_grad():
            target.copy_(value)
    elif mutation is Mutation.HIDDEN:
        target.data.copy_(value)
    else:
        with torch.no_grad():
            target.copy_(value)


def below_autograd(graph: Callable[..., Any]) -> Callable[..., Any]:
    """Return `graph`, with its operators hidden from autograd and autocast: tracing has applied both already."""

    def run(*args: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd(), torch._C._DisableAutocast():
            return graph(*args)

    return run


def forward_only(graph: Callable[..., Any]) -> Run:
    """Return the run of a graph without a backward."""
    operators = below_autograd(graph)
    return lambda inputs: operators(*inputs)


def with_backward(halves: Halves, effects: Effects, wanted: Sequence[int]) -> Run:
    """Return the run of a forward graph whose differentiable results autograd connects to the backward graph.

    Args:
        wanted: the places of the inputs to which the gradients belong that the backward graph returns.
    """
    sources = tuple(effects.examples)
    layouts = [Layout(example.clone()) for example in effects.examples.values()]
    step = _Step(halves, sources, layouts, wanted, tuple(effects.mutations))

    def run(inputs: Sequence[Any]) -> Sequence[Any]:
        results: list[Any] = []
        with torch.enable_grad():  # the graph may itself turn on what is off around it
            differentiable = TracerAot.apply(step, results, *inputs)  # type: ignore[no-untyped-call]
        for place, value in zip(sources, differentiable, strict=True):
            results[place] = value
        return results

    return run


class _Step:
    """The two halves of one graph, and the facts of them that are the same in all calls."""

    def __init__(
        self,
        halves: Halves,
        sources: tuple[int, ...],
        layouts: Sequence[Layout],
        wanted: Sequence[int],
        written: tuple[int, ...],
    ) -> None:
        self.forward = torch.enable_grad()(below_autograd(halves.forward.forward))  # (some kernels keep more then)
        self.sources = sources
        self.layouts = layouts
        self.wanted = wanted
        self.written = written
        self.kept = halves.kept
        self._backward = halves.backward
        self._backwards = {frozenset[int](): below_autograd(halves.backward.forward)}

    def backward(self, absent: frozenset[int]) -> Callable[..., Any]:
        """Return the backward graph for calls in which these gradients of results are absent."""
        if absent not in self._backwards:
            self._backwards[absent] = below_autograd(without_tangents(self._backward, absent).forward)
        return self._backwards[absent]


class TracerAot(torch.autograd.Function):
    """Connects the two graphs. Only differentiable results pass through autograd; the others are put into the list
    that the caller gives."""

    @staticmethod
    def forward(ctx: Any, step: _Step, results: list[Any], *inputs: Any) -> tuple[torch.Tensor, ...]:
        ctx.set_materialize_grads(False)
        every = step.forward(*inputs)
        count = len(every) - len(step.kept)
        results += every[:count]
        written = {inputs[i].untyped_storage()._cdata for i in step.written}
        kept = [_safe(value, written) for value in every[count:]]
        ctx.save_for_backward(*(value for value in kept if isinstance(value, torch.Tensor)))
        ctx.others = [_SAVED if isinstance(value, torch.Tensor) else value for value in kept]
        ctx.step, ctx.inputs = step, len(inputs)
        ctx.wanted = [weakref.ref(inputs[i]) for i in step.wanted]
        # Autograd forbids changes of views that come from a function like this, where plain Python allows them.
        returned = tuple(_no_view(results[i]) for i in step.sources)
        ctx.shapes = [(each.shape, each.dtype, each.device) for each in returned]
        return returned

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> Any:
        step: _Step = ctx.step
        tensors = iter(ctx.saved_tensors)
        places = len(step.kept) + len(gradients)
        args: list[Any] = [None] * places
        for place, other in zip(step.kept, ctx.others, strict=True):
            args[place] = next(tensors) if other is _SAVED else other
        args[len(step.kept) :] = [
            torch.zeros(shape, dtype=dtype, device=device) if gradient is None else layout.of(gradient)
            for gradient, layout, (shape, dtype, device) in zip(gradients, step.layouts, ctx.shapes, strict=True)
        ]
        graph = step.backward(frozenset(i for i, gradient in enumerate(gradients) if gradient is None))
        found = _untraced(graph, args)
        if torch.is_grad_enabled():
            anchors = (torch.empty(0, requires_grad=True), *(reference() for reference in ctx.wanted))
            found = _Once.apply(tuple(found), *anchors)  # type: ignore[no-untyped-call]
        given: list[Any] = [None] * ctx.inputs
        for place, gradient in zip(step.wanted, found, strict=True):
            given[place] = gradient
        return None, None, *given


class _Once(torch.autograd.Function):
    """Connects gradients, in a call that wants gradients of them, to an error: there are none. The `anchors` are the
    tensors that those would be for, and one more, so that there is always one."""

    @staticmethod
    def forward(ctx: FunctionCtx, gradients: tuple[Any, ...], *anchors: torch.Tensor | None) -> tuple[Any, ...]:
        return gradients

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Any) -> Any:
        raise RuntimeError(
            "The back end 'tracer_aot' has no second derivatives: it lowers a graph and its backward pass, not the "
            "backward pass of that. Compile the function with backend='eager' to differentiate twice."
        )


def _untraced(graph: Callable[..., Any], args: Sequence[Any]) -> Sequence[Any]:
    """Call the graph with the frame hook off: compiled code may have called for the gradients."""
    previous = get_eval_frame_callback()  # (Ctrl-C may come before the result of switching it off is stored)
    try:
        set_eval_frame(None)
        results: Sequence[Any] = graph(*args)
    finally:
        set_eval_frame(previous)
    return results


def _safe(value: Any, written: set[int]) -> Any:
    """Return a copy of what the backward pass needs if it lies in the memory of an input that is written to."""
    if isinstance(value, torch.Tensor) and value.untyped_storage()._cdata in written:
        return value.clone()
    return value


def _no_view(value: torch.Tensor) -> torch.Tensor:
    """Return the tensor, which is then not known as a view, and shares the count of changes with what it was."""
    return value.detach() if value._is_view() else value

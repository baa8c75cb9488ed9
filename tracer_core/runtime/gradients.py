"""Functions that graphs call where what torch has for it gives other gradients than plain Python's backward."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch._C import _functions
from torch.fx import GraphModule


def autograd_function_apply(
    forward: GraphModule,
    backward: GraphModule,
    *args: Any,
    non_differentiable_idx: Collection[int],
    saved_for_backward_idx: Collection[int],
    dirty_idx: Collection[int] = (),
    fills_gradients: bool = True,
) -> Any:
    """Do what torch's operator of this name does, and leave the tensors that the program saved for backward to
    autograd, as plain Python does: it raises where one was written to since, and in a second backward pass. For back
    ends that run operations unchanged; others know which tensors are saved.

    Unless `fills_gradients`, arguments have no gradient where the one result that is differentiated has none."""
    saved: tuple[Any, ...] = ()

    class Applied(torch.autograd.Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            nonlocal saved
            results, saved = run_graph(forward, *args)
            return results

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            nonlocal saved
            ctx.set_materialize_grads(fills_gradients)
            ctx.mark_dirty(*(output[place] for place in dirty_idx))
            ctx.mark_non_differentiable(*(output[place] for place in non_differentiable_idx))
            ctx.save_for_backward(*(saved[place] for place in saved_for_backward_idx))
            ctx.others = [None if place in saved_for_backward_idx else value for place, value in enumerate(saved)]
            saved = ()

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if not fills_gradients and all(each is None for each in gradients):
                return (None,) * len(args)
            values = list(ctx.others)
            for place, tensor in zip(saved_for_backward_idx, ctx.saved_tensors, strict=True):
                values[place] = tensor
            return run_graph(backward, *gradients, *values)

    name_as(Applied, forward.meta.get("function"))
    return Applied.apply(*args)  # type: ignore[no-untyped-call]


def name_as(function: type[torch.autograd.Function], name: str | None) -> None:
    """Give a Function the name of the program's, by which autograd's messages and `grad_fn` name it."""
    if name is not None:
        function.__name__ = name
        function._backward_cls.__name__ = f"{name}Backward"


def autograd_function_in_transforms(
    forward: GraphModule,
    backward: GraphModule,
    *args: Any,
    non_differentiable_idx: Collection[int],
    saved: Collection[tuple[bool, int]],
    fills_gradients: bool = True,
) -> Any:
    """Apply a Function that runs these graphs, inside transforms of `torch.func`. `saved` has for each value that
    backward is passed whether it is a result, and its place among these or the arguments. `fills_gradients` is as
    above."""

    class Applied(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*args: Any) -> Any:
            return run_graph(forward, *args)[0]

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            ctx.set_materialize_grads(fills_gradients)
            ctx.mark_non_differentiable(*(output[place] for place in non_differentiable_idx))
            values = [(output if is_result else inputs)[place] for is_result, place in saved]
            ctx.save_for_backward(*(each for each in values if isinstance(each, torch.Tensor)))

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if not fills_gradients and all(each is None for each in gradients):
                return (None,) * len(args)
            tensors, values = iter(ctx.saved_tensors), []
            for is_result, place in saved:
                is_tensor = is_result or isinstance(args[place], torch.Tensor)
                values.append(next(tensors) if is_tensor else args[place])
            return run_graph(backward, *gradients, *values)

    return Applied.apply(*args)  # type: ignore[no-untyped-call]


def run_graph(graph: GraphModule, *args: Any) -> Any:
    """Run a graph, in a frame below which nothing is traced."""
    return graph.forward(*args)


def differentiable_once(
    enabled: bool, gradients: tuple[torch.Tensor, ...], computed_from: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, ...]:
    """Return gradients as they are; where gradients were `enabled` when backward was called (`create_graph=True`), as
    tensors whose own gradients, for any of the tensors they were computed from, cannot be taken."""
    if not enabled:
        return gradients
    with torch.enable_grad():
        refuse = _functions.DelayedError(
            b"backward was captured as one graph that cannot be differentiated: it changes the grad mode, or applies "
            b"another torch.autograd.Function",
            len(gradients) + len(computed_from),
        )
        found: tuple[torch.Tensor, ...] = refuse(*(each.detach() for each in gradients), *computed_from)
    return found[: len(gradients)]

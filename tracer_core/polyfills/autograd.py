"""What `torch.autograd.Function.apply` does besides to call forward and backward, which autograd does in C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def forward(*given: Any) -> Any:
    """Call a Function's forward, of which nothing is differentiated: arguments are as those below."""
    with torch.no_grad():
        result = _result(*given)
    return _with_own_tensors(result, *given[1:])


def forward_alone(call: Callable[..., Any], setup_context: Callable[..., Any] | None, ctx: Any, *inputs: Any) -> Any:
    """As `forward`, where gradients are disabled already."""
    return _with_own_tensors(_result(call, setup_context, ctx, *inputs), setup_context, ctx, *inputs)


def _result(call: Callable[..., Any], setup_context: Callable[..., Any] | None, ctx: Any, *inputs: Any) -> Any:
    if setup_context is None:
        return call(ctx, *inputs)
    result = call(*inputs)
    setup_context(ctx, inputs, result)
    return result


def _with_own_tensors(result: Any, setup_context: Callable[..., Any] | None, ctx: Any, *inputs: Any) -> Any:
    """Return forward's result. What it returns of its inputs as they are becomes tensors of their own."""
    dirty = ctx.dirty_tensors or ()
    unchanged = [each for each in inputs if isinstance(each, torch.Tensor) and not _is_among(each, dirty)]
    results = result if isinstance(result, tuple) else (result,)
    if setup_context is not None and any(_is_among(each, unchanged) for each in results):
        if any(_is_among(each, results) for each in ctx.to_save or ()):
            refuse_saved(ctx)
    own = tuple([_apart_from(value, unchanged) for value in results])
    return own if isinstance(result, tuple) else own[0]


def refuse_saved(ctx: Any) -> None:
    """Refuse to save an input that is returned: while tracing, the graph breaks here."""


def _apart_from(value: Any, unchanged: Any) -> Any:
    return value.view_as(value) if _is_among(value, unchanged) else value


def _is_among(value: Any, tensors: Any) -> bool:
    return isinstance(value, torch.Tensor) and any(value is each for each in tensors)


def backward(
    call: Callable[..., Any], ctx: Any, contiguous: bool, boxed: bool, repeated: Any, *gradients: Any
) -> Any:
    """Call a Function's backward. How gradients lie in memory is known only where they are made `contiguous`.

    Args:
        boxed: whether the gradients are passed in a list.
        repeated: pairs of places where forward was passed one tensor, whose gradients are added.
    """
    if contiguous:
        gradients = tuple([each if each is None else each.contiguous() for each in gradients])
    result = call(ctx, list(gradients)) if boxed else call(ctx, *gradients)
    return _added(list(result), repeated) if repeated and isinstance(result, tuple) else result


def _added(gradients: Any, repeated: Any) -> Any:
    for first, later in repeated:
        one, other = gradients[first], gradients[later]
        if one is not None and other is not None:
            if one.shape != other.shape:
                raise NotImplementedError("gradients of one tensor that are of different sizes")
            one = one + other
        gradients[first] = other if one is None else one
        gradients[later] = None
    return tuple(gradients)

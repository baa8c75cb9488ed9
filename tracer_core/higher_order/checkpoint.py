"""`torch.utils.checkpoint.checkpoint`: a body whose intermediate results are computed again in the backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._higher_order_ops.wrap import tag_activation_checkpoint, wrap_activation_checkpoint
from torch.fx import GraphModule
from torch.utils.checkpoint import checkpoint as checkpoint_function
from torch.utils.checkpoint import noop_context_fn

from tracer_core.errors import Unsupported
from tracer_core.higher_order.real_functions import real_value
from tracer_core.higher_order.speculate import Body
from tracer_core.higher_order.wrapped import call_wrapped
from tracer_core.runtime.graphs import checkpoint_keeping_random_state, checkpoint_that_writes
from tracer_core.variables.core.base import Kwargs, VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing

NAME = "torch.utils.checkpoint.checkpoint"
_ONLY_NOT_REENTRANT = ("context_fn", "debug")
_OPTIONS = ("use_reentrant", "preserve_rng_state", "determinism_check", "early_stop", "debug", "context_fn")


@handles(checkpoint_function)
@handles(tag_activation_checkpoint)
def checkpoint(
    tx: Tracing, function: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return _checkpoint(tx, tag_activation_checkpoint, function, args, kwargs)


@handles(wrap_activation_checkpoint)
def _wrapped(
    tx: Tracing, function: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return _checkpoint(tx, wrap_activation_checkpoint, function, args, kwargs)


def _checkpoint(
    tx: Tracing, operator: Any, function: VariableTracker, args: Sequence[VariableTracker], kwargs: Kwargs
) -> VariableTracker:
    options = {name: real_value(tx, kwargs.pop(name), NAME) for name in _OPTIONS if name in kwargs}
    if options.get("use_reentrant") is None:
        tx.output.notice(Unsupported("checkpoint-kind"))
    _refuse(options, list(kwargs), any(_requires_grad(arg) for arg in args))
    context_fn = options.pop("context_fn", noop_context_fn)

    def finish(body: Body, module: GraphModule) -> Any:
        if context_fn is not noop_context_fn:
            module.meta["_checkpoint_context_fn"] = context_fn
        captured = _written_and_captured(body, args)
        if captured:
            options["captured"] = captured
            return checkpoint_that_writes
        # Where the graph runs as it is, torch's operator draws other random numbers when it computes again.
        draws = any(node.meta.get("draws") for node in body.tracer.graph.nodes)
        return checkpoint_keeping_random_state if draws and options.get("preserve_rng_state", True) else None

    return call_wrapped(tx, NAME, operator, function, args, kwargs, options=options, finish=finish)


def _written_and_captured(body: Body, args: Sequence[VariableTracker]) -> tuple[int, ...]:
    """Return the places of the inputs that the body writes to and that the program does not pass."""
    passed = [arg.node for arg in (each.realize() for each in args) if isinstance(arg, TensorVariable)]
    lifted = enumerate(body.tracer.lifted.items())
    return tuple(place for place, (outer, inner) in lifted if inner in body.written and outer not in passed)


def _refuse(options: dict[str, Any], others: list[str], has_gradient: bool) -> None:
    """Check that the options are for a checkpoint that the operator can stand for."""
    reentrant = options.get("use_reentrant") is not False
    refused = [*others, *(name for name in _ONLY_NOT_REENTRANT if name in options)]
    if reentrant and refused:
        error = f"with use_reentrant=True it takes no {' or '.join(refused)}"
        raise Unsupported("operation-fails", what=NAME, error=error)
    if reentrant and torch.is_grad_enabled() and not has_gradient:
        raise Unsupported("checkpoint-without-gradient")


def _requires_grad(arg: VariableTracker) -> bool:
    arg = arg.realize()
    return isinstance(arg, TensorVariable) and bool(arg.fake.requires_grad)

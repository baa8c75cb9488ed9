"""Trace one call of a captured graph at the dispatcher: what is under this `linear`?"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import Tensor
from torch.autograd.graph import get_gradient_edge
from torch.fx.node import Argument, Node, Target, map_arg

from tracer_core.host.global_state import PROPERTIES
from tracer_core.host.process_state import ProcessState
from tracer_core.proxy_tensor.entry import make_fx

Run = Callable[[str, str], AbstractContextManager[Any]]
"""Called with the name of what is called, and `forward` or `backward`: a block that traces it."""

_SETTINGS = ("grad_mode", "inference_mode", "autocast")
_SET_STATE = frozenset((
    "_set_grad_enabled", "_enter_autocast", "_exit_autocast", "_enter_inference_mode", "_exit_inference_mode",
))  # fmt: skip
"""Functions that change how the nodes after them run, and call no operator."""


def settings_now() -> tuple[Any, ...]:
    """Return the settings of torch that decide which operators a call reaches."""
    return tuple([PROPERTIES[name].read() for name in _SETTINGS])


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """A call of a captured graph, apart from the graph, which a back end may change.

    Args:
        node: its node, which calls a function or a method.
        target: what it calls.
        args: its arguments, in which nodes stand for their values.
        kwargs: its keyword arguments, likewise.
        inputs: the nodes among the arguments, with their example values.
        result: the example value of its result.
        settings: those of torch where it was captured, as `settings_now` returns them.
    """

    node: Node
    target: Target
    args: tuple[Argument, ...]
    kwargs: dict[str, Argument]
    inputs: dict[Node, Any]
    result: Any
    settings: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name of what it calls."""
        return self.target if isinstance(self.target, str) else str(getattr(self.target, "__name__", self.target))

    def on(self, parts: list[Any]) -> Any:
        """Call it on other inputs, given by their parts."""
        structure = pytree.tree_structure(list(self.inputs.values()))
        values = dict(zip(self.inputs, pytree.tree_unflatten(parts, structure), strict=True))
        args = map_arg(self.args, values.__getitem__)
        kwargs = map_arg(self.kwargs, values.__getitem__)
        if callable(self.target):
            return self.target(*args, **kwargs)
        this, *others = args
        return getattr(this, self.target)(*others, **kwargs)


def trace_call(call: CapturedCall, run: Run) -> None:
    """Run a captured call through `make_fx` on its example inputs, and the gradient of its outputs where one flows.
    `run` sees the exception of a call that fails, and nobody else does."""
    if call.name in _SET_STATE:
        return
    grad_mode, inference_mode, autocast = call.settings
    before = ProcessState()
    try:
        with contextlib.suppress(Exception), torch.inference_mode(inference_mode):
            torch._C._set_grad_enabled(grad_mode)  # (a block without inference mode enables gradients)
            write_autocast = PROPERTIES["autocast"].write
            assert write_autocast is not None
            write_autocast(autocast)
            _trace(call, run)
    finally:
        before.put_back()


def _trace(call: CapturedCall, run: Run) -> None:
    with run(call.name, "forward"):
        inputs, written = _inputs(call)
        # A call that returns nothing is one for what it writes.
        results = _tensors(call.result) or [inputs[number] for number in written]
        tangents = [part.detach() for part in results if part.requires_grad]

        def forward_and_backward(inputs: list[Any], tangents: list[Any]) -> Any:
            of = [_origin(part) for part in inputs if tangents and _has_gradient(part)]
            result = call.on(inputs)
            outputs = _tensors(result) or [inputs[number] for number in written]
            outputs = [part for part in outputs if part.requires_grad]
            if not outputs or not of:
                return result
            with run(call.name, "backward"):
                return result, torch.autograd.grad(outputs, of, tangents, allow_unused=True)

        make_fx(forward_and_backward)(inputs, tangents)


def _inputs(call: CapturedCall) -> tuple[list[Any], list[int]]:
    """Return the tensors and other parts of the example inputs, apart from the graph that computed them, and which of
    them the call writes to while autograd records. Tensors are leaves of autograd; those written to are copies of
    leaves, for leaves do not allow it."""
    parts = pytree.tree_leaves(list(call.inputs.values()))
    written = _written(call, parts) if torch.is_grad_enabled() else []
    inputs = [
        part.detach().requires_grad_(part.requires_grad) if isinstance(part, Tensor) else part for part in parts
    ]
    for number in written:
        inputs[number] = inputs[number].clone()
    return inputs, written


def _written(call: CapturedCall, parts: list[Any]) -> list[int]:
    """Return which tensors with a gradient the call writes to: those whose count of changes another run raises."""
    counts = {number: part._version for number, part in enumerate(parts) if _has_gradient(part)}
    if counts:
        with torch.no_grad():
            call.on([part.detach() if isinstance(part, Tensor) else part for part in parts])
    return [number for number, count in counts.items() if parts[number]._version != count]


def _origin(tensor: Tensor) -> Any:
    """Return what to differentiate by: a leaf, or where a copy comes from, which stands for a later value once the
    call has written to it."""
    return tensor if tensor.is_leaf else get_gradient_edge(tensor)


def _tensors(value: Any) -> list[Tensor]:
    return [part for part in pytree.tree_leaves(value) if isinstance(part, Tensor)]


def _has_gradient(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad

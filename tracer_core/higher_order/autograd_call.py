"""A call of `torch.autograd.Function.apply`: the Function, and its arguments by position."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import _SingleLevelFunction

from tracer_core.errors import Unsupported
from tracer_core.higher_order.autograd_context import AutogradContextVariable, requires_grad
from tracer_core.polyfills import autograd as polyfill
from tracer_core.variables.core.base import Kwargs, VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.classes import ClassVariable


@dataclass(frozen=True, slots=True)
class Call:
    """`cls.apply(*inputs)`. `setup_context` is the tracker of None where forward takes the context itself."""

    cls: ClassVariable
    forward: VariableTracker
    setup_context: VariableTracker
    inputs: list[VariableTracker]

    @property
    def function(self) -> str:
        return str(self.cls.known.__qualname__)

    @property
    def operator(self) -> str:
        return f"{self.function}.apply"

    @property
    def repeated(self) -> tuple[tuple[int, int], ...]:
        """The places of tensors that were passed before, each after the place where that was."""
        firsts = [(self.inputs.index(each), at) for at, each in enumerate(self.inputs)]
        return tuple((first, at) for first, at in firsts if first < at and is_tensor(self.inputs[at]))

    def refused(self, why: str) -> Unsupported:
        return Unsupported("autograd-function", name=self.operator, why=why)

    def arguments(self, ctx: AutogradContextVariable) -> list[VariableTracker]:
        return [self.forward, self.setup_context, ctx, *self.inputs]

    def inlined(self, tx: Tracing) -> VariableTracker:
        """Call forward, of which nothing can be differentiated."""
        ctx = AutogradContextVariable(self.cls.known, self.inputs)
        # (Backward may run with gradients enabled, though it is traced without.)
        enabled = torch.is_grad_enabled() or tx.output.layouts_vary
        forward = polyfill.forward if enabled else polyfill.forward_alone
        return tx.call_python(forward, *self.arguments(ctx))


def call_of(tx: Tracing, cls: ClassVariable, args: list[VariableTracker], kwargs: Kwargs) -> Call:
    """Return the call `cls.apply(*args, **kwargs)`.

    Raises:
        Unsupported: its arguments do not fit, or cannot all be passed by position.
    """
    separate = not is_inherited(cls, "setup_context")
    setup_context = tx.get_attr(cls, "setup_context") if separate else NONE
    call = Call(cls, tx.get_attr(cls, "forward"), setup_context, [])
    call.inputs.extend(each.realize() for each in _bound(tx, call, args, kwargs))
    return call


def is_inherited(cls: ClassVariable, name: str) -> bool:
    """Return whether an attribute is the one that every Function has."""
    return static_lookup(cls.known, name)[1] in (_SingleLevelFunction, torch.autograd.Function)


def _bound(tx: Tracing, call: Call, args: list[VariableTracker], kwargs: Kwargs) -> list[VariableTracker]:
    """Return all arguments by position, those that have defaults included if forward takes no context."""
    separate = call.setup_context is not NONE
    if not kwargs and not separate:
        return args
    signature = inspect.signature(call.cls.known.forward)
    first = () if separate else (NONE,)
    try:
        bound = signature.bind(*first, *args, **kwargs)
    except TypeError as error:
        raise call.refused(f"its arguments do not fit: {error}") from None
    if any(each.kind is inspect.Parameter.KEYWORD_ONLY for each in signature.parameters.values()):
        raise call.refused("its forward has arguments that are passed by name alone")
    given = list(bound.args)[len(first) :]
    if not separate:
        return given
    missing = [each for name, each in signature.parameters.items() if name not in bound.arguments]
    by_position = [each for each in missing if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    defaults = tx.unpack(tx.get_attr(call.forward, "__defaults__")) if by_position else []
    return given + defaults[len(defaults) - len(by_position) :]


def of_ours(function: Any) -> VariableTracker:
    """Return the tracker of a polyfill that calls the program's functions."""
    return UserFunctionVariable(function, None)


def is_none(tracker: VariableTracker) -> bool:
    return constant_or(tracker, tracker) is None


def is_tensor(tracker: VariableTracker) -> bool:
    return isinstance(tracker, TensorVariable)


def is_differentiated(tracker: VariableTracker) -> bool:
    """Return whether a value is a tensor that is to be differentiated, by autograd or by a transform around."""
    return isinstance(tracker, TensorVariable) and requires_grad(tracker.fake)

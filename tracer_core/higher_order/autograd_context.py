"""`ctx` of a `torch.autograd.Function` while its forward and backward are traced."""

from __future__ import annotations

from typing import Any

import torch

from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_ABSENT_UNTIL_SET = ("to_save", "dirty_tensors", "non_differentiable", "saved_for_forward")


def requires_grad(fake: torch.Tensor) -> bool:
    """Return whether a tensor is to be differentiated, by autograd or by a transform around."""
    while torch._C._functorch.is_functorch_wrapped_tensor(fake):
        if fake.requires_grad:
            return True
        fake = torch._C._functorch.get_unwrapped(fake)
    return fake.requires_grad


class AutogradContextVariable(UserDefinedObjectVariable):
    """The object that forward and backward are passed first. Its methods set attributes, which autograd looks at when
    forward has returned (`finish_forward`)."""

    __slots__ = ("needs_input_grad", "saved")
    kind = "context of an autograd function"

    def __init__(self, function: Any, inputs: list[VariableTracker]) -> None:
        super().__init__(function._backward_cls)
        needs = [isinstance(each, TensorVariable) and requires_grad(each.fake) for each in inputs]
        self.needs_input_grad: VariableTracker = TupleVariable([ConstantVariable(need) for need in needs])
        self.saved: list[VariableTracker] = []

    @property
    def function(self) -> str:
        """The Function, as people know it."""
        return str(self.cls._forward_cls.__qualname__)  # type: ignore[attr-defined]

    def describe(self) -> str:
        return f"ctx of {self.function}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        saved = [(f".saved_tensors[{place}]", tensor) for place, tensor in enumerate(self.saved)]
        return [*saved, *super().parts()]

    def _builtin_attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return an attribute that autograd keeps in C."""
        if name in self.attributes:
            return self.attributes[name]
        if name == "saved_tensors":
            return TupleVariable(list(self.saved))
        if name == "needs_input_grad":
            return self.needs_input_grad
        return NONE if name in _ABSENT_UNTIL_SET else super()._builtin_attribute(tx, name)

    def marked(self, name: str) -> list[VariableTracker]:
        """Return the tensors that forward passed to one of its methods, by the attribute that the method set."""
        given = self.attributes.get(name, NONE).realize()
        return [each.realize() for each in given.items] if isinstance(given, TupleVariable) else []

    def finish_forward(self, tx: Tracing) -> None:
        """Take over what is saved for backward, and forget what was set for autograd alone."""
        saved = self.marked("to_save")
        tx.trace.journal.save(self)
        self.saved = saved
        for name in _ABSENT_UNTIL_SET:
            self.attributes.pop(name, None)

    def fills_gradients(self) -> bool:
        """Return whether backward gets zeros for a gradient that there is not, as is the default."""
        value = self.attributes.get("materialize_grads")
        return value is None or bool(value.realize().value())

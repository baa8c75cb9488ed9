"""Transforms of `torch.func`, such as `vmap`: the functions that they return, up to the call that is not traced."""

from __future__ import annotations

import types
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.higher_order_table import higher_order, written
from tracer_core.names.public import name_of
from tracer_core.variables.core.base import Args, ByIdentity, Kwargs, VariableTracker, all_constant
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.functions.partials import FunctoolsPartialVariable
from tracer_core.variables.objects.classes import ClassVariable, KnownVariable
from tracer_core.variables.objects.nn_module import NNModuleVariable


class TransformedFunctionVariable(VariableTracker):
    """The result of `transform(function, *args, **keywords)` in the trace. Generated code calls `transform` again."""

    __slots__ = ("args", "function", "keywords", "transform")
    kind = "transformed function"
    mutable = True

    def __init__(self, transform: Any, function: VariableTracker, args: Args, keywords: Kwargs) -> None:
        super().__init__()
        self.transform = transform
        self.function = function
        self.args = args
        self.keywords = keywords

    def python_type(self) -> type:
        return types.FunctionType

    def describe(self) -> str:
        entry = higher_order(self.transform)
        assert entry is not None
        return f"{entry.name}({_short(self.function)})"

    def key(self, tx: Tracing | None) -> Any:
        return ByIdentity(self)

    def truth(self, tx: Tracing) -> bool:
        return True

    def parts(self) -> list[tuple[str, VariableTracker]]:
        positional = [(f"argument {i}", arg) for i, arg in enumerate(self.args, 1)]
        return [("function", self.function), *positional, *self.keywords.items()]

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        raise Unsupported("attribute", name=name, type=f"function returned by {name_of(self.transform)}")

    def call(self, tx: Tracing, args: Args, kwargs: Kwargs) -> VariableTracker:
        entry = higher_order(self.transform)
        assert entry is not None
        raise Unsupported(entry.reason_id, name=self.describe())


_TRANSFORMED = (
    BaseUserFunctionVariable, UserMethodVariable, FunctoolsPartialVariable, KnownVariable, NNModuleVariable,
    TransformedFunctionVariable,
)  # fmt: skip


def _short(function: VariableTracker) -> str:
    """Return the function's name, as part of the name of its transform's result."""
    function = function.realize()
    if isinstance(function, TransformedFunctionVariable):
        return function.describe()
    if isinstance(function, UserMethodVariable) and isinstance(function.self_.realize(), ClassVariable):
        return f"{function.self_.realize().value().__qualname__}.{_short(function.function)}"
    if function.is_constant():
        return written(function.value())
    words = function.describe().removeprefix("function ")
    return words.rpartition(".")[2]


def _register(transform: Any) -> None:
    @handles(transform)
    def returned(tx: Tracing, func: VariableTracker, /, *args: VariableTracker, **keywords: VariableTracker) -> Any:
        function = func.realize()
        if not isinstance(function, _TRANSFORMED) or not all_constant([*args, *keywords.values()]):
            return None
        values = {name: value.value() for name, value in keywords.items()}
        try:
            transform(_placeholder, *(arg.value() for arg in args), **values)
        except Exception:  # noqa: BLE001 - plain Python raises it, at the user's line
            return None
        return TransformedFunctionVariable(transform, function, list(args), keywords)

    returned.__qualname__ = f"transforms.{transform.__name__}"


def _placeholder() -> None:
    """A placeholder for the function, on which a transform is tried."""


for _name in ("vmap", "grad", "grad_and_value", "jacrev", "jacfwd", "hessian", "functionalize"):
    _register(getattr(torch.func, _name))

"""Tensors and symbolic numbers: values that live in the graph."""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch.fx
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import statically_known_false, statically_known_true
from torch.nn import Parameter

from tracer_core.errors import Unsupported
from tracer_core.sources import DrawnSource, Source
from tracer_core.variables.core.base import ByIdentity, NotConstant, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tracing import Tracing

_SHORT = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
    "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool", "complex64": "c64", "complex128": "c128",
}  # fmt: skip


def describe_fake(fake: torch.Tensor) -> str:
    """Return `f32[4, 8]`: dtype and sizes, symbols by name."""
    return f"{_short_name(fake.dtype)}[{', '.join(map(str, fake.shape))}]"


def is_parameter(fake: Tensor) -> bool:
    """Return whether it stands for a parameter. (The metaclass of `Parameter` takes long to answer.)"""
    return fake.__dict__.get("_is_param") is True if type(fake) is FakeTensor else isinstance(fake, Parameter)


@functools.cache
def _short_name(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    return _SHORT.get(name, name)


def needs_data(tensor: TensorVariable, name: str) -> Unsupported:
    """Return the reason that a call of the method `name` breaks the graph."""
    called = _AS_WRITTEN.get(name) or (f"{name.strip('_')}()" if name.startswith("__") else name)
    return Unsupported("tensor-data", name=called, what=tensor.describe())


_AS_WRITTEN = {"__index__": "use as an index", "__contains__": "in", "__array__": "numpy.asarray()"}


class InGraphVariable(VariableTracker):
    """A value that a node computes."""

    __slots__ = ("_fake", "_node")

    def __init__(self, node: torch.fx.Node, fake: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self._node = node
        self._fake = fake

    @property
    def node(self) -> torch.fx.Node:
        return self._node

    @property
    def fake(self) -> Any:
        return self._fake

    def move_to(self, node: torch.fx.Node) -> None:
        """From now on, `node` gives the value: the graph around the one that computed it has it now."""
        self._node = node


class TensorVariable(InGraphVariable):
    """A tensor: its node and its fake. `new_grad` is the gradient that the trace set, if it did."""

    __slots__ = ("new_grad",)
    kind = "tensor"
    mutable = True

    def __init__(self, node: torch.fx.Node, fake: Any, source: Source | None = None) -> None:
        super().__init__(node, fake, source)
        self.new_grad: VariableTracker | None = None

    @property
    def attributes(self) -> dict[str, VariableTracker]:
        """Return the attributes to be written back to it."""
        return {} if self.new_grad is None else {"grad": self.new_grad}

    def key(self, tx: Tracing | None) -> Any:
        return ByIdentity(self)

    def python_type(self) -> type:
        return Parameter if is_parameter(self._fake) else Tensor

    def describe(self) -> str:
        return describe_fake(self._fake)


_PYTHON_TYPES: dict[type, type] = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}


class SymNodeVariable(InGraphVariable):
    """A symbolic int, float or bool."""

    __slots__ = ()
    kind = "symbolic number"

    def python_type(self) -> type:
        return _PYTHON_TYPES[type(self._fake)]

    def describe(self) -> str:
        return self.source.name if isinstance(self.source, DrawnSource) else str(self._fake)

    def realize(self) -> VariableTracker:
        """Return the number itself, if guards left only one. (They do not distinguish the two zeros of floats.)"""
        node = self._fake.node
        if not node.shape_env.replacements or isinstance(self.source, DrawnSource):
            return self
        expr = node.expr
        if not expr.is_number or (isinstance(self._fake, torch.SymFloat) and not expr):
            return self
        # (Symbols are real numbers; the result of Python's floats is stored with them.)
        return ConstantVariable(node.pytype(expr if node._hint is None else node._hint), self.source)

    def key(self, tx: Tracing | None) -> Any:
        if tx is None:
            raise NotConstant(self.describe())
        return self.specialize(tx, self.python_type())

    def truth(self, tx: Tracing) -> bool:
        return bool(self.specialize(tx, bool))

    def specialize(self, tx: Tracing, to: type) -> Any:
        """Specialize to the present number: from here on the code is right for that number only (a shape guard)."""
        if self._fake.node.expr.free_symbols & unbacked(tx):
            known = statically_known(self._fake)
            if known is not None:
                return to(known)
            if tx.trace.draws:
                what = self.describe() if self.source is not None else "what was computed from a random number"
                raise Unsupported("random-number", what=what)
            raise Unsupported("data-dependent-number", what=self._as_unknown(tx))
        return to(self._fake)

    def _as_unknown(self, tx: Tracing) -> str:
        """Describe it as a number that is not known: by its name, or by the sizes that it is computed from."""
        if self.source is not None:
            return self.source.name
        known = tx.output.fakes.symbols
        names = [known[str(each)].sources[0].name for each in self._fake.node.expr.free_symbols if str(each) in known]
        return f"a number computed from {', '.join(sorted(names))}" if names else "a number that the graph computes"


def statically_known(fake: Any) -> bool | None:
    """Return the value of a symbolic truth value that what is known of its symbols implies; else None."""
    if not isinstance(fake, torch.SymBool):
        return None
    if statically_known_true(fake):
        return True
    return False if statically_known_false(fake) else None


def specialized(tx: Tracing, tracker: VariableTracker) -> VariableTracker:
    """Specialize a symbolic number to its present value; return others as they are."""
    tracker = tracker.realize()
    if isinstance(tracker, SymNodeVariable):
        return ConstantVariable(tracker.specialize(tx, tracker.python_type()))
    return tracker


def unbacked(tx: Tracing) -> set[Any]:
    """Return the unbacked symbols: those whose value is known only when the graph runs."""
    env = tx.output.fakes.shape_env
    return set(env.var_to_range) - set(env.backed_var_to_val)


def wrap_number(tx: Tracing, number: Any, node: torch.fx.Node | None = None) -> VariableTracker:
    """Return a number that may be symbolic: a constant where its symbols allow exactly one value."""
    if node is not None and (
        _is_lost(node, number) or (tx.output.fakes.unknowns and _is_of_unknown(tx, node, number))
    ):
        number = tx.output.fakes.unknown(_PYTHON_TYPES[type(number)])
        tx.output.current.replace_number(node, number)
        return SymNodeVariable(node, number)
    if isinstance(number, (int, float)):
        return ConstantVariable(number)
    expr = number.node.expr
    if expr.is_number:
        return ConstantVariable(number.node.pytype(expr))
    if node is None:
        node = tx.output.symbol_node(number)
    return SymNodeVariable(node, number)


def _is_lost(node: torch.fx.Node, number: Any) -> bool:
    """Return whether symbols imply that arithmetic on numbers that vary always gives the same float, though it may
    not: `s * 0.0` is -0.0 for negative numbers and NaN for infinity."""
    return isinstance(number, torch.SymFloat) and bool(node.all_input_nodes and number.node.expr.is_number)


def _is_of_unknown(tx: Tracing, node: torch.fx.Node, number: Any) -> bool:
    """Return whether `number` was computed from an unknown number in a way that symbols do not model: they are
    real numbers, and floats break laws of arithmetic that hold for these. Whole numbers are exact in both."""
    unknown = unbacked(tx)
    inputs: list[Any] = [each.meta.get("example_value") for each in node.all_input_nodes]
    drawn = [n for n in inputs if type(n) in _PYTHON_TYPES and n.node.expr.free_symbols & unknown]
    inexact = isinstance(number, torch.SymFloat) or any(isinstance(n, torch.SymFloat) for n in drawn)
    return bool(drawn) and type(number) in _PYTHON_TYPES and inexact

"""Attributes and methods of tensors that are not simply nodes: those read from the fake tensor, and those that break
the graph."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.memory import storage_of
from tracer_core.graph.tensor_data import count_one_change_less
from tracer_core.sources import AttrSource, ConstantSource, GradSource
from tracer_core.sources.tensors import keeps_grad
from tracer_core.variables.containers.sequences import SizeVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import getter, method, setter
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, needs_data, wrap_number
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.indices import index_value


def _attribute_of_fake(name: str) -> Any:
    def handler(tx: Tracing, self: TensorVariable) -> VariableTracker:
        return ConstantVariable(getattr(self.fake, name))

    return handler


#: What `is_cuda`, `is_sparse`, ... say follows from device, layout and dtype, which the guard on a tensor checks.
_KINDS = {name for name, held in vars(torch._C.TensorBase).items() if name.startswith("is_") and not callable(held)}
for _name in ("dtype", "device", "layout", "ndim", "requires_grad", "itemsize", *sorted(_KINDS - {"is_leaf"})):
    getter(TensorVariable, _name)(_attribute_of_fake(_name))


def _attribute_under_guard(tx: Tracing, self: TensorVariable, name: str) -> Any:
    """Return an attribute that the guard on a tensor does not check: the real one's when the frame starts, under a
    guard of its own."""
    if self.source is None:
        return getattr(self.fake, name)
    real = getattr(tx.trace.real_value(self), name)
    tx.build(real, AttrSource(self.source, name))
    return real


@getter(TensorVariable, "is_leaf")
def is_leaf(tx: Tracing, self: TensorVariable) -> VariableTracker:
    _attribute_under_guard(tx, self, "is_leaf")
    return ConstantVariable(self.fake.is_leaf)  # writes in the trace may have given it a history


@getter(TensorVariable, "retains_grad")
def retains_grad(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return ConstantVariable(_attribute_under_guard(tx, self, "retains_grad"))  # nothing that is traced changes it


def _depends_on_how_it_was_created(name: str) -> None:
    @method(TensorVariable, name)
    def handler(tx: Tracing, self: TensorVariable) -> VariableTracker:
        raise Unsupported("method", name=name, type=self.python_type_name())


_depends_on_how_it_was_created("is_inference")
_depends_on_how_it_was_created("_is_view")


@getter(TensorVariable, "shape")
def shape(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return SizeVariable([wrap_number(tx, n) for n in self.fake.shape])


@method(TensorVariable, "size")
def size(tx: Tracing, self: TensorVariable, dim: VariableTracker = NONE) -> VariableTracker:
    dim = dim.realize()
    if constant_or(dim, 0) is None:
        return shape(tx, self)
    at = index_value(tx, dim, f"size(): argument 'dim' must be int, not {dim.type_name_in_errors()}")
    return wrap_number(tx, _dimension(tx, self, self.fake.shape, at))


def _dimension(tx: Tracing, self: TensorVariable, values: Any, at: int) -> Any:
    try:
        return values[at]
    except IndexError:
        raise Unsupported("operation-fails", what="size", error=f"IndexError: no dimension {at}") from None


@method(TensorVariable, "stride")
def stride(tx: Tracing, self: TensorVariable, dim: VariableTracker = NONE) -> VariableTracker:
    strides, sizes = self.fake.stride(), self.fake.shape
    at = None if constant_or(dim.realize(), 0) is None else index_value(tx, dim, "dim must be an int")
    read = sizes if at is None else [_dimension(tx, self, sizes, at)]
    if self.source is None and len(strides) > 1 and _strides_have_no_effect(tx, self.fake, read):
        # Each operation chooses them in its own way, which fakes do not follow.
        raise Unsupported("free-strides", what=self.describe())
    tx.output.note_strides_read()
    if at is None:
        return TupleVariable([wrap_number(tx, n) for n in strides])
    return wrap_number(tx, strides[at])


@method(TensorVariable, "dim_order")
def dim_order(tx: Tracing, self: TensorVariable, **kwargs: VariableTracker) -> VariableTracker:
    """Inline torch's Python, which reads the strides."""
    function: Any = torch.Tensor.dim_order
    return tx.call(UserFunctionVariable(function, ConstantSource.of_object(function)), [self], kwargs)


def _strides_have_no_effect(tx: Tracing, fake: torch.Tensor, sizes: Sequence[Any]) -> bool:
    """Return whether strides are read that are never used to find an element: of a tensor without elements, or in
    dimensions of size 1 (unless it is a view of an input, whose strides it follows)."""
    if any(type(n) is int and n == 0 for n in fake.shape):
        return True
    given = any(storage_of(fake) == storage_of(each.fake) for each in tx.output.fakes.inputs.values())
    return not given and any(type(n) is int and n == 1 for n in sizes)


@method(TensorVariable, "numel", "nelement")
def numel(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return wrap_number(tx, self.fake.numel())


@getter(TensorVariable, "nbytes")
def nbytes(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return wrap_number(tx, self.fake.numel() * self.fake.element_size())


@method(TensorVariable, "dim", "ndimension")
def dim(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return ConstantVariable(self.fake.dim())


def _method_of_fake(name: str) -> Any:
    def handler(tx: Tracing, self: TensorVariable) -> VariableTracker:
        return ConstantVariable(getattr(self.fake, name)())

    return handler


for _name in ("is_floating_point", "is_complex", "is_signed", "element_size", "get_device", "is_conj", "is_neg"):
    method(TensorVariable, _name)(_method_of_fake(_name))


@method(TensorVariable, "is_contiguous")
def is_contiguous(
    tx: Tracing, self: TensorVariable, memory_format: VariableTracker = ConstantVariable(torch.contiguous_format)
) -> VariableTracker:
    wanted = memory_format.realize().value()
    if self.source is None or wanted is not torch.contiguous_format:
        tx.output.note_strides_read()
    return ConstantVariable(bool(self.fake.is_contiguous(memory_format=wanted)))


@method(TensorVariable, "contiguous")
def contiguous(tx: Tracing, self: TensorVariable, **kwargs: VariableTracker) -> VariableTracker | None:
    """Where it is not known how the tensor lies in memory, the node's result is used even if it may be the tensor."""
    if not tx.output.layouts_vary:
        return None

    def run(fake: torch.Tensor, **options: Any) -> torch.Tensor:
        result = fake.contiguous(**options)
        return fake.view_as(fake) if result is fake else result

    return call_in_graph(tx, "call_method", "contiguous", [self], kwargs, run)


@method(TensorVariable, "storage_offset")
def storage_offset(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return wrap_number(tx, tx.output.fakes.offset_of(self.fake))


@method(TensorVariable, "type")
def type_(tx: Tracing, self: TensorVariable, dtype: VariableTracker | None = None) -> VariableTracker:
    if dtype is None:
        return ConstantVariable(_type_name(self.fake))
    return call_in_graph(tx, "call_method", "type", [self, dtype], {})


def _type_name(fake: torch.Tensor) -> str:
    return torch.empty(0, dtype=fake.dtype).type()


@method(TensorVariable, "__len__")
def len_(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return tx.length(self)


def _view_attribute(name: str) -> Any:
    def handler(tx: Tracing, self: TensorVariable) -> VariableTracker:
        return call_in_graph(tx, "call_function", getattr, [self, ConstantVariable(name)], {})

    return handler


for _name in ("T", "mT", "H", "mH", "real", "imag"):
    getter(TensorVariable, _name)(_view_attribute(_name))


@getter(TensorVariable, "data")
def data(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return call_in_graph(tx, "call_function", torch._C._autograd._get_data_attr, [self], {})  # type: ignore[attr-defined]


@setter(TensorVariable, "data")
def set_data(tx: Tracing, self: TensorVariable, value: VariableTracker) -> None:
    """Set `tensor.data`: it shares the memory of `value` from now on. Its fake counts that as a change."""
    if not isinstance(value, TensorVariable) or not _may_be_data(self.fake, value.fake):
        raise Unsupported("set-attribute", name="data", type=self.python_type_name())
    if not tx.output.runs_as_it_is:
        raise Unsupported("lost-by-back-ends", what=f"an assignment to .data of {self.describe()}")
    switch, enabled = torch._C._set_grad_enabled, torch.is_grad_enabled()
    tx.output.add_node("call_function", switch, (False,), {}, None)
    with torch.no_grad():
        call_in_graph(tx, "call_function", torch.Tensor.set_, [self, value], {})
    tx.output.add_node("call_function", switch, (enabled,), {}, None)
    tx.output.add_node("call_function", count_one_change_less, (self.node,), {}, None)


def _may_be_data(fake: torch.Tensor, value: torch.Tensor) -> bool:
    """Return whether it is enough that one tensor uses the memory of the other."""
    described = [(each.dtype, each.device, each.layout, each.is_conj(), each.is_neg()) for each in (fake, value)]
    unwatched = fake._base is None or fake.is_leaf
    plain = unwatched and not fake.is_inference() and not value.is_inference()
    return plain and described[0] == described[1] and fake.layout is torch.strided


@getter(TensorVariable, "grad")
def grad(tx: Tracing, self: TensorVariable) -> VariableTracker:
    if self.new_grad is not None:
        return self.new_grad
    if self.source is None:
        if self.fake.grad is None:
            return NONE
        raise Unsupported("autograd-attribute", name="grad")
    real = tx.trace.real_value(self)
    value = real.grad
    if not keeps_grad(real):  # each read gives a warning, unless it is ignored
        raise Unsupported("autograd-attribute", name="grad")
    return tx.build(value, GradSource(self.source))


@setter(TensorVariable, "grad")
def set_grad(tx: Tracing, self: TensorVariable, value: VariableTracker) -> None:
    """Set the gradient; on the real tensor, when the graph has run, if it outlives the trace."""
    if self.source is None or not _may_be_grad(self, value):
        raise Unsupported("set-attribute", name="grad", type="Tensor")
    tx.trace.side_effects.changes(self, "attributes", "its gradient is set")
    self.new_grad = value


def _may_be_grad(self: TensorVariable, value: VariableTracker) -> bool:
    """Return whether torch will accept `value` without an error or a warning."""
    if not isinstance(value, TensorVariable):
        return isinstance(value, ConstantVariable) and value.value() is None
    if value is self or not self.fake.is_leaf:
        return False
    described = [(fake.dtype, fake.device, fake.layout, list(fake.shape)) for fake in (self.fake, value.fake)]
    symbolic = any(isinstance(size, torch.SymInt) for size in (*self.fake.shape, *value.fake.shape))
    return described[0] == described[1] and not symbolic


@getter(TensorVariable, "grad_fn")
def grad_fn(tx: Tracing, self: TensorVariable) -> VariableTracker:
    if not self.fake.requires_grad or (self.source is not None and self.fake.is_leaf):
        return NONE
    raise Unsupported("autograd-attribute", name="grad_fn")


@getter(TensorVariable, "__class__")
def class_(tx: Tracing, self: TensorVariable) -> VariableTracker:
    return tx.constant(self.python_type())


def _needs_data(name: str) -> Any:
    def handler(
        tx: Tracing, self: TensorVariable, *args: VariableTracker, **kwargs: VariableTracker
    ) -> VariableTracker:
        raise needs_data(self, name)

    return handler


for _name in ("tolist", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__array__", "__repr__",
              "__str__", "__format__", "__hash__", "__contains__"):  # fmt: skip
    method(TensorVariable, _name)(_needs_data(_name))


def _looks_at_memory(name: str) -> Any:
    def handler(
        tx: Tracing, self: TensorVariable, *args: VariableTracker, **kwargs: VariableTracker
    ) -> VariableTracker:
        raise Unsupported("tensor-memory", name=name, what=self.describe())

    return handler


for _name in ("data_ptr", "storage", "untyped_storage", "is_shared", "is_set_to", "is_pinned", "share_memory_"):
    method(TensorVariable, _name)(_looks_at_memory(_name))


def _changes_metadata(name: str) -> Any:
    def handler(
        tx: Tracing, self: TensorVariable, *args: VariableTracker, **kwargs: VariableTracker
    ) -> VariableTracker | None:
        if self.source is None and name not in _OTHER_MEMORY:
            return None
        raise Unsupported("tensor-metadata", name=name, what=self.describe())

    return handler


def _makes_another_view(name: str) -> bool:
    """Return whether torch declares that the method changes the memory layout of a tensor."""
    packet = getattr(torch.ops.aten, name, None)
    overloads = packet.overloads() if isinstance(packet, torch._ops.OpOverloadPacket) else ()  # type: ignore[no-untyped-call]
    return any(torch.Tag.inplace_view in getattr(packet, overload).tags for overload in overloads)


# Those of them that may give it other memory.
_OTHER_MEMORY = ("resize_", "resize_as_", "set_")
for _name in filter(_makes_another_view, (each for each in dir(torch.Tensor) if not each.startswith("_"))):
    method(TensorVariable, _name)(_changes_metadata(_name))


def _runs_autograd(name: str, reason_id: str, called: str) -> Any:
    def handler(
        tx: Tracing, self: TensorVariable, *args: VariableTracker, **kwargs: VariableTracker
    ) -> VariableTracker:
        raise Unsupported(reason_id, name=called.format(name))

    return handler


for _reason_id, _called, _names in (
    ("autograd-call", "the method {} of a tensor", ("backward",)),
    ("autograd-flag", "the method {}", ("retain_grad",)),
):
    for _name in _names:
        method(TensorVariable, _name)(_runs_autograd(_name, _reason_id, _called))


@method(TensorVariable, "requires_grad_")
def requires_grad_(
    tx: Tracing, self: TensorVariable, requires_grad: VariableTracker = ConstantVariable(True)
) -> VariableTracker:
    """Do nothing where the flag is set so already."""
    if constant_or(requires_grad.realize(), None) is not self.fake.requires_grad:
        raise Unsupported("autograd-flag", name="the method requires_grad_")
    return self


@method(SymNodeVariable, "__index__", "__int__")
def symbolic_int(tx: Tracing, self: SymNodeVariable) -> VariableTracker:
    return self if self.python_type() is int else tx.call(tx.constant(int), [self])


@method(TensorVariable, "__getitem__")
def getitem(tx: Tracing, self: TensorVariable, key: VariableTracker) -> VariableTracker:
    return call_in_graph(tx, "call_function", operator.getitem, [self, key], {})


@method(TensorVariable, "__setitem__")
def setitem(tx: Tracing, self: TensorVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    call_in_graph(tx, "call_function", operator.setitem, [self, key, value], {})
    return NONE


@method(TensorVariable, "__reduce_ex__")
def reduce_ex(tx: Tracing, self: TensorVariable, protocol: VariableTracker) -> VariableTracker:
    """Break at `copy.copy(tensor)`, whose copy is a tensor of its own on the same storage."""
    raise Unsupported("method", name="__reduce_ex__ (as copy.copy and pickle do)", type="tensor")

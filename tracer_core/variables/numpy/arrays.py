"""NumPy arrays and scalars: tensors of the graph, each beside a shadow.

The shadow is a real array (or scalar) of the same dtype, shape and layout with other values. NumPy itself is called
on shadows to find the result of an operation: an array or a scalar, its dtype, its shape and strides, whether it
shares memory, whether it may be written to, or an error. Where torch's NumPy gives anything else, the graph ends.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.fakes import version_of
from tracer_core.graph.memory import storage_of
from tracer_core.graph.numpy_calls import DTYPES
from tracer_core.guards import make
from tracer_core.names.sentences import a
from tracer_core.runtime.arrays import scalar_tensor, start_of, tensor_of_reversed
from tracer_core.sources import AttrSource, ById, ConstantSource, ConvertedSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.results import wrap_tensor
from tracer_core.variables.builders.values import graph_name
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import builds
from tracer_core.variables.core.tensors import TensorVariable, describe_fake
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.numpy.layout import hints, reversed_dims, shadow_like
from tracer_core.variables.operations.in_graph import call_in_graph


class NumpyVariable(VariableTracker):
    """An array or scalar that the graph holds as `tensor`."""

    __slots__ = ("shadow", "tensor")

    def __init__(self, tensor: TensorVariable, shadow: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self.tensor = tensor
        self.shadow = shadow

    def python_type(self) -> type:
        return type(self.shadow)

    def describe(self) -> str:
        return f"{self.kind} {describe_fake(self.tensor.fake)}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("tensor", self.tensor)]

    def truth(self, tx: Tracing) -> bool | None:
        raise Unsupported("numpy-data", what=self.describe(), name="truth value")

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        raise Unsupported("numpy-data", what=self.describe(), name="items")


class NumpyNdarrayVariable(NumpyVariable):
    """An array. Where it has negative strides, `tensor` is its memory, forwards.

    `owner` is the array that it is a view of, which NumPy calls its base: None if it has none, or one that the trace
    does not know. `seen_by_tensors` says of an array without a base that a tensor created in the trace shares its
    memory. `known` is NumPy's result if it was created from constants; it may have been changed since."""

    __slots__ = ("known", "owner", "seen_by_tensors")
    kind = "array"
    mutable = True

    def __init__(
        self,
        tensor: TensorVariable,
        shadow: Any,
        source: Source | None = None,
        owner: NumpyNdarrayVariable | None = None,
    ) -> None:
        super().__init__(tensor, shadow, source)
        self.owner = owner
        self.seen_by_tensors = False
        self.known: Any = None

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        """Return its rows, which are views. (Single items are copies created when they are read: not known now.)"""
        if self.shadow.ndim < 2 or len(self.shadow) > _MAX_ROWS:
            return super().items_or_none(tx)
        places = range(int(self.tensor.fake.shape[0]))
        indices = [ConstantVariable(i) for i in (reversed(places) if self.shadow.strides[0] < 0 else places)]
        rows = zip(indices, self.shadow, strict=True)
        return [in_graph(tx, "getitem", operator.getitem, [self.tensor, i], {}, row, [self]) for i, row in rows]

    def is_as_created(self) -> bool:
        """Return whether it still has its initial values, and only arrays use its memory."""
        return self.known is not None and not self.seen_by_tensors and version_of(self.tensor.fake) == 0


_MAX_ROWS = 4096


def flat_parts(array: Any) -> tuple[tuple[Any, ...], str, tuple[int, ...]]:
    """Return the arguments from which `known_array` builds an equal array: its values, the name of its dtype, and its
    shape."""
    return tuple(array.ravel().tolist()), array.dtype.name, array.shape


class NumpyScalarVariable(NumpyVariable):
    __slots__ = ()
    kind = "numpy scalar"


# --- external arrays --------------------------------------------------------------------------------------------


@builds(np.ndarray, subclasses=True)
def _array(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    tx = build.tx
    why = _why_no_tensor(value)
    if why:
        raise Unsupported("numpy-array", source=source.written, why=why)
    build.tx.guard(make.type_is(source, np.ndarray))
    build(value.flags.writeable, AttrSource(AttrSource(source, "flags"), "writeable"))
    convert = tensor_of_reversed(reversed_dims(value))
    at = ConvertedSource(source, ById(convert), "torch.from_numpy")
    real = convert(value)
    node, fake = tx.output.add_tensor(at, graph_name(source), real)
    guard_order(tx, fake)
    tensor = wrap_tensor(tx, node, fake, at)
    tracker = NumpyNdarrayVariable(tensor, shadow_like(value), source)
    tx.trace.trackers_by_object[id(value)] = tracker
    return tracker


def guard_order(tx: Tracing, fake: torch.Tensor) -> None:
    """Guard that the dimensions have the same memory order as the shadow's, which determines the layout of new
    arrays."""
    steps = sorted(zip(hints(fake.stride()), fake.stride(), strict=True), key=itemgetter(0))
    for (_, inner), (_, outer) in pairwise(steps):
        bool(inner <= outer)
    fake.is_contiguous()


def _why_no_tensor(value: Any) -> str:
    """Return why an array cannot be a tensor; empty if it can."""
    if type(value) is not np.ndarray:
        return f"it is a {type(value).__qualname__}, a subclass of ndarray"
    if value.dtype not in DTYPES or not value.dtype.isnative:
        return f"its dtype is {value.dtype}"
    steps = [step for n, step in zip(value.shape, value.strides, strict=True) if n > 1]
    if any(step % value.itemsize for step in steps):
        return "its strides are not a multiple of the item size"
    if not value.size and reversed_dims(value):
        return "it has no items but negative strides"
    if 0 in steps and value.flags.writeable:
        return "several of its items share memory, and it is writable"
    return "" if value.flags.aligned else "its memory is not aligned"


@builds(np.dtype, subclasses=True)
def _dtype(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if not isinstance(source, ConstantSource):
        build.tx.guard(make.type_is(source, type(value)))
        build.tx.guard(make.constant(ConvertedSource(source, ById(str), "str"), str(value)))
    return ConstantVariable(value, source)


@builds(np.generic, subclasses=True)
def _scalar(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Build a scalar, which enters the graph in a tensor, so that one graph serves all values of its type."""
    if value.dtype not in DTYPES or type(value) is not value.dtype.type:
        raise Unsupported("numpy-array", source=source.written, why=f"it is a {type(value).__qualname__}")
    output = build.tx.output
    build.tx.guard(make.type_is(source, type(value)))
    at = ConvertedSource(source, ById(scalar_tensor), "torch.tensor")
    with output.fakes.mode:
        fake = torch.empty((), dtype=DTYPES[value.dtype], device="cpu")
    tensor = wrap_tensor(build.tx, output.root.add_input(at, graph_name(source), fake), fake, at)
    return NumpyScalarVariable(tensor, value.dtype.type(0), source)


def values_of(tx: Tracing, tracker: NumpyVariable) -> TensorVariable:
    """Return a tensor with the present values of the array, in their order: its own, or a copy."""
    backwards = reversed_dims(tracker.shadow)
    if not backwards:
        return tracker.tensor
    flipped = call_in_graph(tx, "call_method", "flip", [tracker.tensor, ConstantVariable(backwards)], {})
    assert isinstance(flipped, TensorVariable)
    return flipped


# --- results --------------------------------------------------------------------------------------------------


def on_shadows(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], real: bool = False
) -> Any:
    """Return NumPy's result for these shadows, or for these values if they are `real`.

    Raises:
        Unsupported: it raises or warns; plain Python then runs the operation as it stands.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="raise" if real else "ignore"):
            warnings.simplefilter("error")
            if not real:
                # Warnings about values would be about those of the shadows; others depend on types and shapes.
                warnings.simplefilter("ignore", RuntimeWarning)
            return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        raise Unsupported("operation-fails", what=name, error=text) from None


def in_graph(
    tx: Tracing,
    name: str,
    target: Callable[..., Any],
    args: list[VariableTracker],
    kwargs: dict[str, VariableTracker],
    shadow: Any,
    given: Sequence[NumpyVariable],
    run: Callable[..., Any] | None = None,
) -> VariableTracker:
    """Return the node for a NumPy call, and the tracker of its result, which must be like `shadow`.

    Args:
        args, kwargs: as the graph takes them.
        given: the arrays and scalars among them.
        run: what is run on fakes, if not `target`.
    """
    if isinstance(shadow, np.ndarray):
        same = next((each for each in given if each.shadow is shadow), None)
        if same is not None:
            return same
    result = call_in_graph(tx, "call_function", target, args, kwargs, run)
    return _adopt(tx, name, result, shadow, given)


def _adopt(
    tx: Tracing, name: str, result: VariableTracker, shadow: Any, given: Sequence[NumpyVariable]
) -> VariableTracker:
    if isinstance(shadow, (tuple, list)) and isinstance(result, SequenceVariable):
        if len(shadow) == len(result.items) and type(shadow) is result.python_type():
            pairs = zip(result.items, shadow, strict=True)
            return type(result)([_adopt(tx, name, item, part, given) for item, part in pairs])
    if not isinstance(result, TensorVariable) or not isinstance(shadow, (np.ndarray, np.generic)):
        raise Unsupported("numpy-differs", name=name, what=a(type(shadow).__name__))
    fake = result.fake
    if DTYPES.get(shadow.dtype) is not fake.dtype:
        raise Unsupported("numpy-differs", name=name, what=f"dtype {shadow.dtype}")
    if tuple(hints(fake.shape)) != shadow.shape:
        raise Unsupported("numpy-differs", name=name, what=f"shape {list(shadow.shape)}")
    if isinstance(shadow, np.generic):
        # A scalar keeps its value when the array it was taken from is changed.
        copied = call_in_graph(tx, "call_method", "clone", [result], {}) if _shares(fake, given) else result
        assert isinstance(copied, TensorVariable)
        return NumpyScalarVariable(copied, shadow)
    _check_memory(name, fake, shadow, given)
    return NumpyNdarrayVariable(result, shadow, owner=_owner_among(given, shadow))


def _shares(fake: torch.Tensor, given: Sequence[NumpyVariable]) -> bool:
    return any(storage_of(fake) == storage_of(each.tensor.fake) for each in given)


def owner_of(array: Any) -> int:
    """Return the array whose memory an array uses."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return id(array)


def _owner_among(given: Sequence[NumpyVariable], shadow: Any) -> NumpyNdarrayVariable | None:
    """Return the array that one with the layout of `shadow` is a view of."""
    arrays = (
        each for each in given if isinstance(each, NumpyNdarrayVariable) and owner_of(each.shadow) == owner_of(shadow)
    )
    return next((each.owner or each for each in arrays), None)


def order_of(shadow: Any, given: Sequence[NumpyVariable]) -> tuple[int, ...] | None:
    """Return the dimensions of a new array in memory order; None if there is no need to know it."""
    if not isinstance(shadow, np.ndarray) or shadow.ndim < 2 or not shadow.size:
        return None
    if all(each.shadow.flags.c_contiguous for each in given) and shadow.flags.c_contiguous:
        return None
    if any(owner_of(each.shadow) == owner_of(shadow) for each in given):
        return None
    order = tuple(sorted(range(shadow.ndim), key=lambda dim: (-shadow.strides[dim], dim)))
    return order if shadow.transpose(order).flags.c_contiguous else None


def _check_memory(name: str, fake: torch.Tensor, shadow: Any, given: Sequence[NumpyVariable]) -> None:
    for each in given:
        as_numpy = isinstance(each, NumpyNdarrayVariable) and owner_of(each.shadow) == owner_of(shadow)
        if as_numpy != (storage_of(fake) == storage_of(each.tensor.fake)):
            raise Unsupported("numpy-differs", name=name, what="a view" if as_numpy else "a copy")
        if as_numpy and (reversed_dims(each.shadow) or reversed_dims(shadow)):
            starts = hints(tensor.storage_offset() * tensor.element_size() for tensor in (fake, each.tensor.fake))
            if starts[0] - starts[1] != start_of(shadow) - start_of(each.shadow):
                raise Unsupported("numpy-differs", name=name, what="another part of the memory")
    steps = zip(shadow.shape, shadow.strides, hints(fake.stride()), strict=True)
    if shadow.size and any(n > 1 and abs(step) != own * shadow.itemsize for n, step, own in steps):
        raise Unsupported("numpy-differs", name=name, what="another order in memory")

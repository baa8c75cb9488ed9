"""Guards on all properties of a tensor that a graph depends on, except its values."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from tracer_core.guards.describe import class_text, describe, dtype_text, shape_text, sizes_text
from tracer_core.guards.guard import Const, Kind, kind
from tracer_core.guards.held import Held
from tracer_core.guards.special_sizes import SPECIAL, SPECIAL_SIZES, special_remedies
from tracer_core.names.sentences import counted
from tracer_core.sources import Source

Sizes = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class TensorProperties:
    """The properties of a tensor at compile time.

    `sizes` and `strides` (in elements) have None where any value is accepted; they are None as a whole for tensors
    without them (`strides` also if none are checked). `dispatch_keys` is the raw set of dispatch keys. `example`
    refers weakly to the tensor itself. The sizes of the `special` dimensions are fixed only because they are 0 or
    1.
    """

    cls: Held
    dtype: torch.dtype
    device: torch.device
    layout: torch.layout
    requires_grad: bool
    dispatch_keys: int
    sizes: Sizes | None
    strides: Sizes | None
    example: weakref.ref[torch.Tensor] = field(compare=False)
    special: tuple[int, ...] = field(compare=False)

    @staticmethod
    def of(
        tensor: torch.Tensor, sizes: Sizes | None, strides: Sizes | None, special: tuple[int, ...] = ()
    ) -> TensorProperties:
        return TensorProperties(
            Held(type(tensor), class_text(type(tensor))),
            tensor.dtype,
            tensor.device,
            tensor.layout,
            tensor.requires_grad,
            dispatch_keys(tensor),
            sizes,
            strides,
            weakref.ref(tensor),
            special,
        )

    @property
    def special_text(self) -> str:
        """Return why the sizes of the `special` dimensions are fixed, as a clause after them."""
        if not self.special:
            return ""
        dims = " and ".join(f"dimension {dim}" for dim in self.special)
        return f" ({dims}: sizes {SPECIAL})"


def dispatch_keys(tensor: torch.Tensor) -> int:
    return torch._C._dispatch_keys(tensor).raw_repr()


def _fits(seen: Sequence[int], expected: Sizes | None) -> bool:
    return expected is None or (
        len(seen) == len(expected) and all(e is None or e == s for e, s in zip(expected, seen, strict=True))
    )


@dataclass(frozen=True, slots=True)
class _Property:
    """One property of a tensor: whether it fits, and the words for the expected value, the present one, and the
    remedy."""

    fits: Callable[[torch.Tensor, TensorProperties], bool]
    was: Callable[[TensorProperties], str]
    seen: Callable[[torch.Tensor], str]
    advice: str


def _keys_text(raw: int) -> str:
    return str(torch._C.DispatchKeySet.from_raw_repr(raw)).removeprefix("DispatchKeySet")


_SIZES = _Property(
    lambda t, e: e.sizes is None or _fits(t.shape, e.sizes),
    lambda e: f"of shape {sizes_text(e.sizes or ())}{e.special_text}",
    lambda t: f"of shape {shape_text(t)}",
    "",
)

_PROPERTIES: tuple[_Property, ...] = (
    _Property(
        lambda t, e: e.cls.is_(type(t)),
        lambda e: f"of class {e.cls.label}",
        lambda t: f"of class {class_text(type(t))}",
        "give {name} the same class of tensor at each call",
    ),
    _Property(
        lambda t, e: t.dtype == e.dtype,
        lambda e: f"of dtype {dtype_text(e.dtype)}",
        lambda t: f"of dtype {dtype_text(t.dtype)}",
        "convert {name} to one dtype before the call",
    ),
    _Property(
        lambda t, e: t.device == e.device,
        lambda e: f"on device {e.device}",
        lambda t: f"on device {t.device}",
        "move {name} to one device before the call",
    ),
    _Property(
        lambda t, e: t.layout == e.layout,
        lambda e: f"of layout {e.layout}",
        lambda t: f"of layout {t.layout}",
        "convert {name} to one layout before the call",
    ),
    _Property(
        lambda t, e: t.requires_grad == e.requires_grad,
        lambda e: f"a tensor with requires_grad={e.requires_grad}",
        lambda t: f"a tensor with requires_grad={t.requires_grad}",
        "set requires_grad of {name} once, or detach it before the call",
    ),
    _Property(
        lambda t, e: e.sizes is None or t.dim() == len(e.sizes),
        lambda e: f"a tensor with {counted(len(e.sizes or ()), 'dimension')}",
        lambda t: f"a tensor with {counted(t.dim(), 'dimension')}",
        "reshape {name} to one number of dimensions before the call",
    ),
    _SIZES,
    _Property(
        lambda t, e: e.strides is None or _fits(t.stride(), e.strides),
        lambda e: f"of strides {sizes_text(e.strides or ())}",
        lambda t: f"of strides {sizes_text(t.stride())}",
        "make {name} contiguous before the call",
    ),
    _Property(
        lambda t, e: dispatch_keys(t) == e.dispatch_keys,
        lambda e: f"a tensor with dispatch keys {_keys_text(e.dispatch_keys)}",
        lambda t: f"a tensor with dispatch keys {_keys_text(dispatch_keys(t))}",
        "create {name} in the same way at each call (inference tensors, conjugate and negative views differ)",
    ),
)


def _size_remedies(source: Source, seen: Sequence[int], expected: Sizes) -> list[str]:
    """Return the remedies for sizes that differ. `mark_dynamic` helps where none of them is 0 or 1; only tensors that
    the caller has can be marked."""
    name = source.given.quoted
    marks = [f"mark the dimension of {name} that varies with `torch._dynamo.mark_dynamic`"]
    pad = f"pad {name} to one shape"
    if source.passed_by:
        marks, pad = [], f"pad the inputs that {name} is computed from to one shape"
    if source.given is not source:
        marks = []
    different = [pair for pair in zip(seen, expected, strict=True) if pair[1] not in (None, pair[0])]
    special = [pair for pair in different if not set(pair).isdisjoint(SPECIAL_SIZES)]
    remedies = [*marks, "compile with `dynamic=True`", pad]
    return [*(remedies if len(special) < len(different) else ()), *(special_remedies(source) if special else ())]


def first_difference(value: Any, expected: TensorProperties) -> _Property | None:
    return next((p for p in _PROPERTIES if not p.fits(value, expected)), None)


@kind("TENSOR", rank=5)
class Tensor(Kind):
    """`expected` is a `TensorProperties`. Many of them are checked by one call (see `tracer_core.guards.batch`)."""

    def key(self, expected: TensorProperties) -> Hashable:
        return expected

    def holds(self, value: Any, expected: TensorProperties) -> bool:
        return isinstance(value, torch.Tensor) and first_difference(value, expected) is None

    def condition(self, value: str, expected: TensorProperties, const: Const) -> str:
        return f"{const(self.holds)}({value}, {const(expected)})"

    def text(self, name: str, expected: TensorProperties) -> str:
        sizes = "" if expected.sizes is None else sizes_text(expected.sizes)
        details = [f"{name} is a {expected.cls.label} {dtype_text(expected.dtype)}{sizes}"]
        if expected.strides is not None:
            details.append(f"strides {sizes_text(expected.strides)}")
        if expected.device.type != "cpu":
            details.append(f"on {expected.device}")
        if expected.layout != torch.strided:
            details.append(str(expected.layout))
        details.append(f"requires_grad={expected.requires_grad}")
        return ", ".join(details) + expected.special_text

    def expected_text(self, expected: TensorProperties) -> str:
        return f"a {expected.cls.label} {dtype_text(expected.dtype)}{sizes_text(expected.sizes or ())}"

    def expected_against(self, expected: TensorProperties, value: Any) -> str:
        """Return the expected text of the first property that differs."""
        difference = first_difference(value, expected) if isinstance(value, torch.Tensor) else None
        return self.expected_text(expected) if difference is None else difference.was(expected)

    def seen_text(self, value: Any, expected: TensorProperties) -> str:
        if not isinstance(value, torch.Tensor):
            return describe(value)
        difference = first_difference(value, expected)
        return "used under other dispatcher modes" if difference is None else difference.seen(value)

    def advice(self, name: str, expected: TensorProperties, value: Any) -> str:
        if not isinstance(value, torch.Tensor):
            return f"pass a tensor as {name} at each call"
        difference = first_difference(value, expected)
        if difference is None:
            return "call the function always inside, or always outside, the same modes"
        return difference.advice.format(name=name)

    def remedies(self, source: Source, expected: TensorProperties, value: Any) -> Sequence[str]:
        if isinstance(value, torch.Tensor) and first_difference(value, expected) is _SIZES:
            return _size_remedies(source, value.shape, expected.sizes or ())
        return super().remedies(source, expected, value)

    def mortals(self, expected: TensorProperties) -> Sequence[weakref.ref[Any]]:
        return expected.cls.mortals

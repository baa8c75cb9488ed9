"""Remember the results of calls on fakes, for later calls with the same arguments.

Models repeat their layers, and torch takes a fraction of a millisecond for each operation on fakes.

Remembered is the layout of a result that has memory of its own, from a call that does nothing else. It depends on the
function, the layout of its tensors, its other arguments, and torch's settings: all are in the key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.autograd import forward_ad
from torch.utils._pytree import tree_leaves

from tracer_core.graph.memory import storage_of
from tracer_core.graph.operations import Counts, ObservingFakeMode
from tracer_core.graph.settings import TracedSettings
from tracer_core.host.noticed_warnings import noticed


class Layout(NamedTuple):
    """The parts of a fake that is created with memory of its own."""

    shape: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    is_view: bool  # of memory that nothing else uses


@dataclass(frozen=True, slots=True)
class CalledMethod:
    """A function that calls a method, by its name, of its first argument."""

    name: str

    def __call__(self, receiver: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(receiver, self.name)(*args, **kwargs)


class _NoKey(Exception):
    """A result may depend on more of the call than a key can say."""


class RepeatedCalls:
    """The results remembered in one attempt, whose fakes are in `mode`."""

    def __init__(self, mode: ObservingFakeMode, settings: TracedSettings) -> None:
        self._mode = mode
        self._settings = settings
        # By key: the layout of the result, and how many operations may raise for the values of their arguments.
        self._known: dict[Any, tuple[Layout, int]] = {}

    def result(self, key: Any) -> torch.Tensor | None:
        """Return a new fake, as the call of this key gives; None if it is not known."""
        known = None if key is None else self._known.get(key)
        if known is None:
            return None
        layout, may_raise = known
        self._mode.operations.may_raise += may_raise
        return create_fake(self._mode, layout)

    def remember(self, key: Any, args: Sequence[Any], result: Any, before: Counts) -> None:
        """Remember the result of a call, if the call neither wrote nor drew anything. `before` are the counts of
        operations then."""
        if key is None or noticed:
            return
        now = self._mode.operations.counts
        if now._replace(may_raise=before.may_raise) != before:
            return
        layout = _layout_of_new(result, args)
        if layout is not None:
            self._known[key] = layout, now.may_raise - before.may_raise

    def key(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what the result of a call depends on; None if it may depend on more."""
        env = self._mode.shape_env
        if env is None or env.var_to_range or forward_ad._current_level >= 0:
            return None  # Sizes may be symbols; tensors may have tangents.
        if torch._C._functorch.peek_interpreter_stack() is not None:
            return None  # Tensors may be wrapped.
        if not any(type(each) is FakeTensor for each in tree_leaves(args)):
            return None
        grad = torch.is_grad_enabled()
        try:
            called = _function_key(function)
            given = tuple([_argument_key(each, grad) for each in args])
            named = tuple([(name, _argument_key(each, grad)) for name, each in kwargs.items()])
        except _NoKey:
            return None
        return called, given, named, self._settings.now()


def create_fake(mode: FakeTensorMode, layout: Layout) -> torch.Tensor:
    """Return a fake with memory of its own: what the mode does for `empty_strided`, without its dispatch."""
    meta = torch.empty_strided(layout.shape, layout.stride, dtype=layout.dtype, device="meta")
    fake = FakeTensor(mode, meta, layout.device)
    return fake.view_as(fake) if layout.is_view else fake


def _function_key(function: Any) -> Any:
    cls = type(function)
    if cls is BuiltinFunctionType or cls is CalledMethod:
        return function
    if cls is FunctionType and function.__module__ == "torch.nn.functional":
        return function
    raise _NoKey


_PLAIN = frozenset(
    (bool, int, float, complex, str, type(None), type(...), torch.dtype, torch.device, torch.memory_format)
)


def _argument_key(value: Any, grad: bool) -> Any:
    cls = type(value)
    if cls is FakeTensor:
        requires_grad = value.requires_grad
        if value.layout is not torch.strided or value.constant is not None or (grad and requires_grad):
            raise _NoKey
        if value.is_conj() or value.is_neg():
            raise _NoKey
        return value.shape, value.stride(), value.dtype, value.fake_device, requires_grad
    if cls in _PLAIN:
        return cls, value  # (`1`, `1.0` and `True` are equal, but give different dtypes.)
    if cls is tuple or cls is list:
        return cls, tuple([_argument_key(each, grad) for each in value])
    if cls is slice:
        return cls, tuple([_argument_key(each, grad) for each in (value.start, value.stop, value.step)])
    raise _NoKey


def _layout_of_new(result: Any, args: Sequence[Any]) -> Layout | None:
    """Return the layout of a result that is as `create_fake` creates it; None for other results."""
    if type(result) is not FakeTensor or result.layout is not torch.strided:
        return None
    if result.constant is not None or result.requires_grad or result.storage_offset() != 0:
        return None
    if result.is_conj() or result.is_neg():
        return None
    shape, stride = result.shape, result.stride()
    if not all(type(each) is int for each in (*shape, *stride)):
        return None
    elements = 0 if 0 in shape else 1 + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
    if result.untyped_storage().nbytes() != elements * result.element_size():
        return None
    storage = storage_of(result)
    if any(storage_of(each) == storage for each in tree_leaves(args) if isinstance(each, FakeTensor)):
        return None
    return Layout(shape, stride, result.dtype, result.fake_device, result._is_view())

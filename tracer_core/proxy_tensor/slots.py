"""Slots: which proxy stands for a tensor, a script object, or a symbolic number of the trace.

A tracer keeps one table for each kind. Tensors and objects are held weakly, and a new proxy replaces the old one,
since an in-place operator gives the same tensor a new value. A symbolic number is a value of its own, and keeps its
first proxy: that is the one which depends on the fewest inputs.

The tables are attributes of the tracer with the names that torch uses, because torch's implementations of
higher-order operators read and fill them too.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._library.fake_class_registry import FakeScriptObject
from torch._library.opaque_object import is_opaque_value
from torch.fx import Proxy
from torch.types import py_sym_types
from torch.utils.weak import WeakIdKeyDictionary, _WeakHashRef

from tracer_core.proxy_tensor.numbers import SymbolSlots, not_tracked, set_new_number, slot_of_expression
from tracer_core.proxy_tensor.torch_adapter import keeps_first_slots

SCRIPT_OBJECTS = (torch.ScriptObject, FakeScriptObject)


@dataclass(slots=True)
class ProxyTensor:
    """The proxy of a tensor, and its value where that is known while tracing."""

    proxy: Proxy
    constant: Tensor | None


class _Ref(weakref.ref[Tensor]):
    """A weak reference that knows the key of its tensor."""

    __slots__ = ("key",)

    key: int


class TensorSlots(MutableMapping[Tensor, Any]):
    """Slots of tensors, by identity; a slot disappears with its tensor."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[_Ref, Any]] = {}

    def _forget(self, reference: weakref.ref[Tensor]) -> None:
        entry = self._entries.get(reference.key)  # type: ignore[attr-defined]
        if entry is not None and entry[0] is reference:
            del self._entries[reference.key]

    def get(self, tensor: Tensor, default: Any = None) -> Any:
        entry = self._entries.get(id(tensor))
        # (Ctrl-C may have come while a slot was to be forgotten.)
        return default if entry is None or entry[0]() is not tensor else entry[1]

    def __getitem__(self, tensor: Tensor) -> Any:
        slot = self.get(tensor, self)
        if slot is self:
            raise KeyError("the tensor has no slot")
        return slot

    def __setitem__(self, tensor: Tensor, slot: Any) -> None:
        key = id(tensor)
        reference = _Ref(tensor, self._forget)
        reference.key = key
        self._entries[key] = (reference, slot)

    def __delitem__(self, tensor: Tensor) -> None:
        del self._entries[id(tensor)]

    def __contains__(self, tensor: object) -> bool:
        return isinstance(tensor, Tensor) and self.get(tensor, self) is not self

    def __iter__(self) -> Iterator[Tensor]:
        alive = [reference() for reference, _ in self._entries.values()]
        return iter([tensor for tensor in alive if tensor is not None])

    def __len__(self) -> int:
        return len(self._entries)


def add_slots(tracer: Any) -> None:
    """Give `tracer` its empty tables, and the other state that this package keeps in a tracer."""
    tracer.tensor_tracker = TensorSlots()
    tracer.symnode_tracker = SymbolSlots()
    # Two wrappers of one C++ object are the same script object; of others, each wrapper is its own.
    tracer.script_object_tracker = WeakIdKeyDictionary(dict=None, ref_type=_WeakHashRef)
    tracer.opaque_tracker = WeakIdKeyDictionary()
    tracer._opaque_real_obj_proxy = {}
    tracer.sympy_expr_tracker = {}
    tracer.torch_fn_metadata = None
    tracer.torch_fn_counts = {}
    tracer.enable_thunkify = False


def is_object(value: object) -> bool:
    """Is it a script object, or of a type registered as opaque?"""
    return isinstance(value, SCRIPT_OBJECTS) or is_opaque_value(value)


def set_proxy_slot(value: Any, tracer: Any, proxy: Any) -> None:
    """Let `proxy` stand for `value`: a `ProxyTensor` for a tensor, a proxy for an object, a thunk for a number."""
    if isinstance(value, Tensor):
        if value not in tracer.tensor_tracker or not keeps_first_slots():
            tracer.tensor_tracker[value] = proxy
    elif isinstance(value, py_sym_types):
        if value not in tracer.symnode_tracker:
            set_new_number(value, tracer, proxy)
    elif isinstance(value, torch.ScriptObject):
        tracer.script_object_tracker[value] = proxy
    else:
        tracer.opaque_tracker[value] = _proxy_of_real_object(value, tracer, proxy)


def _proxy_of_real_object(value: Any, tracer: Any, proxy: Proxy) -> Proxy:
    """Return the first proxy of the object that `value` wraps: wrappers of one object share it."""
    if not isinstance(value, FakeScriptObject):
        return proxy
    real = getattr(value, "real_obj", None)
    if real is None:
        return proxy
    first: Proxy = tracer._opaque_real_obj_proxy.setdefault(id(real), proxy)
    return first


_REQUIRED = object()


def get_proxy_slot(
    value: Any, tracer: Any, default: Any = _REQUIRED, transform: Callable[[Any], Any] | None = None
) -> Any:
    """Return what stands for `value` (see `set_proxy_slot`), passed through `transform`; or `default`, as it is."""
    slot: Any
    if isinstance(value, Tensor):
        slot = tracer.tensor_tracker.get(value)
    elif isinstance(value, py_sym_types):
        slot = tracer.symnode_tracker.get(value)
        if slot is None:
            slot = slot_of_expression(value, tracer)
    elif isinstance(value, torch.ScriptObject):
        slot = tracer.script_object_tracker.get(value)
    else:
        slot = tracer.opaque_tracker.get(value)
        if slot is None and isinstance(value, FakeScriptObject):
            slot = tracer._opaque_real_obj_proxy.get(id(value.real_obj))
    if slot is None:
        if default is _REQUIRED:
            raise not_tracked(value)
        return default
    return slot if transform is None else transform(slot)


def has_proxy_slot(value: Any, tracer: Any) -> bool:
    """Does `value` have a slot?"""
    return get_proxy_slot(value, tracer, None) is not None

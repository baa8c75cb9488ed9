"""Functional tensors: torch's wrappers that replace mutations and the views of mutated tensors by pure operators."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._higher_order_ops.effects import _get_effect, has_effects
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode, PythonFunctionalizeAPI


class _Functionalization(FunctionalTensorMode):
    """Torch's mode, but operators with side effects stay as they are. (Torch gives them tokens, by which later passes
    keep their order. The graphs here run in the order in which they were traced.)"""

    supports_higher_order_operators = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if is_effectful(func):
            api: Any = PythonFunctionalizeAPI()
            args, kwargs = api.unwrap_tensors((args, kwargs or {}))
            with api.redispatch_to_next():
                return api.wrap_tensors(func(*args, **kwargs))
        if isinstance(func, HigherOrderOperator):
            return func.python_key_table[FunctionalTensorMode](self, *args, **(kwargs or {}))
        return super().__torch_dispatch__(func, types, args, kwargs)  # type: ignore[no-untyped-call]


def is_effectful(target: Any) -> bool:
    """Return whether the operator has a side effect, for instance raises an error for a matrix without inverse."""
    known = isinstance(target, (OpOverload, HigherOrderOperator))
    return known and _get_effect(target) is not None and has_effects(target)


@contextlib.contextmanager
def functionalizing(fake_mode: FakeTensorMode) -> Iterator[None]:
    """In the block, operations on functional tensors leave no mutation behind, and new tensors are fake."""
    with fake_mode, enable_python_dispatcher(), _Functionalization():
        yield


def wrap(value: Any) -> Any:
    """Return `value`, if it is a tensor, as a functional tensor that is a leaf, or is not, as `value`."""
    if not isinstance(value, torch.Tensor) or value.is_leaf:
        return wrap_leaf(value, isinstance(value, torch.Tensor) and value.requires_grad)
    functional = wrap_leaf(value, False)
    torch._mirror_autograd_meta_to(value, functional)  # type: ignore[attr-defined]
    return functional


def wrap_leaf(value: Any, requires_grad: bool) -> Any:
    """Return `value`, if it is a tensor, as a functional tensor without a history. (Only the wrapper may require a
    gradient: from the tensor inside, views would take that over even where gradients are off.)"""
    if not isinstance(value, torch.Tensor):
        return value
    inside = value.detach() if value.requires_grad else value
    return FunctionalTensor.to_functional(inside).requires_grad_(requires_grad)


def unwrap(value: Any) -> Any:
    """Return the tensor that the functional tensor holds after all mutations."""
    return value.from_functional() if isinstance(value, FunctionalTensor) else value


def storage_of(tensor: torch.Tensor) -> int:
    """Return a number that tensors have in common if they share memory."""
    elem = tensor.elem if isinstance(tensor, FunctionalTensor) else tensor
    number: int = elem.untyped_storage()._cdata
    return number


def is_mutated(tensor: FunctionalTensor) -> bool:
    return torch._functionalize_has_data_mutation(tensor.elem)  # type: ignore[attr-defined, no-any-return]


def is_reshaped(tensor: FunctionalTensor) -> bool:
    """Return whether an operation changed the sizes, the strides or the storage of the tensor itself."""
    elem = tensor.elem
    return bool(torch._functionalize_has_metadata_mutation(elem) or torch._functionalize_was_storage_changed(elem))

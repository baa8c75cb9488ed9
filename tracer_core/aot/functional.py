"""Functional tensors: torch's wrappers that replace mutations and the views of mutated tensors by pure operators."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode

from tracer_core.aot.lowered import CannotLower


@contextlib.contextmanager
def functionalizing(fake_mode: FakeTensorMode) -> Iterator[None]:
    """In the block, operations on functional tensors leave no mutation behind, and new tensors are fake."""
    mode = FunctionalTensorMode()
    with fake_mode, enable_python_dispatcher(), mode:
        yield
    if mode._tokens:
        raise CannotLower("it calls an operator with side effects, whose order must be kept")


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

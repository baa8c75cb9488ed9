"""The memory layout of tensors, read from their fakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch

Number = int | torch.SymInt


def idle_dims(tensor: torch.Tensor) -> list[int]:
    """Return the dimensions whose strides do not affect where elements lie."""
    return [dim for dim, n in enumerate(tensor.shape) if n == 1 or 0 in tensor.shape]


def symbols_of(fake: torch.Tensor) -> list[str]:
    """Return the symbols that describe how a tensor lies in memory."""
    numbers = [*fake.shape]
    if fake.layout is torch.strided:
        numbers += [*fake.stride(), fake.storage_offset()]
    exprs = [n.node.expr for n in numbers if isinstance(n, torch.SymInt)]
    return list(dict.fromkeys(name for expr in exprs for name in sorted(map(str, expr.free_symbols))))


def storage_of(tensor: torch.Tensor) -> int:
    """Return the storage of a tensor's memory; inside transforms, that of the tensor that they wrap."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    cdata: int = tensor.untyped_storage()._cdata
    return cdata


def overlap_refused(written: torch.Tensor, others: Sequence[torch.Tensor]) -> bool:
    """Return whether most operations refuse to write into this tensor because of its memory layout, which fakes
    allow: an element of it is in several places, or it partly overlaps one of the tensors that are read."""
    if any(
        type(stride) is int and stride == 0 and n != 1
        for n, stride in zip(written.shape, written.stride(), strict=True)
    ):
        return True
    return any(_lie_partly_over(written, other) for other in others)


def _lie_partly_over(a: torch.Tensor, b: torch.Tensor) -> bool:
    if storage_of(a) != storage_of(b) or a.numel() == 0 or b.numel() == 0:
        return False
    if not (_is_dense(a) and _is_dense(b)):
        return False
    start_a, start_b = (t.storage_offset() * t.element_size() for t in (a, b))
    if start_a == start_b and a.numel() == b.numel() and a.stride() == b.stride():
        return False
    end_a, end_b = start_a + a.numel() * a.element_size(), start_b + b.numel() * b.element_size()
    return bool(start_a < end_b) and bool(start_b < end_a)


def _is_dense(tensor: torch.Tensor) -> bool:
    return torch.ops.aten.is_non_overlapping_and_dense.default(tensor)  # type: ignore[no-any-return]

"""Check in a node whether NumPy would give a RuntimeWarning where torch gives none.

A check that fails raises, which ends the graph: plain Python then runs the same from the start, and NumPy warns, or
raises, or calls the function set by `np.seterr`, at the user's line. Checks may find too much, never too little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from tracer_core.errors import NumpyWarns

WOULD_WARN = "NumPy would warn here"

Check = Callable[[tuple[Any, ...], torch.Tensor], Any]
"""A function that tells, as a tensor with one bool, whether NumPy may warn about a result of these arguments."""


def elementwise(args: tuple[Any, ...], result: torch.Tensor) -> Any:
    """Check whether an element is NaN though no operand is, or infinite though all operands are finite."""
    nan, inf = result.isnan(), result.isinf()
    for value in args:
        if isinstance(value, torch.Tensor):
            nan = nan & ~value.isnan()
            inf = inf & value.isfinite()
        elif isinstance(value, float) and value - value != 0:
            inf = torch.zeros_like(inf)
            nan = nan if value == value else inf
    return (nan | inf).any()


def gathering(args: tuple[Any, ...], result: torch.Tensor) -> Any:
    """Check whether any element of the result is not finite."""
    return ~result.isfinite().all()


def cast(args: tuple[Any, ...], result: torch.Tensor) -> Any:
    """Check whether a float converted to an integer lies outside its range, or one converted to a float is no longer
    finite."""
    given = args[0]
    if result.dtype.is_floating_point:
        return (given.isfinite() & ~result.isfinite()).any()
    bound = 2.0 ** (torch.iinfo(result.dtype).bits - 1)
    return ~(given.abs() < bound).all()


def of_integers(args: tuple[Any, ...], result: torch.Tensor) -> Any:
    """Check whether an integer scalar is outside its range or close to it, by a bound in double precision."""
    bound = 2.0 ** (torch.iinfo(result.dtype).bits - 1) * (1 - 1e-9)
    sizes = [torch.as_tensor(value).abs().double() for value in args]
    most = sizes[0]
    for size in sizes[1:]:
        most = torch.maximum(torch.maximum(most * size, most + size), torch.maximum(most, size))
    return most >= min(bound, 2.0**62)


def checked(function: Callable[..., Any], check: Check) -> Callable[..., Any]:
    """Return `function`, of tensors, with the check of its result.

    Raises:
        NumpyWarns: the check failed.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        tensors = list(_tensors(args[0] if result is None else result))
        if torch._C._len_torch_dispatch_stack() or any(type(tensor) is not torch.Tensor for tensor in tensors):
            for tensor in tensors:
                torch._assert_async(~check(args, tensor), WOULD_WARN)
        elif any(_looks_wrong(check, tensor) and bool(check(args, tensor)) for tensor in tensors):
            raise NumpyWarns(WOULD_WARN)
        return result

    return call


def _looks_wrong(check: Check, result: torch.Tensor) -> bool:
    """Return whether the check can fail: testing the smallest and the largest element (NaN is both) is the
    cheapest."""
    if check in (elementwise, gathering) and result.numel() and not result.is_complex():
        least, most = torch.aminmax(result.detach())
        return not bool((most - least).isfinite())
    return True


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)

"""Every operator of which torch's own tests know how to call it: OpInfo, float32, a few samples each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.testing._internal.common_methods_invocations import op_db

from tests.proxy_tensor.cases import Built, Case
from tests.proxy_tensor.tracing import seed

DEVICE, DTYPE = "cpu", torch.float32


@cache
def infos() -> dict[str, Any]:
    """The operators that take float32, by name and variant."""
    return {info.full_name: info for info in op_db if info.supports_dtype(DTYPE, DEVICE)}


def cases_of(name: str, samples: int) -> Iterator[Case]:
    """The operator with each of a few samples, spread over all that there are. Tensors are the traced arguments.
    Of several samples, the first is another case in which all is traced, numbers too."""
    seed()
    found = list(islice(infos()[name].sample_inputs(DEVICE, DTYPE, requires_grad=False), 100))
    chosen = range(0, len(found), max(1, len(found) // samples))[:samples]
    for number in chosen:
        yield Case(f"operators.{name}:{number}", built(infos()[name].op, found[number], is_tensor))
    if found and samples > 1:
        yield Case(f"operators.{name}:0, numbers too", built(infos()[name].op, found[0], anything))


def copied(called: Any) -> Any:
    """A copy that shares memory within as the original does. (Only tensors with strides can be copied so.)"""
    others = [leaf for leaf in pytree.tree_leaves(called) if is_tensor(leaf) and leaf.layout is not torch.strided]
    return copy.deepcopy(called, {id(leaf): leaf.clone() for leaf in others})


def is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor)


def anything(leaf: Any) -> bool:
    return True


def built(operator: Callable[..., Any], sample: Any, is_traced: Callable[[Any], bool]) -> Callable[[], Built]:
    def build() -> Built:
        called = copied(((sample.input, *sample.args), sample.kwargs))
        leaves, structure = pytree.tree_flatten(called)

        def call(*traced: Any) -> Any:
            rest = iter(traced)
            args, kwargs = pytree.tree_unflatten(
                [next(rest) if is_traced(leaf) else leaf for leaf in leaves], structure
            )
            return operator(*args, **kwargs)

        return call, tuple(leaf for leaf in leaves if is_traced(leaf))

    return build

"""Calls of functions with containers, from code that has only their leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.utils._pytree as pytree


class FlatCall:
    """Calls a function with arguments put together from their leaves; returns the leaves of its result. `result` is
    how they are put together, which stays as it was in the first call."""

    def __init__(self, function: Callable[..., Any], arguments: pytree.TreeSpec) -> None:
        self.function = function
        self.arguments = arguments
        self.result: pytree.TreeSpec | None = None
        self.__name__ = self.__qualname__ = function.__name__
        self.__module__ = function.__module__

    def __call__(self, *leaves: Any) -> list[Any]:
        args, kwargs = pytree.tree_unflatten(leaves, self.arguments)
        results, spec = pytree.tree_flatten(self.function(*args, **kwargs))
        if self.result is None:
            self.result = spec
        elif self.result != spec:
            raise RuntimeError(f"{self.__name__} returned other containers than when it was traced")
        return results

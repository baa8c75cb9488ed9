"""Arithmetic on symbolic numbers: recorded when it is computed, or, lazily, when its result is used."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tracer_core.proxy_tensor.numbers import record


class ProxySymDispatchMode:
    """Record functions of symbolic numbers in the graph of `tracer`."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.enable_tracing = True

    @contextlib.contextmanager
    def enable(self, enabled: bool) -> Iterator[None]:
        """Record inside the block, or don't."""
        before, self.enable_tracing = self.enable_tracing, enabled
        try:
            yield
        finally:
            self.enable_tracing = before

    def __sym_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute `func(*args)`, and record it unless the result is a plain number. `x * 1` is `x`."""
        if kwargs:
            raise TypeError(f"functions of symbolic numbers take no keywords, but {func} got {sorted(kwargs)}")
        if not self.enable_tracing:
            return func(*args)
        if func is operator.mul:
            # By type first: to compare a symbolic number with one would add a guard.
            if isinstance(args[1], int) and args[1] == 1:
                return args[0]
            if isinstance(args[0], int) and args[0] == 1:
                return args[1]
        result = func(*args)
        record(self.tracer, func, args, result)
        return result

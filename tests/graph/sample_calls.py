"""Calls of torch's functions and operators with arguments that fit, from torch's own table for its tests."""

from __future__ import annotations

import contextlib
import itertools
import logging
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch.utils._pytree import tree_map


@dataclass
class SampleCall:
    """One call, made with new arguments each time."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def copies(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tree_map(_copy, self.args), tree_map(_copy, self.kwargs)


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def sample_calls(dtypes: tuple[torch.dtype, ...], each: int) -> Iterator[SampleCall]:
    """For every entry of torch's table, and its form in place, `each` calls of the first of the dtypes it has."""
    with _as_in_torchs_tests():
        from torch.testing._internal.common_methods_invocations import op_db

        for entry in op_db:
            dtype = next((dtype for dtype in dtypes if dtype in entry.dtypes), None)
            if dtype is None or entry.name.startswith("jiterator"):
                continue
            for sample in itertools.islice(entry.sample_inputs_func(entry, "cpu", dtype, False), each):
                args, kwargs = (sample.input, *sample.args), sample.kwargs
                yield SampleCall(entry.name, entry.op, args, kwargs)
                if entry.inplace_variant is not None:
                    yield SampleCall(f"{entry.name}, in place", entry.inplace_variant, args, kwargs)


@contextlib.contextmanager
def _as_in_torchs_tests() -> Iterator[None]:
    """torch's tests use a library that need not be here, put generators back, and log what fakes refuse."""
    expecttest = types.ModuleType("expecttest")
    expecttest.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    disabled = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with (
            mock.patch.dict(sys.modules, {} if "expecttest" in sys.modules else {"expecttest": expecttest}),
            mock.patch.object(torch.testing._utils, "freeze_rng_state", contextlib.nullcontext),
        ):
            yield
    finally:
        logging.disable(disabled)

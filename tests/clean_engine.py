"""For folders whose tests compile: each starts and ends with nothing compiled and the hook off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch._C._dynamo import eval_frame

import tracer_core


@pytest.fixture(autouse=True)
def nothing_compiled() -> Iterator[None]:
    tracer_core.reset()
    assert eval_frame.get_eval_frame_callback() is None
    yield
    assert eval_frame.get_eval_frame_callback() is None
    tracer_core.reset()


@pytest.fixture
def optimizers_unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once `torch.compile` is used, it marks parts of torch's optimizers as not to be compiled, for good. Here they
    are as in a process that has not used it."""
    for cls in vars(torch.optim).values():
        for name, part in list(vars(cls).items()) if isinstance(cls, type) else []:
            unmarked = getattr(part, "_torchdynamo_orig_callable", None)
            if unmarked is not None:
                monkeypatch.setattr(cls, name, unmarked)

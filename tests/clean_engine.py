"""For folders whose tests compile: each starts and ends with nothing compiled and the hook off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from torch._C._dynamo import eval_frame

import tracer_core


@pytest.fixture(autouse=True)
def nothing_compiled() -> Iterator[None]:
    tracer_core.reset()
    assert eval_frame.get_eval_frame_callback() is None
    yield
    assert eval_frame.get_eval_frame_callback() is None
    tracer_core.reset()

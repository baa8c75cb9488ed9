"""What holds for every test of higher-order operators."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _settings_are_left_alone() -> Iterator[None]:
    before = _settings()
    yield
    after = _settings()
    torch.set_default_dtype(torch.float32)
    torch.set_autocast_enabled("cpu", False)
    torch.set_grad_enabled(True)
    assert after == before


def _settings() -> tuple[object, ...]:
    return torch.get_default_dtype(), torch.is_autocast_enabled("cpu"), torch.is_grad_enabled()

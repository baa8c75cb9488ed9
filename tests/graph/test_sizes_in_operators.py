"""Operators of which torch's kernels in C++ read sizes as numbers: symbols stay symbols, as with torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import tracer_core
from tests.back_ends import Graphs


def image(size: int) -> torch.Tensor:
    return torch.arange(6.0 * size * size).reshape(2, 3, size, size)


CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "nearest": lambda x: F.interpolate(x, scale_factor=2.0),
    "nearest, to a size": lambda x: F.interpolate(x, size=(7, 7)),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
    "bilinear, to the size of another": lambda x: F.interpolate(x, size=F.pad(x, (1, 1, 1, 1)).shape[-2:]),
    "bicubic": lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"),
    "unfold": lambda x: F.unfold(x, 2),
    "fold": lambda x: F.fold(F.unfold(x, 2), x.shape[-2:], 2),
    "rfft": torch.fft.rfft,
    "irfft": lambda x: torch.fft.irfft(torch.fft.rfft(x)),
    "stft": lambda x: torch.stft(x.flatten(), 4, window=torch.ones(4), return_complex=True),
    "local_response_norm": lambda x: F.local_response_norm(x, 2),
    "pad_sequence": lambda x: torch.nn.utils.rnn.pad_sequence([x[0, 0], x[1, 1, 1:]]),
}


@pytest.mark.row("B8")
@pytest.mark.parametrize("name", CALLS)
def test_one_version_serves_all_sizes(name: str) -> None:
    call = CALLS[name]

    def function(x: torch.Tensor) -> Any:
        return call(x)

    def compilations(compile_: Any) -> int:
        backend = Graphs()
        compiled = compile_(function, backend=backend)
        for size in (3, 4, 5, 6):
            torch.testing.assert_close(compiled(image(size)), call(image(size)))
        return len(backend.graphs)

    torch._dynamo.reset()
    assert compilations(tracer_core.compile) == compilations(torch.compile)

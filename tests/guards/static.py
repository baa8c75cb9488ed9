"""The guard on a tensor whose sizes and strides are those it has."""

from __future__ import annotations

import torch

from tracer_core.guards import Guard, make
from tracer_core.sources import Source


def static_tensor(source: Source, value: torch.Tensor) -> Guard:
    strided = value.layout == torch.strided
    return make.tensor(source, value, tuple(value.shape), tuple(value.stride()) if strided else None)

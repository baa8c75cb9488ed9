"""What a model of the transformers library returns."""

from __future__ import annotations

from typing import Any

import torch


def tensors(result: Any) -> list[torch.Tensor]:
    return [part for part in result.to_tuple() if isinstance(part, torch.Tensor)]

"""The fake mode of a trace: that of its arguments, or a new one."""

from __future__ import annotations

from typing import Any

from torch._functorch import config as functorch_config
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from tracer_core.proxy_tensor.fake_cache import speed_up_cache


def fake_mode_for(args: tuple[Any, ...], tracing_mode: str, allow_non_fake_inputs: bool) -> FakeTensorMode | None:
    """Return the fake mode for a trace with these arguments; None for one of real tensors."""
    if tracing_mode == "real":
        return None
    found = detect_fake_mode(args)
    symbolic = tracing_mode == "symbolic"
    if found is not None:
        if symbolic and found.shape_env is None:
            raise ValueError("the arguments are of a fake mode without a shape environment: `symbolic` needs one")
        return found
    with functorch_config.patch(fake_tensor_allow_unsafe_data_ptr_access=False):
        mode = FakeTensorMode(
            allow_fallback_kernels=not symbolic,
            allow_non_fake_inputs=allow_non_fake_inputs,
            shape_env=ShapeEnv(),
            static_shapes=None if symbolic else True,
        )
    if symbolic:
        speed_up_cache(mode)
    return mode

"""The fake mode of a trace: that of its arguments, or a new one."""

from __future__ import annotations

from typing import Any

from torch._functorch import config as functorch_config
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv


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
        _check_each_kind_once(mode)
    return mode


def _check_each_kind_once(mode: FakeTensorMode) -> None:
    """Let the mode check once for each kind of tensor that its cache can rebuild it.

    The mode rebuilds the result of each new call from what it is about to cache, and compares nothing but the
    dispatch keys. Those do not depend on sizes, and to rebuild a tensor of symbolic sizes takes as long as to compute
    it.
    """
    make_entry, rebuild = mode._make_cache_entry, mode._output_from_cache_entry
    env = mode.shape_env
    checked: dict[Any, Any] = {}
    checking = False

    def make_cache_entry(*args: Any) -> Any:
        nonlocal checking
        checking = True
        try:
            return make_entry(*args)
        finally:
            checking = False

    def output_from_cache_entry(state: Any, entry: Any, key: Any, func: Any, args: Any) -> Any:
        # (With unbacked symbols, the check is also whether rebuilding needs to know one.)
        if not checking or env is None or env.unbacked_symint_counter or env.unbacked_symfloat_counter:
            return rebuild(state, entry, key, func, args)
        info = entry.output_infos[0]
        of = info.metadata
        kind = (
            *(of.dtype, of.layout, of.device, of.requires_grad),
            *(of.is_conj, of.is_neg, of.is_inference, info.view_idx is None),
        )
        if kind not in checked:
            checked[kind] = rebuild(state, entry, key, func, args)
        return checked[kind]

    mode._make_cache_entry = make_cache_entry  # type: ignore[assignment, method-assign]
    mode._output_from_cache_entry = output_from_cache_entry  # type: ignore[method-assign]

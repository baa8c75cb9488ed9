"""Torch's settings that a graph depends on, each with a text and a cheap way to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack


@dataclass(frozen=True, slots=True)
class Property:
    """`text` names it for people, `read` returns its present value (compared with `==`), `advice` says how a user
    keeps it the same, `write` restores a value (None if leaving a block does that). Every graph depends on those with
    `always`; on the others only if the program reads them."""

    text: str
    read: Callable[[], Any]
    advice: str
    write: Callable[[Any], object] | None = None
    always: bool = True


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _set_deterministic(value: tuple[bool, bool]) -> None:
    torch.use_deterministic_algorithms(value[0], warn_only=value[1])


_ACCELERATOR = torch.accelerator.current_accelerator()
_AUTOCAST_DEVICES = tuple(dict.fromkeys(("cpu", "cuda", *([_ACCELERATOR.type] if _ACCELERATOR is not None else []))))


def _autocast() -> tuple[tuple[str, bool, torch.dtype], ...]:
    """Return (device, enabled, dtype) for each device."""
    enabled, dtype = torch.is_autocast_enabled, torch.get_autocast_dtype
    return tuple([(device, enabled(device), dtype(device)) for device in _AUTOCAST_DEVICES])


def _set_autocast(value: tuple[tuple[str, bool, torch.dtype], ...]) -> None:
    for device, enabled, dtype in value:
        torch.set_autocast_enabled(device, enabled)
        torch.set_autocast_dtype(device, dtype)


def _torch_function_modes() -> tuple[type, ...]:
    """Return the classes of the active modes, the bottom one first."""
    depth = torch._C._len_torch_function_stack()
    return tuple(type(torch._C._get_function_stack_at(i)) for i in range(depth)) if depth else ()


def programs_mode() -> Any:
    """Return the innermost active mode to which torch passes each call, or each operation, and which may change its
    result; None if there is none. (Default devices are modes as well, but their effect is known.)"""
    if torch._C._len_torch_dispatch_stack():
        return _get_current_dispatch_mode_stack()[-1]
    for place in reversed(range(torch._C._len_torch_function_stack())):
        mode = torch._C._get_function_stack_at(place)
        if type(mode) is not DeviceContext:
            return mode
    return None


def _functorch_depth() -> int:
    top = torch._C._functorch.peek_interpreter_stack()
    return 0 if top is None else top.level()


def _default_device() -> torch.device:
    return torch.get_default_device() if torch._C._len_torch_function_stack() else _CPU


_CPU = torch.device("cpu")


def _set_device() -> torch.device | None:
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return None if context is None else context.device


_FP32 = (
    ("generic", "all"), ("cuda", "all"), ("cuda", "conv"), ("cuda", "rnn"), ("cuda", "matmul"),
    ("mkldnn", "all"), ("mkldnn", "conv"), ("mkldnn", "rnn"), ("mkldnn", "matmul"),
)  # fmt: skip


def _fp32_precision() -> tuple[tuple[str, str, str], ...]:
    return tuple((*place, torch._C._get_fp32_precision_getter(*place)) for place in _FP32)


def _set_fp32_precision(value: tuple[tuple[str, str, str], ...]) -> None:
    for backend, operation, precision in value:
        torch._C._set_fp32_precision_setter(backend, operation, precision)


def _set_saved_tensors_hooks(disabled_why: str | None) -> None:
    if disabled_why is None:
        torch._C._autograd._saved_tensors_hooks_enable()
    else:
        torch._C._autograd._saved_tensors_hooks_disable(disabled_why)


PROPERTIES: dict[str, Property] = {
    # These come first: reading others may be a call that a mode sees.
    "torch_function_modes": Property(
        "active TorchFunctionModes",
        _torch_function_modes,
        "call the function always inside, or always outside, the same TorchFunctionMode blocks",
    ),
    "torch_dispatch_modes": Property(
        "number of active TorchDispatchModes",
        torch._C._len_torch_dispatch_stack,
        "call the function always inside, or always outside, the same TorchDispatchMode blocks",
    ),
    "grad_mode": Property(
        "torch.is_grad_enabled()",
        torch.is_grad_enabled,
        "call the function always inside, or always outside, torch.no_grad()",
        torch._C._set_grad_enabled,
    ),
    "inference_mode": Property(
        "torch.is_inference_mode_enabled()",
        torch.is_inference_mode_enabled,
        "call the function always inside, or always outside, torch.inference_mode()",
    ),
    "deterministic": Property(
        "deterministic algorithms (enabled, warn only)",
        _deterministic,
        "call `torch.use_deterministic_algorithms()` once, before the first call",
        _set_deterministic,
    ),
    "default_dtype": Property(
        "torch.get_default_dtype()",
        torch.get_default_dtype,
        "call `torch.set_default_dtype()` once, before the first call",
        torch.set_default_dtype,
    ),
    "default_device": Property(
        "torch.get_default_device()",
        _default_device,
        "call `torch.set_default_device()` once, before the first call",
    ),
    "autocast": Property(
        "autocast (device, enabled, dtype)",
        _autocast,
        "call the function always inside, or always outside, the same torch.autocast()",
        _set_autocast,
    ),
    "autocast_cache": Property(
        "torch.is_autocast_cache_enabled()",
        torch.is_autocast_cache_enabled,
        "keep the same cache_enabled= for torch.autocast()",
        torch.set_autocast_cache_enabled,
    ),
    "torch_function": Property(
        "torch function overrides enabled",
        torch._C._is_torch_function_enabled,
        "call the function always inside, or always outside, torch._C.DisableTorchFunctionSubclass()",
    ),
    "functorch": Property(
        "depth of torch.func transforms",
        _functorch_depth,
        "call the function always inside, or always outside, the same torch.func transforms",
    ),
    "anomaly": Property(
        "torch.autograd's anomaly detection (enabled, checks for NaN)",
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        "call the function always inside, or always outside, torch.autograd.detect_anomaly()",
        lambda value: torch.set_anomaly_enabled(*value),
        always=False,
    ),
    "device_context": Property(
        "the argument of torch.set_default_device()",
        _set_device,
        "call `torch.set_default_device()` once, before the first call",
        torch.set_default_device,
        always=False,
    ),
    "fp32_precision": Property(
        "the precisions of float32 by back end and operation",
        _fp32_precision,
        "set them once, before the first call",
        _set_fp32_precision,
        always=False,
    ),
    "sdp_priority_order": Property(
        "the order in which attention's back ends are tried",
        lambda: tuple(torch._C._get_sdp_priority_order()),
        "set it once, before the first call",
        lambda order: torch._C._set_sdp_priority_order(list(order)),
        always=False,
    ),
    "saved_tensors_hooks": Property(
        "why hooks on saved tensors are disabled",
        torch._C._autograd._saved_tensors_hooks_get_disabled_error_message,
        "call the function always inside, or always outside, torch.autograd.graph.disable_saved_tensors_hooks()",
        _set_saved_tensors_hooks,
        always=False,
    ),
    "jit_tracing": Property(
        "torch.jit.is_tracing()",
        torch._C._is_tracing,
        "call the function always inside, or always outside, torch.jit.trace()",
        always=False,
    ),
    "exporting": Property(
        "whether a model is being exported (by torch.export, to ONNX)",
        lambda: (torch.compiler.is_exporting(), torch.onnx.is_in_onnx_export()),
        "call the function always while a model is exported, or never",
        always=False,
    ),
    "threads": Property(
        "torch.get_num_threads()",
        torch.get_num_threads,
        "call `torch.set_num_threads()` once, before the first call",
    ),
    "interop_threads": Property(
        "torch.get_num_interop_threads()",
        torch.get_num_interop_threads,
        "call `torch.set_num_interop_threads()` once, before the first call",
        always=False,
    ),
    "cuda_initialized": Property(
        "torch.cuda.is_initialized()",
        torch.cuda.is_initialized,
        "call `torch.cuda.init()` once, before the first call",
        always=False,
    ),
}


def _flag(name: str, getter: Any, setter: Any) -> None:
    """Add a setting that one function reads and another sets."""
    PROPERTIES[name] = Property(
        f"torch's setting {name}", getter, "set it once, before the first call", setter, always=False
    )
    GETTERS[getter] = name
    SETTERS[setter] = name


# By function: the setting that it returns, and the setting that it sets.
GETTERS: dict[Any, str] = {
    torch.is_grad_enabled: "grad_mode",
    torch.is_inference_mode_enabled: "inference_mode",
    torch.are_deterministic_algorithms_enabled: "deterministic",
    torch._C._get_deterministic_algorithms: "deterministic",
    torch._C._get_deterministic_algorithms_warn_only: "deterministic",
    torch.is_deterministic_algorithms_warn_only_enabled: "deterministic",
    torch.get_default_dtype: "default_dtype",
    torch.get_default_device: "default_device",
    torch.is_autocast_enabled: "autocast",
    torch.get_autocast_dtype: "autocast",
    torch.is_autocast_cache_enabled: "autocast_cache",
    torch._C._is_torch_function_enabled: "torch_function",
    torch.is_anomaly_enabled: "anomaly",
    torch.is_anomaly_check_nan_enabled: "anomaly",
    torch._C._autograd._saved_tensors_hooks_get_disabled_error_message: "saved_tensors_hooks",
    torch._C._get_fp32_precision_getter: "fp32_precision",
    torch._C._get_sdp_priority_order: "sdp_priority_order",
    torch.get_num_threads: "threads",
    torch.get_num_interop_threads: "interop_threads",
    torch.cuda.is_initialized: "cuda_initialized",
    torch._C._are_functorch_transforms_active: "functorch",
    torch.jit.is_tracing: "jit_tracing",
    torch._C._is_tracing: "jit_tracing",
    torch._C._get_tracing_state: "jit_tracing",
    torch.compiler.is_exporting: "exporting",
    torch.onnx.is_in_onnx_export: "exporting",
}
SETTERS: dict[Any, str] = {
    torch._C._set_grad_enabled: "grad_mode",
    torch._C._set_deterministic_algorithms: "deterministic",
    torch._C._set_default_dtype: "default_dtype",
    torch.set_default_dtype: "default_dtype",
    torch.set_autocast_enabled: "autocast",
    torch.set_autocast_dtype: "autocast",
    torch.set_autocast_cache_enabled: "autocast_cache",
    torch.set_anomaly_enabled: "anomaly",
    torch._C._set_sdp_priority_order: "sdp_priority_order",
    torch._C._set_fp32_precision_setter: "fp32_precision",
    torch._C._autograd._saved_tensors_hooks_disable: "saved_tensors_hooks",
    torch._C._autograd._saved_tensors_hooks_enable: "saved_tensors_hooks",
}

for _name in (
    "cudnn_enabled cudnn_benchmark cudnn_deterministic cudnn_allow_tf32 cudnn_depthwise_kernel "
    "mkldnn_enabled mkldnn_deterministic onednn_allow_tf32 cublas_allow_tf32 nnpack_enabled "
    "cublas_allow_fp16_accumulation math_sdp_allow_fp16_bf16_reduction float32_matmul_precision "
    "deterministic_fill_uninitialized_memory graph_executor_optimize qengine warnAlways"
).split():
    _flag(_name, getattr(torch._C, f"_get_{_name}"), getattr(torch._C, f"_set_{_name}"))
for _name in "flash mem_efficient math cudnn overrideable fa3".split():
    _flag(f"{_name}_sdp", getattr(torch._C, f"_get_{_name}_sdp_enabled"), getattr(torch._C, f"_set_sdp_use_{_name}"))
for _name in ("multithreading_enabled", "view_replay_enabled", "fwd_grad_enabled"):
    _flag(_name, getattr(torch._C, f"_is_{_name}"), getattr(torch._C, f"_set_{_name}"))
_flag(
    "inplace_requires_grad_allowed",
    torch._C._functorch.get_inplace_requires_grad_allowed,
    torch._C._functorch.set_inplace_requires_grad_allowed,
)

ALWAYS = tuple(_name for _name, _property in PROPERTIES.items() if _property.always)
ON_DEMAND = tuple(_name for _name, _property in PROPERTIES.items() if not _property.always)

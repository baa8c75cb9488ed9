"""Torch's settings in the traced program: when read, they are constants; when changed, they change in the graph as
well.

Both tables are in `tracer_core.host.global_state`. A change becomes a node and takes effect at once, so that what
follows is traced under it; `tracer_core.graph.settings` puts it back.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import attention
from torch.nn.attention import SDPBackend

from tracer_core.guards import make
from tracer_core.host.global_state import GETTERS, PROPERTIES, SETTERS
from tracer_core.sources import Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.core.base import VariableTracker, all_constant
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import builds, handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real


def _reads_setting(function: Any, setting: str) -> None:
    @handles(function)
    def answer(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
        values = [*args, *kwargs.values()]
        if not all_constant(values):
            return None
        if not PROPERTIES[setting].always:
            state = tx.output.settings
            state.touch(setting)
            tx.guard(make.global_state_is(setting, state.start[setting]))
        try:
            value = function(
                *(arg.value() for arg in args), **{name: value.value() for name, value in kwargs.items()}
            )
        except (TypeError, ValueError, RuntimeError) as error:
            raise_real(tx, error)
        return tx.constant(value)

    answer.__qualname__ = f"torch_settings.question.{setting}"


def change_setting(tx: Tracing, function: Any, setting: str, *args: Any, **kwargs: Any) -> None:
    """Call `function`, which changes `setting`, in the graph and in the trace. Raises what it raises."""
    tx.output.settings.touch(setting)
    function(*args, **kwargs)
    tx.output.add_settings_node((setting,), function, args, kwargs)


def _command(function: Any, setting: str, called: Any = None) -> None:
    """Register that a call of `called` (if it is another function) calls `function`, which changes `setting`."""

    @handles(called or function)
    def change(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
        values = [*args, *kwargs.values()]
        if not all_constant(values):
            return None
        plain = [arg.value() for arg in args]
        try:
            change_setting(tx, function, setting, *plain, **{name: value.value() for name, value in kwargs.items()})
        except (TypeError, ValueError, RuntimeError) as error:
            raise_real(tx, error)
        return NONE

    change.__qualname__ = f"torch_settings.command.{setting}"


for _function, _setting in GETTERS.items():
    _reads_setting(_function, _setting)
for _function, _setting in SETTERS.items():
    _command(_function, _setting)
# It informs torch's own compiler as well, as does the function that restores the setting.
_command(torch._C._set_deterministic_algorithms, "deterministic", torch.use_deterministic_algorithms)


@builds(SDPBackend)
def _sdp_backend(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.identity(source, value))
    return ConstantVariable(value, source)


@handles(attention._sdpa_kernel)
def sdpa_kernel(
    tx: Tracing, backends: VariableTracker, set_priority: VariableTracker = ConstantVariable(False)
) -> VariableTracker | None:
    """Enter the back ends by name, since generated code cannot write them."""
    items = backends.items_or_none(tx)
    if items is None or not all_constant([*items, set_priority]):
        return None
    chosen = [item.realize().value() for item in items]
    tx.output.settings.touch("flash_sdp")
    attention._sdpa_kernel(chosen, set_priority.value())
    add = tx.output.add_node
    nodes = [add("call_function", attention._backend_from_string, (each.name,), {}, None) for each in chosen]
    add("call_function", attention._sdpa_kernel, (nodes, set_priority.value()), {}, None)
    return NONE


for _function in (
    torch.cuda.is_available,
    torch.cuda.device_count,
    torch._C._is_autocast_available,
    torch._C._get_privateuse1_backend_name,
    torch._C._accelerator_getAccelerator,
    torch._C._mps_is_available,
    torch._C._mtia_isBuilt,
    torch._C._get_cpu_capability,
    torch._C._supported_qengines,
    torch._C._is_flash_attention_available,
    torch._C._is_ck_sdpa_available,
):
    # They stay the same while the process lives.
    @handles(_function)
    def machine(tx: Tracing, *args: VariableTracker, function: Any = _function) -> VariableTracker | None:
        return tx.constant(function(*(arg.value() for arg in args))) if all_constant(list(args)) else None

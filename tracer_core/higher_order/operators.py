"""Operators of `torch.ops.higher_order` that call no function of the program: each is a node like any other."""

from __future__ import annotations

from typing import Any

from torch._export.wrappers import _export_tracepoint
from torch._higher_order_ops.auto_functionalize import auto_functionalized, auto_functionalized_v2
from torch._higher_order_ops.inline_asm_elementwise import inline_asm_elementwise
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.print import print as print_operator
from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import call_in_graph


def _register(operator: Any) -> None:
    @handles(operator)
    def node(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        return call_in_graph(tx, "call_function", operator, list(args), kwargs)

    node.__qualname__ = f"operators.{operator.name()}"


for _operator in (
    out_dtype, auto_functionalized, auto_functionalized_v2, print_operator, run_with_rng_state,
    run_and_save_rng_state, _export_tracepoint, inline_asm_elementwise,
):  # fmt: skip
    _register(_operator)

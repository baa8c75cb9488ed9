"""Hooks into autograd that are not traced: those of modules, of tensors and of what is saved for the backward pass.
Each breaks the graph by its name."""

from __future__ import annotations

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.hooks import RemovableHandle

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.nn_module import NNModuleVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


@handles(torch.nn.Module._get_backward_hooks, NNModuleVariable)
@handles(torch.nn.Module._get_backward_pre_hooks, NNModuleVariable)
def backward_hooks(tx: Tracing, module: NNModuleVariable) -> VariableTracker:
    """Break at the call of a module that has backward hooks, which the call runs."""
    raise Unsupported("backward-hooks", cls=module.cls.__qualname__)


@handles(RemovableHandle)
def registered(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    """Break where the handle of a new hook is created, which functions that register hooks return."""
    raise Unsupported("hook-registered", name=tx.frame.code.co_qualname)


@handles(saved_tensors_hooks.__enter__, UserDefinedObjectVariable)
def enter(tx: Tracing, manager: UserDefinedObjectVariable) -> VariableTracker:
    raise Unsupported("saved-tensors-hooks", does="enters", name=_manager(manager))


@handles(saved_tensors_hooks.__exit__, UserDefinedObjectVariable)
def leave(tx: Tracing, manager: UserDefinedObjectVariable, *exc: VariableTracker) -> VariableTracker:
    raise Unsupported("saved-tensors-hooks", does="leaves", name=_manager(manager))


def _manager(manager: UserDefinedObjectVariable) -> str:
    ours = manager.cls.__module__ != saved_tensors_hooks.__module__
    return manager.cls.__qualname__ if ours else f"torch.autograd.graph.{manager.cls.__qualname__}"

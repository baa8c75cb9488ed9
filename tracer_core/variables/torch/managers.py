"""Torch's context managers that a graph enters and leaves by a pair of nodes, or that it does not need.

One entry in `GRAPH_MANAGERS` per class describes how. A manager is entered for real while the program is traced, and
left again when the attempt is over (`tracer_core.graph.settings`). Managers that only change settings need no entry:
their Python is inlined, and the settings are nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.autograd.profiler import record_function

from tracer_core.errors import Unsupported
from tracer_core.graph.settings import Entered
from tracer_core.guards import make
from tracer_core.sources import Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import builds, handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


@dataclass(frozen=True, slots=True)
class GraphManager:
    """How a class of context managers is written in the graph.

    Args:
        attributes: those of the manager that `enter` is called with, in order.
        enter, leave: the functions of the two nodes; `leave` takes what `enter` gave. None: nothing to do.
        in_graph: whether there are nodes; else the trace alone enters it.
        settings: what it changes.
        keeps: attributes that entering sets, and what they are of the attributes above before it is entered.
        gives_itself: whether `__enter__` returns the manager.
        left: what `__exit__` returns.
        may_stay: see `Entered`.
    """

    attributes: tuple[str, ...] = ()
    enter: Callable[..., Any] | None = None
    leave: Callable[[Any], object] | None = None
    settings: tuple[str, ...] = ()
    keeps: dict[str, Callable[..., Any]] = field(default_factory=dict)
    gives_itself: bool = False
    left: Any = None
    may_stay: bool = False
    in_graph: bool = True


def _entered(cls: Any) -> Any:
    manager = cls()
    manager.__enter__()
    return manager


def _leave_plainly(manager: Any) -> None:
    manager.__exit__(None, None, None)


_MADE_IN_C: tuple[Any, ...] = (torch._C.DisableTorchFunctionSubclass, torch._C.DisableTorchFunction)

GRAPH_MANAGERS: dict[Any, GraphManager] = {
    torch.autocast: GraphManager(
        attributes=("device", "fast_dtype", "_enabled", "_cache_enabled"),
        enter=torch.amp.autocast_mode._enter_autocast,
        leave=torch.amp.autocast_mode._exit_autocast,
        settings=("autocast", "autocast_cache"),
        keeps={
            "prev_cache_enabled": lambda *_: torch.is_autocast_cache_enabled(),
            "prev": lambda device, *_: torch.is_autocast_enabled(device),
            "prev_fastdtype": lambda device, *_: torch.get_autocast_dtype(device),
        },
        gives_itself=True,
        left=False,
        may_stay=True,
    ),
    torch.inference_mode: GraphManager(
        attributes=("mode",),
        enter=torch.autograd.grad_mode._enter_inference_mode,
        leave=torch.autograd.grad_mode._exit_inference_mode,
        settings=("inference_mode", "grad_mode"),
    ),
    # Profilers see the operations of the graph, not the labels.
    record_function: GraphManager(gives_itself=True),
    # Overrides are applied while the program is traced: the graph has their results.
    **{
        cls: GraphManager(
            enter=partial(_entered, cls), leave=_leave_plainly, settings=("torch_function",), in_graph=False
        )
        for cls in _MADE_IN_C
    },
}


def _register(cls: Any, known: GraphManager) -> None:
    @handles(cls.__enter__, UserDefinedObjectVariable)
    def enter(tx: Tracing, manager: UserDefinedObjectVariable) -> VariableTracker:
        _enter(tx, manager, known)
        return manager if known.gives_itself else NONE

    @handles(cls.__exit__, UserDefinedObjectVariable)
    def leave(tx: Tracing, manager: UserDefinedObjectVariable, *exc: VariableTracker) -> VariableTracker:
        _leave(tx, manager, known)
        return ConstantVariable(known.left)

    enter.__qualname__ = f"{cls.__qualname__}.enter"
    leave.__qualname__ = f"{cls.__qualname__}.leave"


def _enter(tx: Tracing, manager: UserDefinedObjectVariable, known: GraphManager) -> None:
    values = [_constant_attribute(tx, manager, name) for name in known.attributes]
    kept = {name: tx.constant(read(*values)) for name, read in known.keeps.items()}
    state = tx.output.settings
    state.touch(*known.settings)
    node: Any = None
    leave: Callable[[], object] = _nothing
    if known.enter is not None and known.leave is not None:
        leave = partial(known.leave, known.enter(*values))
        if known.in_graph:
            node = tx.output.add_settings_node(known.settings, known.enter, tuple(values))
    state.entered.append(Entered(manager, leave, known.may_stay, tx.root_step, node))
    for name, value in kept.items():
        manager.set_attribute(tx, name, value)


def _leave(tx: Tracing, manager: UserDefinedObjectVariable, known: GraphManager) -> None:
    entered = tx.output.settings.innermost(manager)
    if entered is None:
        raise Unsupported("left-elsewhere", type=manager.python_type_name())
    if known.leave is not None and known.in_graph:
        tx.output.add_settings_node(known.settings, known.leave, (entered.node,))
    tx.output.settings.leave(entered)


def _constant_attribute(tx: Tracing, manager: UserDefinedObjectVariable, name: str) -> Any:
    found = tx.find_attr(manager, name)
    if found is None:
        raise Unsupported("context-manager", type=manager.python_type_name())
    return found.realize().value()


def _nothing() -> None:
    pass


for _cls, _known in GRAPH_MANAGERS.items():
    _register(_cls, _known)


@builds(*_MADE_IN_C)
def external_manager(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Build the tracker of a manager that has not been entered: only its class matters."""
    build.tx.guard(make.type_is(source, type(value)))
    return build.register(value, UserDefinedObjectVariable(type(value), value, source))


for _made_in_c in _MADE_IN_C:

    @handles(_made_in_c)
    def bare(tx: Tracing, cls: Any = _made_in_c) -> VariableTracker:
        return UserDefinedObjectVariable(cls)


@handles(record_function.__init__, UserDefinedObjectVariable, VariableTracker)
def label(
    tx: Tracing, self: UserDefinedObjectVariable, name: VariableTracker, args: VariableTracker = NONE
) -> VariableTracker:
    attributes = {
        "name": name,
        "args": args,
        "run_callbacks_on_exit": ConstantVariable(True),
        "record": NONE,
        "_cupti_monitor_external_id": NONE,
    }
    for attribute, value in attributes.items():
        self.set_attribute(tx, attribute, value)
    return NONE

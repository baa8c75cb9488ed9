"""`with` blocks of the traced program, and leaving them where the graph ends inside one.

The settings that a block of torch's changes (the grad mode, autocast, ...) is for the graph to change: at the end of
a graph the blocks around it are left in the graph, entered again by the generated code for the instruction that broke
it, and by the resume function for its own graph. So each graph starts and ends in the state outside of the blocks.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from typing import Any

import torch
from torch.autograd.profiler import record_function

from tracer_core.bytecode import Instruction, pops
from tracer_core.errors import Unsupported
from tracer_core.host.global_state import ON_DEMAND, PROPERTIES
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable, TracebackVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_GRAD = ("grad_mode",)
_AUTOCAST = ("autocast", "autocast_cache")
_OVERRIDES = ("torch_function",)

REENTERED: dict[Any, tuple[str, ...]] = {
    torch.no_grad: _GRAD,
    torch.enable_grad: _GRAD,
    torch.set_grad_enabled: _GRAD,
    torch.inference_mode: ("inference_mode", "grad_mode"),
    torch.autocast: _AUTOCAST,
    torch.cpu.amp.autocast: _AUTOCAST,
    torch.cuda.amp.autocast: _AUTOCAST,
    torch.device: ("default_device", "torch_function_modes"),
    record_function: (),
    torch._C.DisableTorchFunctionSubclass: _OVERRIDES,
    torch._C.DisableTorchFunction: _OVERRIDES,
}
"""Classes whose objects can be entered, left and entered again with the same effect, which cannot be observed; and
the settings of torch that entering and leaving them changes."""

MADE_ANEW: frozenset[Any] = frozenset(
    inspect.unwrap(manager)
    for manager in (
        torch.nn.attention.sdpa_kernel,
        torch.autograd.graph.disable_saved_tensors_hooks,
        torch.backends.cudnn.flags,
        torch.backends.mkldnn.flags,
        torch.jit.optimized_execution,
    )
)
"""Generator functions under `contextlib.contextmanager` for which the same holds, with a new manager each time."""


class FreshManager(VariableTracker):
    """The type of functions that create managers from a generator function, each to be entered once."""

    __slots__ = ("args", "function", "kwargs")
    kind = "context manager"

    def __init__(self, function: VariableTracker, args: VariableTracker, kwargs: VariableTracker) -> None:
        super().__init__()
        self.function = function
        self.args = args
        self.kwargs = kwargs

    def python_type(self) -> type:
        return functools.partial

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("func", self.function), ("args", self.args), ("kwds", self.kwargs)]


class WithExit(VariableTracker):
    """The bound `__exit__` on the stack while the program is in a block.

    `again` is the manager that can be entered another time, if there is one; `after` has the settings that it sets,
    as they were when it had been entered.
    """

    __slots__ = ("after", "again", "bound", "called")
    kind = "exit of a with block"

    def __init__(self, bound: VariableTracker, again: VariableTracker | None) -> None:
        super().__init__()
        self.bound = bound
        self.again = again
        self.after: dict[str, Any] = {}
        self.called = False

    def python_type(self) -> type:
        return types.MethodType

    def describe(self) -> str:
        return self.bound.describe()

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("exit", self.bound)]

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        tx.trace.journal.save(self)
        self.called = True
        result: VariableTracker = tx.call(self.bound, args, kwargs)
        return result


class ReenteredMark(ConstantVariable):
    """On the stack of a frame whose graph ends, the exit of a block that the graph has left and that the generated
    code enters again: it enters `manager` or, if `remade`, the result of calling it."""

    __slots__ = ("manager",)
    kind = "with block entered again"

    def __init__(self, manager: VariableTracker) -> None:
        super().__init__(None)
        self.manager = manager

    @property
    def remade(self) -> bool:
        return isinstance(self.manager, FreshManager)


@op("BEFORE_WITH")
def before_with(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    manager = frame.stack[-1].realize()
    enter = _special(tx, manager, "__enter__")
    exit_ = WithExit(_special(tx, manager, "__exit__"), _again(tx, manager))
    entered = tx.call(enter, [])
    exit_.after = _settings_of(exit_.again)
    frame.stack[-1] = exit_
    frame.push(entered)


@op("WITH_EXCEPT_START")
def with_except_start(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    exception = frame.stack[-1].realize()
    assert isinstance(exception, ExceptionVariable)
    cls = tx.constant(exception.python_type())
    frame.push(tx.call(frame.stack[-4], [cls, exception, TracebackVariable(exception)]))


def _special(tx: Tracing, manager: VariableTracker, name: str) -> VariableTracker:
    if isinstance(manager, UserDefinedObjectVariable):
        found, owner = static_lookup(manager.cls, name)
        bound = None if owner is None else manager.bind_descriptor(tx, name, found, owner)
    elif _is_device(manager):
        return BoundBuiltinMethodVariable(manager, name)
    elif static_lookup(manager.python_type(), name)[1] is not None:
        raise Unsupported("context-manager", type=manager.python_type_name())
    else:
        bound = None
    if bound is None:
        more = " (missed __exit__ method)" if name == "__exit__" else ""
        tx.raise_(
            TypeError, f"{manager.type_name_in_errors()!r} object does not support the context manager protocol{more}"
        )
    assert bound is not None
    return bound


def _is_device(manager: VariableTracker) -> bool:
    return isinstance(manager, ConstantVariable) and manager.python_type() is torch.device


def _again(tx: Tracing, manager: VariableTracker) -> VariableTracker | None:
    """Return the manager to enter instead of `manager`, which is entered itself now."""
    if manager.python_type() in REENTERED:
        return manager
    if not isinstance(manager, UserDefinedObjectVariable) or manager.cls is not contextlib._GeneratorContextManager:
        return None
    parts = [manager.attributes.get(name) for name in ("func", "args", "kwds")]
    function, args, kwargs = (None if part is None else part.realize() for part in parts)
    if manager.real is not None or function is None or constant_or(function, None) not in MADE_ANEW:
        return None
    assert isinstance(args, TupleVariable) and isinstance(kwargs, ConstDictVariable)
    return FreshManager(function, args, kwargs)


def _settings_of(again: VariableTracker | None) -> dict[str, Any]:
    """Return the present values of the settings that entering and leaving the manager changes."""
    if again is None:
        return {}
    names = ON_DEMAND if isinstance(again, FreshManager) else REENTERED[again.python_type()]
    return {name: PROPERTIES[name].read() for name in names}


def leave_blocks(tx: Tracing, frame: Frame, position: int) -> None:
    """Leave the root frame's blocks in the graph, from the innermost on, where entering them again before the
    instruction at `position` restores the present state. Put marks for them on the stack."""
    used = len(frame.stack) - pops(frame.decoded.instructions[position])
    for depth in reversed(range(used)):
        item = frame.stack[depth]
        if not isinstance(item, WithExit) or item.called or item.again is None:
            continue
        if item.after == _settings_of(item.again) and not _held(frame, item.again):
            try:
                tx.call(item.bound, [NONE, NONE, NONE])
            except Unsupported:
                return  # something entered inside is still open
            frame.stack[depth] = ReenteredMark(item.again)


def _held(frame: Frame, again: VariableTracker) -> bool:
    """Return whether the program itself holds a manager that cannot be entered again in place of a new one."""
    if not isinstance(again, FreshManager):
        return False
    held = [*frame.locals.values(), *(cell.contents for cell in frame.cells.values())]
    objects = [value.realize() for value in held if value is not None]
    return any(
        isinstance(o, UserDefinedObjectVariable) and o.cls is contextlib._GeneratorContextManager for o in objects
    )

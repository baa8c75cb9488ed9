"""`torch._dynamo.comptime`: functions of the program that run while it is traced, and look at the trace.

They run each time their line is traced, so also when a frame is traced again. Where nothing is traced, plain Python
calls the other function that `comptime` is given.
"""

from __future__ import annotations

import time
import types
from typing import Any, TextIO

import torch

from tracer_core.bytecode import disassembly
from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles_later
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.functions.nested_functions import NestedUserFunctionVariable


class ComptimeVar:
    """What is known of a value while it is traced."""

    def __init__(self, tx: Tracing, tracker: VariableTracker) -> None:
        self._tx = tx
        self._tracker = tracker.realize()

    def is_proxy(self) -> bool:
        """Return whether a node may have it as an argument."""
        return isinstance(self._tracker, InGraphVariable) or self.is_python_constant()

    def as_proxy(self) -> Any:
        """Return the node that computes it, or a constant."""
        return self.as_python_constant() if self.is_python_constant() else self._in_graph().node

    def as_fake(self) -> Any:
        """Return the fake tensor or symbolic number."""
        return self._in_graph().fake

    def size(self, dim: int | None = None) -> Any:
        """Return the sizes of a tensor, or one of them."""
        return self.as_fake().size() if dim is None else self.as_fake().size(dim)

    def python_type(self) -> type:
        """Return `type(value)`."""
        return self._tracker.python_type()

    def is_python_constant(self) -> bool:
        """Return whether the value is known."""
        return self._tracker.is_constant()

    def as_python_constant(self) -> Any:
        """Return the value, if it is known."""
        return self._tracker.value()

    def is_dynamic(self) -> bool:
        """Return whether it is a number that is open in the graph."""
        return isinstance(self._tracker, SymNodeVariable)

    def force_static(self) -> None:
        """Specialize a number to its present value."""
        if isinstance(self._tracker, SymNodeVariable):
            self._tracker.specialize(self._tx, self.python_type())
        elif not self.is_python_constant():
            raise AssertionError(f"{self!r} is no number")

    def _in_graph(self) -> InGraphVariable:
        if not isinstance(self._tracker, InGraphVariable):
            raise TypeError(f"{self!r} is not computed in the graph")
        return self._tracker

    def __repr__(self) -> str:
        return self._tracker.describe()


class ComptimeContext:
    """The trace at the call of `comptime`, with the methods that torch's has."""

    def __init__(self, tx: Tracing, frame: Frame) -> None:
        self._tx = tx
        self._frame = frame

    def _caller(self, stacklevel: int) -> Frame:
        frame = self._frame
        for _ in range(stacklevel):
            if frame.parent is None:
                raise ValueError("there are not as many callers in the trace")
            frame = frame.parent
        return frame

    def parent(self) -> ComptimeContext:
        """Return the context of the caller."""
        return ComptimeContext(self._tx, self._caller(1))

    def get_local(self, name: str, *, stacklevel: int = 0) -> ComptimeVar:
        """Return what is known of a local variable."""
        frame = self._caller(stacklevel)
        cell = frame.cells.get(name)
        tracker = frame.locals[name] if cell is None else cell.contents
        if tracker is None:
            raise KeyError(name)
        return ComptimeVar(self._tx, tracker)

    def graph(self) -> torch.fx.Graph:
        """Return the graph as it is so far."""
        return self._tx.output.current.graph

    def graph_break(self, msg: str = "it calls graph_break") -> None:
        """End the graph at this call."""
        raise Unsupported("comptime", what=msg)

    def assert_static(self, val: ComptimeVar) -> None:
        """Check that a number is not open."""
        if val.is_dynamic():
            raise AssertionError(f"{val!r} is dynamic")

    def print(self, val: Any, *, file: TextIO | None = None) -> None:
        print(repr(val), file=file)

    def print_graph(self, *, verbose: bool = True, file: TextIO | None = None) -> None:
        print(self.graph().python_code("self", verbose=verbose).src, file=file)

    def print_locals(self, *, file: TextIO | None = None, stacklevel: int = 0) -> None:
        for name, tracker in self._caller(stacklevel).locals.items():
            print(f"{name} = {tracker.realize().describe()}", file=file)

    def print_value_stack(self, *, file: TextIO | None = None, stacklevel: int = 0) -> None:
        for tracker in self._caller(stacklevel).stack:
            print(f"- {tracker.realize().describe()}", file=file)

    def print_guards(self, *, file: TextIO | None = None) -> None:
        for guard in self._tx.output.guards.values():
            print(guard.text, file=file)

    def print_bt(self, *, file: TextIO | None = None, stacklevel: int = 0) -> None:
        """Print the calls that are traced, the outermost first."""
        frame = self._caller(stacklevel)
        for code, line in reversed(frame.running(frame.pc - 1)):
            print(f'  File "{code.co_filename}", line {line}, in {code.co_name}', file=file)

    def print_disas(self, *, file: TextIO | None = None, stacklevel: int = 0) -> None:
        print(disassembly(self._caller(stacklevel).code), file=file)

    def sleep(self, sec: float) -> None:
        time.sleep(sec)


@handles_later("torch._dynamo.comptime", "_Comptime.__call__")
def comptime(tx: Tracing, fn: VariableTracker, fallback_fn: VariableTracker = NONE) -> VariableTracker:
    """Run `fn` now."""
    function = _function(fn.realize())
    try:
        function(ComptimeContext(tx, tx.frame))
    except Unsupported:
        raise
    except Exception as error:
        raise Unsupported("comptime", what=f"{type(error).__name__}: {error}") from error
    return NONE


def _function(tracker: VariableTracker) -> types.FunctionType:
    if isinstance(tracker, UserFunctionVariable):
        return tracker.function
    if not isinstance(tracker, NestedUserFunctionVariable):
        raise Unsupported("comptime", what=f"it is given a {tracker.python_type_name()}")
    if tracker.closure:
        raise Unsupported("comptime", what="the function has free variables, whose values the trace alone knows")
    return types.FunctionType(tracker.code, tracker.globals)

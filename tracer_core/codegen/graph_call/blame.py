"""Find out whether the program or the back end is to blame for a graph that raised, and warn once if it is the back
end.

Plain Python runs in either case. If the fault is the program's, it raises the same at its place. If it is the back
end's, it succeeds, and without a warning nobody would know that the compiled function is of no use.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
from torch._C._dynamo.eval_frame import get_eval_frame_callback, set_eval_frame

from tracer_core import observer as observers
from tracer_core.bytecode import first_line
from tracer_core.codegen.graph_call.recovery import changed_inputs
from tracer_core.errors import BackendWarning, Unsupported
from tracer_core.graph.output import OutputGraph
from tracer_core.graph.settings import TracedSettings
from tracer_core.host.torch_state import saved_tensors_traced, undo_dual_level, undo_transforms
from tracer_core.names.where import Where

# In a history: the warning was given.
_SAID = "the back end raises"


class Blame:
    """Run a graph eagerly, after its compiled form has raised and the state before the call has been restored.

    Args:
        output: the trace.
        module: its finished graph.
        function: what the frame's new code calls to run the graph.
    """

    def __init__(self, output: OutputGraph, module: torch.fx.GraphModule, function: Callable[..., Any]) -> None:
        self._is_the_graph = False
        self._told: weakref.ref[observers.Observer] | None = None
        self._history = output.frame.history
        # (Code objects are not garbage collected: they must not be in a reference cycle.)
        self._code = weakref.ref(output.frame.code)
        self._name = output.frame.name
        self._backend = getattr(output.frame.config.backend, "__name__", "")
        self._forward = module.forward
        self._function = function.__code__
        self._settings = tuple(output.settings.start)
        changed = {each.node for each in changed_inputs(output)}
        self._changes = {place for place, each in enumerate(output.root.inputs) if each.node in changed}

    def compiled(self, function: Callable[..., Any]) -> None:
        """Note the back end's result for the graph: if it is the graph itself, there is nothing to find out."""
        self._is_the_graph = getattr(function, "__code__", None) is self._forward.__code__

    def report(self, error: BaseException) -> None:
        """Warn, and report to the observer, if the eager graph does not raise where the compiled one raised `error`.
        The warning is given once for a function, the report once for a graph."""
        watching = observers.current()
        new_watcher = watching is not None and (self._told is None or self._told() is not watching)
        if self._is_the_graph or (_SAID in self._history and not new_watcher):
            return
        inputs = self._inputs(error)
        if inputs is None or not self._runs(inputs):
            return
        said = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        notice = Unsupported("back-end-raises", backend=self._backend, function=self._name, error=said)
        code = self._code()
        assert code is not None  # its frame runs
        line = first_line(code)
        notice.where = Where.of(0, [(code, line)])
        if watching is not None and new_watcher:
            self._told = weakref.ref(watching)
            watching.on_notice(notice)
        if _SAID not in self._history:
            self._history[_SAID] = True
            warnings.warn_explicit(str(notice.placed()), BackendWarning, code.co_filename, line)

    def _inputs(self, error: BaseException) -> tuple[Any, ...] | None:
        """Return the graph's arguments, None for those that do not exist because a draw before them raised."""
        trace = None if error.__traceback__ is None else error.__traceback__.tb_next
        if trace is None or trace.tb_frame.f_code is not self._function:
            return None
        inputs: tuple[Any, ...] = trace.tb_frame.f_locals["args"]
        return inputs

    def _runs(self, inputs: tuple[Any, ...]) -> bool:
        """Return whether the eager graph runs with these inputs, without a change that the program could observe."""
        given = [each.detach().clone() if place in self._changes else each for place, each in enumerate(inputs)]
        state = TracedSettings()
        state.touch("grad_mode", *self._settings)
        # (Ctrl-C may come before what switching them off returns is kept.)
        previous, hidden = get_eval_frame_callback(), saved_tensors_traced()
        depth = torch._C._functorch.get_dynamic_layer_stack_depth()
        try:
            set_eval_frame(None)
            torch._C._autograd._saved_tensors_hooks_set_tracing(True)
            with torch.random.fork_rng(devices=[]):
                self._forward(*given)
        except Exception:  # noqa: BLE001
            undo_transforms(depth)
            undo_dual_level()
            return False
        finally:
            torch._C._autograd._saved_tensors_hooks_set_tracing(hidden)
            set_eval_frame(previous)
            state.restore()
        return True

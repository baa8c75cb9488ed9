"""Record traces at the dispatcher: each call that reaches the proxy mode, and what the mode did with it.

Tensors are read by their metadata alone. Most repeat, so their metadata is stored once and found by its parts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tracer_core.observer import Observer, said
from tracer_core.recording import schema
from tracer_core.recording.facts import FakeMetas, TargetTexts, args_text, call_text, clean, clean_lines
from tracer_core.recording.fake_text import fake_text

if TYPE_CHECKING:
    import torch.fx


class DispatchSteps(Observer):
    """Add the steps of the dispatcher to `data`, which may hold others already."""

    def __init__(self, data: schema.Dispatcher) -> None:
        self._data_of_dispatcher = data
        self._open: list[schema.DispatchStep] = []
        self._run: schema.DispatchRun | None = None
        self._implicit = False
        self._stack_numbers = {tuple(stack): number for number, stack in enumerate(data.stacks)}
        self._metas = FakeMetas()
        self._fakes: dict[int, tuple[int, str]] = {}  # by the identity of the metadata: its number and its text
        self._targets = TargetTexts()

    # --- runs ---------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def dispatching(self, label: str, node: int | None = None, direction: str = "") -> Iterator[schema.DispatchRun]:
        """Record the block as one run, about a node of the recording, or of a function. Its error is recorded, and
        raised."""
        before = self._run, self._implicit
        self._run, self._implicit = self._start(label, node, direction), False
        run = self._run
        try:
            yield run
        except BaseException as error:
            run.error = clean(said(error), 1000)
            raise
        finally:
            self._run, self._implicit = before

    def complete_run(self, run: schema.DispatchRun, code: str) -> None:
        """Record the text of the graph that a run built."""
        run.code = clean_lines(code)

    def _start(self, label: str, node: int | None, direction: str) -> schema.DispatchRun:
        data = self._data_of_dispatcher
        at = len(data.steps)
        run = schema.DispatchRun(len(data.runs), clean(label), node, direction, at, at - 1, "", "")
        data.runs.append(run)
        return run

    def _current_run(self) -> schema.DispatchRun:
        """Return the run that is recorded; one of its own for a trace that the program itself starts."""
        if self._run is None:
            self._run = self._start("make_fx", None, "")
            self._implicit = True
        return self._run

    # --- events of the dispatcher -------------------------------------------------------------------------

    def on_dispatch_enter(
        self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], modes: tuple[str, ...]
    ) -> None:
        data, parent = self._data_of_dispatcher, self._open[-1] if self._open else None
        number = len(data.steps)
        step = schema.DispatchStep(
            id=number,
            run=self._current_run().id,
            parent=None if parent is None else parent.id,
            depth=len(self._open),
            last_step=number,
            operator="",
            args="",
            inputs=[],
            modes=self._stack_number(modes),
            decisions=[],
            nodes=[],
            results=[],
            error="",
        )
        # In the table before anything is read of the call: its exit comes in any case.
        data.steps.append(step)
        self._open.append(step)
        step.operator = self._targets.of(operator)
        step.args = call_text(args, kwargs, self._noting(step.inputs))

    def on_dispatch_decision(self, decision: str, reason: str) -> None:
        if self._open:
            self._open[-1].decisions.append((decision, reason))

    def on_dispatch_node(self, node: torch.fx.Node) -> None:
        data, step = self._data_of_dispatcher, self._open[-1] if self._open else None
        if step is None and self._implicit and node.op == "placeholder" and node.prev.op == "root":
            self._run = None  # the program traces another function
        record = schema.DispatchNode(
            id=len(data.nodes),
            run=self._current_run().id,
            step=None if step is None else step.id,
            name=clean(node.name),
            op=node.op,
            target=self._targets.of(node.target),
            args=args_text(node),
        )
        data.nodes.append(record)
        if step is not None:
            step.nodes.append(record.id)

    def on_dispatch_exit(self, result: Any, error: BaseException | None) -> None:
        if not self._open:
            return
        step = self._open.pop()
        last = len(self._data_of_dispatcher.steps) - 1
        step.last_step = last
        self._data_of_dispatcher.runs[step.run].last_step = last
        if error is not None:
            step.error = clean(said(error), 500)
        else:
            call_text((result,), {}, self._noting(step.results))

    # --- values -------------------------------------------------------------------------------------------

    def _stack_number(self, modes: tuple[str, ...]) -> int:
        number = self._stack_numbers.get(modes)
        if number is None:
            number = self._stack_numbers[modes] = len(self._data_of_dispatcher.stacks)
            self._data_of_dispatcher.stacks.append([clean(name) for name in modes])
        return number

    def _noting(self, fakes: list[int]) -> Callable[[Any], str | None]:
        """Return a function that returns the text of a tensor or symbolic number, and adds the number of its metadata
        to `fakes`."""

        def note(value: Any) -> str | None:
            meta = self._metas.read(value)
            if meta is None:
                return None
            known = self._fakes.get(id(meta))
            if known is None:
                known = self._fakes[id(meta)] = len(self._data_of_dispatcher.fakes), fake_text(meta)
                self._data_of_dispatcher.fakes.append(meta)
            fakes.append(known[0])
            return known[1]

        return note

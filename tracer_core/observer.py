"""What the engine tells whoever watches it.

The engine calls `current()` once per piece of work and, where it is not None, the `on_*` methods below
with its own live objects. An observer reads them there and then (they change afterwards) and never changes them.
`tracer_core.recording.Recorder` is one observer. Without an observer the engine pays one `is None` per event.

What an observer may read of the engine's objects:

- tracker (`VariableTracker`): `uid` (int, unique in the process), `kind` (plain words), `python_type_name()`,
  `describe()` (one short line), `source` (None or a `Source`, `.name` is its text), `parts()` (list of
  `(label, tracker)`), `node` (None or `torch.fx.Node`), `fake` (None, a fake tensor, or a `torch.Sym*`)
- frame (`interpreter.Frame`): `uid`, `code` (the code object people know), `program` (its canonical instructions),
  `stack` (list of trackers, bottom first), `locals` and `cells` (name -> tracker), `parent` (the frame that
  inlined it, or None), `depth` (0 for the root)
- instruction (`bytecode.Instruction`)
- guard (`guards.Guard`), node (`torch.fx.Node`), break (`errors.Unsupported`); of guards and breaks, `where`
  (None or a `where.Where`) is the place that asked for it, however late it is told
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch.fx

    from tracer_core.bytecode import Instruction
    from tracer_core.errors import Unsupported
    from tracer_core.guards import Guard


class Observer:
    """Every event, each doing nothing. Subclass and override what you need."""

    # --- calls: a Python frame whose code we know starts -------------------------------------------------
    def on_call(self, code: CodeType, module: str | None = None) -> None:
        """A frame of `code` starts and its cached versions are about to be tried. `module` is the name of the class
        of the module that it calls, where it is of `torch.nn.Module` itself (`code_names.module_called`)."""

    def on_cache_check(self, code: CodeType, version: int, failed: Guard | None, seen: str) -> None:
        """Cached `version` (1, 2, ...) of `code` was tried. `failed` is None when it is reused, else the first
        guard that did not hold, and `seen` says what came instead, as a clause ("it is of shape [3]")."""

    def on_skip(self, code: CodeType, reason_id: str, message: str) -> None:
        """A frame of `code` is left to plain Python, now and from now on."""

    # --- compilations: one frame being traced, in one or more attempts ----------------------------------
    def on_compile_start(self, code: CodeType, version: int) -> None: ...

    def on_attempt_start(self, frame: Any, number: int) -> None:
        """The root `frame` is about to be walked, for the `number`-th time (1, 2, ...)."""

    def on_attempt_end(self, outcome: str, message: str) -> None:
        """`outcome` is one of `compiled`, `restarted`, `skipped`, `fault`."""

    def on_compile_end(self, outcome: str, seconds: float) -> None:
        """`outcome` is one of `compiled`, `skipped`, `fault`."""

    # --- stepping ---------------------------------------------------------------------------------------
    def on_frame_enter(self, frame: Any) -> None:
        """`frame` (inlined, or the root) has its arguments bound and is about to run its first instruction."""

    def on_frame_exit(self, frame: Any, result: Any) -> None:
        """`frame` returned the tracker `result`, or left by an exception (then `result` is None)."""

    def on_step_start(self, frame: Any, instruction: Instruction) -> None: ...

    def on_step_end(self, frame: Any, instruction: Instruction) -> None:
        """The instruction is done. For a call that was inlined this comes after all the callee's steps. It does
        not come for an instruction that raised or broke."""

    def on_raise(self, frame: Any, instruction: Instruction, exception: Any) -> None:
        """The instruction raised the Python exception that tracker `exception` stands for."""

    def on_dispatch(self, handler: str) -> None:
        """Within a step: the named handler function was chosen for a call or an operator."""

    # --- what a step does -------------------------------------------------------------------------------
    def on_change(self, tracker: Any) -> None:
        """A tracker seen before has changed (mutated, or a lazy one was looked at)."""

    def on_node(self, node: torch.fx.Node, fake: Any) -> None:
        """`node` was added to the graph; `fake` is its example value."""

    def on_guard(self, guard: Guard) -> None: ...

    def on_symbol(self, name: str, hint: int | float, source: str) -> None:
        """A size became a symbol, because it varied or was asked to."""

    def on_side_effect(self, kind: str, tracker: Any, message: str) -> None:
        """A change to something that outlives the trace was noted, to be replayed by the generated code."""

    def on_break(self, unsupported: Unsupported, frame: Any, instruction: Instruction) -> None:
        """The root frame's graph ends here; `unsupported` says why. It is told twice: where it is found, with the
        innermost inlined `frame` (all frames are still there), and in the walk that stops for it, with the root."""

    def on_notice(self, notice: Unsupported) -> None:
        """Something that a person asked for and the program prevents, though the graph goes on."""

    # --- results ----------------------------------------------------------------------------------------
    def on_graph(self, graph: torch.fx.GraphModule, name: str) -> None:
        """The graph of this compilation is complete and was handed to the back end under `name`."""

    def on_generated(self, code: CodeType, new_code: CodeType, listing: str, resumes: list[CodeType]) -> None:
        """`new_code` will run instead of `code`; `listing` is what it does, as Python text; `resumes` are the
        resume functions' codes it may call."""

    def on_fault(self, text: str) -> None:
        """Our own code failed while tracing; `text` is the traceback. The frame runs as plain Python."""


class _State(threading.local):
    observer: Observer | None = None


_state = _State()

ACTIVE: list[Observer] = []
"""The observers installed now, of all threads. Where even `current()` would cost too much, test this first."""


def current() -> Observer | None:
    """The observer of this thread, or None."""
    return _state.observer


@contextlib.contextmanager
def observing(observer: Observer | None) -> Iterator[None]:
    """Make `observer` this thread's observer inside the block; the previous one comes back after it."""
    previous = _state.observer
    _state.observer = observer
    if observer is not None:
        ACTIVE.append(observer)
    try:
        yield
    finally:
        _state.observer = previous
        if observer is not None:
            ACTIVE.remove(observer)

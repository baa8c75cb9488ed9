"""`Observer`: the methods that the engine calls to tell an observer about a trace.

The engine calls `current()` once per piece of work and, where it is not None, the `on_*` methods below
with its own live objects. An observer reads them there and then (they change afterwards) and never changes them.
`tracer_core.recording.Recorder` is one observer. Without an observer the engine pays one `is None` per event.

An exception raised by an observer never reaches the engine: `observing` keeps it back, tells the observer by
`on_lost`, and warns once, when its block is left.

Attributes of the engine's objects that an observer may read:

- tracker (`VariableTracker`): `uid` (int, unique in the process), `kind` (plain words), `python_type_name()`,
  `describe()` (one short line), `source` (None or a `Source`: `.name` is what the program calls it, `.exact` an
  expression that tells it from others, `.owner` the source that it is a part of, or None), `parts()` (list of
  `(label, tracker)`), `node` (None or `torch.fx.Node`), `fake` (None, a fake tensor, or a `torch.Sym*`), `literal`
  (None, or a key: trackers of equal keys are described alike, and have no source, parts, node or fake). Of `literal`,
  `parts`, `node`, `fake`, only those named in `may_have` of its class can be other than None or empty; where that
  lacks `describe`, a tracker is described by `python_type_name()`
- frame (`variables.functions.frames.Frame`): `uid`, `code` (the code object people know), `program` (its canonical
  instructions), `stack` (list of trackers, bottom first), `locals` and `cells` (name -> tracker, without names that
  are unbound), `parent` (the frame that inlined it, or None), `depth` (0 for the root). An instruction
  changes the operands that the table of operations says it takes (`bytecode.OPS`), pushes items in their place, and
  binds the names that the table says it binds; the rest of the frame's state is as before. Two exceptions: a raised
  exception cuts the stack to the depth of its handler, and `POP_EXCEPT` replaces copies of the item that it pops.
- instruction (`bytecode.Instruction`)
- guard (`guards.Guard`), node (`torch.fx.Node`), break (`errors.Unsupported`); of guards and breaks, `where`
  (None or a `names.where.Where`) is the place that needed it, however late it is reported
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.host.signals import Interrupted, is_external_error

if TYPE_CHECKING:
    import torch.fx

    from tracer_core.aot.lowered import Lowered
    from tracer_core.frame_input import Config
    from tracer_core.guards import Failure, Guard


class Observer:
    """Every event, each doing nothing. Subclass and override what you need."""

    graph_numbers: Iterator[int] = itertools.count()
    """The numbers in the names of graphs. They start anew in each block of `observing`."""

    # --- calls: a Python frame whose code we know starts -------------------------------------------------
    def on_call(self, code: CodeType, module: str | None = None) -> None:
        """A frame of `code` starts and its cached versions are about to be tried. `module` is the name of the class
        of the module that it calls, where it is of `torch.nn.Module` itself (`names.code.module_called`)."""

    def on_frame_start(
        self, code: CodeType, f_locals: Mapping[str, Any], f_globals: dict[str, Any] | None, config: Config | None
    ) -> None:
        """After `on_call`: the frame's arguments and free variables; its globals, and how it is compiled, where these
        are at hand."""

    def on_cache_check(self, code: CodeType, version: int, failed: Guard | None, seen: str) -> None:
        """Cached `version` (1, 2, ...) of `code` was tried. `failed` is None when it is reused, else the first
        guard that did not hold, and `seen` describes the value, as a clause ("it is of shape [3]")."""

    def on_failures(self, code: CodeType, version: int, failures: Sequence[Failure]) -> None:
        """All guards of the version just tried that did not hold, in the order of their checks, each with what was
        expected, what came, and what would avoid it. (Guards on parts of a value that failed are left out.)"""

    def on_skip(self, code: CodeType, reason_id: str, message: str) -> None:
        """A frame of `code` runs as plain Python; the next one may be traced."""

    # --- compilations: one frame being traced, in one or more attempts ----------------------------------
    def on_compile_start(self, code: CodeType, version: int) -> None: ...

    def on_attempt_start(self, frame: Any, number: int) -> None:
        """The root `frame` is about to be traced, for the `number`-th time (1, 2, ...)."""

    def on_attempt_end(self, outcome: str, message: str) -> None:
        """`outcome` is one of `compiled`, `restarted`, `skipped`, `fault`."""

    def on_compile_end(self, outcome: str, seconds: float) -> None:
        """`outcome` is one of `compiled`, `skipped`, `interrupted`, `fault`."""

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
        """The instruction raised the Python exception that tracker `exception` holds."""

    def on_dispatch(self, handler: str) -> None:
        """The named handler function was chosen for a call or an operator, within a step."""

    # --- what a step does -------------------------------------------------------------------------------
    def on_change(self, tracker: Any) -> None:
        """A tracker seen before has changed (mutated, or a lazy one was built)."""

    def on_node(self, node: torch.fx.Node, fake: Any) -> None:
        """`node` was added to the graph; `fake` is its example value."""

    def on_body_enter(self, tracer: Any) -> None:
        """Nodes now go into the graph of a body: the `function` that a higher-order `operator` runs. (Names of both,
        as attributes of `tracer`, whose `parent` builds the graph around it, and whose `arguments` and `lifted` are
        the inputs.)"""

    def on_body_exit(self, tracer: Any, error: BaseException | None) -> None:
        """Nodes go into the graph around again. If the body was left by `error`, its graph and all that was added
        since it was entered are abandoned."""

    def on_body_close(self, tracer: Any) -> None:
        """The graph of a body has its results, and all its inputs: `lifted` is now what the operator passes."""

    def on_lift(self, tracer: Any, outer: torch.fx.Node, inner: torch.fx.Node) -> None:
        """The body of `tracer` uses the value of `outer`, of the graph around: it gets the input `inner`."""

    def on_guard(self, guard: Guard) -> None: ...

    def on_symbol(self, name: str, hint: int | float, meaning: str) -> None:
        """A size became a symbol, because it varied or was marked so."""

    def on_side_effect(self, kind: str, tracker: Any, message: str) -> None:
        """A change to something that outlives the trace was noted, to be replayed by the generated code."""

    def on_break(self, unsupported: Unsupported, frame: Any, instruction: Instruction) -> None:
        """The root frame's graph ends here; `unsupported` says why. It is reported twice: where it is found, with the
        innermost inlined `frame` (all frames still exist), and in the attempt that stops for it, with the root."""

    def on_notice(self, notice: Unsupported) -> None:
        """The program prevents something that the user requested, though the graph continues."""

    # --- tracing at the dispatcher (`tracer_core.proxy_tensor`) -------------------------------------------
    def on_dispatch_enter(
        self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], modes: tuple[str, ...]
    ) -> None:
        """A call of `operator` reached the proxy mode. `modes` are the class names of the active dispatch modes,
        from the top to the bottom. Calls nest: those of a decomposition come before the exit of the call that it
        decomposes."""

    def on_dispatch_decision(self, decision: str, reason: str) -> None:
        """What the mode does with the call entered last: `decompose` it, `fold` it to a value known while tracing,
        `emit` a node for it, or `leave` it to another class of tensors; and why, as a sentence."""

    def on_dispatch_node(self, node: torch.fx.Node) -> None:
        """`node` was added to the graph, for a call or for arithmetic on symbolic numbers."""

    def on_dispatch_exit(self, result: Any, error: BaseException | None) -> None:
        """The call entered last returned `result`, or raised `error`."""

    # --- results ----------------------------------------------------------------------------------------
    def on_graph(self, graph: torch.fx.GraphModule, name: str) -> None:
        """The graph of this compilation is complete and was passed to the back end under `name`."""

    def on_lowered(self, lowered: Lowered) -> None:
        """The back end `tracer_aot` lowered `lowered.captured` to graphs of operators, or found out why it cannot."""

    def on_generated(self, code: CodeType, new_code: CodeType, listing: str, resumes: list[CodeType]) -> None:
        """`new_code` will run instead of `code`; `listing` is its Python text; `resumes` are the codes of the resume
        functions that it may call."""

    def on_fault(self, text: str) -> None:
        """Our own code failed while tracing; `text` is the traceback. The frame runs as plain Python."""

    # --- about the observer itself ----------------------------------------------------------------------
    def on_lost(self, event: str, error: BaseException) -> None:
        """This observer's method `event` raised `error`: it may have noted only a part of the event."""

    def losses(self) -> dict[str, str]:
        """Return the events that this observer could not note, and why, though none of its methods raised."""
        return {}


EVENTS = {
    "on_call": "a call",
    "on_frame_start": "the arguments of a call",
    "on_cache_check": "the check of a version",
    "on_failures": "the guards that failed",
    "on_skip": "a frame that runs as plain Python",
    "on_compile_start": "the start of a compilation",
    "on_attempt_start": "the start of an attempt",
    "on_attempt_end": "the end of an attempt",
    "on_compile_end": "the end of a compilation",
    "on_frame_enter": "the start of a frame",
    "on_frame_exit": "the end of a frame",
    "on_step_start": "the start of a step",
    "on_step_end": "the end of a step",
    "on_raise": "an exception",
    "on_dispatch": "the choice of a handler",
    "on_change": "the change of a value",
    "on_node": "a node",
    "on_body_enter": "the start of a body",
    "on_body_exit": "the end of a body",
    "on_body_close": "the results of a body",
    "on_lift": "a lifted value",
    "on_guard": "a guard",
    "on_symbol": "a symbol",
    "on_side_effect": "a side effect",
    "on_break": "a graph break",
    "on_notice": "a notice",
    "on_dispatch_enter": "a call at the dispatcher",
    "on_dispatch_decision": "a decision of the dispatcher",
    "on_dispatch_node": "a node of the dispatcher",
    "on_dispatch_exit": "the end of a call at the dispatcher",
    "on_graph": "a graph",
    "on_lowered": "the graphs of operators",
    "on_generated": "generated code",
    "on_fault": "a fault of the engine",
}
"""The methods that the engine calls, and what each reports."""


class _Shield(Observer):
    """Pass events from the engine to `observer`, and keep the observer's exceptions from the engine."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._errors: dict[str, str] = {}
        self.graph_numbers = itertools.count()
        for event in EVENTS:
            method = getattr(observer, event)
            if getattr(method, "__func__", None) is not getattr(Observer, event):
                setattr(self, event, self._passing(event, method))

    def _passing(self, event: str, method: Callable[..., None]) -> Callable[..., None]:
        def pass_step_on(frame: Any, instruction: Instruction) -> None:
            try:
                method(frame, instruction)
            except BaseException as error:
                self._lose(event, error)
                if is_external_error(error):
                    raise

        if event in ("on_step_start", "on_step_end"):
            return pass_step_on  # At each instruction: what is general costs more.

        def pass_on(*args: Any) -> None:
            try:
                method(*args)
            except BaseException as error:
                self._lose(event, error)
                if is_external_error(error):  # Ctrl-C, or what a signal handler of the program raised
                    raise

        return pass_on

    def _lose(self, event: str, error: BaseException) -> None:
        if not is_external_error(error):
            self._errors.setdefault(event, said(error))
        with contextlib.suppress(Exception):  # what is lost is in the warning, whatever `on_lost` does with it
            self._observer.on_lost(event, error.error if isinstance(error, Interrupted) else error)

    def _lost(self) -> dict[str, str]:
        lost: dict[str, str] = {}
        with contextlib.suppress(Exception):
            lost.update(self._observer.losses())
        lost.update({EVENTS[event]: f"{event}: {text}" for event, text in self._errors.items()})
        return lost

    def warn(self) -> None:
        """Warn of lost events, if there are any, at the line of the program that is running."""
        lost = self._lost()
        if lost:
            listed = "; ".join(f"{what} ({why})" for what, why in lost.items())
            name = type(self._observer).__qualname__
            warnings.warn(
                f"{name} failed, and its record of some things is lost: {listed}. What was compiled, and what it "
                f"computes, is not affected.",
                RuntimeWarning,
                stacklevel=_users_level(),
            )


def said(error: BaseException) -> str:
    """Return the error's type and text in one line."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  an exception of the program's may have a text of its own
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _users_level() -> int:
    """Return the `stacklevel`, for the function that calls this, of the innermost frame outside this product."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level


_OURS = ("tracer_core", "tracewalk", "contextlib")


class _State(threading.local):
    observer: Observer | None = None


_state = _State()

ACTIVE: list[Observer] = []
"""The observers installed now, of all threads. Test this first where even `current()` would cost too much."""


def current() -> Observer | None:
    """Return the observer of this thread, or None."""
    return _state.observer


_first: list[Callable[[], None]] = []


def before_observing(function: Callable[[], None]) -> Callable[[], None]:
    """Have `function` called whenever an observer is about to be installed."""
    _first.append(function)
    return function


class observing:
    """Make `observer` this thread's observer inside the block; the previous one comes back after it. Where `observer`
    failed, a warning says so at the end."""

    def __init__(self, observer: Observer | None) -> None:
        self._shield = None if observer is None else _Shield(observer)
        self._previous: Observer | None = None
        self._entered = False

    def __enter__(self) -> None:
        global ACTIVE
        if self._shield is not None:
            for function in _first:
                function()
        # From here on nothing is called, so that Ctrl-C cannot come.
        self._previous = _state.observer
        if self._shield is not None:
            ACTIVE += [self._shield]
        _state.observer = self._shield
        self._entered = True

    def __exit__(self, *exception: object) -> None:
        if not self._entered:  # that was interrupted
            return
        self._entered = False
        _state.observer = self._previous
        if self._shield is not None:
            ACTIVE.remove(self._shield)
            self._shield.warn()

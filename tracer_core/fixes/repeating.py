"""Repeat kept calls: as plain Python, or through the engine with a change. Nothing of the program is left changed."""

from __future__ import annotations

import contextlib
import inspect
import io
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType
from typing import Any

import torch

from tracer_core.errors import TracewalkError
from tracer_core.fixes.copies import Copied, Copier, World, alike
from tracer_core.fixes.kept import KeptCall, KeptCalls, functions_with, random_state, set_random_state
from tracer_core.frame_eval.api import make_config
from tracer_core.frame_eval.hook import disabled, enabled
from tracer_core.observer import observing
from tracer_core.recording import Recorder, Trace

_PLENTY = 1 << 40


class OutOfTime(Exception):
    """The time for repeating calls is over."""


@dataclass(frozen=True)
class Change:
    """How calls are repeated: with options of the engine, with a preparation of their arguments, and with other code
    for some functions."""

    options: dict[str, Any] = field(default_factory=dict)
    dynamic: bool | None = None
    prepare: Callable[[dict[str, Any]], None] | None = None
    codes: dict[CodeType, CodeType] = field(default_factory=dict)


@dataclass(eq=False)
class Outcome:
    """What a call gave: its result (or exception), its arguments and globals afterwards, its output, its time."""

    values: list[Copied]
    error: str
    output: str
    seconds: float

    def equals(self, other: Outcome) -> bool:
        same = self.error == other.error and self.output == other.output and len(self.values) == len(other.values)
        return same and all(map(alike, self.values, other.values))


def run_plainly(kept: KeptCalls, change: Change | None = None, until: float = float("inf")) -> list[Outcome]:
    """Repeat the calls as plain Python."""
    world, outcomes = World(), []
    with isolated(change):
        for call in kept.calls:
            if time.monotonic() > until:
                raise OutOfTime
            with disabled():
                outcomes.append(outcome_of(call, world, change, _call))
    return outcomes


def _call(function: FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


def run_compiled(kept: KeptCalls, change: Change, until: float = float("inf")) -> tuple[Trace, list[Outcome]]:
    """Repeat the calls through the engine, and record that. Raises OutOfTime."""
    recorder = Recorder()
    outcomes = run_engine(kept, change, lambda: observing(recorder), until)
    return Trace(recorder.finish()), outcomes


def run_engine(
    kept: KeptCalls,
    change: Change,
    watching: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
    until: float = float("inf"),
) -> list[Outcome]:
    """Repeat the calls through the engine, each inside `watching`. Raises OutOfTime."""

    def backend(graph: Any, _examples: Any) -> Any:  # a new one, so that no version of before is reused
        return graph.forward

    dynamic = kept.dynamic if change.dynamic is None else change.dynamic
    config = make_config(backend=backend, dynamic=dynamic, options={**kept.options, **change.options})
    world, outcomes = World(), []

    def through_engine(function: FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
        with watching(), enabled(config):
            return function(*args, **kwargs)

    with isolated(change):
        for call in kept.calls:
            if time.monotonic() > until:
                raise OutOfTime
            outcomes.append(outcome_of(call, world, change, through_engine))
    return outcomes


@contextlib.contextmanager
def isolated(change: Change | None) -> Iterator[None]:
    """Restore random state and modes afterwards; meanwhile, functions run the codes of the change."""
    before, grad = random_state(), torch.is_grad_enabled()
    swapped: list[tuple[FunctionType, CodeType]] = []
    try:
        for old, new in (change.codes if change is not None else {}).items():
            for function in functions_with(old):
                swapped.append((function, old))
                function.__code__ = new
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for function, old in swapped:
            function.__code__ = old
        set_random_state(before)
        torch.set_grad_enabled(grad)


def outcome_of(
    call: KeptCall,
    world: World,
    change: Change | None,
    run: Callable[[FunctionType, list[Any], dict[str, Any]], Any],
    installed: Callable[[], Collection[str]] = tuple,
) -> Outcome:
    """Repeat one call by `run`, which gets a function and its arguments. `installed` are the names of globals that a
    compiler added and removes itself."""
    locals_, read = call.build(world)
    if change is not None and change.prepare is not None:
        change.prepare(locals_)
    code = call.code if change is None else change.codes.get(call.code, call.code)
    function, args, kwargs = _callable(code, call.globals, locals_)
    before = dict(call.globals)
    set_random_state(call.random)
    output, error, result = io.StringIO(), "", None
    try:
        call.globals.update(read)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            begun = time.perf_counter()
            try:
                result = run(function, args, kwargs)
            except TracewalkError:
                raise
            except Exception as raised:  # noqa: BLE001  the program's own, to be compared
                error = f"{type(raised).__name__}: {raised}"
            taken = time.perf_counter() - begun
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
        named = [call.globals.get(name) for name in read]
        values = Copier(_PLENTY).copy(result, *args, kwargs, *cells, *named)
        return Outcome(values, error, output.getvalue(), taken)
    finally:
        stays = installed()
        for name in [name for name in call.globals if name not in before and name not in stays]:
            del call.globals[name]
        call.globals.update(before)


def _is_full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _callable(
    code: CodeType, globals_: dict[str, Any], found: dict[str, Any]
) -> tuple[FunctionType, list[Any], dict[str, Any]]:
    """Return a function with this code, and the arguments that bind its parameters as `found` has them."""
    cells = tuple(CellType(found[name]) if name in found else CellType() for name in code.co_freevars)
    function = FunctionType(code, globals_, code.co_name, None, cells or None)
    count, names = code.co_argcount, list(code.co_varnames)
    args = [found[name] for name in names[:count]]
    rest = names[count + code.co_kwonlyargcount :]
    kwargs = {name: found[name] for name in names[count : count + code.co_kwonlyargcount]}
    if code.co_flags & inspect.CO_VARARGS:
        args += found[rest.pop(0)]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs |= found[rest.pop(0)]
    return function, args, kwargs

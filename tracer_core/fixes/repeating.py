"""Repeat kept calls: as plain Python, or through the engine with a change. Nothing of the program is left changed."""

from __future__ import annotations

import contextlib
import inspect
import io
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType
from typing import Any

from tracer_core.errors import TracewalkError
from tracer_core.fixes.copies import Copied, Copier, World
from tracer_core.fixes.differences import difference
from tracer_core.fixes.isolation import isolated, until_done
from tracer_core.fixes.kept import KeptCall, KeptCalls, functions_with, random_state, set_random_state
from tracer_core.fixes.outside import ChangesOutside, nothing_outside
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
    """What a call gave: its result, and its arguments and globals afterwards, by what they are called; the state of
    the random generators, its exception, its output, its time."""

    values: list[tuple[str, Copied]]
    random: Any
    error: str
    output: str
    seconds: float

    def equals(self, other: Outcome) -> bool:
        return self.difference(other) is None

    def difference(self, other: Outcome) -> str | None:
        """Return in a clause how `other` differs from this outcome, which is that of plain Python."""
        if self.error != other.error:
            instead = f"it does not raise {self.error.partition(':')[0]}"
            return f"it raises {in_one_line(other.error)}" if other.error else instead
        if self.output != other.output:
            return f"it prints {_shown(other.output)}, and {_shown(self.output)} in plain Python"
        pairs = zip(self.values, other.values, strict=True)
        found = next((found for (name, one), (_, two) in pairs if (found := difference(name, one, two))), None)
        if found is None and _streams(self.random) != _streams(other.random):
            return "it draws other random numbers than plain Python, or another number of them"
        return found


def _streams(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the state of the random generators in a form that can be compared."""
    of_torch, of_python, (name, keys, *rest) = state
    return of_torch.tolist(), of_python, name, keys.tolist(), rest


def in_one_line(message: str, longest: int = 300) -> str:
    """Return an exception's text without line breaks, and without a full stop."""
    text = " ".join(message.split())
    return text.removesuffix(".") if len(text) <= longest else f"{text[:longest]}..."


def _shown(output: str) -> str:
    return repr(output if len(output) <= 60 else f"{output[:60]}...") if output else "nothing"


def run_plainly(kept: KeptCalls, change: Change | None = None, until: float = float("inf")) -> list[Outcome]:
    """Repeat the calls as plain Python."""
    world, outcomes = World(), []
    codes = {} if change is None else change.codes
    with nothing_outside(_scopes(kept)), isolated(kept.elsewhere, codes, world):
        for call in kept.calls:
            if time.monotonic() > until:
                raise OutOfTime
            with disabled():
                outcomes.append(outcome_of(call, world, change, _call))
    return outcomes


def _scopes(kept: KeptCalls) -> list[dict[str, Any]]:
    """Return the globals of the functions that ran in the recording."""
    own = [call.globals for call in kept.calls]
    ran = [function.__globals__ for code in kept.ran for function in functions_with(code)]
    return list({id(scope): scope for scope in (*own, *ran)}.values())


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

    with isolated(kept.elsewhere, change.codes, world):
        for call in kept.calls:
            if time.monotonic() > until:
                raise OutOfTime
            outcomes.append(outcome_of(call, world, change, through_engine))
    return outcomes


def evaluated(kept: KeptCalls, expression: CodeType, scope: dict[str, Any]) -> Any:
    """Return the value of an expression over these globals. Nothing of the program is changed."""
    world = World()
    nowhere = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with nothing_outside(_scopes(kept)), isolated(kept.elsewhere, {}, world), nowhere[0], nowhere[1], disabled():
        return eval(expression, dict(scope))


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
            except (TracewalkError, ChangesOutside):
                raise
            except Exception as raised:  # noqa: BLE001  the program's own, to be compared
                error = f"{type(raised).__name__}: {raised}"
            taken = time.perf_counter() - begun
        after = {**locals_, **_contents(function)}
        after |= {name: call.globals.get(name) for name in read}
        names = ["the result", *(f"`{name}` after the call" for name in after)]
        random = random_state()
        copies = Copier(_PLENTY).copy(result, *after.values())
        return Outcome(list(zip(names, copies, strict=True)), random, error, output.getvalue(), taken)
    finally:
        stays = installed()

        def restore() -> None:
            for name in set(call.globals).difference(before, stays):
                call.globals.pop(name, None)
            call.globals.update(before)

        until_done(restore)


def _contents(function: FunctionType) -> dict[str, Any]:
    """Return the free variables of a function that are not empty."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


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

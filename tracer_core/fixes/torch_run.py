"""Repeat kept calls through the installed `torch.compile`, and collect what it did: graphs, breaks, compilations.

This is the only use of torch's compiler: nothing else in the engine depends on it. Its caches are reset before and
after, so functions that the program compiled with `torch.compile` are compiled again at their next call.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import torch

from tracer_core.fixes.copies import World
from tracer_core.fixes.isolation import isolated
from tracer_core.fixes.kept import KeptCalls
from tracer_core.fixes.repeating import Outcome, OutOfTime, outcome_of
from tracer_core.frame_eval.hook import disabled
from tracer_core.names.files import shown_file
from tracer_core.names.owners import owner_of

_IMPORTED = "__import_"
"""So begin the globals by which torch's compiler reaches modules, which it never removes."""
_WRAPPER = os.path.join("_dynamo", "external_utils.py")
"""The file of the function in which torch wraps the functions of libraries."""
_RESUME = re.compile(r"torch_dynamo_resume_in_(?P<name>.*)_at_(?P<line>\d+)")
_BRANCH = "generic_jump"
_CALLS = ("call_function", "call_method", "call_module")


@dataclass(frozen=True, order=True)
class Function:
    """A function, by its first line; `resumed`: the rest of one, by the line of the break before it."""

    file: str
    name: str
    line: int | None
    resumed: bool = False


@dataclass(frozen=True)
class TorchBreak:
    """A graph break, at the program's innermost line. `whole`: the whole function ran as plain Python for it."""

    file: str
    line: int
    function: str
    reason: str
    whole: bool = False


@dataclass
class TorchRun:
    """What torch's compiler did with the calls."""

    graphs: list[tuple[Function, list[torch.fx.Node]]] = field(default_factory=list)
    breaks: list[TorchBreak] = field(default_factory=list)
    compiled: list[tuple[Function, str]] = field(default_factory=list)  # ... and why it was compiled again
    outcomes: list[Outcome] = field(default_factory=list)


def run_torch(kept: KeptCalls, until: float = float("inf")) -> TorchRun:
    """Repeat the calls through `torch.compile`; the graphs run as they are. Raises OutOfTime."""
    run, by_compilation, world = TorchRun(), [], World()

    def backend(graph: torch.fx.GraphModule, _examples: Any) -> Any:
        by_compilation.append((_compilation(), [node for node in graph.graph.nodes if node.op in _CALLS]))
        return graph.forward

    def through_torch(function: FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return torch.compile(function, backend=backend, dynamic=kept.dynamic)(*args, **kwargs)

    def installed() -> set[str]:
        named = {hook.name for hooks in _hooks(torch._dynamo.utils) for hook in hooks}
        return named.union(name for call in kept.calls for name in call.globals if name.startswith(_IMPORTED))

    with _fresh_compiler([call.globals for call in kept.calls]) as utils, isolated(kept.elsewhere, {}, world):
        torch.compile(_warm_up, backend="eager")(torch.ones(1))
        torch._dynamo.reset()
        utils.clear_compilation_metrics()
        functions: dict[str, Function] = {}
        for call in kept.calls:
            if time.monotonic() > until:
                raise OutOfTime
            with disabled():
                run.outcomes.append(outcome_of(call, world, None, through_torch, installed))
            _collect(run, call.code, functions, utils)
        run.graphs = [(functions[name], nodes) for name, nodes in by_compilation if name in functions]
        known = [reason for reason in utils.graph_break_reasons if reason.user_stack]
        run.breaks[:0] = [_break_at(reason.user_stack, reason.reason) for reason in known]
    return run


def _warm_up(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def _hooks(utils: Any) -> list[list[Any]]:
    """Return what removes the globals that torch's compiler added to functions' modules, by compiled code."""
    return list(utils.CleanupManager.instance.values.values())


def _remove(added: list[list[Any]], scopes: list[dict[str, Any]]) -> None:
    """Remove such globals now, and those of modules. torch waits until the code dies, which resume functions keep
    alive, and adds what it misses when it compiles again."""
    for hooks in added:
        for hook in hooks:
            if hook.name in hook.scope:
                hook()
        scopes = [*scopes, *(hook.scope for hook in hooks)]
        hooks.clear()
    for scope in scopes:
        for name in [name for name in scope if name.startswith(_IMPORTED)]:
            del scope[name]


def _compilation() -> str:
    return str(torch._guards.CompileContext.current_compile_id())


@contextlib.contextmanager
def _fresh_compiler(scopes: list[dict[str, Any]]) -> Iterator[Any]:
    """Give torch's compiler empty caches and no voice, and leave it with empty caches, and its records as before."""
    import torch._dynamo
    from torch._dynamo import utils

    log = logging.getLogger("torch._dynamo")
    level, counters = log.level, {name: counter.copy() for name, counter in utils.counters.items()}
    metrics, installed = utils.get_compilation_metrics(), _hooks(utils)
    torch._dynamo.reset()
    log.setLevel(logging.ERROR)
    try:
        yield utils
    finally:
        torch._dynamo.reset()
        _remove([hooks for hooks in _hooks(utils) if not any(hooks is other for other in installed)], scopes)
        log.setLevel(level)
        utils.counters.clear()
        utils.counters.update(counters)
        utils.clear_compilation_metrics()
        utils._compilation_metrics.extend(metrics)


def _collect(run: TorchRun, called: CodeType, functions: dict[str, Function], utils: Any) -> None:
    """Take the compilations since the last call; torch keeps only so many."""
    for one in utils.get_compilation_metrics():
        function = _function(one.co_filename, one.co_name, one.co_firstlineno)
        if one.co_filename.endswith(_WRAPPER):
            function = _function(called.co_filename, called.co_name, called.co_firstlineno)
        functions[str(one.compile_id)] = function
        if one.fail_reason is not None:
            line = one.fail_user_frame_lineno or one.co_firstlineno
            file = one.fail_user_frame_filename or one.co_filename
            run.breaks.append(TorchBreak(shown_file(file), line, function.name, _reason(one.fail_reason), whole=True))
        elif one.has_guarded_code:
            run.compiled.append((function, _guard(one.recompile_reason or "")))
    utils.clear_compilation_metrics()


def _function(file: str, name: str, line: int | None = None) -> Function:
    found = _RESUME.fullmatch(name)
    if found is None:
        return Function(shown_file(file), name, line)
    return Function(shown_file(file), _function(file, found["name"]).name, int(found["line"]), resumed=True)


def _break_at(stack: list[Any], reason: str) -> TorchBreak:
    """Return the break at the innermost line of the stack among those of the greatest owner, which is the program."""
    owner = max(owner_of(frame.filename) for frame in stack)
    frame = next(frame for frame in reversed(stack) if owner_of(frame.filename) == owner)
    name = _function(frame.filename, frame.name).name
    return TorchBreak(shown_file(frame.filename), frame.lineno, name, _reason(reason))


def _reason(text: str) -> str:
    """Return the first line of torch's message, and its explanation's."""
    if text.startswith(_BRANCH):
        return "Data-dependent branching"
    lines = [line.strip() for line in text.strip().splitlines()]
    told = next((line for line in lines[1:] if line.startswith("Explanation: ")), "")
    return ": ".join(part for part in (lines[0] if lines else "", told.removeprefix("Explanation: ")) if part)


def _guard(reason: str) -> str:
    """Return the guard that failed, without the versions and the lines of torch's message."""
    first = reason.strip().splitlines()[0] if reason.strip() else ""
    return re.sub(r"^\d+/\d+: ", "", first).split("  #")[0].strip()

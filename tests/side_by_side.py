"""Runs a function as plain Python and through the engine, each on fresh arguments, and compares all that can be seen:
results and their types, which objects are one, changed arguments, exceptions, printed output, torch's switches."""

from __future__ import annotations

import contextlib
import difflib
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx

import tracer_core
from tests.conformance.snapshot import Snapshot, without_addresses
from tracer_core.guards import Guard
from tracer_core.observer import Observer, observing

Arguments = Callable[[], tuple[Any, ...]]


class Watch(Observer):
    """What the engine told while it traced, and an identity back end with the graphs it got."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []
        self.examples: list[list[Any]] = []
        self.guards: list[Guard] = []
        self.symbols: list[tuple[str, str]] = []
        self.breaks: list[str] = []
        self.skips: list[str] = []
        self.effects: list[tuple[str, str]] = []
        self.listings: list[str] = []
        self.failed: list[tuple[Guard, str]] = []

    def backend(self, graph: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        self.graphs.append(graph)
        self.examples.append(list(examples))
        return graph.forward

    def on_guard(self, guard: Guard) -> None:
        self.guards.append(guard)

    def on_symbol(self, name: str, hint: int | float, meaning: str) -> None:
        self.symbols.append((name, meaning))

    def on_break(self, unsupported: Any, frame: Any, instruction: Any) -> None:
        self.breaks.append(unsupported.reason_id)

    def on_skip(self, code: Any, reason_id: str, message: str) -> None:
        self.skips.append(reason_id)

    def on_side_effect(self, kind: str, tracker: Any, message: str) -> None:
        self.effects.append((kind, message))

    def on_generated(self, code: Any, new_code: Any, listing: str, resumes: list[Any]) -> None:
        self.listings.append(listing)

    def on_cache_check(self, code: Any, version: int, failed: Guard | None, seen: str) -> None:
        if failed is not None:
            self.failed.append((failed, seen))

    def texts(self, about: str = "") -> list[str]:
        """The guards' texts, those that contain `about`."""
        return [guard.text for guard in self.guards if about in guard.text]

    def ops(self, graph: int = -1) -> list[str]:
        """The operations of a graph, by name."""
        return [
            node.target if isinstance(node.target, str) else node.target.__name__
            for node in self.graphs[graph].graph.nodes
            if node.op.startswith("call_")
        ]

    def inputs(self, graph: int = -1) -> list[torch.fx.Node]:
        return list(self.graphs[graph].graph.find_nodes(op="placeholder"))


@dataclass
class Run:
    """One call: every text in it is what a person can see."""

    result: Any
    seen: list[str] = field(default_factory=list)


def run(function: Callable[..., Any], args: tuple[Any, ...], snapshot: Snapshot) -> Run:
    snapshot.text({f"argument {i}": arg for i, arg in enumerate(args)})
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*args)
        except Exception as error:
            result = error
            outcome = {"raised": error}
        else:
            outcome = {"returned": result}
    texts = snapshot.text({f"argument {i}": arg for i, arg in enumerate(args)}, outcome)
    state = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"))
    return Run(result, [*texts, without_addresses(printed.getvalue()), repr(state)])


def agree(
    function: Callable[..., Any],
    *calls: Arguments,
    dynamic: bool | None = None,
    backend: Any = None,
    options: dict[str, Any] | None = None,
    then: Callable[[Any], Any] | None = None,
) -> Watch:
    """Compare each call with plain Python. `calls` make fresh arguments; one call without any where there are none.
    `then` looks closer at each result."""
    calls = calls or (tuple,)
    watch = Watch()
    settings = {"raise_internal_faults": True, **(options or {})}
    compiled = tracer_core.compile(function, backend=backend or watch.backend, dynamic=dynamic, options=settings)
    plain = [_then(run(function, make(), snapshot), then) for snapshot in [Snapshot()] for make in calls]
    with observing(watch):
        ours = [_then(run(compiled, make(), snapshot), then) for snapshot in [Snapshot()] for make in calls]
    for number, (theirs, mine) in enumerate(zip(plain, ours, strict=True), 1):
        differences = "\n".join(
            difflib.unified_diff(_lines(theirs), _lines(mine), "plain Python", "engine", lineterm="")
        )
        assert not differences, f"call {number}:\n{differences}"
    return watch


def _lines(done: Run) -> list[str]:
    return "\n".join(done.seen).splitlines()


def _then(done: Run, then: Callable[[Any], Any] | None) -> Run:
    if then is not None and not isinstance(done.result, Exception):
        done.seen.extend(Snapshot().text({"then": then(done.result)}))
    return done

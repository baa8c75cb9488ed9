"""Of ours, generated code calls what is in `tracer_core.runtime`, and classes of the polyfills."""

from __future__ import annotations

import array
import ast
import collections
import contextlib
import importlib
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import pytest
import torch

import tracer_core
from tests.codegen.forced_programs import PROGRAMS, arguments_of
from tests.codegen.test_rebuilt_values import MADE
from tracer_core.observer import Observer, observing
from tracer_core.sources import ById

ENGINE = Path(tracer_core.__file__).parent
WRITERS = sorted(path for folder in ("codegen", "sources") for path in (ENGINE / folder).rglob("*.py"))
CALLS = ("call_const", "run_const", "call_with_top")
MAY_BE_CALLED = (
    "tracer_core.runtime.",
    "tracer_core.polyfills",
    "tracer_core.host.global_state",
    "tracer_core.codegen.graph_call.blame",
)


def not_in_contract(value: Any) -> bool:
    """Whether it is a function or class of the engine's that generated code must not call."""
    function = value.__func__ if isinstance(value, MethodType) else value
    module = getattr(function, "__module__", None) if isinstance(function, (FunctionType, type)) else None
    return isinstance(module, str) and module.startswith("tracer_core") and not module.startswith(MAY_BE_CALLED)


def written_calls(path: Path) -> Iterator[tuple[int, Any]]:
    """The lines where a call is written of something that the module names, and what that is."""
    module = importlib.import_module(".".join(path.relative_to(ENGINE.parent).with_suffix("").parts))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
            called = node.args[0]
            if isinstance(called, ast.Name) and hasattr(module, called.id):
                yield node.lineno, getattr(module, called.id)


@pytest.mark.parametrize("path", WRITERS, ids=[path.relative_to(ENGINE).as_posix() for path in WRITERS])
def test_calls_are_written_of_the_contract_alone(path: Path) -> None:
    importlib.import_module("tracer_core.codegen.compile_frame")
    assert [(line, value) for line, value in written_calls(path) if not_in_contract(value)] == []


def test_most_calls_are_seen() -> None:
    seen = {value for path in WRITERS for _, value in written_calls(path) if callable(value)}
    assert len([value for value in seen if value.__module__.startswith("tracer_core.runtime")]) > 20


class Held:
    __slots__ = ("slot",)


class Noted:
    seen = 0


def shuffles(x):
    items = [1, 2, 3]
    random.shuffle(items)
    return x + items[0]


def seeds(x):
    np.random.seed(3)
    return x + np.random.rand()


def draws(x):
    return x + random.random(), random.Random(4)


def writes(x, queue, table, slots, numbers, items):
    queue[0], table["a"] = 5, x + 1
    del slots.slot
    Noted.seen = 3
    del Noted.seen
    numbers.append(7)
    return x * next(items)


def computes_arrays(x):
    return torch.from_numpy(x.numpy() * 2), x.numpy().T, x.numpy().sum()


def raises_and_catches(x):
    try:
        raise KeyError("a")
    except KeyError as error:
        return x + 1, error


def started(x):
    numbers = (number for number in range(3))
    next(numbers)
    return x + 1, numbers


def breaks_in_a_loop(x, limit):
    for number in range(limit):
        x = x + number
        print(end="")
    return x


def written() -> tuple[Any, ...]:
    slots = Held()
    slots.slot = 1
    return collections.deque([1, 2]), {"b": 1}, slots, array.array("i", [1]), iter([2.0, 3.0])


def hooks(x):
    x.requires_grad_(False)
    leaf = KEPT
    handle = leaf.register_hook(lambda grad: grad)
    handle.remove()
    return x + leaf, handle


KEPT = torch.ones(2, requires_grad=True)

MORE: dict[Any, tuple[Any, ...]] = {
    **dict.fromkeys((shuffles, seeds, draws, computes_arrays, raises_and_catches, started, hooks), ()),
    writes: written(),
    breaks_in_a_loop: (3,),
}


class Generated(Observer):
    """Keeps the code that was generated."""

    def __init__(self) -> None:
        self.codes: list[CodeType] = []

    def on_generated(self, code: CodeType, new_code: CodeType, *rest: Any) -> None:
        self.codes.append(new_code)


def constants(code: CodeType) -> Iterator[Any]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from constants(value)
        else:
            yield value.value if isinstance(value, ById) else value


def test_generated_code_holds_functions_of_the_contract_alone() -> None:
    generated = Generated()
    with warnings.catch_warnings(), observing(generated):
        warnings.simplefilter("ignore")
        for function in PROGRAMS:
            with contextlib.suppress(ValueError):  # one of them ends so
                tracer_core.compile(function, backend="eager")(*arguments_of(function))
        for function, arguments in MORE.items():
            tracer_core.compile(function, backend="eager")(torch.ones(2), *arguments)
        for make in MADE.values():
            tracer_core.compile(lambda x, make=make: (x + 1, make(x)), backend="eager")(torch.ones(2))
    held = [value for code in generated.codes for value in constants(code)]
    assert len(generated.codes) > 50
    assert [value for value in held if not_in_contract(value)] == []
    modules = {getattr(value, "__module__", None) for value in held if isinstance(value, FunctionType)}
    everything = {f"tracer_core.runtime.{path.stem}" for path in (ENGINE / "runtime").glob("[!_]*.py")}
    elsewhere = {"upcoming": "guards call it", "flat_calls": "graphs do", "gradients": "backward graphs do"}
    assert everything - modules == {f"tracer_core.runtime.{name}" for name in elsewhere}

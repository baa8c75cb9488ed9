"""The calls of a recording are the program's: what libraries run for themselves is none, and each is told apart."""

from __future__ import annotations

import weakref
from typing import Any

import torch

import tracewalk as tw


class Thing: ...


def test_housekeeping_of_libraries_is_not_listed() -> None:
    """A weak dictionary drops what died, by a function that Python calls; a module that is called looks for hooks."""
    table: Any = weakref.WeakValueDictionary()
    module = tw.compile(torch.nn.Linear(2, 2), backend="eager")

    def program(x: torch.Tensor) -> Any:
        return module(x) + 1

    with tw.record() as trace:
        thing = Thing()
        table["a"] = thing
        del thing
        program(torch.ones(2))
    names = {trace.function_of(call.code).qualname for call in trace.calls}
    assert names == {program.__qualname__, "Linear.forward"}


def made(number: int) -> Any:
    if number:

        def function(x: torch.Tensor) -> Any:  # fmt: skip
            return x + 1
    else:

        def function(x: torch.Tensor) -> Any:  # fmt: skip
            return x * 2

    return function


def test_functions_of_one_name_are_listed_with_their_places() -> None:
    first, second = made(1), made(0)
    with tw.record() as trace:
        first(torch.ones(2))
        second(torch.ones(2))
        first(torch.ones(2))
    [section] = [section for section in trace.overview().sections if section.name == "functions"]
    name = first.__qualname__
    at = [f"test_calls_of_the_program.py:{each.__code__.co_firstlineno}" for each in (first, second)]
    assert {row.text.partition(": ")[0]: row.text.split(", ")[1] for row in section.rows} == {
        f"{name} ({at[0]})": "2 calls",
        f"{name} ({at[1]})": "1 call",
    }

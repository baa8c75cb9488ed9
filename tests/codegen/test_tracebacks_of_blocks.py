"""Blocks that break the graph while an exception is on its way leave its traceback as plain Python has it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core

OPTIONS = {"raise_internal_faults": True}


class Leaves:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        print("exit", raised[0])
        return False


class RaisesWhenLeft(Leaves):
    def __exit__(self, *raised):
        print("exit", raised[0])
        raise ValueError("in exit")


def fails(x):
    raise KeyError("fails")


def seen(error):
    return [
        (entry.name, entry.lineno)
        for entry in traceback.extract_tb(error.__traceback__)
        if entry.filename == __file__
    ]


def finally_breaks(x):
    try:
        y = x + 1
        raise KeyError("stop")
    finally:
        print("finally")


def exit_breaks(x):
    with Leaves():
        y = x + 1
        raise KeyError("stop")


def exit_breaks_after_a_break(x):
    with Leaves():
        print("a")
        fails(x + 1)


def exit_raises(x):
    with RaisesWhenLeft():
        fails(x + 1)


def finally_breaks_in_a_loop(x):
    for i in range(3):
        try:
            y = x + i
            if i == 2:
                fails(y)
        finally:
            print("finally", i)
            y = y * 2
            print("again", i)


def handler_looks_and_raises_again(x):
    try:
        fails(x + 1)
    except KeyError as error:
        print("handled", seen(error))
        z = x * 2
        print("still", seen(error), z.shape)
        raise


def handler_raises_from(x):
    try:
        try:
            y = x + 1
            raise KeyError(1)
        except KeyError as error:
            print("handled")
            raise ValueError(2) from error
    finally:
        print("finally")
        y = y + 1
        print("again")


def two_exits_and_a_look(x):
    try:
        with Leaves(), Leaves():
            y = x + 1
            raise KeyError("stop")
    except KeyError as error:
        print("caught", seen(error))
        raise


def calls_one_that_breaks(x):
    try:
        finally_breaks(x + 1)
    finally:
        print("outer")


def handlers_in_handlers(x):
    try:
        [][x.shape[0]]
    except IndexError as first:
        try:
            print("one")
            {}[1]
        except KeyError as second:
            print("two")
            y = x + 1
            print("three", second.__context__ is first, y.shape)
            raise


PROGRAMS = [
    finally_breaks, exit_breaks, exit_breaks_after_a_break, exit_raises, finally_breaks_in_a_loop,
    handler_looks_and_raises_again, handler_raises_from, two_exits_and_a_look, calls_one_that_breaks,
    handlers_in_handlers,
]  # fmt: skip


def outcome(function: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> Any:
    with pytest.raises((KeyError, ValueError)) as caught:
        function(torch.ones(2))
    chain: list[Any] = []
    error: BaseException | None = caught.value
    while error is not None:
        entries = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename == __file__]
        chain.append((type(error), str(error), [(e.name, e.lineno) for e in entries if e.name != "outcome"]))
        error = error.__cause__ or error.__context__
    return chain, capsys.readouterr().out


@pytest.mark.row("I5", "I6")
@pytest.mark.parametrize("function", PROGRAMS)
def test_the_traceback_of_an_exception_on_its_way(function, capsys):
    expected = outcome(function, capsys)
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    for _ in range(3):
        assert outcome(compiled, capsys) == expected

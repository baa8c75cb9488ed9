"""Graphs that end while exceptions are handled: Python must be in the same state after the break as before it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch

from tests.codegen.forced import Forced, outcome, traced


class Custom(Exception):
    """An exception of the user's own."""


class Printing:
    """A context manager whose leaving breaks the graph."""

    def __init__(self, swallow: bool) -> None:
        self.swallow = swallow

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        print("leaving", kind, error, trace is not None, sys.exc_info()[0])
        return self.swallow


def context_across_a_break(x):
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            x = x + 1
            raise ValueError("outer")
    except ValueError as error:
        print("broken")
        kept = (type(error.__context__), error.__cause__, error.__suppress_context__)
        return x + 1, kept


def raises_what_was_passed(x, first, second):
    x = x + 1
    try:
        raise first
    except KeyError:
        try:
            raise second
        except ValueError as error:
            return x, error.__context__ is first, first.__context__


def raised_again_in_a_circle(x):
    first, second = KeyError("first"), ValueError("second")
    try:
        try:
            raise first
        except KeyError:
            raise second
    except ValueError:
        try:
            raise first
        except KeyError:
            return x + 1, first.__context__ is second, second.__context__


def a_cause_across_a_break(x):
    try:
        try:
            {}["missing"]
        except KeyError as error:
            x = x + 1
            raise ValueError("outer") from error
    finally:
        print("broken")


def custom_exception(x):
    try:
        raise Custom("a", 1)
    except Custom as error:
        x = x + 1
        print(error)
        return x * 2, error.args, sys.exc_info()[1] is error


def left_by_an_exception(x, manager):
    try:
        with manager:
            x = x + 1
            raise KeyError("k")
        x = x * 3
    except KeyError as error:
        x = x + len(error.args)
        print("caught", sys.exc_info()[0])
    print("after", sys.exc_info())
    return x * 2


def left_in_an_except_block(x, manager):
    try:
        raise ValueError("first")
    except ValueError:
        with manager:
            x = x + 1
        print("handled", sys.exc_info()[0])
        x = x * 2
    return x, sys.exc_info()


def reraised_after_a_break(x):
    try:
        raise KeyError("k")
    except KeyError:
        x = x + 1
        print("broken")
        raise


def breaks_in_three_handlers(x):
    try:
        raise KeyError("1")
    except KeyError:
        print(sys.exc_info()[0])
        try:
            raise ValueError("2")
        except ValueError:
            x = x + 1
            print(sys.exc_info()[0])
            try:
                raise TypeError("3")
            except TypeError as error:
                print(sys.exc_info()[0])
                chain = [type(error), type(error.__context__), type(error.__context__.__context__)]
            print(sys.exc_info()[0])
            x = x * 2
        print(sys.exc_info()[0])
    print(sys.exc_info()[0])
    return x, chain


CASES: list[tuple[Any, Any]] = [
    (context_across_a_break, lambda: ()),
    (raises_what_was_passed, lambda: (KeyError("a"), ValueError("b"))),
    (raised_again_in_a_circle, lambda: ()),
    (a_cause_across_a_break, lambda: ()),
    (custom_exception, lambda: ()),
    (left_by_an_exception, lambda: (Printing(False),)),
    (left_by_an_exception, lambda: (Printing(True),)),
    (left_in_an_except_block, lambda: (Printing(False),)),
    (reraised_after_a_break, lambda: ()),
    (breaks_in_three_handlers, lambda: ()),
]


@pytest.mark.row("I5", "O6")
@pytest.mark.parametrize(("fn", "more"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_as_plain_python(fn: Any, more: Any) -> None:
    expected = outcome(fn, (torch.ones(2), *more()))
    seen = traced(fn, (torch.ones(2), *more()), Forced(-1, lambda code: False))
    assert seen == expected


@pytest.mark.row("I5")
def test_nothing_is_left_handled_outside() -> None:
    traced(reraised_after_a_break, (torch.ones(2),), Forced(-1, lambda code: False))
    assert sys.exc_info() == (None, None, None)

"""Stack items are named by the expressions in the source text that gave them."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

import pytest

from tracer_core.bytecode import decode, iterable_label, stack_labels
from tracer_core.names.files import place

HERE: Any = None


def in_a_loop(experts):
    for number, expert in enumerate(experts):
        HERE


def in_a_sum(a, b):
    return a.first(1) + HERE


def in_a_call(f, x):
    return f(x, x + 1, HERE)


def in_a_method_call(x):
    return x.sum(HERE)


def in_a_with(manager, x):
    with manager(x) as inside:
        HERE


def in_a_handler(x):
    try:
        x.fails()
    except ValueError:
        HERE


def in_a_comparison(f, x):
    return 0 < f(x) < HERE


def over_two_lines(f, x):
    return (
        f(
            x,
        )
        + HERE
    )


def at_the_umlaut(f):
    return f("ä") + HERE


CASES: list[tuple[Callable[..., Any], int, list[str]]] = [
    (in_a_loop, 1, ["the iterator over `enumerate(experts)`, {}"]),
    (in_a_sum, 1, ["the result of `a.first(1)`, {}"]),
    (in_a_call, 1, ["`f`, {}", "`f`, {}", "`x`, {}", "`x + 1`, {}"]),
    (in_a_method_call, 1, ["`x.sum`, {}", "`x.sum`, {}"]),
    (in_a_with, 1, ["the exit of `manager(x)`, {}"]),
    (in_a_comparison, 1, ["the result of `f(x)`, {}"]),
    (over_two_lines, 2, ["the result of `f( x, )`, {}"]),
    (at_the_umlaut, 1, ['the result of `f("ä")`, {}']),
]


def labels_at_here(code: CodeType) -> list[str]:
    program = decode(code)
    here = next(each for each in program.instructions if each.op == "LOAD_GLOBAL" and each.arg == "HERE")
    return [label.text for label in stack_labels(program, code.co_filename, here)]


@pytest.mark.parametrize(("function", "line", "expected"), CASES, ids=[case[0].__name__ for case in CASES])
def test_labels(function: Callable[..., Any], line: int, expected: list[str]) -> None:
    code = function.__code__
    assert labels_at_here(code) == [text.format(place(__file__, code.co_firstlineno + line)) for text in expected]


def test_in_a_handler_lies_what_was_handled_before() -> None:
    assert labels_at_here(in_a_handler.__code__) == ["the exception handled before"]


def test_the_iterable_of_a_comprehension() -> None:
    def function(xs: Any) -> Any:
        return [x + 1 for x in reversed(xs) if x]

    inner = next(each for each in function.__code__.co_consts if isinstance(each, CodeType))
    line = function.__code__.co_firstlineno + 1
    at = place(__file__, line)
    assert iterable_label(decode(inner), inner.co_filename).text == f"the iterator over `reversed(xs)`, {at}"


def test_without_the_file_words_are_left() -> None:
    namespace: dict[str, Any] = {}
    exec("def function(f, x):\n    return f(x) + HERE", namespace)
    assert labels_at_here(namespace["function"].__code__) == ["the result of a call, <string>:2"]

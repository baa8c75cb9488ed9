"""The table of operators says of each what Python does with it."""

from __future__ import annotations

import dis
from typing import Any

import pytest

from tracer_core.bytecode import cpython311
from tracer_core.operator_table import BINARY, COMPARISONS, DIVMOD, IN_PLACE, ORDERINGS, UNARY, Operator

OF_TWO = [*BINARY.values(), *COMPARISONS.values()]


def answering(*methods: str) -> Any:
    """An object that says which of its special methods was called."""
    members = {name: lambda self, *rest, name=name: f"{name} called" for name in methods}
    return type("Answering", (), members)()


def ids(operator: Operator) -> str:
    return operator.symbol


@pytest.mark.parametrize("operator", OF_TWO, ids=ids)
def test_an_operator_calls_the_methods_that_the_table_names(operator: Operator) -> None:
    names = {"a": answering(operator.method), "b": answering(operator.reflected), "c": answering()}
    assert eval(f"a {operator.symbol} c", dict(names)) == f"{operator.method} called"
    assert eval(f"c {operator.symbol} b", dict(names)) == f"{operator.reflected} called"
    assert operator.function(names["a"], names["c"]) == f"{operator.method} called"
    assert operator.function(names["c"], names["b"]) == f"{operator.reflected} called"


@pytest.mark.parametrize("operator", list(IN_PLACE.values()), ids=ids)
def test_an_operator_in_place_calls_the_method_that_the_table_names(operator: Operator) -> None:
    names = {"a": answering(operator.method)}
    exec(f"a {operator.symbol} 1", names)
    assert names["a"] == operator.function(answering(operator.method), 1) == f"{operator.method} called"


@pytest.mark.parametrize("instruction", UNARY)
def test_a_unary_operator_is_its_instruction_and_calls_its_method(instruction: str) -> None:
    operator = UNARY[instruction]
    code = compile(f"{operator.symbol}a", "a", "eval")
    assert instruction in {each.opname for each in dis.get_instructions(code)}
    a = answering(operator.method)
    assert eval(code, {"a": a}) == operator.function(a) == f"{operator.method} called"


def test_divmod_calls_its_methods() -> None:
    assert DIVMOD.function(answering(DIVMOD.method), 1) == f"{DIVMOD.method} called"
    assert DIVMOD.function(answering(), answering(DIVMOD.reflected)) == f"{DIVMOD.reflected} called"


def test_the_table_has_each_operator_of_the_language() -> None:
    """CPython's own lists are those by which it encodes operators."""
    in_bytecode = [symbol for _, symbol in dis._nb_ops]  # type: ignore[attr-defined]
    assert {*BINARY, *IN_PLACE} == set(in_bytecode)
    assert set(COMPARISONS) == set(dis.cmp_op)
    assert {*BINARY, *IN_PLACE} == set(cpython311.BINARY_OPERATORS)
    assert set(COMPARISONS) == set(cpython311.COMPARISONS)
    assert set(ORDERINGS) == set(COMPARISONS) - {"==", "!="}

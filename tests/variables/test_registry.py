"""The handler of a call is found by the function, then by the kinds of its arguments, the most specific first."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch

from tracer_core.variables.containers.sequences import ListVariable, SequenceVariable, TupleVariable
from tracer_core.variables.core import registry
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import (
    answered,
    builds,
    getter,
    getter_for,
    handles,
    matches,
    method,
    method_for,
    setter,
    setter_for,
)

TX: Any = None  # handlers here do not ask for the frame


def asked(a: object, b: object = None) -> None:
    """Stands for a function of a program."""


@pytest.fixture(autouse=True)
def tables_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_functions", "_methods", "_getters", "_setters", "_builders"):
        monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
    monkeypatch.setattr(registry, "_builders_by_base", list(registry._builders_by_base))


def saying(text: str | None) -> Any:
    return lambda tx, *args: None if text is None else ConstantVariable(text)


def answer(*args: VariableTracker) -> Any:
    found = answered(TX, asked, *args)
    return None if found is None else found.value()


@pytest.mark.row("B1")
def test_the_most_specific_kind_answers_whatever_the_order_of_registration() -> None:
    handles(asked, VariableTracker)(saying("any"))
    handles(asked, ListVariable)(saying("list"))
    handles(asked, SequenceVariable)(saying("sequence"))
    assert answer(ListVariable([])) == "list"
    assert answer(TupleVariable([])) == "sequence"
    assert answer(ConstantVariable(1)) == "any"


def test_a_handler_that_gives_none_leaves_it_to_the_next() -> None:
    handles(asked, SequenceVariable)(saying("sequence"))
    handles(asked, ListVariable)(saying(None))
    assert answer(ListVariable([])) == "sequence"


def test_all_named_arguments_must_be_of_their_kinds_and_there() -> None:
    handles(asked, ListVariable, ConstantVariable)(saying("both"))
    assert answer(ListVariable([]), ConstantVariable(1)) == "both"
    assert answer(ListVariable([])) is None
    assert answer(ConstantVariable(1), ListVariable([])) is None
    assert not matches((ListVariable, ConstantVariable), [ListVariable([])])
    assert matches((), [ListVariable([])])


@pytest.mark.parametrize("registered", [asked, torch._disable_dynamo(asked)], ids=["function", "marked"])
def test_torchs_mark_on_a_function_changes_no_handler(registered: Any) -> None:
    handles(registered, ConstantVariable)(saying("one"))
    for called in (asked, torch._disable_dynamo(asked)):
        assert answered(TX, called, ConstantVariable(1)).value() == "one"


def test_functions_that_nobody_registered_and_that_have_no_hash() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

    assert registry.handlers_for(asked) == []
    assert registry.handlers_for(Unhashable()) == []


def test_methods_are_inherited_and_overridden_like_pythons() -> None:
    shared, own = saying("shared"), saying("own")
    method(SequenceVariable, "ask", "inquire")(shared)
    method(ListVariable, "ask")(own)
    assert method_for(ListVariable, "ask") is own
    assert method_for(TupleVariable, "ask") is shared
    assert method_for(ListVariable, "inquire") is shared
    assert method_for(ConstantVariable, "ask") is None


def test_an_attribute_is_read_written_and_called_by_handlers_of_their_own() -> None:
    read, write, call = saying("read"), saying("write"), saying("call")
    getter(SequenceVariable, "size")(read)
    setter(SequenceVariable, "size")(write)
    method(SequenceVariable, "size")(call)
    assert getter_for(ListVariable, "size") is read
    assert setter_for(ListVariable, "size") is write
    assert method_for(ListVariable, "size") is call
    assert getter_for(ConstantVariable, "size") is None


def test_no_handler_is_registered_under_a_name_that_python_has_not() -> None:
    names = {name for table in (registry._methods, registry._getters, registry._setters) for _, name in table}
    assert [name for name in names if not name.isidentifier()] == []


@pytest.mark.row("B2")
def test_builders_by_exact_type_come_before_those_by_base(monkeypatch: pytest.MonkeyPatch) -> None:
    class Base:
        pass

    class Child(Base):
        pass

    by_base, exact, any_other = saying("base"), saying("exact"), saying("any")
    builds(object, subclasses=True)(any_other)
    builds(Base, subclasses=True)(by_base)
    builds(Child)(exact)
    assert registry.builder_for(Child()) is exact
    assert registry.builder_for(Base()) is by_base
    monkeypatch.setattr(registry, "_builders_by_base", registry._builders_by_base[-1:])
    assert registry.builder_for(Base()) is any_other


@pytest.mark.row("I2")
@pytest.mark.parametrize("function", [operator.add, operator.eq, operator.contains, len])
def test_the_engines_own_tables_are_sorted_from_special_to_general(function: Any) -> None:
    kinds = [each for each, _ in registry.handlers_for(function)]
    for place, later in enumerate(kinds):
        for earlier in kinds[:place]:
            hidden = len(earlier) <= len(later) and all(map(issubclass, later, earlier)) and earlier != later
            assert not hidden, f"{later} stands behind {earlier}, which answers everything it could"

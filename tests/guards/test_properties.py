"""Random nested values: guards on all their parts hold on an equal copy, and the right one fails after one change."""

from __future__ import annotations

import builtins
import copy
from typing import Any

import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from tracer_core.guards import Guard, compile_guards, constant_key, make, same_constant
from tracer_core.guards.describe import describe
from tracer_core.sources import DictValueSource, GetItemSource, LocalSource, ObjectAttrSource, Scope, Source


class Node:
    """An object with attributes."""


def node_of(attributes: dict[str, Any]) -> Node:
    node = Node()
    vars(node).update(attributes)
    return node


literals = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=4),
    st.binary(max_size=3),
)
constants = st.recursive(literals, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
names = st.sampled_from(["a", "b", "weight", "training"])
values = st.recursive(
    constants,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(names, st.integers(0, 5)), inner, max_size=4),
        st.dictionaries(names, inner, max_size=3).map(node_of),
    ),
    max_leaves=12,
)


def guards_of(value: Any, source: Source) -> list[Guard]:
    """A guard on everything that can be told about `value`."""
    if type(value) is list:
        parts = [guards_of(part, GetItemSource(source, i)) for i, part in enumerate(value)]
        own = [make.type_is(source, list), make.length(source, len(value))]
    elif type(value) is dict:
        parts = [
            guards_of(part, GetItemSource(source, key) if i % 2 else DictValueSource(source, i))
            for i, (key, part) in enumerate(value.items())
        ]
        own = [make.type_is(source, dict), make.dict_keys_are(source, value)]
    elif type(value) is Node:
        stored = vars(value)
        parts = [guards_of(part, ObjectAttrSource(source, name)) for name, part in stored.items()]
        own = [make.type_is(source, Node)]
    else:
        parts, own = [], [make.constant(source, value)]
    return [*own, *(guard for part in parts for guard in part)]


def spots(value: Any, source: Source) -> list[tuple[Source, Any, Any]]:
    """(source, container, key) of every part that is a constant in a container."""
    if type(value) is list:
        items: list[tuple[Source, Any, Any]] = [(GetItemSource(source, i), value, i) for i in range(len(value))]
    elif type(value) is dict:
        items = [
            (GetItemSource(source, key) if i % 2 else DictValueSource(source, i), value, key)
            for i, key in enumerate(value)
        ]
    elif type(value) is Node:
        items = [(ObjectAttrSource(source, name), vars(value), name) for name in vars(value)]
    else:
        return []
    found: list[tuple[Source, Any, Any]] = []
    for at, container, key in items:
        part = container[key]
        found += spots(part, at) if type(part) in (list, dict, Node) else [(at, container, key)]
    return found


x = LocalSource("x")


def compiled(guards: list[Guard]) -> Any:
    return compile_guards(guards, {}, vars(builtins))


@given(values)
def test_hold_on_the_value_and_on_a_copy(value: Any) -> None:
    check = compiled(guards_of(value, x))
    assert check.check({"x": value}) == -1
    assert check.check({"x": copy.deepcopy(value)}) == -1


@given(values, constants, st.data())
def test_the_guard_of_what_changed_fails(value: Any, new: Any, data: st.DataObject) -> None:
    check = compiled(guards_of(value, x))
    changed = copy.deepcopy(value)
    places = spots(changed, x)
    assume(places)
    source, container, key = data.draw(st.sampled_from(places))
    assume(not same_constant(container[key], new))
    container[key] = new
    failure = check.explain({"x": changed})
    assert failure is not None
    assert failure.guard.source == source
    assert source.name in failure.sentence
    assert check.guards[check.check({"x": changed})] is failure.guard


@given(values, values)
def test_the_generated_check_agrees_with_plain_python(value: Any, other: Any) -> None:
    guards = guards_of(value, x)
    scope = Scope({"x": other}, {}, vars(builtins))
    plainly = all(guard.holds(scope) for guard in guards)
    assert compiled(guards).holds({"x": other}) is plainly


@given(constants, constants)
def test_two_constants_are_the_same_when_their_text_is(a: Any, b: Any) -> None:
    assert same_constant(a, b) is (repr(a) == repr(b))
    assert (constant_key(a) == constant_key(b)) is (repr(a) == repr(b))


def test_tensors_of_every_layout_are_described() -> None:
    square = torch.eye(2)
    tensors = [
        square.to_sparse(),
        square.to_sparse_csr(),
        square.to_mkldnn(),
        square.to("meta"),
        torch.quantize_per_tensor(square, 0.1, 0, torch.qint8),
        torch.nested.nested_tensor([square, square[0:1]], layout=torch.jagged),
    ]
    assert all("[2, " in describe(tensor) for tensor in tensors)
    assert describe(torch.nested.nested_tensor([square, square[0:1]])) == "Tensor f32[nested]"

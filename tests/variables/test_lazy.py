"""A value nobody looks at is handed on as it is: no guard, no input of the graph, no new version when it changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tracer_core
from tests.back_ends import Graphs
from tests.variables.test_builders import about, guards_of

UNUSED = [1, 2.5, "text", [1, [2]], {"a": 1}, torch.ones(3), SimpleNamespace(a=1), len, None, object(), iter(())]


@pytest.mark.row("B10")
@pytest.mark.parametrize("unused", UNUSED, ids=lambda value: type(value).__name__)
def test_returned_as_the_object_that_it_is(unused: Any) -> None:
    def fn(x, unused):
        return x + 1, unused, [unused], {"k": unused}

    texts = guards_of(fn, torch.ones(2), unused)
    assert about(texts, "unused") == []
    result = tracer_core.compile(fn, backend="eager")(torch.ones(2), unused)
    assert result[1] is unused
    assert result[2][0] is unused
    assert result[3]["k"] is unused


@pytest.mark.row("B10")
def test_kept_in_an_argument() -> None:
    def fn(x, holder, unused):
        holder.kept = unused
        holder.items.append(unused)
        return x + 1

    unused, holder = object(), SimpleNamespace(items=[])
    assert about(guards_of(fn, torch.ones(2), SimpleNamespace(items=[]), unused), "unused") == []
    tracer_core.compile(fn, backend="eager")(torch.ones(2), holder, unused)
    assert holder.kept is unused
    assert holder.items == [unused]


@pytest.mark.row("B10")
def test_attributes_and_entries_beside_those_that_are_read() -> None:
    def fn(x, holder, table):
        return x + holder.used + table["used"]

    holder, table = SimpleNamespace(used=1, unused="u"), {"used": 2, "unused": "u"}
    texts = guards_of(fn, torch.ones(2), holder, table)
    assert [text for text in about(texts, "holder") if ".used" in text]
    assert not [text for text in about(texts, "holder") if "unused" in text]
    assert not [text for text in about(texts, "table") if "['unused']" in text]


@pytest.mark.row("B10", "F1")
def test_passed_through_functions_that_do_not_look() -> None:
    def inner(v, *rest, **named):
        return v + len(rest) + len(named)

    def fn(x, a, b):
        return inner(x, a, b, k=a)

    texts = guards_of(fn, torch.ones(2), "a", "b")
    assert about(texts, "a") == []
    assert about(texts, "b") == []


@pytest.mark.row("B10", "F1")
def test_defaults_and_cells_that_are_not_used() -> None:
    hidden = ["cell"]

    def inner(v, unused="default", *, other="keyword"):
        return v if v.dim() else hidden

    def fn(x):
        return inner(x) + 1

    texts = guards_of(fn, torch.ones(2))
    assert not [text for text in texts if "default" in text or "keyword" in text or "cell_contents[" in text]


@pytest.mark.row("B10")
def test_a_change_of_what_is_not_looked_at_compiles_nothing_new() -> None:
    backend = Graphs()

    def fn(x, unused):
        return x + 1, unused

    compiled = tracer_core.compile(fn, backend=backend)
    for unused in UNUSED:
        assert compiled(torch.ones(2), unused)[1] is unused
    assert len(backend.graphs) == 1


@pytest.mark.row("B10")
def test_an_unused_tensor_is_no_input() -> None:
    backend = Graphs()

    def fn(x, unused, items):
        return x + 1, unused, items[0]

    x, y = torch.ones(2), torch.ones(3)
    result = tracer_core.compile(fn, backend=backend)(x, y, [y, x])
    assert result[1] is y
    assert result[2] is y
    assert len(backend.graphs[0].graph.find_nodes(op="placeholder")) == 1


@pytest.mark.row("B10")
def test_looked_at_by_type_alone() -> None:
    def fn(x, given):
        return x + 1 if isinstance(given, list) else x

    texts = about(guards_of(fn, torch.ones(2), [1, 2]), "given")
    assert not [text for text in texts if "[0]" in text]

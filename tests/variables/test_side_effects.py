"""Side effects of each kind: traced without a break, made once, in order, on the objects themselves."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracewalk as tw
from tests.side_by_side import agree

COUNT = 0


class Holder:
    count = 0

    def __init__(self) -> None:
        self.list = [1]
        self.other: Any = None


def counted() -> Callable[[], int]:
    n = 0

    def count() -> int:
        nonlocal n
        n += 1
        return n

    return count


def write_global(x, kept):
    global COUNT
    COUNT += 1
    return x + COUNT


def write_cell(x, kept):
    return x * kept["count"]() + kept["count"]()


def write_class(x, kept):
    Holder.count += 1
    return x + Holder.count


def write_grad(x, kept):
    kept["leaf"].grad = x * 2
    return kept["leaf"].grad + 1


def write_requires_grad(x, kept):
    y = x * 2
    y.requires_grad_()
    return y


def write_made(x, kept):
    made = Holder()
    made.list.append(x)
    made.other = made
    kept["dict"]["made"] = made
    return made.list[1] + 1


def write_alias(x, kept):
    kept["dict"]["list"] = kept["list"]
    kept["dict"]["list"].append(x + 1)
    kept["list"].append(kept["dict"])
    return kept["list"][-2] * 2


KINDS: dict[str, Callable[..., Any]] = {
    "list": lambda x, kept: (kept["list"].append(x + 1), kept["list"].insert(0, 5), x * 2)[2],
    "dict": lambda x, kept: (kept["dict"].update(b=x + 1), kept["dict"].pop("a"), x * 2)[2],
    "set": lambda x, kept: (kept["set"].add(3), kept["set"].discard(1), x + len(kept["set"]))[2],
    "deque": lambda x, kept: (kept["deque"].rotate(1), kept["deque"].append(x + 1), x * 2)[2],
    "attribute": lambda x, kept: (setattr(kept["holder"], "other", x + 1), kept["holder"].other * 2)[1],
    "attribute of an attribute": lambda x, kept: (kept["holder"].list.append(x + 1), x * 2)[1],
    "cell": write_cell,
    "global": write_global,
    "class": write_class,
    "in place on an input": lambda x, kept: x.add_(1).mul_(2),
    "in place on a view of an input": lambda x, kept: (x[0].zero_(), x + 1)[1],
    "gradient": write_grad,
    "requires_grad_": write_requires_grad,
    "an object made in the trace": write_made,
    "one list in two places": write_alias,
}


def arguments() -> tuple[torch.Tensor, dict[str, Any]]:
    """Fresh ones, and what is written outside of them as it was at first."""
    global COUNT
    COUNT = Holder.count = 0
    kept = {
        "list": [1, 2],
        "dict": {"a": 1},
        "set": {1, 2},
        "deque": collections.deque([1, 2, 3]),
        "holder": Holder(),
        "count": counted(),
        "leaf": torch.ones(2, requires_grad=True),
    }
    return torch.arange(2.0), kept


@pytest.mark.row("O7")
@pytest.mark.parametrize("name", KINDS)
def test_written_once_and_without_a_break(name: str) -> None:
    watch = agree(lambda x, kept: KINDS[name](x, kept), arguments, arguments)
    assert len(watch.graphs) == 1
    assert set(watch.breaks) <= {"autograd-flag"}, "only requires_grad_, as in torch.compile"


@pytest.mark.row("O7", "O6")
@pytest.mark.parametrize("name", KINDS)
def test_written_before_what_a_break_shows(name: str) -> None:
    """What runs between two graphs sees all that was written before it."""

    def program(x, kept):
        y = KINDS[name](x, kept)
        print(sorted(map(str, kept["dict"])), len(kept["list"]), kept["set"], kept["holder"].list)
        return y + 1

    agree(program, arguments)


@pytest.mark.row("O7", "I5")
@pytest.mark.parametrize("name", KINDS)
def test_written_before_an_exception_that_leaves(name: str) -> None:
    def program(x, kept):
        KINDS[name](x, kept)
        raise ValueError("after")

    agree(program, arguments)


@pytest.mark.row("O7")
def test_in_the_order_of_the_program() -> None:
    """A property that writes elsewhere, a dict's order, and the last of several writes."""

    class Log:
        def __init__(self, log: list[str]) -> None:
            self.log = log

        def __setattr__(self, name: str, value: Any) -> None:
            if name != "log":
                self.log.append(f"{name}={value}")
            object.__setattr__(self, name, value)

    def program(x, log, d):
        noted = Log(log)
        noted.b = 1
        d["second"] = 1
        noted.a = 2
        d["first"] = 2
        del d["second"]
        d["second"] = 3
        noted.b = 3
        return x + noted.b, noted.__dict__

    watch = agree(program, lambda: (torch.ones(2), [], {"zero": 0}))
    assert watch.breaks == []


@pytest.mark.row("O7")
def test_nothing_is_written_twice_when_tracing_starts_over() -> None:
    def program(x, kept, box):
        kept.append(1)
        box.n += 1
        print("here")
        kept.append(2)
        box.n += 1
        print("there")
        return x + box.n

    agree(program, lambda: (torch.ones(2), [], types.SimpleNamespace(n=0)))


class Table(collections.OrderedDict[str, Any]):
    """A dict of the user's."""


def adds(x, table):
    table["new"] = x + 1
    return x * 2


def changes_one(x, table):
    table["kept"] = x + 1
    return x * 2


def removes(x, table):
    del table["gone"]
    table["kept"] = x + 1
    return x * 2


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict, Table])
@pytest.mark.parametrize("function", [adds, changes_one, removes])
def test_entries_that_are_not_written_may_go_before_the_graph_runs(
    function: Callable[..., Any], kind: type[dict[str, Any]]
) -> None:
    """As those of a dict of weak references do, or of one that another thread shortens."""

    def table() -> dict[str, Any]:
        return kind({"first": 1, "kept": 2, "gone": 3, "last": 4})

    plain, ours = table(), table()

    def backend(graph: torch.fx.GraphModule, examples: list[torch.Tensor]) -> Callable[..., Any]:
        ours.pop("first")
        ours.pop("gone", None)
        return graph.forward

    assert torch.equal(tw.compile(function, backend=backend)(torch.ones(2), ours), function(torch.ones(2), plain))
    plain.pop("first")
    plain.pop("gone", None)
    assert list(map(str, plain.items())) == list(map(str, ours.items()))


class Doubling(collections.OrderedDict[str, Any]):
    """It stores twice what it is given, and keeps three entries at most."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value * 2)
        if len(self) > 3:
            self.popitem(last=False)


class Counting(collections.OrderedDict[str, Any]):
    """It has every key, and counts what is asked."""

    asked = 0

    def __contains__(self, key: object) -> bool:
        type(self).asked += 1
        return True

    def __getitem__(self, key: str) -> Any:
        return super().get(key, 1)


def stores(x, table):
    table["b"] = x
    table["c"] = x + 1
    table["d"] = x + 2
    return x * 2


def creates(x, table):
    made = Doubling(b=x)
    made.update(c=x + 1)
    made |= {"d": x}
    return made, made | {"e": x}


def asks(x, table):
    return x * 2, table.setdefault("s", 3), table.pop("t", 4)


@pytest.mark.parametrize(("function", "kind"), [(stores, Doubling), (creates, Doubling), (asks, Counting)])
def test_a_dict_of_a_class_of_the_users_is_written_as_the_class_says(
    function: Callable[..., Any], kind: type[dict[str, Any]]
) -> None:
    agree(function, *[lambda: (torch.ones(2), kind())] * 2)


def shrunk() -> set[Any]:
    """A set in another order than one that is created with the same items."""
    made = set(range(0, 800, 8))
    made -= set(range(24, 800, 8))
    return made


def order_of_a_changed_set(x, items):
    items.add(9)
    items.discard(4)
    for item in items:
        x = x * item + 1
    return x, [*items]


def pops_of_a_changed_set(x, items):
    items.add(9)
    return x + 1, items.pop(), items.pop()


def changes_a_set(x, items):
    items |= {9}
    items.discard(8)
    return x + 1


@pytest.mark.parametrize("make", [shrunk, lambda: {9, 16, 1}, lambda: {16, 8}])
@pytest.mark.parametrize("function", [order_of_a_changed_set, pops_of_a_changed_set, changes_a_set])
def test_a_set_from_outside_keeps_its_own_order(function: Callable[..., Any], make: Callable[[], set[Any]]) -> None:
    watch = agree(function, lambda: (torch.ones(2), make()))
    assert set(watch.breaks) == (set() if function is changes_a_set else {"set-changed"})


class Items(set[Any]):
    """A set of the user's."""


def in_place(x, items):
    same = items
    same |= Items([3])
    same &= Items([1, 3])
    same -= Items([1])
    same ^= Items([5])
    return x + 1, same is items, sorted(items)


def test_a_set_is_changed_in_place_by_one_of_a_subclass() -> None:
    watch = agree(in_place, lambda: (torch.ones(2), {1, 2}))
    assert watch.breaks == []

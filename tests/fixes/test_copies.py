"""Copies of values: what is built again is like the original, and shares nothing with it."""

from __future__ import annotations

import enum
import io
import itertools
import os
import random
import threading
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from tracer_core.fixes.copies import Copier, TooLarge, World
from tracer_core.fixes.differences import alike

PLENTY = 1 << 30


class Plain:
    def __init__(self, **held: Any) -> None:
        vars(self).update(held)

    def method(self) -> Any:
        return vars(self)

    def __deepcopy__(self, memo: Any) -> Any:
        raise AssertionError("no code of the program runs")


def built(value: Any, limit: int = PLENTY) -> Any:
    return World().build(Copier(limit).copy(value))[0]


@pytest.mark.parametrize(
    "value",
    [
        1,
        "a",
        [1, [2.5, None]],
        (1, {2}),
        {"a": [1], 2: (3,)},
        OrderedDict(b=1, a=2),
        Counter("aab"),
        defaultdict(list, a=[1]),
        deque([1, 2], maxlen=3),
        frozenset({1}),
    ],
)
def test_containers(value: Any) -> None:
    again = built(value)
    assert again == value and type(again) is type(value)


def test_a_default_dict_keeps_what_creates_its_values() -> None:
    original: defaultdict[str, list[int]] = defaultdict(list, a=[1])
    again = built(original)
    again["a"].append(2)
    again["b"].append(3)
    assert original == {"a": [1]} and again == {"a": [1, 2], "b": [3]}


def test_tensors_keep_layout_and_aliases() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    x, y, z = built([base, base.t(), base])
    assert torch.equal(x, base) and torch.equal(y, base.t()) and y.stride() == base.t().stride()
    assert z is x
    x.add_(1)
    assert torch.equal(y, (base + 1).t()) and base[0, 0] == 0


def test_gradients_and_leaves() -> None:
    leaf = torch.ones(3, requires_grad=True)
    leaf.sum().backward()
    inner = leaf * 2
    one, two = built([leaf, inner])
    assert one.requires_grad and one.is_leaf and torch.equal(one.grad, torch.ones(3)) and one.grad is not leaf.grad
    assert two.requires_grad and not two.is_leaf


def test_modules_and_objects() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    holder = Plain(module=module, other=module)
    holder.me = holder  # type: ignore[attr-defined]
    again = built(holder)
    assert again.me is again and again.module is again.other and again.module is not module
    assert type(again.module[0].weight) is nn.Parameter
    assert torch.equal(again.module[0].weight, module[0].weight)
    with torch.no_grad():
        again.module[0].weight.zero_()
    assert module[0].weight.abs().sum() > 0


def test_methods() -> None:
    holder = Plain(n=1)
    again = built(holder.method)
    assert again() == {"n": 1} and again.__self__ is not holder


def test_an_object_is_one_object_in_all_calls_with_its_state_of_each() -> None:
    copier, holder = Copier(PLENTY), Plain(n=1, x=torch.zeros(2))
    first = copier.copy(holder)
    holder.n, holder.x = 2, holder.x.add_(1)  # type: ignore[attr-defined]
    second = copier.copy(holder)
    world = World()
    (one,) = world.build(first)
    held = one.x
    assert one.n == 1 and torch.equal(held, torch.zeros(2))
    (two,) = world.build(second)
    assert two is one and two.n == 2 and torch.equal(two.x, torch.ones(2))


def test_tensors_beyond_the_limit_are_made_again() -> None:
    copier = Copier(100)
    small, large, whole = copier.copy([torch.ones(4), torch.ones(100, 3), torch.ones(90).long()])[0].parts
    assert copier.made_again == 2
    one, two, three = World().build([small, large, whole])
    assert torch.equal(one, torch.ones(4)) and two.shape == (100, 3) and two.isfinite().all()
    assert torch.equal(three, torch.zeros(90).long())
    assert torch.equal(World().build([large])[0], two)


def test_what_cannot_be_copied_is_shared_and_named() -> None:
    copier, lock = Copier(PLENTY), threading.Lock()
    assert World().build(copier.copy(lock)) == [lock]
    assert (copier.shared, copier.must_not_be_shared) == ({"_thread.lock"}, set())


def test_a_generator_that_runs_must_not_be_shared() -> None:
    copier = Copier(PLENTY)
    copier.copy(number for number in (1, 2))
    assert copier.must_not_be_shared == {"builtins.generator"}


def test_too_many_parts() -> None:
    with pytest.raises(TooLarge):
        Copier(PLENTY).copy([[] for _ in range(200_000)])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (float("nan"), float("nan"), True),
        (torch.ones(2), torch.ones(2), True),
        (torch.ones(2), torch.ones(2).double(), False),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")]), True),
        (torch.tensor([1.0, float("inf")]), torch.tensor([1.0, 3.4028234663852886e38]), False),
        (torch.tensor([True]), torch.tensor([False]), False),
        ([1, torch.ones(1)], [1, torch.zeros(1)], False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (Plain(a=1), Plain(a=1), True),
        (Plain(a=1), Plain(a=2), False),
        (torch.ones(2).t(), torch.ones(2), True),
        (torch.complex(torch.ones(1), torch.ones(1)), torch.complex(torch.ones(1), torch.zeros(1)), False),
    ],
)
def test_alike(one: Any, other: Any, same: bool) -> None:
    copier = Copier(PLENTY)
    assert alike(copier.copy(one)[0], copier.copy(other)[0]) is same


class Point(NamedTuple):
    x: torch.Tensor


class Bag(dict[str, Any]):
    def __setitem__(self, key: str, value: Any) -> None:
        raise AssertionError("no code of the program runs")


class Slots:
    __slots__ = ("__dict__", "a", "b")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError("no code of the program runs")


class Color(enum.Enum):
    RED = 1


def test_containers_of_own_classes() -> None:
    point, bag = Point(torch.ones(2)), Bag(a=[1])
    vars(bag)["itself"] = bag
    again = built([point, bag])
    assert type(again[0]) is Point and torch.equal(again[0].x, point.x) and again[0].x is not point.x
    assert type(again[1]) is Bag and dict(again[1]) == {"a": [1]} and again[1]["a"] is not bag["a"]
    assert vars(again[1])["itself"] is again[1]
    largest = built(torch.tensor([1.0, 3.0]).max(0))
    assert type(largest) is torch.return_types.max and largest.indices == 1


def test_slots_and_namespaces() -> None:
    slots = Slots()
    object.__setattr__(slots, "a", [1])
    vars(slots)["c"] = 3
    again = built(slots)
    assert again.a == [1] and again.a is not slots.a and not hasattr(again, "b") and again.c == 3
    space = types.SimpleNamespace(a=[1])
    assert built(space) == space and built(space).a is not space.a


def test_there_is_one_of_each_member_of_an_enum() -> None:
    assert built(Color.RED) is Color.RED


def test_functions_have_cells_of_their_own() -> None:
    def counter() -> tuple[Callable[[], int], Callable[[], int]]:
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return count

        def value() -> int:
            return count

        return step, value

    step, value = counter()
    again, seen = built([step, value])
    assert (again(), again(), seen(), value()) == (1, 2, 2, 0)


def test_a_function_is_one_object_in_all_calls() -> None:
    def keep(seen: list[int] = []) -> list[int]:  # noqa: B006
        return seen

    copier, world = Copier(PLENTY), World()
    first = copier.copy(keep)
    keep().append(1)
    second = copier.copy(keep)
    (one,) = world.build(first)
    assert one() == []
    (two,) = world.build(second)
    assert two is one and two() == [1] and two() is not keep()


def test_a_function_that_refers_to_itself() -> None:
    def again() -> Any:
        return again

    again.itself = again  # type: ignore[attr-defined]
    copy = built(again)
    assert copy() is copy and copy.itself is copy and copy is not again


def test_iterators_go_on_from_where_they_are() -> None:
    items, pairs, counts = iter([1, 2, 3]), enumerate(["a", "b"]), itertools.count(5)
    next(items), next(pairs), next(counts)
    copies = built([items, pairs, counts])
    assert [next(one) for one in copies] == [2, (1, "b"), 6]
    assert [next(one) for one in (items, pairs, counts)] == [2, (1, "b"), 6]


@pytest.mark.parametrize(
    ("generator", "draw"),
    [
        (random.Random(1), lambda one: one.random()),
        (np.random.default_rng(1), lambda one: one.random()),
        (np.random.RandomState(1), lambda one: one.random_sample()),
    ],
)
def test_random_generators(generator: Any, draw: Callable[[Any], float]) -> None:
    drawn = [draw(built(generator)) for _ in range(2)]
    assert drawn == [draw(generator)] * 2


def test_arrays_and_files() -> None:
    array, text = np.arange(6.0).reshape(2, 3).T, io.StringIO("ab")
    text.read(1)
    again, copy = built([array, text])
    assert np.array_equal(again, array) and again.strides == array.strides and not np.shares_memory(again, array)
    assert copy.read() == "b" and text.read() == "b"
    with open(os.devnull, "w") as file:
        assert built(file) is not file


def test_tensors_of_other_layouts() -> None:
    sparse = torch.eye(2).to_sparse()
    again = built(sparse)
    assert again is not sparse and again.layout == sparse.layout and torch.equal(again.to_dense(), torch.eye(2))

"""Calls of builtins and of their methods with arguments that they do not take."""

import collections
import functools
import itertools
import operator

from tests.conformance.program import program


def told(action):
    try:
        return action()
    except Exception as error:
        return type(error).__name__, str(error)


@program("I11 I5", differs="torch_differs", why="fails inside")
def keywords_for_methods_of_sequences(x):
    items, pair, queue = [3], (1, 2), collections.deque([1, 2])
    return x + 1, [
        told(lambda: items.append(item=1)),
        told(lambda: items.extend(items=[1])),
        told(lambda: items.insert(index=0, item=1)),
        told(lambda: items.index(item=3)),
        told(lambda: items.remove(item=3)),
        told(lambda: pair.count(item=1)),
        told(lambda: range(3).index(item=1)),
        told(lambda: slice(1).indices(length=3)),
        told(lambda: queue.rotate(n=1)),
        told(lambda: ",".join(iterable=["a"])),
        items,
        queue,
    ]


@program("I11 I5", differs="torch_differs", why="fails inside")
def keywords_for_methods_of_dicts_and_sets(x):
    d, ordered, s = {1: 2}, collections.OrderedDict(a=1), {1}
    return x + 1, [
        told(lambda: d.get(key=1)),
        told(lambda: d.pop(key=1)),
        told(lambda: d.setdefault(key=1)),
        told(lambda: d.popitem(last=True)),
        told(lambda: ordered.get(key="a")),
        told(lambda: ordered.setdefault(key="b", default=2)),
        told(lambda: ordered.popitem(last=False)),
        told(lambda: s.add(item=2)),
        told(lambda: s.discard(item=1)),
        told(lambda: s.union(others=[1])),
        told(lambda: dict.fromkeys(keys=[1])),
        d,
        ordered,
        s,
    ]


@program("I12 I5", differs="torch_differs", why="fails inside")
def keywords_for_classes_of_containers(x):
    return x + 1, [
        told(lambda: bool(obj=1)),
        told(lambda: list(iterable=[1])),
        told(lambda: tuple(iterable=[1])),
        told(lambda: set(iterable=[1])),
        told(lambda: frozenset(iterable=[1])),
        told(lambda: dict(iterable=[1])),
        told(lambda: len(obj=[1])),
        told(lambda: sorted(iterable=[1])),
    ]


@program("I11 I5", differs="torch_differs", why="fails inside")
def arguments_of_other_types(x):
    return x + 1, [
        told(lambda: ",".join(3)),
        told(lambda: {}.update([1])),
        told(lambda: dict([1])),
        told(lambda: sorted([1], reverse="x")),
        told(lambda: sorted([2, 1, 3], reverse=2)),
        told(lambda: isinstance(1, 3)),
        told(lambda: collections.defaultdict(3)),
        told(lambda: functools.partial(3)),
        told(lambda: functools.reduce(operator.add, 3)),
        told(lambda: list(itertools.starmap(max, [3]))),
        told(lambda: itertools.count("a")),
    ]


@program("I11 I5", differs="torch_differs", why="fails inside")
def values_out_of_range(x):
    return x + 1, [
        told(lambda: [1, 2][::0]),
        told(lambda: (1, 2)[::0]),
        told(lambda: range(3)[::0]),
        told(lambda: slice(1, 2, 0).indices(3)),
        told(lambda: slice(1, 2).indices(-3)),
        told(lambda: collections.deque([1], -1)),
        told(lambda: b"\xff".decode()),
    ]


@program("I12 I5", differs="torch_differs", why="fails inside")
def too_few_and_too_many_arguments(x):
    return x + 1, [
        told(lambda: slice()),
        told(lambda: slice(1, 2, 3, 4)),
        told(lambda: {1}.symmetric_difference([1], [2])),
        told(lambda: {1}.symmetric_difference_update()),
        told(lambda: min(1, 2, default=3)),
        told(lambda: object(3)),
        told(lambda: operator.add(1)),
        told(lambda: operator.neg(1, 2)),
        told(lambda: ImportError("x", name="n", foo=1)),
        told(lambda: super()),
    ]


class Counted(ValueError):
    made = 0

    def __init__(self, *args):
        super().__init__(*args)
        Counted.made += 1


@program("I5", differs="fewer_breaks", why="torch leaves the function to Python")
def text_of_an_exception_makes_no_other(x, error=Counted("a", 1)):
    return x + 1, repr(error), str(error), Counted.made

"""Instances of classes that inherit from set, frozenset, deque, OrderedDict, defaultdict: given and changed."""

import collections

import torch

from tests.conformance.program import program, t


class Bag(set):
    label = "bag"

    def put(self, *items):
        self.update(items)
        return self

    def add(self, item):
        super().add(item)
        self.last = item


class Group(frozenset):
    def first(self):
        return min(self)


class Ring(collections.deque):
    def turn(self):
        self.rotate(1)
        return self[0]


class Ordered(collections.OrderedDict):
    def newest(self):
        return next(reversed(self))


class Lists(collections.defaultdict):
    def __missing__(self, key):
        self[key] = made = [key]
        return made


class Loud(set):
    def __iter__(self):
        return iter(sorted(super().__iter__()))


@program(
    "I4 I10 O7",
    lambda: [(t(2), Bag({1, 2})), (t(2), Bag({1, 2, 3}))],
    differs="torch_differs",
    why="torch.compile loses what is put into a set subclass",
)
def set_changed(x, bag):
    bag.put(5).discard(1)
    bag.add(7)
    return x + len(bag), bag, bag.last, 5 in bag, sorted(bag), bag.label, type(bag | {9}), bag & {5, 6}


@program(
    "I4 I10 O7",
    lambda: [(t(2), Bag({1, 2}))],
    differs="torch_differs",
    why="torch.compile loses what is put into a set subclass",
)
def set_emptied_and_filled(x, bag):
    taken = bag.pop() + bag.pop()
    bag |= {4, 5}
    bag -= {4}
    bag ^= {6}
    copied = bag.copy()
    bag.clear()
    return x + taken, bag, copied, type(copied), bool(bag), bag == set(), copied >= {5}


@program(
    "I4 I10",
    lambda: [(t(2), Group({3, 4})), (t(2), Group({3})), (t(2), Group({3}))],
    differs="torch_differs",
    why="torch.compile loses what is put into a set subclass",
)
def frozenset_asked(x, g):
    found = [g.first(), len(g), 3 in g, g | {9}, g & {3}, g - {3}, g <= {3, 4, 5}, g == frozenset({3, 4}), hash(g)]
    return x * g.first(), found, type(g | {9}), {g: 1}[frozenset(g)], g, Group(n + 1 for n in g), sorted(g)


@program(
    "I4 I10 O7",
    lambda: (lambda b: [(t(2), b, b, [b])])(Bag({"a"})),
    differs="torch_differs",
    why="torch.compile loses what is put into a set subclass",
)
def one_bag_in_three_places(x, a, b, held):
    a.put("b")
    return x + len(b), held[0] is b, b, held


@program(
    "I5 I10 O7", lambda: [(t(2), Ring([1, 2, 3], 3))], differs="fewer_breaks", why="torch.compile leaves it to Python"
)
def deque_turned(x, ring):
    first = ring.turn()
    ring.append(9)
    kinds = [type(ring.copy()), type(ring + collections.deque([1])), type(ring * 2), (ring * 2).maxlen]
    return x + first, ring, ring.maxlen, list(ring), kinds


@program(
    "I3 I10 O7",
    lambda: [(t(2), Ordered(a=1, b=2))],
    differs="torch_differs",
    why="torch.compile merges into a plain OrderedDict",
)
def ordered_moved(x, d):
    d.move_to_end("a")
    d["c"] = 3
    last = d.newest()
    return x + d.popitem(last=False)[1], d, last, list(d.items()), d | {"z": 9}, type(d | {})


@program("I3 I10 O7", lambda: [(t(2), Lists(list, k=[1]))])
def missing_made(x, d):
    d["k"].append(2)
    d[5].append(6)
    return x + len(d[5]), d, d.default_factory, "z" in d, d.get("z"), d.copy(), type(d | {1: 2})


@program("I4 I10", lambda: [(t(2), Loud({3, 1, 2}))])
def iteration_overridden(x, loud):
    return x + len(loud), list(loud), 3 in loud


@program(
    "I4 I10 O7 I14",
    lambda: [(t(2), Bag({1}))],
    differs="torch_differs",
    why="torch.compile loses what is put into a set subclass",
)
def bag_across_a_break(x, bag):
    bag.put(2)
    x = x + 1
    torch._dynamo.graph_break()
    bag.put(3)
    return x * len(bag), bag


@program(
    "I4 I10", lambda: [(t(2),)], differs="torch_differs", why="torch.compile loses what is put into a set subclass"
)
def made_inside(x):
    bag, group = Bag([1, 1, 2]).put(3), Group("ab")
    return x + len(bag), bag, group, bag - {1}, group.first(), isinstance(bag, set), Bag() == set()

"""Hashes as methods give them, tuples that operators leave as they are, and immutable objects in circles."""

import collections
import itertools

import torch

from tests.conformance.program import program


class Hashed:
    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return self.value

    def __eq__(self, other):
        return other == "key" or isinstance(other, Hashed)


class Holder:
    held = None

    def __repr__(self):
        return repr(self.held)


@program("I10 I11", differs="torch_differs", why="torch.compile hashes them otherwise")
def results_of_hash_methods(x):
    found = []
    for value in (-1, 2**61 - 1, 2**63 - 1, 2**63, 2**64 + 5, -(2**63), -(2**70), True, "a", 1.0, None):
        try:
            found.append(hash(Hashed(value)))
        except TypeError as error:
            found.append(str(error))
    return x + 1, found


@program("I10 I11", differs="torch_differs", why="torch.compile hashes them otherwise")
def objects_with_the_hash_of_a_text(x):
    known = Hashed(hash("key"))
    by_text, by_object = {"a": 1, "key": 2}, {"a": 1, known: 3}
    return x + 1, by_text.get(known), by_object.get("key"), known in {"key"}, "key" in {known}, by_object[known]


@program("I2 I11", differs="torch_differs", why="torch.compile makes new tuples")
def tuples_left_as_they_are(x):
    whole = tuple(range(x.shape[0] + 2))
    same = [whole * 1, 1 * whole, whole + (), () + whole, whole[:], whole[0:9], whole[::1], whole[-9:]]
    other = [whole * 2, whole[::-1], whole[1:], whole + (1,), x.shape]
    return x + 1, [each is whole for each in same], [each is whole for each in other]


@program(
    "I10 O6",
    differs="torch_differs",
    why="torch.compile breaks such circles",
    then=lambda r: [each.held is kept for each, kept in r[1]],
)
def circles_through_what_cannot_change(x):
    made = []
    for make in (lambda item: (item,), lambda item: frozenset([item]), lambda item: (1, (item,))):
        holder = Holder()
        holder.held = make(holder)
        made.append((holder, holder.held))
    return x + 1, made


@program(
    "I11 O6",
    differs="fewer_breaks",
    why="torch.compile does not trace it",
    then=lambda r: (r[1][0][0] is r[1], r[2][1][0] is r[2]),
)
def circles_of_tuples_in_containers(x):
    items, table = [], {}
    in_list, in_table = (items,), (table,)
    items.append(in_list)
    table[1] = in_table
    return x + 1, in_list, table


@program("I12", differs="fewer_breaks", why="torch.compile does not trace it")
def pairs_of_an_iterator_that_asks_for_pairs(x):
    found = []
    for at, count in (({1}, 2), ({2}, 3), ({1, 2}, 2), ({3}, 3)):

        class Numbers:
            number = 0

            def __iter__(self):
                return self

            def __next__(self):
                self.number += 1
                return next(pairs) if self.number in at else [self.number]

        pairs = itertools.pairwise(Numbers())
        found.append([next(pairs) for _ in range(count)])
    return x + 1, found


@program(
    "I12",
    calls=lambda: [(itertools.chain([1, 2], 3),), (zip([1, 2], [3]),)],
)
def iterator_from_outside_that_raises(it):
    taken = []
    try:
        for item in it:
            taken.append(item)
    except TypeError as error:
        taken.append(str(error))
    return taken


Point = collections.namedtuple("Point", "x y", module=collections)


@program("I10", differs="torch_differs", why="torch.compile fails on such a class")
def class_that_is_from_a_module_object(x):
    point = Point(x + 1, y=2)
    return point.x * point.y, Point.__module__ is collections, Point._fields


@torch.compiler.disable
def _written_past_itself():
    made = collections.OrderedDict(a=1, b=2)
    dict.pop(made, "a")
    dict.__setitem__(made, "c", 3)
    return made


@program("I11", differs="torch_differs", why="torch.compile takes its items for granted")
def ordered_dict_written_past_its_methods(x):
    table = _written_past_itself()
    try:
        return x + 1, list(table), len(table)
    except KeyError as error:
        return x + 2, str(error), len(table)


@program("I11", differs="torch_differs", why="torch.compile calls the methods of the object's own class")
def methods_of_a_base_past_the_classes_own(x):
    table = collections.OrderedDict(a=1, b=2)
    counts = collections.defaultdict(int, {1: 2})
    found = list(dict.items(table)), dict.get(table, "a"), dict.__len__(table)
    return x + 1, found, type(dict.copy(counts)), type(dict.__or__(table, {"c": 1})), int.__repr__(True)


@program("I11", differs="torch_differs", why="torch.compile calls the methods of the object's own class")
def ordered_dict_written_by_methods_of_dict(x):
    table = collections.OrderedDict(a=1, b=2)
    dict.__setitem__(table, "c", 3)
    before = list(table), len(table)
    dict.pop(table, "a")
    try:
        return x + 1, before, list(table)
    except KeyError as error:
        return x + 2, before, str(error)

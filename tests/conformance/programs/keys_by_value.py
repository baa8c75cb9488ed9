"""Dicts and sets looked up by values whose types compare what is in them: methods, weak references, NumPy scalars."""

import functools
import weakref

import numpy as np

from tests.conformance.program import program, t

MORE = {"differs": "fewer_breaks", "why": "torch breaks, or gives up on the function"}
WRONG = {"differs": "torch_differs", "why": "torch takes equal methods for different keys"}


class Node:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def run(self):
        return self.name


class Plain:
    def run(self):
        return 1


def looked_up(x, key, table):
    try:
        return x + table[key], key in table, table.get(key), [*table].index(key), {key: 1} == {key: 1}
    except KeyError:
        return x - 1, key in table, len({key, *table})


def of(key, *tables):
    return lambda: [(t(2), key(), table()) for table in tables]


def missing():
    return {"other": 1}


one, other = Plain(), Plain()
node, equal = Node("a"), Node("a")
part = functools.partial(max, 2)


@program("I11", of(lambda: one.run, lambda: {one.run: 5}, lambda: {other.run: 5}, missing), **WRONG)
def bound_methods(x, key, table):
    return looked_up(x, key, table)


@program("I11", of(lambda: node.run, lambda: {node.run: 5}, lambda: {equal.run: 5}), **WRONG)
def methods_of_equal_objects(x, key, table):
    return looked_up(x, key, table)


@program("I11", of(lambda: (one.run, 2), lambda: {(one.run, 2): 5}, lambda: {(other.run, 2): 5}), **WRONG)
def methods_in_tuples(x, key, table):
    return looked_up(x, key, table)


@program("I11", of(lambda: part, lambda: {part: 5}, lambda: {functools.partial(max, 2): 5}), **MORE)
def partials(x, key, table):
    return looked_up(x, key, table)


@program(
    "I11", of(lambda: weakref.ref(one), lambda: {weakref.ref(one, print): 5}, lambda: {weakref.ref(other): 5}), **MORE
)
def weak_references(x, key, table):
    return looked_up(x, key, table)


@program(
    "I11", of(lambda: weakref.ref(node), lambda: {weakref.ref(node): 5}, lambda: {weakref.ref(equal): 5}), **MORE
)
def weak_references_of_equal_objects(x, key, table):
    return looked_up(x, key, table)


@program("I11", of(lambda: weakref.WeakMethod(one.run), lambda: {weakref.WeakMethod(one.run): 5}, missing), **MORE)
def weak_methods(x, key, table):
    return looked_up(x, key, table)


@program("I11", of(lambda: np.int64(2), lambda: {2: 5}, lambda: {np.int32(2): 5}, lambda: {2.5: 1}), **MORE)
def numpy_integers(x, key, table):
    return looked_up(x, key, table)


@program("I11", of(lambda: np.float64(2.5), lambda: {2.5: 5}, lambda: {np.float32(2.5): 5}, missing), **MORE)
def numpy_floats(x, key, table):
    return looked_up(x, key, table)


@program("I11", lambda: [(t(2), n, weakref.WeakKeyDictionary({one: 5})) for n in (one, other)])
def weak_keys_missing_or_not(x, n, keys):
    try:
        return x + keys[n], n in keys, keys.get(n)
    except KeyError:
        return x - 1, n in keys, keys.get(n, 0), len(keys)


@program(
    "I11", lambda: [(t(2), weakref.WeakValueDictionary(a=one)), (t(2), weakref.WeakValueDictionary(b=other))], **MORE
)
def weak_values(x, values):
    return x + len(values), values.get("a") is one, "b" in values, list(values), [v is one for v in values.values()]


@program("I11 O7", lambda: [(t(2), one, weakref.WeakKeyDictionary({one: 5}), weakref.WeakSet([one, other]))], **WRONG)
def weak_containers_changed(x, n, keys, held):
    keys[n] += 1
    held.discard(other)
    keys.setdefault(other, 2)
    return x + keys[n], n in held, len(held), len(keys)

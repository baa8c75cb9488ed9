"""`set` and `frozenset`."""

from tests.conformance.program import program, t


@program("I11")
def set_methods(x):
    s = {1, 2}
    s.add(3)
    s.add(1)
    s.discard(2)
    s.discard(99)
    s.update([4, 5], (6,))
    s.remove(4)
    return x + len(s), s, 3 in s, 99 not in s, set(), set("aab")


@program("I11")
def set_algebra(x):
    a, b = {1, 2, 3}, {2, 3, 4}
    return x + 1, a | b, a & b, a - b, a ^ b, a.union([9]), a.intersection(b, [3]), a.difference(b), a < {1, 2, 3, 4}


@program("I11")
def set_relations(x):
    a = {1, 2}
    return x + 1, a <= {1, 2}, a.issubset([1, 2, 3]), a.issuperset({1}), a.isdisjoint({5}), a == {2, 1}, a > {1}


@program("I11")
def augmented_set_operators(x):
    a = {1, 2, 3}
    alias = a
    a |= {4}
    a &= {1, 2, 4}
    a -= {2}
    a ^= {1, 9}
    return x + 1, a, alias is a


@program("I11")
def in_place_set_methods(x):
    a = {1, 2, 3, 4}
    a.intersection_update({1, 2, 3})
    a.difference_update({1})
    a.symmetric_difference_update({3, 7})
    b = a.copy()
    a.clear()
    return x + 1, a, b, a.symmetric_difference({5})


@program("I11 I5")
def set_errors(x):
    s = {1}
    messages = []
    try:
        s.remove(2)
    except KeyError as error:
        messages.append(error.args)
    s.pop()
    try:
        s.pop()
    except KeyError as error:
        messages.append(error.args)
    try:
        s.add([])
    except TypeError as error:
        messages.append(str(error))
    return x + 1, messages


@program("I11")
def frozen_sets(x):
    f = frozenset([1, 2, 2])
    d = {f: "as key"}
    return x + len(f), f, d[frozenset({2, 1})], f | {3}, f & {1}, f == {1, 2}, hash(f) == hash(frozenset((2, 1)))


@program("I11 O7", lambda: [(t(2), {1, 2})])
def set_argument_mutated(x, s):
    s.add(x.shape[0] * 10)
    s.discard(1)
    return x + len(s), 20 in s


@program("I11 G1", lambda: [(t(2), {1, 2}), (t(2), {1, 3}), (t(2), {1, 2})])
def set_contents_are_guarded(x, s):
    return x + 1 if 2 in s else x * 2


@program("I11 G1", lambda: [(t(2), frozenset({"a"})), (t(2), frozenset({"b"}))])
def frozenset_argument(x, s):
    return x + 1 if "a" in s else x * 2


@program("I11")
def sum_and_sort_a_set(x):
    s = {3, 1, 2}
    return x + sum(s), sorted(s), min(s), max(s), len(s), any(s), all(s)


@program("I11")
def set_from_everything(x):
    return x + 1, set([1, 1]), set(range(3)), set({"k": 1}), set((1, 2)), {*"ab", *[1]}, {i % 2 for i in range(5)}


@program("I11")
def set_of_tuples_and_types(x):
    s = {(1, 2), (1, 2), (2, 1)}
    kinds = {type(v) for v in (1, 2.0, "s", 3)}
    return x + len(s), (2, 1) in s, int in kinds, len(kinds)


@program("I11")
def set_of_tensors(x, y):
    s = {x, y, x}
    return x + len(s), y in s, x * 2 in s


@program("I11")
def iterate_over_a_one_element_set(x):
    for v in {4}:
        x = x + v
    return x, list({7}), [*{8}]

"""Methods and operators of sets and frozensets that other files do not have."""

from tests.conformance.program import program, t


@program("I11", differs="torch_differs", why="a union with nothing is the same object")
def methods_of_a_frozenset(x):
    a, b = frozenset([1, 2, 3]), frozenset((3, 4))
    same = a.copy()
    return (
        x + len(a),
        a.union(b, [9]),
        a.intersection(b, {3, 1}),
        a.difference([1], b),
        a.symmetric_difference(b),
        (a.isdisjoint(b), a.isdisjoint([7]), a.issubset(range(5)), a.issuperset({1})),
        same is a,
        (a.union() is a, type(a.union({1}))),
    )


@program("I2 I11")
def operators_of_a_frozenset(x):
    a, b = frozenset([1, 2, 3]), {3, 4}
    c = a
    c |= {7}
    return (
        x + 1,
        (a | b, b | a, a & b, b & a, a - b, b - a, a ^ b, b ^ a),
        [type(each).__name__ for each in (a | b, b | a, a & b, b & a, a - b, b - a, a ^ b, b ^ a)],
        (a < b, a > frozenset({1}), a <= a, a >= {1, 2}, a != b, a == {1, 2, 3}, b != {3}),
        c,
        a,
    )


@program("I2 I11", lambda: [(t(2), frozenset({1, 2}), {2, 3}), (t(2), frozenset({1, 2, 5}), {5})])
def sets_of_the_caller(x, a, b):
    out = (a & b, b & a, a - b, b - a, a ^ b, b ^ a, a | b, b | a, a < b, a > b, a <= b, a >= b)
    b &= a
    return x + len(b), out, b


@program("I2 I11")
def sets_refuse_other_kinds(x):
    messages = []
    for act in (
        lambda: frozenset([1]) | [2],
        lambda: [2] & frozenset([1]),
        lambda: {1} - (1,),
        lambda: {1} < [1],
        lambda: frozenset([[]]),
        lambda: {1}.union(5),
    ):
        try:
            act()
        except TypeError as error:
            messages.append(str(error))
    return x + 1, messages


@program("I11")
def frozenset_as_key_and_in_text(x):
    a = frozenset([1])
    found = {a: "one", frozenset(): "none"}
    return x + 1, found[frozenset([1])], hash(a) == hash(frozenset([1])), f"{a}", repr(a), str({5}), repr(set())


@program("I11", differs="torch_differs", why="does not notice it")
def deletion_while_iterating_a_set(x):
    s, seen = {1, 2, 3}, 0
    try:
        for v in s:
            seen += v
            s.discard(v)
    except RuntimeError as error:
        return x + seen, s, str(error)

"""Ranges that are longer than `len` can say."""

from tests.conformance.program import program

HUGE = range(10**30)


def outcome(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error)


@program("I11", differs="torch_differs", why="torch fails on such ranges")
def length_of_a_huge_range(x):
    return x + 1, outcome(lambda: len(HUGE)), outcome(HUGE.__len__), outcome(lambda: len(range(2**63 - 1)))


@program("I11", differs="torch_differs", why="torch fails on such ranges")
def items_of_a_huge_range(x):
    first, last, part = HUGE[10**25], HUGE[-1], HUGE[2 : 10**28 : 3]
    return x + 1, first, last, part, bool(HUGE), 5 in HUGE, list(HUGE[:3]), HUGE == range(10**30)


@program("I11")
def searched_huge_range(x):
    y = x + 1
    found = HUGE.count(5), HUGE.index(7), outcome(lambda: HUGE.index(10**31))
    return y * 2, found


@program("I11 I3")
def iterated_huge_range(x):
    taken = []
    for i in HUGE:
        x = x + i
        taken.append(i)
        if i == 3:
            break
    backwards = next(reversed(HUGE)), [i for i in range(10**30, 10**30 + 2)], [*range(5, -5, -3)]
    return x, taken, backwards

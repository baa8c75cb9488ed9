"""The order in which sets give their items, which hangs on the steps by which they were made."""

from tests.conformance.program import program

# Numbers that fall into the same places of small tables, and texts.
BASES = (
    [64, 32, 0, 96, 7],
    [1, 17, 33, 2],
    list(range(0, 100, 7)),
    ["a", "bb", "ccc", "d", "e", "f"],
    [5, True, 2.0, None, "x", (1, 2)],
)


@program("I11", differs="torch_differs", why="sets have another order while tracing")
def orders_of_sets_made_in_different_ways(x):
    orders = []
    for base in BASES:
        orders += [list(set(base)), list(frozenset(base)), list({v for v in base}), list({*base, 99})]
        orders += [list(set(dict.fromkeys(base))), list(set(set(base))), list(frozenset(set(base)))]
    return x + 1, orders, [v for v in {64, 32, 0, 96, 7}], list({1, 33, 65, 97, 5, 6})


@program("I11", differs="torch_differs", why="sets have another order while tracing")
def orders_of_sets_combined(x):
    orders = []
    for base in BASES:
        s = set(base)
        for made in (s | {128, 33}, s & {1, 33, 64, "a", 7}, s - {64, 17}, s ^ {1, 64}, frozenset(s) | {2}, {2} | s):
            orders.append(list(made))
        orders += [list(s.union([7, 8], {11: 2})), list(s.intersection([1, 33, 7])), list(s.difference([33], {1}))]
        orders += [list(s.symmetric_difference([5, 6])), list(s.copy())]
    return x + 1, orders


@program("I11", differs="torch_differs", why="sets have another order while tracing")
def orders_of_sets_that_change(x):
    orders = []
    for base in BASES:
        s = set(base)
        s |= {128, 33}
        s.update([160, 65], {9: 1})
        orders.append(list(s))
        s -= {64, 17}
        s ^= {64, 1}
        orders.append(list(s))
        s.intersection_update({64, 33, 160, "a", "bb", 7, 14})
        s.difference_update([33])
        s.symmetric_difference_update({2})
        orders.append(list(s))
        s.discard(7)
        s.add(200)
        orders.append(list(s))
        s.clear()
        s.add(5)
        orders.append(list(s))
    return x + 1, orders


@program("I11", differs="torch_differs", why="other items are popped")
def items_popped_from_sets(x):
    small, large, names = {3, 1, 2}, {7, 100, 3, 64, 8, 9}, {"b", "a", "c"}
    popped = [small.pop(), small.pop(), *(large.pop() for _ in range(4)), names.pop()]
    large.add(17)
    large.add(1)
    return x + 1, popped, large.pop(), list(large), small, len(names)

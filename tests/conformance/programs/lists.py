"""`list`, `tuple`, `range`, `slice`: every method, mutation and aliasing."""

import torch

from tests.conformance.program import program, t


@program("I11")
def append_extend_insert(x):
    a = [x]
    a.append(x + 1)
    a.extend([1, 2])
    a.extend(range(2))
    a.insert(0, "first")
    a.insert(-1, "before last")
    a.insert(100, "end")
    return a


@program("I11")
def pop_remove_clear(x):
    a = [1, 2, 3, 2, 1]
    last, first = a.pop(), a.pop(0)
    a.remove(2)
    b = a.copy()
    a.clear()
    return x + last + first, a, b


@program("I11")
def reverse_and_sort(x):
    a = [3, 1, 2]
    a.sort()
    b = ["bb", "a", "ccc"]
    b.sort(key=len, reverse=True)
    c = [1, 2, 3]
    c.reverse()
    return x + a[0], a, b, c, sorted("hello"), list(reversed([1, 2]))


@program("I11")
def index_and_count(x):
    a = [1, 2, 3, 2]
    return x + a.index(2), a.count(2), a.index(2, 2), (1, 2, 1).count(1), (5, 6).index(6)


@program("I11 I5", differs="torch_differs", why="another message")
def index_of_a_missing_item(x):
    try:
        [1, 2].index(9)
    except ValueError as error:
        return x + 1, str(error)


@program("I11 I5", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def pop_from_an_empty_list(x):
    a = []
    y = x + 1
    a.pop()
    return y


@program("I11 I5")
def list_index_out_of_range(x):
    a = [x]
    try:
        a[3]
    except IndexError as error:
        message = str(error)
    try:
        a[2] = 1
    except IndexError as error:
        return x + 1, message, str(error)


@program("I11 I5", differs="torch_differs", why="another message")
def remove_a_missing_item(x):
    a = [1]
    try:
        a.remove(2)
    except ValueError as error:
        return x + 1, str(error), a


@program("I11 O7", lambda: [(t(2), [1, 2])])
def input_list_every_mutation(x, a):
    a.append(x + 1)
    a.insert(0, 0)
    a[1] = "one"
    del a[2]
    a += [5, 6]
    a *= 2
    a[-2:] = []
    a.reverse()
    return a, len(a)


@program("I11 O7", lambda: [(a := [t(2), t(2, start=3)], a)])
def same_list_twice_as_argument(a, b):
    a.append(b[0] + 1)
    return a is b, b


@program("I11 O7", lambda: [([t(2)],)], differs="torch_differs", why="the list ends up holding a copy of itself")
def list_that_holds_itself(a):
    a.append(a)
    return a[1][1] is a, a[0] + 1


@program("I11")
def aliases_within_a_list(x):
    row = [0, 0]
    grid = [row] * 3
    grid[0][1] = x + 1
    row.append("r")
    return grid, grid[1] is row


@program("I11")
def copies_are_shallow(x):
    inner = [x]
    a = [inner, 2]
    b, c, d = a[:], list(a), a.copy()
    inner.append(x + 1)
    b.append(3)
    return a, b, c, d, b[0] is inner


@program("I11")
def list_concatenation_and_repetition(x):
    a = [1, 2]
    b = a + [3]
    alias = a
    a += (4,)
    return x + b[2], a, b, alias is a, [0] * 3, 2 * [1], (1,) * 2, () + (1,)


@program("I11")
def list_comparisons(x):
    return x + 1, [1, 2] == [1, 2], [1, 2] < [1, 3], [1] <= [1, 0], (1, 2) > (1,), [1] == (1,), [] != [0]


@program("I11")
def membership(x):
    return x + 1, 2 in [1, 2], 3 not in (1, 2), "a" in ["ab"], None in [None], [1] in [[1]], range(3) == range(0, 3)


@program("I11")
def slices_read_and_written(x):
    a = list(range(8))
    a[1:3] = [x, x + 1, "extra"]
    a[::2] = "abcde"[: len(a[::2])]
    del a[-2:]
    del a[::3]
    return a


@program("I11 I5")
def extended_slice_of_wrong_size(x):
    a = [1, 2, 3, 4]
    try:
        a[::2] = [1]
    except ValueError as error:
        return x + 1, str(error), a


@program("I11")
def slice_objects(x):
    s = slice(1, 5, 2)
    a = list(range(9))
    return x[:, slice(1, None)] + 1, a[s], s.start, s.stop, s.step, s.indices(4), slice(3) == slice(None, 3)


@program("I11", differs="torch_differs", why="in on a range gives an int")
def range_methods(x):
    r = range(2, 20, 3)
    return x + len(r), r[2], r[-1], r[1:3], r.index(8), r.count(5), 8 in r, r.start, r.stop, r.step, list(reversed(r))


@program("I11")
def nested_unpacking_in_loops(x):
    for i, (a, *b) in enumerate([(1, 2, 3), (4,)]):
        x = x + i + a + sum(b)
    return x


@program("I11")
def tuple_of_tensors(x, y):
    pair = (x + 1, y)
    bigger = pair + (x, pair)
    return bigger, bigger[3] is pair, bigger[1] is y, len(bigger)


@program("I11 I5")
def tuples_do_not_change(x):
    pair = (1, [x])
    try:
        pair[0] = 2
    except TypeError as error:
        message = str(error)
    pair[1].append(x + 1)
    return pair, message


@program("I11 I5")
def augmented_assignment_into_a_tuple(x):
    pair = ([1], x + 1)
    try:
        pair[0] += [2]
    except TypeError as error:
        return pair, str(error)


@program("I11")
def sort_is_stable_and_takes_keys(x):
    rows = [("b", 2), ("a", 2), ("c", 1)]
    return (
        x + 1,
        sorted(rows, key=lambda r: r[1]),
        sorted(rows, reverse=True),
        max(rows, key=lambda r: r[1]),
        min(rows),
    )


@program("I11")
def sort_by_shape(x, y):
    tensors = [y.flatten(), x, x[0]]
    tensors.sort(key=lambda v: v.dim())
    return tensors


@program("I11 I5")
def sort_of_mixed_types(x):
    try:
        sorted([1, "a"])
    except TypeError as error:
        return x + 1, str(error)


@program("I11", lambda: [(t(2), [3, 1, 2], (1, [2, (3,)]))])
def nested_containers_as_arguments(x, numbers, nested):
    one, (two, (three,)) = nested
    return x + one + two + three, sorted(numbers), nested


@program("I11 G1", lambda: [([t(2), t(2)],), ([t(2), t(2), t(2)],), ([t(2), t(2)],)])
def list_length_guards(tensors):
    return sum(tensors) * len(tensors)


@program("I11 G1", lambda: [([1, t(2)],), ([2, t(2)],), ([3, t(2)],)])
def ints_in_a_list_vary(a):
    return a[1] * a[0]


@program("I11", lambda: [((t(2), t(3)),)])
def tuple_argument(pair):
    a, b = pair
    return a + 1, b.sum(), pair


class Stack(list):
    def push(self, value):
        self.append(value)
        return self

    def top(self):
        return self[-1]


@program("I11 I10")
def subclass_of_list(x):
    s = Stack([1])
    s.push(x + 1).push(2)
    s.name = "mine"
    return s, s.top(), len(s), isinstance(s, list)


@program("I11 I10 O7", lambda: [(t(2), Stack([1, 2]))])
def subclass_of_list_as_argument(x, s):
    s.push(x + s[0])
    s.label = "changed"
    return s.top()


@program("I11")
def tensor_list_helpers(x):
    rows = [x[i] for i in range(2)]
    return torch.stack(rows), torch.cat([*rows, x[0]]), torch.stack(tuple(rows)).sum()


@program("I11")
def list_of_lists_transposed(x):
    rows = [[1, 2, 3], [4, 5, 6]]
    return x + 1, list(zip(*rows)), [list(c) for c in zip(*rows)], [*map(sum, rows)]


@program("I11")
def truthiness_and_length(x):
    return x + len([1, 2]), bool([]), bool([0]), bool(()), bool(range(0)), not [None]


@program("I11", then=list, differs="torch_differs", why="it leaves as a tuple iterator")
def list_iterator_leaves(x):
    it = iter([x, x + 1, x + 2])
    next(it)
    return it


@program(
    "I11 O7",
    lambda: [(t(2), iter([1, 2, 3, 4]))],
    then=lambda r: None,
    differs="fewer_breaks",
    why="torch cannot go on with an iterator it was given",
)
def list_iterator_argument_is_consumed(x, it):
    a = next(it)
    for b in it:
        break
    return x + a * b


@program("I11")
def list_methods_as_values(x):
    a = []
    push = a.append
    push(x)
    push(x + 1)
    list.append(a, 3)
    return a


@program("I11")
def equality_uses_identity_first(x):
    nan = float("nan")
    return x + 1, [nan] == [nan], nan in (nan,), nan == nan, (x,) == (x,)


@program("I11 I5", differs="fewer_breaks", why="torch leaves it to Python")
def list_that_grows_while_it_is_sorted(x):
    items = [3, 1, 2]
    try:
        items.sort(key=lambda v: (items.append(7) if v == 1 else None) or v)
    except ValueError as error:
        return x + 1, str(error), items


@program("I11", lambda: [(t(2), [1, 2, 3])], differs="torch_differs", why="the list has its items meanwhile")
def list_is_empty_while_it_is_sorted(x, items):
    seen = []
    items.sort(key=lambda v: seen.append(len(items)) or -v)
    return x + 1, seen, items


class Refusing:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        if self.v == 1:
            raise ValueError("not this one")
        return self.v < other.v


@program("I11 I5", differs="fewer_breaks", why="torch leaves it to Python")
def list_half_sorted_when_a_comparison_raises(x):
    items = [Refusing(v) for v in (3, 2, 1, 5)]
    try:
        items.sort()
    except ValueError as error:
        return x + 1, str(error), [item.v for item in items]

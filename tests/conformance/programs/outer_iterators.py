"""Iterators that were made outside the trace: what is taken in the trace is gone afterwards, and only that."""

import collections
import functools
import itertools
import operator

import torch

from tests.conformance.program import program, t


def count_to(n):
    for i in range(n):
        yield i


def rest(result):
    """What is left in each iterator that the program gives back."""
    return [list(itertools.islice(each, 5)) for each in result[1:] if hasattr(each, "__next__")]


@program(
    "I12 I8",
    lambda: [(t(2), iter([1, 2, 3, 4]))],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile does not take items from such an iterator",
)
def list_iterator(x, it):
    return x + next(it) + next(it), it


@program(
    "I12 I8",
    lambda: [(t(2), iter([1, 2, 3])), (t(2), iter([4])), (t(2), iter([]))],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def list_iterator_used_up(x, it):
    for n in it:
        x = x + n
    return x, it, next(it, "end")


@program(
    "I12 I8",
    lambda: [(t(2), iter((1, 2, 3)), iter("abc"), iter(range(5)), iter(b"ab"))],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile does not take items from such an iterator",
)
def other_sequence_iterators(x, a, b, c, d):
    return x + next(a) + next(c) + next(d), a, b, c, d, next(b)


@program("I12 I8", lambda: [(t(2), iter({"a": 1, "b": 2, "c": 3}))], then=rest)
def dict_key_iterator(x, it):
    first = next(it)
    return x + 1, it, first


@program("I12 I8", lambda: [(t(2), iter({"a": 1, "b": 2}.items()), iter({1: 5, 2: 6}.values()))], then=rest)
def dict_item_and_value_iterators(x, items, values):
    return x + next(values), items, values, next(items)


@program(
    "I12 I8",
    lambda: [(t(2), iter({1, 2, 3}), reversed([1, 2, 3]), iter(collections.deque([7, 8])))],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile does not take items from such an iterator",
)
def set_reversed_and_deque_iterators(x, s, r, d):
    return x + next(s) + next(r) + next(d), s, r, d


@program("I12 I8", lambda: [(t(2), zip([1, 2, 3], "abc"), enumerate("xyz", 5))], then=rest)
def zip_and_enumerate(x, z, e):
    n, c = next(z)
    i, d = next(e)
    return x + n + i, z, e, c + d


@program("I12 I8", lambda: [(t(2), map(lambda n: n * 2, [1, 2, 3]), filter(None, [0, 1, 0, 2]))], then=rest)
def map_and_filter(x, m, f):
    return x + next(m) + next(f), m, f


@program(
    "I12 I8",
    lambda: [(t(2), itertools.count(5, 2), itertools.cycle("ab"), itertools.repeat(3, 4))],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile does not take items from such an iterator",
)
def endless_itertools(x, c, y, r):
    return x + next(c) + next(r), c, y, r, next(y), next(y)


@program(
    "I12 I8",
    lambda: [
        (t(2), itertools.chain([1], [2, 3]), itertools.islice([1, 2, 3, 4], 1, 3), itertools.accumulate([1, 2, 3]))
    ],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile does not take items from such an iterator",
)
def chained_sliced_and_accumulated(x, c, s, a):
    return x + next(c) + next(s) + next(a), c, s, a


@program(
    "I12 I8",
    lambda: [(t(2), itertools.product([1, 2], "ab"), itertools.permutations([1, 2]), itertools.pairwise([1, 2, 3]))],
    then=rest,
)
def combinatoric_iterators(x, p, q, w):
    return x + next(p)[0] + next(q)[1] + next(w)[1], p, q, w


@program("I12 I8", lambda: [(t(2), *itertools.tee([1, 2, 3]))], then=rest)
def tee_branches(x, a, b):
    return x + next(a) + next(a) + next(b), a, b


@program(
    "I12 I8",
    lambda: [(t(2), itertools.groupby("aab"))],
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def groupby_from_outside(x, g):
    key, group = next(g)
    return x + len(list(group)), key, [k for k, _ in g]


@program("I8", lambda: [(t(2), count_to(4))], then=rest)
def generator_as_argument(x, g):
    return x + next(g) + next(g), g


@program(
    "I8",
    lambda: [(t(2), count_to(3))],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def generator_used_up_in_a_loop(x, g):
    for n in g:
        x = x + n
    return x, g


def talking():
    got = yield 1
    while got is not None:
        got = yield got * 2


@program("I8", lambda: [(t(2), talking())])
def generator_sent_to(x, g):
    first = next(g)
    second = g.send(5)
    g.close()
    return x + first + second, next(g, "closed")


@program(
    "I8 I12",
    lambda: [(t(2), (n * n for n in range(5)))],
    then=rest,
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def generator_expression_as_argument(x, g):
    return x + sum(itertools.islice(g, 3)), g


def tensors():
    for i in range(3):
        yield torch.ones(2) * i


@program("I8", lambda: [(t(2), tensors())], then=rest)
def generator_of_tensors(x, g):
    return x + next(g) + next(g), g


class Holder:
    def __init__(self):
        self.it = iter([1, 2, 3])
        self.count = itertools.count()


@program(
    "I12 I8",
    lambda: (lambda h: [(t(2), h), (t(2), h)])(Holder()),
    then=lambda r: list(itertools.islice(r[1].count, 2)),
)
def iterators_as_attributes(x, h):
    return x + next(h.it) + next(h.count), h


ids = itertools.count(1)


@program(
    "I12 I13",
    lambda: [(t(2),), (t(2),), (t(2),)],
    then=lambda r: next(ids),
    differs="fewer_breaks",
    why="torch.compile compiles anew for each number",
)
def global_counter(x):
    return x * next(ids), next(ids)


def numbered():
    numbers = itertools.count()

    def run(x):
        return x + next(numbers)

    return run


run_numbered = numbered()


@program("I12 I7", lambda: [(t(2),), (t(2),)])
def counter_in_a_cell(x):
    return run_numbered(run_numbered(x))


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


@program("I12 I8", lambda: [(t(2), Countdown(3))], then=rest)
def iterator_of_a_user_class(x, c):
    return x + next(c) + sum(zip(c, [10]), ())[1], c


@program("I12", lambda: [(t(2), iter(lambda: 3, 3), iter(functools.partial(operator.add, 1, 1), 5))])
def callable_iterators(x, a, b):
    return x + next(b), list(a)


@program("I12 I8 O7", lambda: (lambda l: [(t(2), l, iter(l))])([1, 2, 3]))
def iterator_over_a_list_that_is_changed(x, items, it):
    first = next(it)
    items.append(9)
    items.insert(0, 8)
    return x + first, list(it), items


@program("I12 I8 I14", lambda: [(t(2), iter([1, 2, 3, 4]))], then=rest)
def outer_iterator_across_a_break(x, it):
    x = x + next(it)
    torch._dynamo.graph_break()
    x = x * next(it)
    return x, it


@program(
    "I12 I8",
    lambda: (lambda i: [(t(2), i, i)])(iter([1, 2, 3])),
    differs="fewer_breaks",
    why="torch.compile does not take items from such an iterator",
)
def one_iterator_twice(x, a, b):
    return x + next(a) + next(b), list(a), a is b


@program("I12 I8", lambda: [(t(2), iter([t(2), t(2, start=3)]))], then=rest)
def iterator_over_tensors(x, it):
    return x + next(it), it

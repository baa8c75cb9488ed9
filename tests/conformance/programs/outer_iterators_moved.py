"""Iterators made outside the trace: other positions at each call, shared, moved before an exception or a break."""

import collections
import itertools

import torch

from tests.conformance.program import program, t


def left(result):
    """What is left in each iterator that the program gives back."""
    return [list(itertools.islice(each, 5)) for each in result[1:] if hasattr(each, "__next__")]


MORE = {"differs": "fewer_breaks", "why": "torch.compile does not take items from such an iterator"}


ONE_COMPILATION = {"differs": "fewer_breaks", "why": "torch.compile compiles for each position of the iterator"}


def one_iterator(*items):
    return (lambda it: [(t(2), it) for _ in range(4)])(iter(items))


@program("I12 G1", lambda: one_iterator(*(t(2, start=i) for i in range(4))), **ONE_COMPILATION)
def tensors_one_at_each_call(x, it):
    return x * next(it)


@program("I12 G1", lambda: (lambda it: [(t(2), it) for _ in range(4)])(iter(range(10))), **ONE_COMPILATION)
def numbers_of_a_range_at_each_call(x, it):
    return x * next(it) + next(it)


@program("I12 G1", lambda: (lambda it: [(t(2), it) for _ in range(4)])(enumerate(iter("abcde"))))
def enumerated_letters_at_each_call(x, it):
    i, letter = next(it)
    return x + i, letter


@program("I12 G1", lambda: (lambda it: [(t(2), it) for _ in range(3)])(iter([1, 2, 3, 4, 5])))
def pairs_until_the_end(x, it):
    first = next(it, None)
    second = next(it, None)
    return x + (first or 0) - (second or 0), second


@program("I12", lambda: [(t(2), iter([1, 2, 3, 4]))], then=left, **MORE)
def in_chunks(x, it):
    for a, b in zip(it, it):
        x = x * a + b
    return x, it


@program("I12", lambda: [(t(2), zip(*[iter([1, 2, 3, 4, 5])] * 2))], then=left)
def chunks_from_outside(x, pairs):
    a, b = next(pairs)
    return x * a + b, pairs


@program("I12", lambda: (lambda it: [(t(2), it, enumerate(it))])(iter("abcd")), then=left)
def iterator_and_one_around_it(x, it, numbered):
    first = next(it)
    i, second = next(numbered)
    return x + i, it, numbered, first + second


@program(
    "I12 G1",
    lambda: [(t(2), iter("abc"), enumerate(iter("xyz"))), (lambda it: (t(2), it, enumerate(it)))(iter("abxd"))],
    then=left,
    differs="stricter",
    why="iterators that the trace took from must be apart again; torch.compile leaves them to Python",
)
def apart_at_first_and_one_later(x, it, numbered):
    first, second = next(it), next(it)
    i, third = next(numbered)
    return x + i, it, numbered, first + second + third


@program("I12 I2", lambda: (lambda n: [(t(2), n, iter(n))])([1, 2, 3]), then=left, **MORE)
def list_changed_after_the_items_were_taken(x, numbers, it):
    x = x + next(it) + next(it)
    numbers.append(9)
    numbers[0] = 7
    return x, it, numbers


@program("I12 I2", lambda: (lambda n: [(t(2), n, iter(n))])([1, 2]), then=left)
def end_seen_before_the_list_grows(x, numbers, it):
    total = sum(it)
    numbers.append(9)
    return x + total, it, numbers


@program(
    "I12 I2 G1",
    lambda: [(t(2), [0, 0, 0], iter([1, 2, 3])), (lambda n: (t(2), n, iter(n)))([1, 2, 3])],
    then=left,
    **MORE,
)
def another_list_is_changed_at_first(x, numbers, it):
    numbers[1] = 50
    return x + next(it) + next(it), it, numbers


@program("I12 I3", lambda: (lambda d: [(t(2), d, iter(d.items()))])({"a": 1, "b": 2, "c": 3}), then=left)
def dict_written_after_an_item_was_taken(x, d, items):
    name, number = next(items)
    d[name] = number + 10
    return x + number, items, d


@program("I12 I3", lambda: (lambda d: [(t(2), d, iter(d))])({"a": 1, "b": 2}), then=str)
def dict_that_grew_before(x, d, names):
    d["c"] = 3
    try:
        return x, next(names)
    except RuntimeError as error:
        return x + 1, str(error)


@program("I12 I9", lambda: [(t(2), iter([1, 2, 3]))])
def exception_after_an_item_was_taken(x, it):
    x = x + next(it)
    raise ValueError(f"after {x.sum().item()}, {list(it)}")


kept = iter([1, 2, 3])


@program("I12 I9", lambda: [(t(2),), (t(2),), (t(2),), (t(2),)], **MORE)
def exception_leaves_the_iterator_moved(x):
    n = next(kept)
    x = x * n
    if n == 2:
        raise ValueError(n)
    return x


@program("I12 B2", lambda: [(torch.arange(3.0), iter([0, 7, 1]))], then=left, **MORE)
def graph_that_fails_on_its_data(x, it):
    index = torch.tensor([next(it)])
    y = x[index]
    try:
        y = y + x[torch.tensor([next(it)])]
    except IndexError:
        y = y * 2
    return y, it


@program("I12 B4", lambda: [(t(2), iter([1, 2, 3, 4]))], then=left, **MORE)
def break_in_the_loop_over_it(x, it):
    for n in it:
        x = x + n
        torch._dynamo.graph_break()
        if n == 3:
            break
    return x * 2, it


@program("I12", lambda: [(t(2), map(lambda a, b: a * b, iter([1, 2, 3]), itertools.count(5)))], then=left)
def map_over_two(x, products):
    return x + next(products) + next(products), products


seen = []


def noted(n):
    seen.append(n)
    return n + 1


@program("I12", lambda: [(t(2), map(noted, iter([1, 2, 3])))], then=lambda r: (list(seen), list(r[1])))
def map_whose_function_has_an_effect(x, numbers):
    return x + next(numbers) + next(numbers), numbers


@program("I12", lambda: [(t(2), zip(map(noted, [1, 2, 3]), "abc", strict=True))], then=left)
def zip_of_what_runs_code(x, pairs):
    n, letter = next(pairs)
    return x + n, pairs, letter


@program("I12", lambda: [(t(2), zip(map(noted, [1, 2]), "a", strict=True))])
def strict_zip_of_what_runs_code(x, pairs):
    try:
        return x + len(list(pairs))
    except ValueError as error:
        return x - 1, str(error)


@program(
    "I12",
    lambda: [(t(2), itertools.starmap(pow, [(2, 3), (3, 2)]), itertools.filterfalse(lambda n: n % 2, range(9)))],
    then=left,
)
def starmap_and_filterfalse(x, powers, even):
    next(even)
    return x + next(powers) + next(even), powers, even


@program("I12 O7", lambda: (lambda inner: [(t(2), zip([inner], [1]), inner)])([1, 2]), then=left)
def item_of_a_pair_is_changed(x, pairs, inner):
    taken, _ = next(pairs)
    taken.append(3)
    return x + sum(inner), pairs, taken, taken is inner


@program("I12 I14", lambda: [(t(2), {"rows": iter([[1], [2], [3]])})], then=lambda r: list(r[1]["rows"]))
def iterator_in_a_dict(x, held):
    row = next(held["rows"])
    row.append(len(row))
    return x + sum(row), held, row


@program("I12", lambda: [(t(2), iter([1, 2, 3, 4, 5]))], then=left, **MORE)
def partly_used_inside_another(x, it):
    first = list(itertools.islice(it, 2))
    rest = enumerate(it, 10)
    i, n = next(rest)
    return x + sum(first) + i * n, it, rest


@program("I12 I8", lambda: [(t(2), iter([1, 2, 3]))], then=left, **MORE)
def handed_to_a_generator(x, it):
    def doubled():
        for n in it:
            yield 2 * n

    g = doubled()
    return x + next(g) + next(g), it


@program("I12", lambda: [(t(2), iter([1, 2, 3, 4]))], **MORE)
def unpacked(x, it):
    first, *rest = it
    return x + first, rest, next(it, "end")


@program("I12 I5", lambda: [(t(2), reversed([1, 2, 3]), iter(collections.deque([1, 2])))], then=left)
def deque_iterator_left_alone(x, backwards, d):
    return x + next(backwards), backwards, d


made = itertools.count(10)


class Numbered:
    def __init__(self):
        self.number = next(made)


@program("I12 I10", lambda: [(t(2),), (t(2),)], then=lambda r: next(made))
def objects_numbered_by_a_global(x):
    a, b = Numbered(), Numbered()
    return x * a.number + b.number


@program("I12", lambda: [(t(2), itertools.count(0.5, 0.25))] * 1, then=left)
def count_of_floats(x, c):
    return x * next(c) + next(c), c

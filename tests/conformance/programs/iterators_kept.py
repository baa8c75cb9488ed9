"""Iterators outside of the trace over what the trace writes to; attributes with names that the language uses."""

import collections
import types

from tests.conformance.program import call, program, t

DIFFERS = {"differs": "torch_differs", "why": "torch.compile gives another result here"}
NAMED = types.SimpleNamespace(**{"None": 3, "class": 4})


def with_iterator(container, over=iter):
    kept = over(container)
    next(kept)
    return [call(t(2, 3), container, kept)]


def with_gaps(kind):
    made = kind((number, number) for number in range(6))
    del made[0], made[2]
    return made


def calls_over_items(kind):
    return lambda: with_iterator(with_gaps(kind), lambda table: iter(table.items()))


@program("I11 O7", calls=lambda: with_iterator(collections.deque([1, 2, 3])), **DIFFERS, then=lambda r: list(r[1]))
def items_of_a_deque_that_is_iterated_over(x, queue, kept):
    for index in range(len(queue)):
        queue[index] = queue[index] * 2
    return x + queue[0], kept


@program("I11 O7", calls=calls_over_items(dict), then=lambda r: list(r[1]))
def values_of_a_dict_that_is_iterated_over(x, table, kept):
    for key in table:
        table[key] = table[key] * 2
    return x + table[1], kept


@program("I11 O7", calls=calls_over_items(collections.OrderedDict), **DIFFERS, then=lambda r: list(r[1]))
def values_of_an_ordered_dict_that_is_iterated_over(x, table, kept):
    for key in table:
        table[key] = table[key] * 2
    return x + table[1], kept


@program("I11 O7", calls=calls_over_items(dict), then=lambda r: r[1])
def values_of_a_dict_that_grows_as_well(x, table, kept):
    table[1] = 5
    table[9] = 6
    return x + table[1], table


@program("I13", **DIFFERS)
def attributes_named_as_words_of_the_language(x):
    return x + getattr(NAMED, "None") * getattr(NAMED, "class")


@program("I11", calls=lambda: [(t(2, 3), bytearray(b"ab"))])
def attributes_that_a_bytearray_lacks(x, data):
    return x + len(data), getattr(data, "__dict__", None), hasattr(data, "__dict__"), hasattr(data, "decode")

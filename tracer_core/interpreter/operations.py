"""`Operations`: Python's operations on values (attributes, calls, truth, ...), on trackers, as `Tracing` offers
them."""

from __future__ import annotations

from tracer_core.variables.builtins.text import text_of
from tracer_core.variables.operations.attributes import del_attr, find_attr, get_attr, set_attr
from tracer_core.variables.operations.calling import call_method
from tracer_core.variables.operations.identity import same
from tracer_core.variables.operations.iteration import iterate, next_item, remaining_items, unpack
from tracer_core.variables.operations.membership import contains, equal_items
from tracer_core.variables.operations.operators import binary, compare, negation, unary
from tracer_core.variables.operations.subscripts import del_item, get_item, set_item
from tracer_core.variables.operations.truth_and_length import length, truth


class Operations:
    """The functions of `variables/operations` as methods: their first argument is the interpreter."""

    call_method = call_method

    get_attr = get_attr
    find_attr = find_attr
    set_attr = set_attr
    del_attr = del_attr

    truth = truth
    text_of = text_of
    same = same
    compare = compare
    equal_items = equal_items
    binary = binary
    unary = unary
    negation = negation

    length = length
    get_item = get_item
    set_item = set_item
    del_item = del_item
    contains = contains
    iterate = iterate
    next_item = next_item
    unpack = unpack
    remaining_items = remaining_items

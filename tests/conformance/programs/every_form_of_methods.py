"""Methods of containers in forms that other files do not have: refusals, methods called again by name, texts."""

import bisect
import cmath
import collections
import copy
import functools
import heapq
import inspect
import itertools
import logging
import operator
import re
import struct
from collections import OrderedDict, defaultdict, deque

from tests.conformance.program import program, t


def refusals(*calls):
    """What each call is refused with; the calls are functions without arguments."""
    said = []
    for each in calls:
        try:
            said.append(each())
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            said.append((type(error), error.args))
    return said


@program("I11", lambda: [(t(2), deque([3, 1, 2])), (t(2), deque([3, 1, 2])), (t(2), deque([3, 1], 4))])
def deque_items_inserted_and_deleted(x, d):
    d.insert(1, 9)
    d.insert(-100, 8)
    e = deque([1, x, 3])
    e.insert(100, 6)
    del e[0]
    del d[-1]
    return x + 1, e, d.index(9), d.count(8)


@program("I11", differs="torch_differs", why="another message")
def deque_refusals(x):
    full = deque([1, 2], 2)
    d = deque([1])

    def deleted(key):
        del d[key]

    return x + 1, refusals(
        lambda: full.insert(0, 3),
        lambda: d.insert("a", 1),
        lambda: deleted(7),
        lambda: deleted("a"),
        lambda: d.remove(7),
        lambda: d.index(7),
        lambda: deque().rotate("a"),
    )


@program("I11", differs="torch_differs", why="a list is not emptied before it is filled from itself")
def containers_initialised_again(x):
    items, entries, members, queue = [1], {"a": 1}, {1}, deque([1])
    items.__init__([4, 5])
    entries.__init__(z=3)
    members.__init__([4])
    queue.__init__([1, 2], 1)
    itself = [1, 2]
    itself.__init__(itself)
    return x + 1, items, entries, members, queue, queue.maxlen, itself


@program("I11", lambda: [(t(2), [1], {"a": 1}), (t(2), [1], {"a": 1}), (t(3), [2, 3], {"b": 1})])
def containers_from_outside_initialised_again(x, items, entries):
    items.__init__([len(items)])
    entries.__init__(z=3)
    return x + 1


@program("I11", differs="fewer_breaks", why="torch gives up the frame")
def tuples_that_stay_themselves(x):
    pair = (x, 1)
    named = collections.namedtuple("Named", "a b")(1, 2)
    return x + 1, pair[:] is pair, pair[0:5] is pair, pair * 1 is pair, pair[::-1] is pair, named[:] is named


@program("I11")
def attributes_that_containers_refuse(x):
    said = []
    for each in ([], {}, (), set(), deque(), "a", 1):
        try:
            each.unknown = 1
        except AttributeError as error:
            said.append(error.args)
        try:
            each.append = 1
        except AttributeError as error:
            said.append(error.args)
    return x + 1, said


@program(
    "I11",
    lambda: [(t(2), {"a": 1, "b": 2}), (t(2), {"a": 1, "b": 2}), (t(2), {"b": 1})],
    differs="torch_differs",
    why="it is not refused",
)
def popitem_with_an_argument_is_refused(x, d):
    try:
        d.popitem(1)
    except TypeError as error:
        return x + 1, error.args


@program("I11", differs="fewer_breaks", why="torch gives up the frame")
def sets_looked_for_in_sets(x):
    s = {1, frozenset([3])}
    inside = {3} in s, {4} in s, {3} not in s
    s.discard({9})
    s.remove({3})
    return x + 1, inside, s, refusals(lambda: s.remove({4}), lambda: [] in s, lambda: s.add({4}))


@program("I11", lambda: [(t(2), 3), (t(2), 4), (t(2), 5)])
def hashes_of_numbers_in_tuples(x, n):
    return x + 1, hash((n, 1)) == hash((n, 1)), (n, "a").__hash__() == hash((n, "a"))


@program("I11")
def what_has_no_hash(x):
    return x + 1, refusals(lambda: hash([x]), lambda: hash(([],)), lambda: hash({}), lambda: {x: 1}[[]])


class Named:
    def __repr__(self):
        return "named"


@program("I11")
def texts_of_containers_of_objects(x):
    n = Named()
    return (
        x + 1,
        repr(OrderedDict(a=n)),
        str(OrderedDict()),
        f"{deque([1, n], 3)} {deque()}",
        repr(defaultdict(int, a=n)),
        str(defaultdict(None)),
        str({"a": n}.keys()),
        repr(OrderedDict(a=n).items()),
    )


@program("I11")
def class_methods_found_on_instances(x):
    return (
        x + 1,
        {}.fromkeys("ab", 2),
        OrderedDict(b=1).fromkeys("a"),
        True.from_bytes(b"a", "big"),
        {1: 2}.keys().mapping[1],
    )


@program("I11 I12")
def names_of_containers(x):
    return x + 1, dir([]) == dir(list), dir({1: 2})[-1], "append" in dir([x]), dir("a")[:2]


@program(
    "I11", lambda: [(t(2), 2, 3.5), (t(2), 3, 4.5), (t(2), 5, 6.5)], differs="torch_differs", why="NotImplemented"
)
def special_methods_of_numbers_that_vary(x, n, f):
    return x + 1, n.__add__(f), n.__eq__(f), n.__lt__(f), f.__add__(n), f.__eq__(n), f.__int__(), n.__int__()


def plus(a, b=5, *c, d=1, **e):
    return a + b


@program("I12", differs="fewer_breaks", why="torch gives up the frame")
def copies_of_library_containers(x):
    made = []
    for each in (OrderedDict(a=[1]), defaultdict(list, a=[1]), deque([[1]], 3), {(1, 2)}, frozenset([1])):
        deep, flat = copy.deepcopy(each), copy.copy(each)
        made.append((deep, flat, deep is each, flat is each))
    return x + 1, made, made[0][0]["a"] is made[0][1]["a"]


@program("I12", differs="fewer_breaks", why="torch gives up the frame")
def copies_of_partials(x):
    return x + 1, copy.deepcopy(functools.partial(plus, 1))(3), copy.copy(functools.partial(plus, b=1))(2)


class Counted:
    def __deepcopy__(self, memo):
        return len(memo)


class Nested:
    def __init__(self, items):
        self.items = items

    def __deepcopy__(self, memo):
        return Nested(copy.deepcopy(self.items, memo))


@program("I12")
def memos_of_deep_copies(x):
    return x + 1, copy.deepcopy(Counted())


@program("I12")
def memos_of_the_program(x):
    memo = {}
    copied = copy.deepcopy([1, [2]], memo)
    return x + 1, copied, len(memo)


@program("I12")
def memos_handed_on(x):
    return x + 1, copy.deepcopy(Nested([1, [2]])).items


@program("I12", differs="torch_differs", why="another message")
def operators_that_search(x):
    return (
        x + 1,
        operator.concat([1], (x,).__class__([2]) and [2]),
        refusals(
            lambda: operator.concat(1, 2),
            lambda: operator.iconcat(1, 2),
            lambda: operator.countOf(1, 2),
            lambda: operator.indexOf(1, 2),
        ),
    )


@program("I12", differs="fewer_breaks", why="torch gives up the frame")
def lengths_that_iterators_have_left(x):
    it = iter([1, 2, 3])
    next(it)
    rest = operator.length_hint(it), operator.length_hint(reversed([1, 2])), operator.length_hint(iter({1: 2}))
    return x + 1, rest, operator.length_hint(iter(())), operator.length_hint(iter("abc")), list(it)


@program("I12")
def places_found_by_bisection(x):
    items = [1, 3]
    bisect.insort(items, 2)
    bisect.insort_left(items, 5, key=lambda v: -v)
    words = ["a", "bb", "ccc"]
    found = bisect.bisect(words, 2, key=len), bisect.bisect_left(words, 2, key=len), bisect.bisect_left([1, 1], 1, 1)
    return x + 1, items, found, refusals(lambda: bisect.bisect([1], 2, -1), lambda: bisect.bisect([1], "a"))


@program("I12")
def smallest_and_largest(x):
    items = [5, 3, 8, 1, 9, 2]
    return x + 1, heapq.nsmallest(3, items), heapq.nsmallest(2, items, key=lambda v: -v), heapq.nlargest(3, items)


@program("I12")
def numbers_packed_and_complex(x):
    return x + 1, struct.pack("<ih", 3, 4), struct.unpack("<i", b"abcd"), struct.calcsize("<i"), cmath.sqrt(-1)


@program("I12")
def arguments_bound_to_signatures(x):
    signature = inspect.signature(plus)
    bound = signature.bind(1, 2, 3, d=4, z=5)
    filled = signature.bind(x)
    filled.apply_defaults()
    names = signature.bind_partial().arguments
    return plus(*filled.args, **filled.kwargs), bound.arguments, bound.args, bound.kwargs, filled.arguments, names


@program("I12", differs="torch_differs", why="another message")
def arguments_that_signatures_refuse(x):
    signature = inspect.signature(plus)
    return (
        x + 1,
        refusals(lambda: signature.bind(), lambda: signature.bind(1, a=2)),
        type(signature.parameters.keys()),
    )


@program("I12")
def questions_of_inspect(x):
    kinds = inspect.isawaitable(3), inspect.ismethoddescriptor(str.upper), inspect.isdatadescriptor(property())
    return x + 1, inspect.getmro(Nested), kinds


@program("I12", differs="torch_differs", why="what the function changes is lost")
def texts_replaced_by_functions(x):
    starts = []

    def twice(match):
        starts.append(match.start())
        return match.group() * 2

    pattern = re.compile("[ab]")
    return (
        x + 1,
        re.sub("a", twice, "abca"),
        pattern.sub(twice, "xaxbxa", 2),
        starts,
        re.subn("a*", lambda match: "-", "baac"),
        re.sub("A", lambda match: "q", "aA", flags=re.IGNORECASE),
    )


log = logging.getLogger("conformance.every_form")


@program("I12", differs="fewer_breaks", why="a logger that is not enabled does nothing, which torch does not look at")
def loggers_that_let_nothing_through(x):
    log.debug("seen %s", x)
    y = x + 1
    log.info("more")
    if log.isEnabledFor(logging.DEBUG):
        y = y * 100
    return y * 2, log.getEffectiveLevel()


def levels():
    for level in (logging.WARNING, logging.INFO, logging.ERROR, logging.WARNING):
        yield t(2), level


@program("I12", lambda: list(levels()), differs="stricter", why="the level is guarded")
def loggers_whose_level_changes(x, level):
    before = log.isEnabledFor(logging.INFO)
    log.setLevel(level)
    after = log.isEnabledFor(logging.INFO)
    return x + 1, before, after


@program("I12", lambda: [(t(2), 1.5, 2.0), (t(2), 2.5, 3.0), (t(2), 3.5, 4.0)])
def sums_of_lists_of_numbers_that_vary(x, a, b):
    import math

    return x + 1, math.fsum([a, b]), math.dist([a], [b])


@program("I12")
def items_left_of_chains(x):
    chained = itertools.chain([x], [1])
    first = next(chained)
    return first + 1, list(chained)

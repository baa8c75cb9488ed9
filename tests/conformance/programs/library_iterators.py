"""Iterators and callables of `itertools`, `functools`, `operator`, `heapq`: results, and alive across breaks."""

import functools
import heapq
import itertools
import operator

from tests.conformance.program import program, t


@program("I12 O6", differs="fewer_breaks", why="torch.compile cannot hand this iterator on at a break")
def chain_and_islice_across_a_break(x):
    it = itertools.chain([1, 2], [3])
    part = itertools.islice([1, 2, 3, 4, 5], 1, None, 2)
    next(it), next(part)
    y = x + 1
    print("break")
    return y * 2, list(it), list(part)


@program("I12 O6", differs="fewer_breaks", why="torch.compile cannot hand this iterator on at a break")
def endless_iterators_across_a_break(x):
    count, cycle, repeat = itertools.count(3, 2), itertools.cycle([1, 2]), itertools.repeat(7, 3)
    next(count), next(cycle), next(repeat)
    y = x + 1
    print("break")
    return y * 2, next(count), next(cycle), next(cycle), list(repeat)


@program("I12 O6", differs="fewer_breaks", why="torch.compile cannot hand this iterator on at a break")
def accumulate_and_pairwise_across_a_break(x):
    sums, pairs = itertools.accumulate([1, 2, 3]), itertools.pairwise([1, 2, 3])
    next(sums), next(pairs)
    y = x + 1
    print("break")
    return y * 2, list(sums), list(pairs)


@program("I12 O6")
def while_iterators_across_a_break(x):
    take, drop = itertools.takewhile(bool, [1, 1, 0, 1]), itertools.dropwhile(bool, [1, 0, 1])
    next(take), next(drop)
    y = x + 1
    print("break")
    return y * 2, list(take), list(drop)


@program("I12 O6")
def getters_and_arrangements_across_a_break(x):
    getter, rows = operator.itemgetter(1, 0), itertools.permutations([1, 2, 3], 2)
    next(rows)
    y = x + 1
    print("break")
    return y * 2, getter([1, 2]), list(rows)


@program("I12 O6", differs="torch_differs", why="fails inside the compiler")
def reversed_and_sentinel_across_a_break(x):
    backwards, popped = reversed([1, 2, 3]), iter([3, 2, 1, 0].pop, 3)
    next(backwards), next(popped)
    y = x + 1
    print("break")
    return y * 2, list(backwards), list(popped)


@program("I12", differs="torch_differs", why="groups taken late keep their items")
def group_by(x):
    groups = [(key, list(group)) for key, group in itertools.groupby([1, 1, 2, 3, 3], key=lambda v: v % 2)]
    late = [list(group) for _, group in list(itertools.groupby("aab"))]
    return x + 1, groups, late


@program("I12")
def tee(x):
    a, b = itertools.tee([1, 2, 3])
    first = next(a)
    return x + first, list(b), list(a)


@program("I12")
def arrangements_of_tensors(x):
    rows = [a + b for a, b in itertools.combinations([x, x + 1, x + 2], 2)]
    return rows, len(list(itertools.product([x], [1, 2], repeat=2)))


@program("I12")
def long_arrangements_are_not_made_whole(x):
    return x + 1, list(itertools.islice(itertools.permutations(range(8)), 2))[1][-2:]


@program("I12 I5", differs="fewer_breaks", why="torch.compile raises another error while tracing")
def library_functions_called_wrongly(x):
    said = []
    for wrong in (lambda: itertools.chain(a=1), lambda: functools.reduce(1), lambda: operator.itemgetter()):
        try:
            wrong()
        except TypeError as error:
            said.append(str(error))
    return x + 1, said


@program("I12 I5")
def reduce_of_nothing(x):
    try:
        functools.reduce(operator.add, [])
    except TypeError as error:
        return functools.reduce(operator.add, [x, 1, 2], 3), str(error)


@program("I12")
def cmp_to_key(x):
    return x + 1, sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))


@functools.singledispatch
def kind(value):
    return "object"


@kind.register
def _(value: int):
    return "int"


@kind.register(list)
def _(value):
    return "list"


@program("I12 F1")
def single_dispatch(x):
    return x + 1, kind(1), kind([]), kind("s")


@functools.singledispatch
def late(value):
    return "object"


@program(
    "I12 F1 G1",
    calls=lambda: [(t(2), False), (t(2), True), (t(2), False)],
    differs="stricter",
    why="what is registered is guarded, so a new entry compiles anew; torch leaves the dispatch to Python each time",
)
def single_dispatch_registered_later(x, register):
    if register:
        print("register")
        late.register(int, lambda value: "int")
    return x + 1, late(1)


class Methods:
    def __init__(self):
        self.asked = 0

    def scaled(self, a, b=1):
        return a * b

    tripled = functools.partialmethod(scaled, b=3)

    @functools.cached_property
    def computed(self):
        self.asked += 1
        return self.asked


@program("I10 I12 F8")
def partial_method(x):
    return Methods().tripled(x), Methods().scaled(2, b=4)


@program("I10 I12", differs="fewer_breaks", why="torch.compile does not trace cached_property")
def cached_property(x):
    made = Methods()
    return x + made.computed, made.computed, made.asked, "computed" in made.__dict__


@program("I12 F4")
def wraps_inside(x):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args):
            return f(*args) + 1

        return wrapper

    def double(a: int) -> int:
        "doc"
        return a * 2

    made = decorate(double)
    return made(x), made.__name__, made.__doc__, made.__wrapped__(x), made


@program("I12")
def heap(x):
    h = [5, 3, 8, 1]
    heapq.heapify(h)
    heapq.heappush(h, 2)
    return x + heapq.heappop(h), heapq.heappushpop(h, 0), heapq.nlargest(2, h), heapq.nsmallest(1, h), h


@program(
    "I12",
    calls=lambda: [(t(2), operator.attrgetter("shape")), (t(2), operator.itemgetter(0))],
    differs="fewer_breaks",
    why="torch.compile does not call getters from outside",
)
def getter_given(x, getter):
    return x + 1, getter(x)

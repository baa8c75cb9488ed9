"""`itertools`, `functools`, `operator`, `math`, `collections`, `types`."""

import collections
import functools
import itertools
import math
import operator
import types

from tests.conformance.program import program, t


@program("I12")
def chain(x):
    both = itertools.chain([x], (x + 1,))
    return sum(both), list(itertools.chain.from_iterable([[1], [2, 3]]))


@program("I12")
def count_cycle_repeat(x):
    c = itertools.count(10, 2)
    firsts = [next(c) for _ in range(3)]
    cycle = itertools.cycle("ab")
    return x + sum(firsts), [next(cycle) for _ in range(5)], list(itertools.repeat(7, 2)), next(itertools.repeat(1))


@program("I12")
def islice(x):
    return (
        x + 1,
        list(itertools.islice(range(10), 3)),
        list(itertools.islice("abcdef", 1, 5, 2)),
        list(itertools.islice(itertools.count(), 2, 4)),
    )


@program("I12")
def product_permutations_combinations(x):
    for a, b in itertools.product([1, 2], [3, 4]):
        x = x + a * b
    return (
        x,
        list(itertools.permutations([1, 2, 3], 2)),
        list(itertools.combinations("abc", 2)),
        list(itertools.combinations_with_replacement("ab", 2)),
        list(itertools.product("a", repeat=2)),
    )


@program("I12")
def accumulate(x):
    return list(itertools.accumulate([x, x, x])), list(itertools.accumulate([1, 2, 3], operator.mul, initial=5))


@program("I12")
def takewhile_and_dropwhile(x):
    small = lambda v: v < 3
    return x + 1, list(itertools.takewhile(small, [1, 2, 5, 1])), list(itertools.dropwhile(small, [1, 2, 5, 1]))


@program("I12")
def groupby(x):
    groups = [(k, list(g)) for k, g in itertools.groupby("aabbb")]
    return x + len(groups), groups, [k for k, _ in itertools.groupby([1, 3, 2], lambda v: v % 2)]


@program("I12")
def zip_longest_and_pairwise(x):
    return x + 1, list(itertools.zip_longest([1, 2], "a", fillvalue="-")), list(itertools.pairwise([1, 2, 3]))


@program("I12")
def starmap_compress_filterfalse(x):
    return (
        list(itertools.starmap(lambda a, b: a * b, [(x, 2), (x, 3)])),
        list(itertools.compress("abc", [1, 0, 1])),
        list(itertools.filterfalse(lambda v: v, [0, 1])),
    )


@program("I12")
def tee(x):
    a, b = itertools.tee([1, 2])
    return x + next(a), list(b), list(a)


@program("I12", then=lambda r: [next(r), next(r)])
def count_leaves(x):
    c = itertools.count(3)
    y = x + next(c)
    return c


@program("I12")
def reduce(x):
    return functools.reduce(lambda a, b: a + b, [x, x, x]), functools.reduce(operator.mul, [2, 3], 10)


@functools.lru_cache
def cached_size(n):
    return n * 2


@program("I12 F6", lambda: [(t(2), 3), (t(2), 3)], then=lambda r: None)
def lru_cache(x, n):
    return x + cached_size(n)


@functools.cache
def cached_fibonacci(n):
    return n if n < 2 else cached_fibonacci(n - 1) + cached_fibonacci(n - 2)


@program("I12 F6")
def cached_recursion(x):
    return x + cached_fibonacci(10)


@functools.singledispatch
def describe(value):
    return "object"


@describe.register
def _(value: int):
    return "int"


@program("I12")
def single_dispatch(x):
    return x + 1, describe(1), describe("a")


@program("I12", differs="fewer_breaks", why="torch does not know the manager")
def cached_property(x):
    class Box:
        reads = 0

        @functools.cached_property
        def value(self):
            self.reads += 1
            return 5

    box = Box()
    return x + box.value + box.value, box.reads


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n


@program("I12 I10")
def total_ordering(x):
    return (
        x + 1,
        Version(1) >= Version(1),
        Version(2) > Version(1),
        max([Version(1), Version(3)], key=lambda v: v.n).n,
    )


@program("I12")
def cmp_to_key(x):
    return x + 1, sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))


@program("I12 F8")
def partial_method(x):
    class Box:
        def scaled(self, k, v):
            return v * k

        double = functools.partialmethod(scaled, 2)

    return Box().double(x)


@program("I12")
def operator_getters(x):
    point = types.SimpleNamespace(a=1, b=types.SimpleNamespace(c=2))
    return (
        x + operator.attrgetter("a")(point),
        operator.attrgetter("a", "b.c")(point),
        operator.itemgetter(0, 2)("abc"),
        operator.methodcaller("upper")("a"),
        operator.methodcaller("sum")(x),
    )


@program("I12")
def operator_functions(x):
    a = [1, 2, 3]
    operator.setitem(a, 0, 9)
    operator.delitem(a, 1)
    operator.iadd(a, [4])
    return (
        operator.truediv(x, 2),
        operator.getitem(a, 0),
        a,
        operator.contains(a, 9),
        operator.is_(a, a),
        operator.not_(0),
        operator.index(3),
        operator.countOf([1, 1], 1),
        operator.concat("a", "b"),
        operator.lt(1, 2),
    )


@program("I12")
def math_functions(x):
    return (
        x * math.sqrt(4.0),
        math.floor(-1.5),
        math.trunc(-1.5),
        math.log2(8),
        math.isclose(0.1 + 0.2, 0.3),
        math.factorial(5),
        math.comb(5, 2),
        math.hypot(3, 4),
        math.copysign(1, -0.0),
        math.inf > 1,
        math.isnan(math.nan),
        math.fsum([0.1] * 10),
        math.exp(0),
    )


@program("I12 B8", lambda: [t(4), t(9), t(16)])
def math_on_sizes(x):
    n = x.shape[0]
    return x / math.sqrt(n), math.ceil(n / 2), math.log(n) > 1


@program("I12 I5")
def math_domain_error(x):
    try:
        math.sqrt(-1)
    except ValueError as error:
        return x + 1, str(error)


Pair = collections.namedtuple("Pair", ["left", "right"])


@program("I12 I10")
def named_tuple(x):
    p = Pair(x, right=2)
    q = p._replace(left=x + 1)
    a, b = q
    return p, q, a, b, p.right, p[1], Pair._fields, q._asdict(), isinstance(p, tuple), p == (x, 2), Pair._make([1, 2])


@program("I12 I10", lambda: [(Pair(t(2), 3),), (Pair(t(2), 3),)])
def named_tuple_as_argument(p):
    return p.left * p.right, Pair(p.left, p), p


@program("I12")
def named_tuple_made_inside(x):
    Local = collections.namedtuple("Local", "a b")
    return x + Local(1, 2).b


@program("I12")
def simple_namespace(x):
    n = types.SimpleNamespace(a=1)
    n.b = x + 1
    return n.a, n.b, n == types.SimpleNamespace(a=1), vars(n)

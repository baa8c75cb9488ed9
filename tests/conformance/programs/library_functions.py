"""functools, operator, contextlib and enum as user programs call them."""

import contextlib
import enum
import functools
import operator
import types

from tests.conformance.program import program, t


class Cached:
    calls = 0

    def __init__(self, n):
        self.n = n

    @functools.cached_property
    def slow(self):
        self.calls += 1
        return self.n * 100


@functools.singledispatch
def kind(value):
    return "other"


@kind.register
def _(value: int):
    return f"int {value}"


@kind.register(list)
def _list(value):
    return [kind(v) for v in value]


class Shower:
    @functools.singledispatchmethod
    def show(self, value):
        return "?"

    @show.register
    def _(self, value: int):
        return f"i{value}"

    @show.register
    def _(self, value: str):
        return f"s{value}"

    def scaled(self, x, factor=1, shift=0):
        return x * factor + shift

    doubled = functools.partialmethod(scaled, 2)
    shifted = functools.partialmethod(scaled, shift=3)


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n


def traced(function):
    @functools.wraps(function)
    def inside(*args, **kwargs):
        inside.calls = getattr(inside, "calls", 0) + 1
        return function(*args, **kwargs)

    return inside


@traced
def wrapped(x):
    """Adds one."""
    return x + 1


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@program(
    "I12 I10",
    lambda: (lambda c: [(t(2), c), (t(2), c)])(Cached(2)),
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def cached_property_on_an_argument(x, c):
    y = x + c.slow + c.slow
    return y, c.calls, "slow" in c.__dict__


@program("I12")
def single_dispatch_on_values(x):
    s = Shower()
    return (
        x + 1,
        kind(3),
        kind("s"),
        kind([1, [2], None]),
        s.show(1),
        s.show("a"),
        s.show(None),
        kind.dispatch(bool)(True),
    )


@program("I12", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def partial_methods_and_ordering(x):
    s = Shower()
    a, b = Version(1), Version(2)
    return s.doubled(x) + s.shifted(x, 2), a <= b, a >= b, a > b, max(a, b).n, sorted([b, a], key=lambda v: v.n)[0].n


@program(
    "I12",
    then=lambda r: (wrapped.calls, wrapped.__name__),
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def wrapped_function(x):
    return wrapped(wrapped(x)), wrapped.__name__, wrapped.__doc__, wrapped.__wrapped__(x)


@program("I12")
def functools_functions(x):
    ordered = sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))
    p = functools.partial(described, 1, c=2)
    return functools.reduce(operator.add, [x, x, 1], 2), ordered, p.args, p.keywords, p.func is described, fib(20)


@program("I12", differs="torch_differs", why="torch.compile gives another result here")
def operator_functions(x):
    get = operator.itemgetter(1, 0)
    attr = operator.attrgetter("n", "__class__.__name__")
    call = operator.methodcaller("split", ",", maxsplit=1)
    found = [get([5, 6]), attr(Version(3)), call("a,b,c"), operator.concat([1], [2]), operator.countOf([1, 1], 1)]
    found += [operator.indexOf([4, 5], 5), operator.length_hint([1, 2]), operator.truth([]), operator.not_(0)]
    items = [1]
    operator.iadd(items, [2])
    operator.setitem(items, 0, 9)
    operator.delitem(items, 1)
    return operator.matmul(x, x) + operator.neg(x).sum() + operator.index(3), found, items, operator.contains([1], 1)


@contextlib.contextmanager
def noted(log, name):
    log.append(f"+{name}")
    try:
        yield name
    except KeyError as error:
        log.append(repr(error))
    finally:
        log.append(f"-{name}")


class Decorating(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *info):
        return False


@Decorating()
def decorated(x):
    return x + 1


@program("I12 I6", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def contextlib_functions(x):
    log = []
    with noted(log, "a") as a, contextlib.nullcontext(3) as n, noted(log, "b"):
        x = decorated(x) + n
    with noted(log, "c"):
        raise KeyError("k")
    with (
        contextlib.closing(types.SimpleNamespace(close=lambda: log.append("closed"))),
        contextlib.suppress(ValueError),
    ):
        int("z")
    with contextlib.ExitStack() as stack:
        stack.enter_context(noted(log, "d"))
        stack.push(lambda *info: log.append(info[0]))
        kept = stack.pop_all()
    kept.close()
    return x, a, log


class Flag(enum.Flag):
    A = enum.auto()
    B = enum.auto()
    AB = A | B


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2

    @property
    def double(self):
        return self.value * 2

    @classmethod
    def _missing_(cls, value):
        return cls.ONE


class Word(str, enum.Enum):
    HI = "hi"
    YO = "yo"

    def shout(self):
        return self.upper()


@program(
    "I12 I10",
    lambda: [(t(2), Flag.A, Number.TWO, Word.HI), (t(2), Flag.B, Number.TWO, Word.YO)],
)
def enum_flags_and_members(x, f, n, w):
    found = [f | Flag.B, Flag.A in (f | Flag.A), ~f, bool(f & Flag.B), Flag.AB.name, Flag(3), n + 1, n.double, n == 2]
    found += [
        Number(7),
        Number["TWO"],
        Word("yo"),
        w.shout(),
        w == "hi",
        f"{w.value}",
        [m.name for m in Number],
        w.name,
    ]
    found += [
        len(Flag),
        Number.__members__["ONE"],
        {n: 1}[n],
        isinstance(n, int),
        Flag.A < Flag.B if False else None,
        repr(f),
    ]
    return x * n + f.value, found

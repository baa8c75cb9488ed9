"""More of the standard library: templates, patterns, collections, namespaces, weak references, ABCs, typing."""

import abc
import collections
import math
import numbers
import re
import string
import types
import typing
import weakref

import torch

from tests.conformance.program import program, t

PATTERN = re.compile(r"(?P<key>\w+)=(?P<value>\d+)")


@program("I12")
def string_templates_and_formatters(x):
    made = string.Template("$who likes ${what} $$").substitute(who="a", what="b")
    safe = string.Template("$x $y").safe_substitute(x=1)
    try:
        string.Template("$z").substitute()
    except KeyError as error:
        missing = repr(error)
    return x + len(made), made, safe, missing, string.capwords("a b"), string.ascii_letters[:3], string.digits


@program("I12", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def patterns_on_constants(x):
    m = PATTERN.match("a=1;b=22")
    found = [m.group("key"), m.group(2), m.groups(), m.groupdict(), m.start(), m.end(2), m.span(), m[1], m.lastgroup]
    found += [PATTERN.findall("a=1;b=22"), [m.group() for m in PATTERN.finditer("a=1;b=22")], PATTERN.search("zz")]
    found += [re.sub(r"\d", lambda d: str(int(d.group()) + 1), "a1b2"), re.split(r"[;,]", "a;b,c"), re.escape("a.b")]
    found += [bool(re.fullmatch("a+", "aaa")), PATTERN.pattern, PATTERN.groups, re.subn("a", "b", "aa"), re.I | re.M]
    return x + int(m["value"]), found


@program("I12")
def math_functions(x):
    found = [math.sqrt(4), math.floor(1.5), math.ceil(1.5), math.gcd(12, 18), math.lcm(4, 6), math.comb(5, 2)]
    found += [math.factorial(5), math.isclose(0.1 + 0.2, 0.3), math.prod([1, 2, 3]), math.hypot(3, 4), math.log2(8)]
    found += [math.isnan(math.nan), math.inf > 1, math.copysign(1, -0.0), math.fsum([0.1] * 10), math.frexp(8.0)]
    found += [math.modf(1.25), math.trunc(-1.5), math.isqrt(10), math.perm(4, 2), math.dist([0, 0], [3, 4]), math.tau]
    return x * math.exp(0) + math.pi, found


class Settings(collections.UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __missing__(self, key):
        return f"no {key}"


class Items(collections.UserList):
    def total(self):
        return sum(self.data)


class Text(collections.UserString):
    pass


@program("I12", lambda: [(t(2), Settings(A=1), Items([1, 2]), Text("abc"))])
def user_containers_as_arguments(x, d, items, s):
    d["B"] = x + 1
    d.update(C=3)
    items.append(3)
    items += [4]
    return (
        d["b"] * d["a"] + items.total(),
        d["q"],
        sorted(d),
        len(items),
        items[1:],
        s.upper(),
        s + "d",
        "B" in d,
        d,
        items,
    )


@program("I12", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def user_containers_made(x):
    d, items = Settings({"K": 1}), Items(range(3))
    d |= {"L": 2}
    return x + d["k"] + items.total(), dict(d), list(reversed(items)), items == [0, 1, 2], d.pop("l"), d.get("zz", 4)


@program("I12", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def counters_and_chain_maps(x):
    c = collections.Counter("abca")
    d = c - collections.Counter("a")
    m = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})
    child = m.new_child({"c": 4})
    child["a"] = 9
    found = [
        c.most_common(1),
        c["zz"],
        d,
        c + d,
        c & d,
        c | d,
        list(c.elements()),
        c.total(),
        +c,
        sorted(child),
        child["a"],
    ]
    found += [m["a"], child.maps[0], list(child.parents), dict(m), len(child)]
    return x + c["a"] + child["b"], found


@program("I12")
def ordered_and_default_dicts(x):
    o = collections.OrderedDict(a=1, b=2, c=3)
    o.move_to_end("a")
    o.move_to_end("c", last=False)
    d = collections.defaultdict(lambda: [x])
    d["k"].append(1)
    found = [
        list(o),
        o.popitem(),
        o.popitem(last=False),
        o == {"b": 2, "a": 1},
        list(reversed(o)),
        len(d),
        "z" in d,
        d.get("z"),
    ]
    return d["k"][0] + 1, found, list(d), d.copy()["new"] is d["k"]


@program("I12 I10")
def named_tuple_functions(x):
    P = collections.namedtuple("P", "a b c", defaults=[3])
    p = P(1, x)
    q = P._make([4, 5, 6])
    return (
        p.b * p.c,
        p._replace(a=9).a,
        q._asdict(),
        P._fields,
        P._field_defaults,
        q == (4, 5, 6),
        repr(q),
        q[1:],
        P.a.__doc__,
    )


@program(
    "I12",
    lambda: [(t(2), types.SimpleNamespace(a=1, b=[2]))],
    then=lambda r: r[1],
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def simple_namespace_as_argument(x, ns):
    ns.c = x + ns.a
    ns.b.append(3)
    del ns.a
    other = types.SimpleNamespace(**vars(ns), d=4)
    return other.c * other.d, ns, other, ns == other, hasattr(ns, "a"), repr(types.SimpleNamespace(k=1))


class Node:
    def __init__(self, name):
        self.name = name
        self.parent = None


@program("I12", lambda: (lambda n: [(t(2), n, weakref.ref(n))])(Node("n")))
def weak_reference_as_argument(x, n, ref):
    child = Node("c")
    child.parent = weakref.ref(n)
    return x + len(ref().name), ref() is n, child.parent() is n, child.parent() is ref()


@program(
    "I12",
    lambda: (lambda n: [(t(2), n, weakref.WeakValueDictionary(k=n), weakref.WeakKeyDictionary({n: 1}))])(Node("n")),
)
def weak_dictionaries(x, n, values, keys):
    keys[n] += 1
    return x + keys[n], values["k"] is n, len(values), "z" in values


@program("I12", lambda: (lambda n: [(t(2), n, weakref.proxy(n))])(Node("n")))
def weak_proxy(x, n, p):
    p.name = "changed"
    return x + len(p.name), n.name


class Shape(abc.ABC):
    @property
    @abc.abstractmethod
    def area(self): ...

    @classmethod
    def __subclasshook__(cls, other):
        return True if hasattr(other, "area") else NotImplemented


class Square(Shape):
    def __init__(self, n):
        self.n = n

    @property
    def area(self):
        return self.n**2


class Duck:
    area = 5


class Registered:
    pass


numbers.Number.register(Registered)


@program(
    "I12 I10",
    lambda: [(t(2), Square(3), Duck())],
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def abstract_classes_and_hooks(x, s, d):
    try:
        Shape()
    except TypeError as error:
        text = str(error)
    found = [isinstance(s, Shape), isinstance(d, Shape), isinstance(3, Shape), issubclass(Duck, Shape), text]
    found += [
        isinstance(Registered(), numbers.Number),
        isinstance(2, numbers.Integral),
        isinstance([], collections.abc.Sequence),
    ]
    found += [
        isinstance({}, collections.abc.Mapping),
        isinstance(d, collections.abc.Hashable),
        issubclass(int, numbers.Real),
    ]
    return x + s.area + d.area, found


class HasArea(typing.Protocol):
    area: int


@typing.runtime_checkable
class Runs(typing.Protocol):
    def run(self): ...


class Runner:
    def run(self):
        return 2


class Movie(typing.TypedDict, total=False):
    name: str


class Point(typing.NamedTuple):
    a: int
    b: torch.Tensor

    def both(self):
        return self.b * self.a


T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    def __init__(self, v: T):
        self.v = v

    def __class_getitem__(cls, item):
        return super().__class_getitem__(item)


@program("I12 I10", lambda: [(t(2), Runner(), Point(2, t(2)))])
def typing_features(x, r, p):
    m = Movie(name="n")
    found = [
        isinstance(r, Runs),
        isinstance(p, Runs),
        m,
        typing.cast(int, "s"),
        Box[int](3).v,
        typing.get_origin(list[int]),
    ]
    found += [
        typing.get_args(dict[str, int]),
        typing.get_type_hints(Point)["a"],
        Box(4).v,
        typing.TYPE_CHECKING,
        list[int]([1]),
    ]
    found += [isinstance(3, int | str), typing.Optional[int] == typing.Union[int, None], typing.get_args(int | None)]
    return x * r.run() + p.both(), found, p._replace(a=5).a


@program("I12", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def deque_and_heap_and_bisect(x):
    import bisect
    import heapq

    d = collections.deque([1, 2, 3], maxlen=3)
    d.append(4)
    d.appendleft(0)
    d.rotate(1)
    heap = [5, 1, 4]
    heapq.heapify(heap)
    heapq.heappush(heap, 0)
    found = [list(d), d.index(2), heapq.heappop(heap), heapq.nsmallest(2, heap), bisect.bisect([1, 3, 5], 3)]
    items = [1, 3]
    bisect.insort(items, 2)
    return x + d[0], found, items, list(heapq.merge([1, 4], [2]))


class Fields:
    a: int = 1

    def __init__(self):
        self.b = 2

    def go(self):
        return 3

    @property
    def p(self):
        return 4


@program("I12 I10", lambda: [(t(2), Fields())])
def dir_vars_and_getattr(x, f):
    f.c = x
    names = [n for n in dir(f) if not n.startswith("_")]
    found = [names, sorted(vars(f)), getattr(f, "zz", 7), hasattr(f, "p"), callable(f.go), Fields.__annotations__]
    for name in ("a", "b"):
        setattr(f, name, getattr(f, name) * 10)
    delattr(f, "b")
    return (
        x + f.a + f.p,
        found,
        vars(f).keys() == {"c", "a"},
        type(f).__name__,
        f.__class__ is Fields,
        f.__module__ == __name__,
    )


class Holder:
    def __init__(self, *kept):
        self.kept = list(kept)
        self.other = None


def holders():
    return [(t(2), Holder(Node("a"))) for _ in range(3)]


@program(
    "I12 O5",
    holders,
    differs="stricter",
    why="a frame that breaks and can see when objects go is left to Python, where they go when it drops them",
)
def weak_reference_asked_after_its_object_went(x, holder):
    ref = weakref.ref(holder.kept[0])
    there = ref() is not None
    y = x * 2
    holder.kept.pop()
    gone = ref() is None
    return y + there, gone


@program(
    "I12 O5",
    holders,
    differs="stricter",
    why="a frame that breaks and can see when objects go is left to Python, where they go when it drops them",
)
def weak_reference_asked_after_another_took_the_place(x, holder):
    ref = weakref.ref(holder.kept[0])
    holder.kept[0] = holder
    return (x * 2, ref()) if ref() is None else x * 3


@program(
    "I12 O5",
    holders,
    differs="stricter",
    why="a frame that breaks and can see when objects go is left to Python, where they go when it drops them",
)
def length_of_weak_keys_after_one_went(x, holder):
    keys = weakref.WeakKeyDictionary()
    keys[holder.kept[0]] = 2
    before = len(keys)
    holder.kept.clear()
    return x * before + len(keys), list(keys.items())


KEPT = weakref.WeakValueDictionary()


@program(
    "I12 O5",
    lambda: [(t(2), weakref.WeakValueDictionary()) for _ in range(2)],
    differs="torch_differs",
    why="torch holds what the program dropped until the function returns",
)
def weak_value_of_an_object_made_here(x, values):
    node = Node("a")
    values["a"] = node
    KEPT["a"] = node
    before = len(values), len(KEPT)
    del node
    return x + 1, before, len(values), len(KEPT), KEPT.get("a")

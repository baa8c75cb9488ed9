"""Arguments and keys whose classes inherit from builtin values and containers."""

import collections

from tests.conformance.program import program, t


class Name(str):
    def shout(self):
        return self.upper() + "!"


class Tagged(str):
    def __new__(cls, value, tag):
        made = super().__new__(cls, value)
        made.tag = tag
        return made

    def __eq__(self, other):
        return str(self).lower() == str(other).lower()

    def __hash__(self):
        return hash(str(self).lower())


class Count(int):
    def next(self):
        return Count(self + 1)

    def __add__(self, other):
        return Count(int(self) + other)


class Metres(float):
    unit = "m"

    def __repr__(self):
        return f"{float(self)}{self.unit}"


class Blob(bytes):
    def size(self):
        return len(self)


class Wave(complex):
    def power(self):
        return abs(self) ** 2


class Group(frozenset):
    def first(self):
        return min(self)


class Bag(set):
    def add_all(self, *items):
        self.update(items)
        return self


class Stack(list):
    limit = 3

    def push(self, item):
        if len(self) >= self.limit:
            raise OverflowError("full")
        self.append(item)
        return self

    def __contains__(self, item):
        return item == "magic" or super().__contains__(item)


class Pair(tuple):
    @property
    def first(self):
        return self[0]

    def __add__(self, other):
        return Pair(a + b for a, b in zip(self, other))


class Lower(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __missing__(self, key):
        return f"no {key}"


@program("I11 I10", lambda: [(t(2), Name("bob")), (t(2), Name("eve")), (t(2), Name("bob"))])
def str_subclass_as_argument(x, name):
    return (
        x + len(name),
        name.shout(),
        name + "!",
        name == "bob",
        type(name).__name__,
        name,
        f"{name:>5}",
        {name: 1}["bob" if name == "bob" else "eve"],
    )


@program("I11 I10", lambda: [(t(2), Tagged("Bob", 3)), (t(2), Tagged("Bob", 4))])
def str_subclass_with_state_as_argument(x, name):
    return x * name.tag, name == "BOB", {"bob": 5}.get(name), {name: 6}[Tagged("BOB", 0)], name.lower(), name


@program("I11 I10", lambda: [(t(2), Count(3)), (t(2), Count(4))])
def int_subclass_as_argument(x, n):
    m = n.next()
    return (
        x * n,
        x + m,
        type(m).__name__,
        type(n - 1).__name__,
        n == 3,
        [1, 2, 3, 4, 5, 6][n],
        range(n),
        n.bit_length(),
        hash(n),
    )


@program(
    "I11 I10",
    lambda: [(t(2), Metres(1.5)), (t(2), Metres(2.5))],
    differs="fewer_breaks",
    why="torch.compile makes plain numbers of it and breaks",
)
def float_subclass_as_argument(x, length):
    return (
        x * length,
        repr(length),
        str(length),
        length.is_integer(),
        type(length * 2).__name__,
        length.unit,
        round(length),
    )


@program("I11 I10", lambda: [(t(2), Blob(b"ab"), Wave(1 + 1j))])
def bytes_and_complex_subclasses_as_arguments(x, b, w):
    return x + b.size(), b.upper(), type(b[:1]).__name__, w.power(), w.real, w + 1


@program(
    "I11 I10",
    lambda: [(t(2), Group({3, 1}), Bag({1}))],
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def set_subclasses_as_arguments(x, g, b):
    b.add_all(5, 6)
    return x + g.first(), len(b), 5 in b, sorted(g | {9}), type(g | {9}).__name__, type(b - {1}).__name__, b


@program("I11 I10 O7", lambda: [(t(2), Stack([1, 2])), (t(2), Stack([1]))])
def list_subclass_as_argument(x, s):
    s.push(7)
    try:
        s.push(8).push(9)
    except OverflowError as error:
        text = str(error)
    s.note = x + 1
    return x + sum(s), "magic" in s, 7 in s, text, s, type(s + [1]).__name__, s.note, s[-1], s[:2]


@program("I11 I10", lambda: [(t(2), Pair((t(2, start=1), 2)))])
def tuple_subclass_as_argument(x, p):
    q = p + (x, 3)
    a, b = q
    return a * b, p.first, type(q).__name__, p[1], len(p), p == p, type(p[:1]).__name__


@program("I11 I10 O7", lambda: [(t(2), Lower(a=1))])
def dict_subclass_as_argument(x, d):
    d["B"] = x + 1
    d.update(C=5)
    d.extra = "e"
    return d["b"] * d["a"], d["zz"], d.get("zz"), "B" in d, list(d), d, d.extra, d.setdefault("q", 1)


@program("I11 I10", lambda: [(t(2), {Count(1): "a", Name("k"): "b"})])
def subclass_instances_as_keys(x, d):
    return x + len(d), d[1], d["k"], d[Count(1)], [type(k).__name__ for k in d]


@program("I11 I10", lambda: [(t(2), {Count(1), Count(2)}, {(1, Name("a")): 2})])
def subclass_instances_in_sets_and_tuple_keys(x, s, d):
    return x + len(s), 1 in s, Count(3) in s, d[1, "a"]


@program("I11 I10", differs="torch_differs", why="torch.compile gives another result here")
def subclass_instances_made_and_returned(x):
    made = [
        Name("n"),
        Count(1),
        Metres(2),
        Blob(b"b"),
        Wave(1j),
        Group([1]),
        Bag([2]),
        Stack([3]),
        Pair([4]),
        Lower(k=5),
    ]
    made[7].push(x + 1)
    made[0].extra = 1
    return x * made[1], made, [type(m).__name__ for m in made]


class Ordered(collections.OrderedDict):
    def last(self):
        return next(reversed(self))


class Tally(collections.Counter):
    def top(self):
        return self.most_common(1)[0][0]


class Auto(collections.defaultdict):
    def __init__(self):
        super().__init__(list)


class Ring(collections.deque):
    def turn(self):
        self.rotate(1)
        return self[0]


@program(
    "I11 I10 O7",
    lambda: [(t(2), Ordered(a=1, b=2), Tally("aab"), Auto(), Ring([1, 2, 3], 3))],
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def collections_subclasses_as_arguments(x, o, c, a, r):
    o.move_to_end("a")
    c.update("bbb")
    a["k"].append(x + 1)
    r.append(4)
    return x + r.turn(), o.last(), c.top(), a["k"][0] * 2, list(r), o, c, a, r


class Shouted(str):
    __str__ = str.upper


class Named(str):
    def __str__(self):
        return "name"


class Roman(int):
    def __repr__(self):
        return "III"


class Half(float):
    def __str__(self):
        return "half"


@program(
    "I11 F3",
    lambda: [(t(2), Shouted("ab"), Named("ab"), Roman(3), Half(0.5))] * 2,
    differs="torch_differs",
    why="torch formats what subclasses inherit",
)
def texts_of_subclasses(x, *values):
    made = [(f"{v}", format(v), "{}".format(v), "%s" % v, str(v), f"{v!s}{v!r}", f"{v:>6}") for v in values]
    return x + 1, made, f"{Named('z')}", "%s and %s" % (values[1], values[2])

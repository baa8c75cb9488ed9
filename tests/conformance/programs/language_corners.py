"""Corners of the language: match with classes, walrus, stars, formats, del, chained comparisons."""

from tests.conformance.program import program, t

level = 3


class Point:
    __match_args__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Child(Point):
    pass


def matched(value):
    match value:
        case Point(0, b):
            return f"zero {b}"
        case Child(a, b=2):
            return f"child {a}"
        case Point(a=int() as a, b=str(b)) if a > 5:
            return f"big {a}{b}"
        case Point():
            return "point"
        case {"k": [first, *rest], **others}:
            return first, rest, others
        case [1, 2 | 3 as n, _]:
            return n
        case (str() | bytes()) as s:
            return s
        case [*_, None]:
            return "ends in none"
        case bool(b):
            return f"bool {b}"
        case float(f) | int(f):
            return f * 2
        case _:
            return "nothing"


@program("I3 I10", lambda: [(t(2), Child(5, 2)), (t(2), Point(6, "s"))])
def match_class_patterns(x, p):
    values = [p, Point(0, 1), {"k": [1, 2, 3], "z": 4}, [1, 3, 0], "s", b"b", [1, None], True, 2.5, None, Point(1, 1)]
    return x + 1, [matched(v) for v in values]


@program("I3 I5", differs="torch_differs", why="its messages are its own")
def match_class_pattern_errors(x):
    class Bad:
        __match_args__ = ["a"]

    found = []
    for make in (Bad, lambda: 3):
        try:
            match make():
                case Bad(1):
                    found.append("bad")
                case int(1, 2):
                    found.append("int")
        except TypeError as error:
            found.append(str(error))
    return x + len(found), found


@program("I3 I7")
def walrus_everywhere(x):
    found = []
    while (n := len(found)) < 3:
        found.append(n)
    last = [y := i, y**2][1] if (i := found[-1]) else 0
    kept = [z for i in range(4) if (z := i * 2) > 2]
    return x + n + last, kept, z, (w := 5) + w, any((hit := v) > 1 for v in found), hit


@program("I3 I9")
def stars_everywhere(x):
    a, *b, c = range(5)
    (d, *e), f = [(1, 2, 3), 4]
    g = [*b, *{"k": 1}, *"xy"]
    h = {**{"a": 1}, "b": 2, **{"a": 3}}
    s = {*b, *e}

    def take(*args, **kwargs):
        return args, kwargs

    for i, *j in [(1, 2, 3), (4,)]:
        b.append((i, j))
    return x + a + c, b, d, e, f, g, h, sorted(s, key=str), take(*b, *e, k=1, **h), (*e, 9)


class Formatted:
    def __format__(self, spec):
        return f"<{spec}>"

    def __repr__(self):
        return "R()"

    def __str__(self):
        return "S"


@program("I11", differs="torch_differs", why="format() ignores its second argument")
def f_strings_of_all_kinds(x):
    n, v, s, o, width = 42, 3.14159, "text", Formatted(), 8
    found = [
        f"{n=}",
        f"{n = :>5}",
        f"{s!r}",
        f"{o}",
        f"{o!r}",
        f"{o!s:>3}",
        f"{o:abc}",
        f"{o=}",
        f"{v:.2f}",
        f"{v:{width}.{n % 5}f}",
    ]
    found += [
        f"{n:b} {n:#x} {n:o} {n:e} {n:,} {n:+} {n:08} {n:<6}|{n:^6}|{n:%}",
        f"{s:*^10}",
        f"{s:.2}",
        f"{True:d}",
        f"{None}",
    ]
    found += [
        f"{[1, 'a']}",
        f"{ {'k': 1}['k'] }",
        f"{{{n}}}",
        f"{'nested ' + f'{n}'}",
        f"{n!a}",
        f"{1 + 2j:.1f}",
        f"{10**9:_}",
    ]
    found += [
        "%s %r %5d %-5s| %05.1f %x %%" % (s, s, n, s, v, n),
        "{0} {1!r} {k:>4} {0}".format(n, s, k=1),
        "{a.b}".format(a=type("A", (), {"b": 2})),
    ]
    found += [
        format(n, "08b"),
        format(o, "q"),
        "%(a)s" % {"a": o},
        "{:{}}".format(n, 5),
        str(o),
        "{!s}".format(o),
        "{[0]}".format([7]),
    ]
    return x + len(found), found


@program("I13 I7", differs="fewer_breaks", why="torch leaves the function to Python")
def del_of_all_kinds(x):
    a, b, items, d, p = 1, 2, [1, 2, 3, 4], {"a": 1, "b": 2}, Point(1, 2)
    del a, (b)
    del items[0], items[-1:], d["a"], p.a
    found = [items, d, hasattr(p, "a")]
    for run in (lambda: a, lambda: p.a, lambda: d["a"]):
        try:
            run()
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    a = 5
    return x + a, found


def outer_counter():
    count = 0

    def add():
        nonlocal count
        global level
        count += 1
        level += count
        return count

    return add, lambda: count


@program("I13 I7", lambda: [(t(2),), (t(2),)], then=lambda r: level)
def global_and_nonlocal_together(x):
    add, look = outer_counter()
    add()
    add()
    return x + look() + level


@program("I2")
def chained_comparisons(x):
    calls = []

    def note(v):
        calls.append(v)
        return v

    found = [
        note(1) < note(2) < note(3),
        note(3) < note(2) < note(9),
        1 < 2 == 2 != 3 in [3],
        1 < 3 > (x is not None),
    ]
    return x + len(calls), calls, found


@program("I7 I9", differs="torch_differs", why="it fails on the defaults of a lambda")
def lambda_defaults_and_late_binding(x):
    late = [lambda: i for i in range(3)]
    early = [lambda i=i, *, k=i * 2: i + k for i in range(3)]
    default = []

    def grow(item, to=default):
        to.append(item)
        return to

    grow(1)
    return x + sum(f() for f in early), [f() for f in late], grow(2) is default, default, early[1].__defaults__

"""Instructions of CPython 3.11 in uses that other files do not have."""

from tests.conformance.program import program, t


@program("I1 I3", lambda: [(t(2), None), (t(2), 1)])
def jumps_on_none(x, v):
    n = 0
    w = v
    while w is None:
        n += 1
        w = n if n == 2 else None
    while w is not None:
        w = None
        n += 1
    return x + n, v is None, 1 if v is not None else 2


@program("I1 I3")
def jump_if_or_pop(x):
    a = 0
    for v in (0, "", [], 5, 6):
        a = a or v
    b = 1 and 2 and 0 and 3
    return x + a, b, not (a and b)


@program("I1")
def rotations_of_the_stack(x):
    a, b, c, d = 1, 2, 3, 4
    a, b = b, a
    a, b, c = c, b, a
    a, b, c, d = d, c, b, a
    return x, a, b, c, d


@program("I1")
def unpack_ex_before_and_after(x):
    a, *b, c = range(5)
    *d, e = [x]
    f, *g = "z"
    (h, *i), *j = (1, 2, 3), 4, 5
    return x + a + c, b, d, e, f, g, h, i, j


@program("I1")
def slices_with_steps(x):
    a = list(range(10))
    a[1:8:3] = [0, 0, 0]
    del a[::4]
    return x[:, ::2] + 1, a, a[-1:-5:-2], x[..., 1:]


@program("I1")
def formats_of_every_kind(x):
    v, w = "é", 8
    return x + 1, f"{v}", f"{v!s}", f"{v!r}", f"{v!a}", f"{v:>{w}}", f"{v!r:<{w}}|", f"{w:>+{w}.1f}", f"{{{w}}}"


@program("I1")
def merges_of_dicts_and_sets(x):
    a, b = {"k": 1}, [1, 2]

    def f(*args, **kwargs):
        return args, kwargs

    return (
        x + 1,
        {**a, "z": 0, **{"k": 5}},
        {*b, 3, *b},
        [0, *b, *b],
        (*b, 9),
        f(*b, *b, **a, **{"m": 1}),
        f(0, *b, y=2),
    )


@program("I1 I5", differs="fewer_breaks", why="torch does not raise the TypeError itself")
def merge_of_dicts_with_one_key_twice(x):
    def f(**kwargs):
        return kwargs

    try:
        f(**{"k": 1}, **{"k": 2})
    except TypeError as error:
        return x + 1, str(error).split(".")[-1]


@program("I1 I5", differs="torch_differs", why="fails inside")
def merge_of_what_is_no_mapping(x):
    messages = []
    for action in (lambda: {**5}, lambda: [*5], lambda: dict(**{1: 2}), lambda: (lambda *a: a)(*5)):
        try:
            action()
        except TypeError as error:
            messages.append(str(error).split(")")[-1])
    return x + 1, messages


@program("I1 I7")
def cells_of_every_kind(x):
    a = 1

    def outer(b, c=2):
        d = a + b

        def inner():
            nonlocal d
            d += c
            return d, a, b

        class Local:
            value = d
            a = "shadowed"
            copy = a

        return inner(), inner(), Local.value, Local.copy, [d for _ in range(2)]

    out = outer(10)
    a = 100
    return x + 1, out, outer(0)


@program("I1 I7")
def arguments_that_are_cells(x):
    def f(a, *args, k=1, **kw):
        g = lambda: (a, args, k, kw)
        a = a + 1
        return g()

    return f(x), f(1, 2, k=3, z=4)


@program("I1")
def many_locals_and_constants(x):
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 = range(10)
    b0, b1, b2, b3, b4, b5, b6, b7, b8, b9 = range(100, 110)
    total = a0 + a1 * a2 - a3 + a4 // 1 + a5 % 3 + a6 - a7 + a8 ^ a9
    total += b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9 + 1000 + 1001 + 1002 + 1003
    return x + total, [a9, b9, 1.5, "s", b"b", None, True, ..., 2j]


@program("I1")
def long_jump(x):
    n = 0
    for i in range(3):
        if i == 1:
            n += 1
            n += 2
            n += 3
            n += 4
            n += 5
            n += 6
            n += 7
            n += 8
            n += 9
            n += 10
            n += 11
            n += 12
            n += 13
            n += 14
            n += 15
            n += 16
            n += 17
            n += 18
            n += 19
            n += 20
            n += 21
            n += 22
            n += 23
            n += 24
            n += 25
            n += 26
            n += 27
            n += 28
            n += 29
            n += 30
        else:
            x = x + i
    return x + n


@program("I1")
def keyword_calls_of_methods_and_builtins(x):
    return (
        sorted([2, 1], reverse=True),
        "a,b".split(sep=",", maxsplit=1),
        x.sum(dim=0, keepdim=True),
        int("12", base=3),
        dict(a=1).get("a"),
        "{a}".format(a=2),
        x.size(dim=1),
    )


@program("I1 I9")
def calls_of_what_an_attribute_holds(x):
    class Box:
        def __init__(self):
            self.f = lambda v: v + 1

        def m(self, v):
            return v * 2

        s = staticmethod(lambda v: v - 1)

    box = Box()
    m = box.m
    return box.f(x), box.m(x), m(x), box.s(x), Box.m(box, x), Box.s(x)


@program("I1 I3")
def match_with_every_pattern(x):
    from dataclasses import dataclass

    @dataclass
    class P:
        a: int
        b: object = None

    out = []
    for v in (0, -1, 1.5, "s", b"b", None, True, [], [1], (1, 2, 3), {}, {"k": 1, "z": 2}, P(1, [2]), {1, 2}):
        match v:
            case None | True:
                out.append("constant")
            case 0 | -1:
                out.append("number")
            case float() | str() as w:
                out.append(w)
            case []:
                out.append("empty")
            case [w]:
                out.append(w)
            case [1, *rest]:
                out.append(rest)
            case {"k": w, **rest}:
                out.append((w, rest))
            case {}:
                out.append("mapping")
            case P(a=w, b=[z]):
                out.append((w, z))
            case _:
                out.append("other")
    return x + len(out), out

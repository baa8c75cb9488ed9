"""Objects whose `__dict__` is set to another dict, which they share from then on with whoever holds it."""

from tests.conformance.program import program, t


class Plain:
    kind = "plain"

    def __init__(self):
        self.a = 1
        self.b = 2


class Borg:
    state = {"count": 0}

    def __init__(self):
        self.__dict__ = self.state
        self.count += 1


class Slotted:
    __slots__ = ("__dict__", "fixed")

    def __init__(self):
        self.fixed = 1
        self.free = 2


@program("O7 I10", lambda: [(t(2), Plain())], differs="torch_differs", why="torch.compile keeps the first dict")
def dict_made_here(x, p):
    d = {"z": x + 1, "a": 5}
    p.__dict__ = d
    d["late"] = 3
    p.more = p.late + 1
    del p.z
    return x * p.a, p.__dict__ is d, vars(p), p, hasattr(p, "b"), p.kind, d


@program(
    "O7 I10", lambda: [(t(2), Plain(), {"k": 1})], differs="fewer_breaks", why="torch.compile leaves it to Python"
)
def dict_given(x, p, d):
    p.__dict__ = d
    p.k += 4
    d["n"] = x
    return x + p.k, p.n, p, d, p.__dict__ is d


@program(
    "O7 I10", lambda: [(t(2), Plain(), Plain())], differs="torch_differs", why="torch.compile keeps the first dict"
)
def one_dict_for_two(x, p, q):
    p.__dict__ = shared = {"n": 1}
    q.__dict__ = shared
    q.n = x + 1
    return p.n * 2, p, q


@program("O7 I10", lambda: [(t(2),), (t(2),)], differs="fewer_breaks", why="torch.compile leaves it to Python")
def borgs(x):
    a, b = Borg(), Borg()
    a.name = "one"
    return x + b.count, b.name, a, Borg.state


@program("O7 I10", lambda: [(t(2), Slotted())])
def slots_stay(x, s):
    s.fixed = 7
    s.__dict__ = {"free": 9}
    s.fixed += 1
    return x + s.fixed + s.free, s, s.fixed


@program("O7 I10", lambda: [(t(2),)], differs="torch_differs", why="torch.compile keeps the first dict")
def of_a_new_object(x):
    p = Plain()
    p.c = 3
    p.__dict__ = {"n": x * 2}
    q = Plain()
    q.__dict__ = dict(vars(p), m=1)
    return p.n + q.m, p, q, hasattr(p, "c")


@program("O7 I10", lambda: [(t(2), Plain())], differs="torch_differs", why="torch.compile keeps the first dict")
def old_dict_is_held(x, p):
    old = p.__dict__
    p.__dict__ = {"n": 1}
    old["a"] = 8
    return x + p.n, old, p


@program("O7 I10", lambda: (lambda p: [(t(2), p, {"held": p.__dict__})])(Plain()))
def written_before(x, p, holder):
    p.a = x + 1
    p.new = 5
    p.__dict__ = {"n": 1}
    return x + p.n, p


@program(
    "O7 I10 I9", lambda: [(t(2), Plain())], differs="torch_differs", why="torch.compile lets the second error through"
)
def what_is_refused(x, p):
    found = []
    for wrong in (3, [("a", 1)]):
        try:
            p.__dict__ = wrong
        except TypeError as error:
            found.append(str(error))
    try:
        p.missing
    except AttributeError as error:
        found.append(str(error))
    return x + p.a, found


@program("O7 I10", lambda: [(t(2), Plain()), (t(2), Plain())])
def by_setattr_and_twice(x, p):
    setattr(p, "__dict__", {"n": 1})
    p.__dict__ = {"n": p.n + 1}
    object.__setattr__(p, "__dict__", {"n": p.n + 1, "m": x})
    return x * p.n, p

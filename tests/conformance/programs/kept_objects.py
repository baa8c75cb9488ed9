"""State kept in objects and classes from call to call: their dicts, slots, names and classes."""

import collections

from tests.conformance.program import program, t


class Counted:
    count = 0
    log = []

    def __init__(self):
        type(self).count += 1
        self.number = Counted.count


def helper(x):
    helper.calls += 1
    return x + helper.calls


class Plain:
    def __init__(self):
        self.a = 1
        self.b = 2


@program(
    "O7 I10",
    lambda: [(t(2), Plain())],
    then=lambda r: r,
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def instance_dict_written(x, p):
    d = p.__dict__
    d["c"] = x + 1
    p.__dict__["a"] += 1
    d.update(e=5, f=6)
    del d["b"]
    popped = d.pop("e")
    d.setdefault("g", []).append(1)
    return p.c * p.a, popped, hasattr(p, "b"), list(d), p.f, p.g, p


@program("O7 I10", lambda: [(t(2), Plain())], then=lambda r: r)
def instance_dict_replaced(x, p):
    p.__dict__ = {"z": x + 1}
    return p.z * 2, hasattr(p, "a"), p


@program(
    "O7 I10",
    lambda: [(t(2), Plain())],
    then=lambda r: r,
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def instance_dict_cleared(x, p):
    q = Plain()
    q.__dict__.update(p.__dict__, k=x * 2)
    p.__dict__.clear()
    return q.k + q.a, vars(p), vars(q), p


@program("O7 I10", lambda: [(t(2), Plain())], then=lambda r: type(r[1]).__name__)
def class_of_an_instance_changed(x, p):
    p.__class__ = Counted
    return x + p.a, p


class Borg:
    shared = {}

    def __init__(self):
        self.__dict__ = self.shared


@program(
    "O7 I10",
    lambda: [(t(2),), (t(2),)],
    then=lambda r: Borg.shared,
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def borg(x):
    a, b = Borg(), Borg()
    a.n = getattr(b, "n", 0) + 1
    return x + b.n


class Slotted:
    __slots__ = ("a", "b")


class SlottedChild(Slotted):
    __slots__ = ("c",)


@program("O7 I10", lambda: [(t(2), SlottedChild())], then=lambda r: [hasattr(r[1], n) for n in "abc"])
def slots_with_inheritance(x, s):
    s.a = x + 1
    s.c = 2
    try:
        s.d = 1
    except AttributeError as error:
        text = str(error)
    try:
        s.b
    except AttributeError as error:
        missing = str(error)
    made = SlottedChild()
    made.b = s.c
    del s.c
    return s.a * made.b, s, text, missing, SlottedChild.__slots__


@program(
    "O7",
    lambda: [(t(2), [1]), (t(2), [2])],
    then=lambda r: (Counted.log, helper.trace),
    differs="fewer_breaks",
    why="torch.compile compiles anew for another list",
)
def order_of_writes_to_many_things(x, items):
    Counted.log = items
    items.append(len(items))
    helper.trace = Counted.log
    helper.trace.append("h")
    return x + len(Counted.log), Counted.log is items


class Meta(type):
    total = 0

    def __setattr__(cls, name, value):
        super().__setattr__(name, value)
        super().__setattr__("writes", getattr(cls, "writes", 0) + 1)


class WithMeta(metaclass=Meta):
    pass


@program(
    "O7 I10",
    lambda: [(t(2),), (t(2),)],
    then=lambda r: (WithMeta.writes, WithMeta.a),
    differs="fewer_breaks",
    why="torch.compile leaves more of it to Python",
)
def metaclass_with_setattr(x):
    WithMeta.a = 3
    WithMeta.a += 1
    return x * WithMeta.a + WithMeta.writes


@program("O7 I10", lambda: [(t(2),), (t(2),)], then=lambda r: Counted.__annotations__)
def annotations_written(x):
    Counted.__annotations__ = {"a": int}
    return x + 1, Counted.__annotations__


@program("O7 I10", then=lambda r: Counted.__doc__)
def name_and_doc_of_a_class(x):
    Counted.__doc__ = "new"
    Counted.__name__ = "Other"
    return x + 1, Counted.__name__, Counted.__doc__


Thing = collections.namedtuple("Thing", "a b")


@program("O7 I10", differs="torch_differs", why="torch.compile gives another result here")
def attribute_of_a_named_tuple_refused(x):
    thing = Thing(1, x)
    try:
        thing.a = 2
    except AttributeError as error:
        return x + thing.a, str(error)


@program("O7 I10")
def attributes_of_builtins_refused(x):
    found = []
    for target in (int, 5, "s", [], {}, None, len, object(), 1.5, (1,)):
        try:
            target.new = 1
        except (AttributeError, TypeError) as error:
            found.append((type(error).__name__, str(error)))
    return x + len(found), found

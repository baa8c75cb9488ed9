"""`class` statements whose bases, metaclasses, descriptors or decorators have code that runs."""

import types

import torch

from tests.conformance.program import program, t


class Registry:
    found: dict = {}

    def __init_subclass__(cls, /, name=None, **kwargs):
        super().__init_subclass__(**kwargs)
        Registry.found[name or cls.__name__.lower()] = cls
        cls.registered = name


@program("I10 O7")
def init_subclass_registers(x):
    y = x + 1

    class Twice(Registry, name="two"):
        def run(self, v):
            return v * 2

    class Thrice(Registry):
        def run(self, v):
            return v * 3

    return Registry.found["two"]().run(y), sorted(Registry.found), Thrice.registered, Twice.registered


@program("I10")
def init_subclass_of_a_local_base(x):
    class Base:
        made = []

        def __init_subclass__(cls, factor=1):
            cls.factor = factor
            Base.made.append(cls.__name__)

    class Child(Base, factor=4):
        def run(self, v):
            return v * self.factor

    return Child().run(x + 1), Base.made, hasattr(Base, "factor")


class Field:
    def __set_name__(self, owner, name):
        self.name = name
        owner.fields = [*getattr(owner, "fields", []), name]

    def __get__(self, obj, owner=None):
        return self if obj is None else obj.__dict__[self.name]

    def __set__(self, obj, value):
        obj.__dict__[self.name] = value * 2


@program("I10 O7", differs="torch_differs", why="torch.compile loses what a descriptor puts into __dict__")
def set_name_writes_to_the_owner(x):
    y = x + 1

    class Owner:
        a = Field()
        b = Field()

        def run(self, v):
            return v * self.a + self.b

    o = Owner()
    o.a, o.b = 2, 3
    return o.run(y), Owner.fields, o.__dict__


class Counting(type):
    made = 0

    def __new__(mcs, name, bases, namespace, **kwargs):
        mcs.made += 1
        return super().__new__(mcs, name, bases, {**namespace, "number": mcs.made, **kwargs})

    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace)
        cls.lower = name.lower()

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.by = cls.lower
        return made

    @property
    def twice(cls):
        return cls.number * 2


@program("I10 O7", lambda: [t(2), t(2)])
def metaclass_with_everything(x):
    y = x + 1

    class First(metaclass=Counting, extra=5):
        def run(self, v):
            return v * self.number

    class Second(First, extra=6):
        pass

    s = Second()
    return s.run(y), s.by, First.twice, Second.extra, Counting.made, type(Second).__name__


class Ordered(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return {"prepared": name}

    def __len__(cls):
        return 3


@program("I10")
def metaclass_with_prepare(x):
    y = x + 1

    class Made(metaclass=Ordered):
        own = prepared + "!"  # noqa: F821

    return y * len(Made), Made.own, Made.prepared


@program("I10 I7 F4", lambda: [(t(2), 2), (t(2), 5)], then=lambda made: [made[1](t(2)), made[0]().run(t(2))])
def returned_class_closes_over_the_call(x, k):
    y = x * k

    class Made:
        def run(self, v):
            return v + k

    def outer(v):
        return Made().run(v) + y

    return Made, outer


@program("I10 O7", lambda: [([], t(2)), ([], t(2))], then=lambda made: made)
def class_is_kept_in_an_argument(kept, x):
    y = x + 1

    class Kept:
        level = len(kept)

        def run(self, v):
            return v + self.level

    kept.append(Kept)
    return Kept().run(y), [c.__name__ for c in kept]


@program("I10 I8", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def class_made_in_a_generator_and_a_comprehension(x):
    def makers():
        for i in range(2):

            class Step:
                n = i

                def run(self, v):
                    return v + self.n

            yield Step

    y = x * 2
    made = [c() for c in makers()]
    for each in made:
        y = each.run(y)
    return y, [m.n for m in made]


@program("I10 I7")
def nested_class_statements(x):
    class Outer:
        factor = 3

        class Inner:
            def run(self, v):
                return v * Outer.factor

        def go(self, v):
            return self.Inner().run(v)

    return Outer().go(x + 1), Outer.Inner.__qualname__.rpartition("<locals>.")[2]


def rename(name):
    def decorate(cls):
        cls.label = name
        return cls

    return decorate


@program("I10")
def class_decorators_and_attributes_set_later(x):
    @rename("first")
    class Made:
        def run(self, v):
            return v + self.shift

    Made.shift = 4
    made = Made()
    made.own = 1
    return made.run(x), Made.label, made.own, "shift" in Made.__dict__, made.__dict__


@program("I10 I2")
def subclass_of_builtins_in_the_function(x):
    y = x + 1

    class Stack(list):
        def push(self, v):
            self.append(v)
            return self

    class Default(dict):
        def __missing__(self, key):
            return key * 2

    class Meters(float):
        def __add__(self, other):
            return Meters(float(self) + float(other))

    s = Stack().push(1).push(2)
    return y * len(s), s, Default()[4], Meters(1.5) + 2, type(Meters(1) + 1).__name__


@program("I10 I5", differs="torch_differs", why="torch.compile does not ask an exception's own __str__")
def error_hierarchy_in_the_function(x):
    class Base(Exception):
        pass

    class Special(Base, ValueError):
        def __str__(self):
            return "special"

    try:
        raise Special(1)
    except Base as error:
        y = x + 1
        return y, str(error), error.args, isinstance(error, ValueError)


@program("I10 F4 O6")
def break_after_a_class_statement(x):
    class Made:
        def __init__(self, v):
            self.v = v

        def run(self):
            return self.v * 2

    made = Made(x + 1)
    torch._dynamo.graph_break()
    return made.run() + 1


class WithSlot:
    __slots__ = ("a",)


class WithoutSlots:
    pass


@program(
    "I10 I5",
    lambda: [(t(2), WithSlot(), WithoutSlots())],
    differs="torch_differs",
    why="torch.compile deletes an empty slot",
)
def deleting_what_is_not_there(x, slotted, plain):
    said = []
    for obj, name in ((slotted, "a"), (slotted, "b"), (plain, "a")):
        try:
            delattr(obj, name)
        except AttributeError as error:
            said.append(str(error))
    return x + 1, said


@program("I11 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def read_only_dicts(x):
    held = {"a": 1, "b": 2}
    proxy = types.MappingProxyType(held)
    held["c"] = 3
    said = []
    for act in (lambda: proxy["missing"], lambda: proxy.__setitem__("a", 2), lambda: proxy["a":"b"]):
        try:
            act()
        except Exception as error:
            said.append((type(error).__name__, str(error)))
    asked = [len(proxy), "b" in proxy, proxy.get("c"), proxy.get("z", 5), *proxy, *proxy.values(), *reversed(proxy)]
    return (
        x + proxy["a"],
        asked,
        list(proxy.items()),
        proxy | {"z": 1},
        proxy == {"a": 1},
        proxy.copy(),
        {**proxy},
        said,
    )


@program("I10 I11", differs="torch_differs", why="torch.compile loses the attribute that is set later")
def namespace_of_a_class_made(x):
    class Made:
        """Text."""

        n = 2

        def run(self, v):
            return v * self.n

    y = Made().run(x)
    Made.later = 3
    names = sorted(name for name in Made.__dict__ if not name.startswith("__"))
    return (
        y,
        names,
        Made.__dict__["n"],
        "gone" in vars(Made),
        Made.__dict__["__doc__"],
        callable(Made.__dict__["run"]),
    )

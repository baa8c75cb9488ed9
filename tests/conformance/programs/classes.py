"""Classes of all kinds, made and changed inside the trace or coming from outside."""

from tests.conformance.program import program, t


class Point:
    scale = 2

    def __init__(self, x, y=0):
        self.x = x
        self.y = y

    def total(self):
        return (self.x + self.y) * self.scale

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, value):
        self.x = value / 2

    @classmethod
    def origin(cls):
        return cls(0, 0)

    @staticmethod
    def plus(a, b):
        return a + b


@program("I10")
def instance_made_inside(x):
    p = Point(x, 1)
    return p.total(), p.double, p.scale


@program("I10 O7")
def instance_made_inside_returned(x):
    p = Point(x + 1)
    p.extra = [p.x]
    return p


@program("I10 O7", lambda: [(Point(t(2), 3),), (Point(t(2), 3),)])
def instance_as_argument_changed(p):
    p.x = p.x + 1
    p.new = p.total()
    p.y += 1
    return p.y


@program("I10 O7", lambda: [(Point(t(2), t(2, start=3)),)])
def attribute_deleted(p):
    y = p.y
    del p.y
    return y + 1, hasattr(p, "y")


@program("I10")
def property_with_setter(x):
    p = Point(x)
    p.double = x * 6
    return p.x, p.double


@program("I10 I5", differs="torch_differs", why="another message")
def property_without_setter(x):
    class Fixed:
        @property
        def value(self):
            return 1

    try:
        Fixed().value = 2
    except AttributeError as error:
        return x + 1, str(error)


@program("I10")
def class_and_static_methods(x):
    p = Point.origin()
    return Point.plus(x, 1), p.plus(x, 2), p.x, type(p).origin().y


@program("I10")
def class_attribute_shadowed(x):
    p = Point(x)
    before = p.scale
    p.scale = 10
    return p.total(), before, Point.scale


class Counted:
    made = 0

    def __init__(self):
        Counted.made += 1
        self.index = Counted.made


@program("I10 O7", lambda: [t(2), t(2)])
def class_attribute_written(x):
    a, b = Counted(), Counted()
    return x + b.index, a.index


class Base:
    def __init__(self, k):
        self.k = k

    def run(self, x):
        return x + self.k

    def name(self):
        return "base"


class Child(Base):
    def __init__(self, k):
        super().__init__(k + 1)
        self.own = k

    def run(self, x):
        return super().run(x) * self.own

    def name(self):
        return "child of " + super(Child, self).name()


@program("I10")
def inheritance_and_super(x):
    c = Child(3)
    return c.run(x), c.name(), isinstance(c, Base), Base.run(c, x)


class Mixin:
    def run(self, x):
        return super().run(x) - 1


class Diamond(Mixin, Child):
    pass


@program("I10")
def method_resolution_order(x):
    d = Diamond(2)
    return d.run(x), [k.__name__ for k in Diamond.__mro__], d.own


class WithGetattr:
    def __init__(self):
        self.real = 1

    def __getattr__(self, name):
        if name.startswith("v"):
            return int(name[1:])
        raise AttributeError(f"no {name} here")


@program("I10 I5")
def getattr_method(x):
    w = WithGetattr()
    try:
        w.other
    except AttributeError as error:
        return x + w.real + w.v5, str(error), hasattr(w, "zzz"), getattr(w, "q", 9)


class WithGetattribute:
    def __init__(self):
        self.a = 1

    def __getattribute__(self, name):
        if name == "b":
            return 7
        return object.__getattribute__(self, name)


@program("I10", differs="fewer_breaks", why="torch does not use a __getattribute__ of the user")
def getattribute_method(x):
    w = WithGetattribute()
    return x + w.a + w.b


class WithSetattr:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)

    def __delattr__(self, name):
        object.__setattr__(self, "deleted", name)


@program("I10 O7")
def setattr_and_delattr_methods(x):
    w = WithSetattr()
    w.a = x
    w.b = 3
    del w.b
    return w.a, w.b, w.deleted


class Container:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, key):
        return self.items[key]

    def __setitem__(self, key, value):
        self.items[key] = value

    def __delitem__(self, key):
        del self.items[key]

    def __contains__(self, value):
        return value == "magic" or value in self.items

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return iter(self.items[::-1])

    def __call__(self, x):
        return x + len(self)


@program("I10")
def container_protocol(x):
    c = Container([1, 2, 3])
    c[0] = 10
    del c[1]
    return x + c[0], len(c), "magic" in c, 99 in c, list(c), list(reversed(c)), c(x), c[0:1], bool(c)


@program("I10 O7", lambda: [(t(2), Container([1, 2]))])
def container_protocol_as_argument(x, c):
    c[0] = x + c[1]
    return c(x), len(c)


class OldIteration:
    def __getitem__(self, i):
        if i > 2:
            raise IndexError
        return i


@program("I10")
def iteration_by_getitem(x):
    for i in OldIteration():
        x = x + i
    return x


class Descriptor:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return getattr(obj, self.name, 0)

    def __set__(self, obj, value):
        setattr(obj, self.name, value + 1)


class Described:
    value = Descriptor()


@program("I10 O7")
def descriptors(x):
    d = Described()
    before = d.value
    d.value = x
    return d.value, before, d._value is d.value


@program("I10 O7", lambda: [(t(2), Described())])
def descriptor_on_an_argument(x, d):
    d.value = x
    return d.value + 1


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


@program("I10 I5")
def slots(x):
    s = Slotted(x)
    s.b = 2
    messages = []
    for action in (lambda: setattr(s, "c", 1), lambda: Slotted(1).b):
        try:
            action()
        except AttributeError as error:
            messages.append(str(error))
    return s.a + s.b, messages, s


@program("I10 O7", lambda: [(t(2), Slotted(1))])
def slots_on_an_argument(x, s):
    s.b = x + s.a
    s.a = 5
    return s.b


@program(
    "I10 I14",
    lambda: [(Point(t(2), 1),)],
    differs="fewer_breaks",
    why="torch leaves what follows the break to Python",
)
def object_alive_across_a_break(p):
    q = Point(p.x + 1)
    p.y = 5
    print("in between")
    q.y = p.y
    return q, q.total()


@program("I10")
def object_identity_and_dict(x):
    p = Point(x)
    p.__dict__["hidden"] = 3
    return p.hidden, "y" in p.__dict__, p.__class__ is Point, p.__class__.__name__, Point.__module__ == __name__

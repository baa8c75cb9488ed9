"""Dataclasses, named tuples, abstract classes, metaclasses, classes made inside, methods as values."""

import abc
import dataclasses
import typing

import torch

from tests.conformance.program import program, t


class Base:
    def __init__(self, k):
        self.k = k

    def run(self, x):
        return x + self.k


class Child(Base):
    def __init__(self, k):
        super().__init__(k + 1)
        self.own = k

    def run(self, x):
        return super().run(x) * self.own


@dataclasses.dataclass
class Config:
    width: int
    name: str = "n"
    tags: list = dataclasses.field(default_factory=list)

    def area(self):
        return self.width * 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: int = 2


@dataclasses.dataclass(order=True)
class Ordered:
    rank: int
    label: str = dataclasses.field(compare=False, default="")

    def __post_init__(self):
        self.label = self.label or f"r{self.rank}"


@program("I10")
def dataclass_made_inside(x):
    c = Config(3)
    c.tags.append("t")
    return x + c.area(), c, Config(3).tags, c == Config(3, tags=["t"])


@program("I10 G1", lambda: [(t(2), Config(3)), (t(2), Config(4)), (t(2), Config(5))])
def dataclass_as_argument(x, c):
    c.name = "changed"
    return x * c.width


@program("I10 I5")
def frozen_dataclass(x):
    f = Frozen(1)
    try:
        f.a = 5
    except dataclasses.FrozenInstanceError as error:
        return x + f.a + f.b, str(error), hash(f) == hash(Frozen(1)), f == Frozen(1, 2)


@program("I10")
def ordered_dataclass_with_post_init(x):
    return x + 1, Ordered(1) < Ordered(2), sorted([Ordered(2), Ordered(1)])[0].label, repr(Ordered(3))


@program("I10")
def dataclass_replace_and_asdict(x):
    c = dataclasses.replace(Config(3), width=4)
    return x + c.width, dataclasses.asdict(c), dataclasses.astuple(c), [f.name for f in dataclasses.fields(c)]


class Output(typing.NamedTuple):
    first: torch.Tensor
    second: int = 3

    def total(self):
        return self.first + self.second


@program("I10")
def typed_named_tuple(x):
    o = Output(x + 1)
    first, second = o
    return o, o.total(), second, o._replace(second=5)


@program("I10", lambda: [(Output(t(2), 4),)])
def typed_named_tuple_as_argument(o):
    return Output(o.total(), o.second + 1), o[0]


class Abstract(abc.ABC):
    @abc.abstractmethod
    def run(self, x): ...


class Concrete(Abstract):
    def run(self, x):
        return x + 1


@program("I10 I5")
def abstract_base_class(x):
    try:
        Abstract()
    except TypeError as error:
        return Concrete().run(x), str(error), isinstance(Concrete(), Abstract)


class Meta(type):
    def __new__(mcls, name, bases, namespace):
        cls = super().__new__(mcls, name, bases, namespace)
        cls.tag = name.lower()
        return cls

    def __call__(cls, *args):
        instance = super().__call__(*args)
        instance.stamped = True
        return instance


class Tagged(metaclass=Meta):
    def __init__(self, k):
        self.k = k


@program("I10", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def metaclass(x):
    return x + len(Tagged.tag), Tagged(3).stamped, type(Tagged).__name__


class Singleton:
    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            cls.instance.n = 0
        return cls.instance


@program("I10 O7", lambda: [t(2), t(2)])
def new_that_returns_one_instance(x):
    a, b = Singleton(), Singleton()
    a.n += 1
    return x + b.n, a is b


@program("I10")
def class_made_inside(x):
    class Local(Base):
        kind = "local"

        def run(self, v):
            return super().run(v) * 2

    return Local(3).run(x), Local.kind, Local.__name__, issubclass(Local, Base)


@program("I10", then=lambda cls: (cls(2).run(t(2)), cls.__qualname__))
def class_leaves_the_trace(x):
    y = x + 1

    class Local(Base):
        def run(self, v):
            return v + self.k

    return Local


@program("I10")
def class_made_by_type(x):
    Made = type("Made", (Base,), {"extra": 5, "run": lambda self, v: v + self.extra})
    return Made(1).run(x), Made.__name__


@program("I10")
def bound_methods_as_values(x):
    p = Child(2)
    run = p.run
    return run(x), p.run == p.run, run.__self__ is p, [f(x) for f in (p.run, Base(1).run)]


@program("I10", then=lambda m: m(t(2)))
def bound_method_leaves(x):
    c = Child(x.shape[0])
    return c.run


@program("I10", differs="fewer_breaks", why="torch breaks once more")
def methods_assigned_to_instance_and_class(x):
    class Local:
        pass

    Local.run = lambda self, v: v + self.k
    a = Local()
    a.k = 3
    a.direct = lambda v: v * 2
    return a.run(x), a.direct(x)


class Chain:
    def __init__(self):
        self.steps = []

    def add(self, f):
        self.steps.append(f)
        return self

    def run(self, x):
        for f in self.steps:
            x = f(x)
        return x


@program("I10")
def method_chaining(x):
    return Chain().add(lambda v: v + 1).add(torch.relu).add(torch.sum).run(x)


class Node:
    def __init__(self, value, after=None):
        self.value = value
        self.after = after


@program("I10 O7", lambda: [(Node(t(2), Node(t(2, start=1), Node(t(2, start=2)))),)])
def linked_list_as_argument(node):
    total = 0
    first = node
    while node is not None:
        total = total + node.value
        node.value = total
        node = node.after
    first.after.after.after = first
    return total


@program("I10")
def objects_that_refer_to_each_other(x):
    a, b = Node(x), Node(x + 1)
    a.after, b.after = b, a
    return a, a.after.after is a


class Ops:
    def __init__(self, v):
        self.v = v

    def __getitem__(self, key):
        return Ops(self.v[key])

    def __matmul__(self, other):
        return Ops(self.v @ other.v)

    def __iadd__(self, other):
        self.v = self.v + other
        return self

    def __invert__(self):
        return Ops(-self.v)

    def __abs__(self):
        return Ops(abs(self.v))

    def __rmul__(self, other):
        return Ops(other * self.v)


@program("I2 I10", differs="fewer_breaks", why="torch does not trace an operator of the user")
def more_operators_of_a_class(x):
    o = Ops(x)
    alias = o
    o += 1
    return (o @ ~Ops(x.t())).v, abs(o).v, (2 * o[0]).v, alias is o


class Comparable:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __hash__(self):
        return hash(self.n)


@program("I10", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def hash_and_eq_in_containers(x):
    d = {Comparable(1): "one"}
    return (
        x + 1,
        d[Comparable(1)],
        Comparable(2) in d,
        len({Comparable(1), Comparable(1)}),
        Comparable(3) in [Comparable(3)],
    )


@program("I10")
def class_variables_shared_by_instances(x):
    class Bag:
        shared = []

        def put(self, v):
            self.shared.append(v)

    Bag().put(x)
    Bag().put(x + 1)
    return Bag.shared


@program("I10")
def private_names(x):
    class Hidden:
        def __init__(self):
            self.__secret = 4

        def get(self):
            return self.__secret

    h = Hidden()
    return x + h.get(), h._Hidden__secret, sorted(vars(h))


@program("I10")
def init_subclass(x):
    made = []

    class Plugin:
        def __init_subclass__(cls, **kwargs):
            made.append((cls.__name__, kwargs))

    class First(Plugin, tag=1):
        pass

    return x + len(made), made


@program("I10", differs="fewer_breaks", why="torch leaves the frame to Python after the class is made")
def class_getitem(x):
    class Box(typing.Generic[typing.TypeVar("T")]):
        def __init__(self, v):
            self.v = v

    return Box[int](x).v + 1

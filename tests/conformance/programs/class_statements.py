"""`class` statements that run while tracing: body, cells, decorators, metaclasses, and classes leaving the trace."""

import abc
import contextlib
import dataclasses
import enum
import functools
import typing

import torch

from tests.conformance.program import program, t


class Outside:
    made = 0

    def __init_subclass__(cls, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.tag = tag


class Meta(type):
    def __new__(mcs, name, bases, namespace, **kwargs):
        made = super().__new__(mcs, name, bases, namespace)
        made.by_meta = sorted(key for key in namespace if not key.startswith("__"))
        return made


class WithMeta(metaclass=Meta):
    pass


@program("I10")
def plain_class_and_instance(x):
    class Scale:
        factor = 3

        def __init__(self, shift):
            self.shift = shift

        def __call__(self, v):
            return v * self.factor + self.shift

    y = x + 1
    return Scale(2)(y) - 1


@program("I10 I7", lambda: [(t(2), 2), (t(2), 3)])
def methods_close_over_locals(x, k):
    class Adder:
        def run(self, v):
            return v + k

        def twice(self, v):
            return self.run(self.run(v))

    return Adder().twice(x)


@program("I10")
def class_with_super_in_its_methods(x):
    class Base:
        def run(self, v):
            return v + 1

    class Child(Base):
        def run(self, v):
            return super().run(v) * 2

        def own(self):
            return __class__.__name__

    c = Child()
    return c.run(x), c.own(), isinstance(c, Base), Child.__mro__[1] is Base


@program(
    "I10 I7", lambda: [(t(2), 2), (t(2), 5)], differs="fewer_breaks", why="torch.compile leaves more of it to Python"
)
def body_reads_the_enclosing_scope(x, k):
    base = 10

    class Numbers:
        own = k + base
        squares = [i * i for i in range(3)]
        total = sum(squares) + own

    return x * Numbers.own, Numbers.squares, Numbers.total


@program("I10")
def class_of_an_outer_class(x):
    class Inner(Outside, tag="inner"):
        def size(self):
            return 2

    return x * Inner().size(), Inner.tag, issubclass(Inner, Outside), Inner.__name__, Inner.__qualname__


@program("I10")
def dataclass_in_the_function(x):
    @dataclasses.dataclass
    class Pair:
        a: torch.Tensor
        n: int = 2

        def total(self):
            return self.a * self.n

    return Pair(x + 1).total(), [f.name for f in dataclasses.fields(Pair)]


@program("I10")
def named_tuple_in_the_function(x):
    class Point(typing.NamedTuple):
        a: torch.Tensor
        b: int = 3

    p = Point(x + 1)
    return p.a * p.b, p._fields, p._replace(b=4).b


@program("I10")
def enum_in_the_function(x):
    class Mode(enum.Enum):
        ADD = 1
        MUL = 2

    return x + Mode.MUL.value, [m.name for m in Mode], Mode(1) is Mode.ADD


@program("I10")
def class_leaves_the_trace(x):
    class Kept:
        level = 4

        def __init__(self, v):
            self.v = v

        def run(self):
            return self.v * self.level

    y = x * 2
    return Kept, Kept(y).run()


def look_at_kept(result):
    cls, _ = result
    return cls.__name__, cls.__qualname__, cls.__module__, cls.level, cls(5).run(), sorted(vars(cls))


@program("I10", then=look_at_kept)
def class_leaves_the_trace_and_is_used(x):
    class Kept:
        """What it keeps."""

        level = 4

        def __init__(self, v):
            self.v = v

        def run(self):
            return self.v * self.level

    y = x * 2
    return Kept, Kept(y).run()


def look_at_instance(result):
    made, _ = result
    return type(made).__name__, made.run(torch.ones(2)), made.k, type(made).calls


@program("I10 O7", lambda: [(t(2), 2), (t(2), 3)], then=look_at_instance)
def instance_leaves_the_trace(x, k):
    class Kept:
        calls = 0

        def __init__(self, n):
            self.k = n + k
            Kept.calls += 1

        def run(self, v):
            return v * self.k

    made = Kept(1)
    return made, made.run(x)


@program("I10")
def metaclass_with_code(x):
    class Inner(WithMeta):
        a = 1

        def go(self):
            return 2

    return x * Inner().go(), Inner.by_meta, type(Inner) is Meta


@program("I10")
def abstract_base_in_the_function(x):
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

    class Square(Shape):
        def area(self):
            return x * x

    try:
        Shape()
    except TypeError as error:
        text = str(error)
    return Square().area(), text


@program("I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def properties_and_static_methods_of_a_local_class(x):
    class Box:
        def __init__(self):
            self._v = 2

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, n):
            self._v = n

        @staticmethod
        def twice(n):
            return n * 2

        @classmethod
        def make(cls):
            return cls()

        @functools.cached_property
        def slow(self):
            return self._v + 100

    b = Box.make()
    b.v += 5
    return x * b.v, Box.twice(4), b.slow, b.__dict__


@program("I10 I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def exception_class_in_the_function(x):
    class Stop(Exception):
        def __init__(self, code):
            super().__init__(f"code {code}")
            self.code = code

    try:
        raise Stop(3)
    except Stop as error:
        return x + error.code, str(error), error.args


@program("I10 I6")
def context_manager_class_in_the_function(x):
    log = []

    class Block(contextlib.AbstractContextManager):
        def __enter__(self):
            log.append("in")
            return self

        def __exit__(self, *info):
            log.append(info[0] is None)
            return True

    with Block():
        x = x + 1
    with Block():
        raise ValueError
    return x * 2, log


@program("I10")
def module_class_in_the_function(x):
    class Double(torch.nn.Module):
        def forward(self, v):
            return v * 2

    return Double()(x + 1) - 1


@program("I10")
def generic_class_in_the_function(x):
    T = typing.TypeVar("T")

    class Holder(typing.Generic[T]):
        def __init__(self, v: T):
            self.v = v

    return Holder[int](3).v * x

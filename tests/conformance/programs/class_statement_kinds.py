"""`class` statements of the kinds that a base, a decorator or a metaclass makes something of."""

import dataclasses
import enum
import typing

import torch

from tests.conformance.program import program, t


@program("I10", differs="fewer_breaks", why="torch.compile leaves the class statement to Python")
def enum_between_tensor_work(x):
    y = x + 1

    class Mode(enum.Enum):
        ADD = 1
        MUL = 2

        def apply(self, v):
            return v + 2 if self is Mode.ADD else v * 2

    return Mode.ADD.apply(y), Mode.MUL.apply(y), Mode["MUL"].value, [m.name for m in Mode]


@program("I10", differs="torch_differs", why="torch.compile takes a string's + for NotImplemented")
def flags_and_auto_between_tensor_work(x):
    y = x + 1

    class Bits(enum.IntFlag):
        A = enum.auto()
        B = enum.auto()
        BOTH = A | B

    class Names(enum.StrEnum):
        FIRST = enum.auto()

    return y * int(Bits.BOTH), Bits.A in Bits.BOTH, Names.FIRST + "!", (Bits.A | Bits.B) is Bits.BOTH


@program("I10", differs="fewer_breaks", why="torch.compile leaves the class statement to Python")
def named_tuple_between_tensor_work(x):
    y = x + 1

    class Point(typing.NamedTuple):
        a: torch.Tensor
        b: int = 3

        def product(self):
            return self.a * self.b

    p = Point(y)
    a, b = p
    return p.product(), a + b, p._asdict()["b"], repr(Point(1, 2)), Point(1, 2) == (1, 2)


@program("I10", lambda: [(t(2), 3)], differs="fewer_breaks", why="torch.compile leaves the class statement to Python")
def dataclass_between_tensor_work(x, k):
    y = x + 1

    @dataclasses.dataclass
    class Pair:
        a: torch.Tensor
        n: int = k
        seen: list = dataclasses.field(default_factory=list)

        def __post_init__(self):
            self.seen.append(self.n)

        def total(self):
            return self.a * self.n

    p, q = Pair(y), Pair(y, 7)
    return p.total() + q.total(), p.seen, q.seen, [f.name for f in dataclasses.fields(Pair)], repr(Pair(1, 2))


@program("I10 I5")
def frozen_ordered_dataclass_in_the_function(x):
    @dataclasses.dataclass(frozen=True, order=True)
    class Version:
        major: int
        minor: int = 0

    try:
        Version(1).major = 2
    except dataclasses.FrozenInstanceError as error:
        text = str(error)
    return (
        x + max(Version(1, 2), Version(1, 1)).minor,
        text,
        Version(1) == Version(1, 0),
        len({Version(1), Version(1)}),
    )


@program("I10", differs="fewer_breaks", why="torch.compile leaves the class statement to Python")
def dataclass_with_a_local_base(x):
    y = x + 1

    @dataclasses.dataclass
    class Base:
        a: int = 1

    @dataclasses.dataclass
    class Child(Base):
        b: int = 2

        def run(self, v):
            return v * self.a + self.b

    return Child().run(y), Child(5).run(y), dataclasses.asdict(Child(b=4)), dataclasses.replace(Child(), a=9).a


T = typing.TypeVar("T")


@program("I10")
def generic_and_protocol_between_tensor_work(x):
    y = x + 1

    @typing.runtime_checkable
    class Runs(typing.Protocol):
        def run(self, v): ...

    class Holder(typing.Generic[T]):
        def __init__(self, n: T):
            self.n = n

        def run(self, v):
            return v * self.n

    h = Holder[int](3)
    return h.run(y), isinstance(h, Runs), isinstance(3, Runs), Holder.__parameters__ == (T,)


@program("I10 I11")
def typed_dict_between_tensor_work(x):
    y = x + 1

    class Options(typing.TypedDict, total=False):
        scale: int
        shift: int

    o = Options(scale=2)
    o["shift"] = 5
    return y * o["scale"] + o["shift"], type(o) is dict, sorted(Options.__annotations__)

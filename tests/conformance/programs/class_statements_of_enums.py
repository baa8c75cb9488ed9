"""`class` statements, and calls, by which the library makes enums and named tuples."""

import collections
import enum
import typing

import torch

from tests.conformance.program import program, t

LEFT = "torch.compile leaves the class statement to Python"


@program("I10", differs="fewer_breaks", why=LEFT)
def enum_with_everything(x):
    y = x + 1

    class Color(enum.Enum):
        """Text."""

        RED = 1
        GREEN = 2
        ALSO_RED = 1
        PAIR = (1, "a")

        @property
        def double(self):
            return self.value * 2 if isinstance(self.value, int) else None

        @classmethod
        def first(cls):
            return cls.RED

        def apply(self, v):
            return v * self.value if self is Color.GREEN else v - 1

        def __str__(self):
            return self.name.lower()

    return (
        Color.GREEN.apply(y),
        Color.first().apply(y),
        Color.ALSO_RED is Color.RED,
        [str(c) for c in Color],
        list(Color.__members__),
        Color((1, "a")).name,
        Color.GREEN.double,
        repr(Color.RED),
        len(Color),
        "GREEN" in Color.__members__,
        Color.__doc__,
    )


@program("I10", lambda: [t(2), t(3)])
def numbers_of_enums(x):
    class Bits(enum.IntFlag):
        A = enum.auto()
        B = enum.auto()
        C = enum.auto()
        ALL = A | B | C

    class Steps(enum.IntEnum):
        ONE = enum.auto()
        TEN = 10
        ELEVEN = enum.auto()

    class Names(enum.StrEnum):
        FIRST = enum.auto()
        OTHER = "given"

    both = Bits.A | Bits.C
    return (
        x * int(both) + Steps.ELEVEN,
        Bits.B in both,
        both & ~Bits.A == Bits.C,
        int(Bits.ALL),
        [s.value for s in Steps],
        Names.FIRST == "first",
        [str(n) for n in Names],
        Steps.TEN > 3,
    )


@program("I10 I5", differs="fewer_breaks", why=LEFT)
def enums_refuse(x):
    said = []
    try:

        class Twice(enum.Enum):
            A = 1
            A = 2  # noqa: PIE796
    except TypeError as error:
        said.append(str(error).partition(" already")[0])

    class Final(enum.Enum):
        A = 1

    try:

        class More(Final):
            B = 2
    except TypeError as error:
        said.append(str(error))
    try:
        Final(7)
    except ValueError as error:
        said.append(str(error).rpartition(".")[2])
    try:
        Final["B"]
    except KeyError as error:
        said.append(error.args)
    return x + 1, said


@program("I10", differs="torch_differs", why="torch.compile makes the class in a module of its own")
def enum_by_a_call(x):
    y = x + 1
    Color = enum.Enum("Color", "RED GREEN")
    return y * Color.GREEN.value, [c.name for c in Color], Color.__module__ == __name__


def kept_enum(made):
    cls, member, _ = made
    return cls.__name__, member.name, member is cls.B, cls(1).name, [m.value for m in cls], member.twice()


@program("I10", lambda: [t(2), t(2)], then=kept_enum)
def enum_and_member_leave(x):
    y = x + 1

    class Kept(enum.Enum):
        A = 1
        B = 2

        def twice(self):
            return self.value * 2

    return Kept, Kept.B, y * Kept.B.value


@program("I10 I12")
def named_tuple_with_everything(x):
    y = x + 1

    class Point(typing.NamedTuple):
        """Text."""

        a: torch.Tensor
        b: int = 3
        c: str = "c"

        def product(self):
            return self.a * self.b

        @property
        def twice(self):
            return self.b * 2

        @classmethod
        def of(cls, v):
            return cls(v, c="of")

    p = Point.of(y)
    q = p._replace(b=5)
    said = []
    for act in (lambda: Point(), lambda: Point(1, 2, 3, 4), lambda: setattr(p, "b", 2)):
        try:
            act()
        except (TypeError, AttributeError) as error:
            said.append(str(error))
    return (
        p.product() + q.a * q.twice,
        p[1],
        q.c,
        len(p),
        Point._fields,
        Point._field_defaults,
        Point._make([1, 2, 3]) == (1, 2, 3),
        repr(Point(1)),
        Point.__doc__,
        isinstance(p, tuple),
        said,
    )


@program("I10 I12")
def named_tuples_by_calls(x):
    Pair = collections.namedtuple("Pair", "a b")
    Three = collections.namedtuple("Three", ["a", "b", "c"], defaults=[2, 3])
    Renamed = collections.namedtuple("Renamed", ("a", "class"), rename=True)
    p, q = Pair(x + 1, 2), Three(x)
    a, b = p
    return p.a * p.b + q.b * q.c, a - b, Renamed(1, 2)._fields, q._asdict()["c"], Pair.__name__, repr(Three(1))


def named_values(made):
    return type(made[0]).__name__, type(made[0])._fields, made[0].a, made[0].b, type(made[0]) is type(made[1])


@program(
    "I10 I12",
    lambda: [t(2), t(2)],
    then=named_values,
    differs="torch_differs",
    why="torch.compile makes the class in a module of its own",
)
def named_tuples_leave(x):
    y = x * 2
    Pair = collections.namedtuple("Pair", "a b")
    return Pair(y, 2), Pair(y + 1, 3)


@program("I10 I12 I14")
def named_tuple_across_a_break(x):
    Pair = collections.namedtuple("Pair", "a b")
    p = Pair(x + 1, 2)
    torch._dynamo.graph_break()
    return p.a * p.b, p._fields


@program("I10 I5", differs="torch_differs", why="torch.compile raises an error of its own")
def named_tuples_refuse(x):
    said = []
    for names in ("a a", "a class", "1b", "_a"):
        try:
            collections.namedtuple("Bad", names)
        except ValueError as error:
            said.append(str(error))
    return x + 1, said


@program("I10", lambda: [(t(2), 2), (t(2), 3)])
def named_tuple_whose_default_varies(x, k):
    y = x + 1
    Pair = collections.namedtuple("Pair", "a b", defaults=[k])
    return Pair(y).a * Pair(y).b

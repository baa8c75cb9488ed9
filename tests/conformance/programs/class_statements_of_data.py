"""`class` statements by which the library makes typed dicts, dataclasses, protocols and generics."""

import dataclasses
import functools
import typing

import torch

from tests.conformance.program import program, t

T = typing.TypeVar("T")
LEFT = "torch.compile leaves the class statement to Python"


@program("I10 I11")
def typed_dict_with_everything(x):
    y = x + 1

    class Base(typing.TypedDict):
        scale: int

    class Options(Base, total=False):
        shift: int
        name: str

    o = Options(scale=2)
    o["shift"] = 5
    o |= {"name": "n"}
    return (
        y * o["scale"] + o["shift"],
        type(o) is dict,
        sorted(Options.__annotations__),
        sorted(Options.__required_keys__),
        sorted(Options.__optional_keys__),
        Options.__total__,
        o,
    )


@program("I10 I5", lambda: [(t(2), 3), (t(2), 4)], differs="fewer_breaks", why=LEFT)
def dataclass_with_everything(x, k):
    @dataclasses.dataclass(order=True)
    class Item:
        n: int
        label: str = "none"
        seen: list = dataclasses.field(default_factory=list, compare=False)
        hidden: int = dataclasses.field(default=7, repr=False, compare=False)
        later: int = dataclasses.field(init=False, compare=False)
        shift: dataclasses.InitVar[int] = 2

        def __post_init__(self, shift):
            self.later = self.n + shift + k

        def run(self, v):
            self.seen.append(self.later)
            return v * self.later

    one, two = Item(1), Item(2, "b", shift=10)
    said = []
    for act in (lambda: Item(), lambda: Item(1, zzz=2), lambda: one < 3):
        try:
            act()
        except TypeError as error:
            said.append(str(error).rpartition(".")[2])
    return (
        one.run(x) + two.run(x),
        one < two,
        one == Item(1, shift=99),
        repr(two).rpartition(".")[2],
        [f.name for f in dataclasses.fields(Item)],
        dataclasses.asdict(one),
        dataclasses.replace(one, n=9, shift=1).later,
        one.seen is not two.seen,
        said,
        Item.__match_args__,
    )


@program("I10 I5", differs="fewer_breaks", why=LEFT)
def dataclasses_of_other_kinds(x):
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        n: int = 1

    @dataclasses.dataclass(kw_only=True)
    class Named:
        a: int
        b: int = 2

    @dataclasses.dataclass(slots=True)
    class Slotted:
        a: int = 3

        def run(self, v):
            return v * self.a

    @dataclasses.dataclass(eq=False, repr=False)
    class Bare:
        n: int = 1

    said = []
    for act in (lambda: setattr(Frozen(), "n", 2), lambda: Named(1), lambda: setattr(Slotted(), "z", 1)):
        try:
            act()
        except (AttributeError, TypeError) as error:
            said.append((type(error).__name__, str(error).rpartition(".")[2]))
    return (
        Slotted().run(x) + Named(a=1).b + Bare().n,
        said,
        hash(Frozen()) == hash(Frozen(1)),
        len({Frozen(), Frozen(1), Frozen(2)}),
        Bare() == Bare(),
        Slotted.__slots__,
    )


@program("I10 I5", differs="fewer_breaks", why=LEFT)
def dataclasses_refuse(x):
    said = []
    try:

        @dataclasses.dataclass
        class Shared:
            seen: list = []  # noqa: RUF008
    except ValueError as error:
        said.append(str(error))
    try:

        @dataclasses.dataclass
        class Order:
            a: int = 1
            b: int
    except TypeError as error:
        said.append(str(error))
    return x + 1, said


@program("I10 I7", lambda: [(t(2), 2), (t(2), 5)])
def dataclass_with_factories_of_the_call(x, k):
    def fill():
        return [k]

    @dataclasses.dataclass
    class Holder:
        values: list = dataclasses.field(default_factory=fill)
        other: dict = dataclasses.field(default_factory=lambda: {"k": k})

    h = Holder()
    h.values.append(1)
    return x * h.values[0] + h.other["k"], Holder().values, h


@program("I10")
def dataclass_with_a_tensor_for_a_default(x):
    y = x + 1

    @dataclasses.dataclass
    class Holder:
        a: torch.Tensor = y

    return Holder().a * 2


@program("I10")
def dataclass_field_with_metadata(x):
    y = x + 1

    @dataclasses.dataclass
    class Holder:
        a: int = dataclasses.field(default=1, metadata={"unit": "mm"})

    return y * Holder().a, dataclasses.fields(Holder)[0].metadata["unit"]


def kept_item(made):
    return type(made[0]).__name__, made[0].n, repr(made[0]).rpartition(".")[2], made[0] == made[1]


@program("I10", lambda: [t(2), t(2)], then=kept_item)
def dataclass_instance_leaves(x):
    y = x + 1

    @dataclasses.dataclass
    class Item:
        n: int = 1

    return Item(), Item(1), y * Item().n


@program("I10", differs="torch_differs", why="torch.compile makes an instance of a protocol")
def protocols_at_run_time(x):
    @typing.runtime_checkable
    class Runs(typing.Protocol):
        def run(self, v): ...

    class Plain(typing.Protocol):
        n: int

        def go(self): ...

    class Inherits(Plain):
        n = 3

        def go(self):
            return self.n

    class Has:
        def run(self, v):
            return v * 2

    said = []
    for act in (lambda: Plain(), lambda: isinstance(1, Plain)):
        try:
            act()
        except TypeError as error:
            said.append(str(error))
    return (
        Has().run(x) * Inherits().go(),
        isinstance(Has(), Runs),
        isinstance(3, Runs),
        issubclass(Has, Runs),
        said,
    )


@program("I10 I5", differs="fewer_breaks", why=LEFT)
def abstract_classes_with_everything(x):
    import abc

    class Shape(abc.ABC):
        @property
        @abc.abstractmethod
        def area(self): ...

        @classmethod
        @abc.abstractmethod
        def make(cls): ...

        def double(self):
            return self.area * 2

    class Half(Shape):
        @property
        def area(self):
            return 3

    class Whole(Half):
        @classmethod
        def make(cls):
            return cls()

    said = []
    for cls in (Shape, Half):
        try:
            cls()
        except TypeError as error:
            said.append(str(error))
    return x * Whole.make().double(), said, isinstance(Whole(), Shape), sorted(Shape.__abstractmethods__)


class Stored(typing.Generic[T]):
    def __init__(self, n: T):
        self.n = n


@program("I10", differs="fewer_breaks", why=LEFT)
def generics_of_every_kind(x):
    class Base(typing.Generic[T]):
        def __init__(self, n: T):
            self.n = n

    class Child(Base[int]):
        def run(self, v):
            return v * self.n

    class Other(Stored[int]):
        pass

    return Child(3).run(x) + Base[int](2).n, Base.__parameters__ == (T,), Child.__parameters__, Other(4).n


@program("I10")
def generic_made_of_its_alias(x):
    made = Stored[int](3)
    return x * made.n, made.__orig_class__ == Stored[int], list[int]((1, 2)), dict[str, int](a=1)


@program("I10")
def total_ordering_of_a_local_class(x):
    @functools.total_ordering
    class Version:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

    a, b = Version(1), Version(2)
    return x * (2 if a <= b else 3), b > a, a >= b, a != b


class Announced:
    made: list = []

    def __init_subclass__(cls, **options):
        super().__init_subclass__()
        Announced.made.append((cls.__name__, options))


class AnnouncedByMeta(type):
    def __init_subclass__(mcs):
        pass


class Middle(Stored[int]):
    @classmethod
    def __init_subclass__(cls, factor=1):
        cls.factor = factor


@program("I10 O7")
def hooks_of_bases_laid_out_in_every_way(x):
    class Slotted:
        __slots__ = ("a",)

        def __init_subclass__(cls):
            cls.seen = True

    class Both(Slotted):
        pass

    class Deep(Middle, factor=4):
        def run(self, v):
            return v * self.factor

    class Told(Announced, level=3):
        pass

    return Deep(1).run(x), Deep.__mro__[1] is Middle, Both.seen, Announced.made, Told.__bases__ == (Announced,)

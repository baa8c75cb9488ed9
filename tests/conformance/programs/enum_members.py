"""Members of enums hold attributes that a program may write to, and classes of enums have methods of their own."""

import enum

import torch

from tests.conformance.program import program, t


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@program(
    "I10 G1",
    lambda: [(t(2), n) for n in range(4)],
)
def attribute_written_to_a_member(x, n):
    read = x + getattr(Colour.RED, "weight", 0), hasattr(Colour.RED, "weight")
    Colour.RED.weight = n * 10
    return read


@program("I10 G1", lambda: [(t(2), n) for n in range(3)])
def value_of_a_member_replaced(x, n):
    read = x + Colour.BLUE.value, Colour.BLUE._value_, Colour.BLUE.name
    Colour.BLUE._value_ = n
    return read


class Kept(enum.Enum):
    LETTERS = "abc"

    def __init__(self, letters):
        self.seen = 0
        self.letters = list(letters)


@program("I10 O7", lambda: [t(2), t(2), t(2)])
def what_a_member_holds_is_changed(x):
    Kept.LETTERS.seen += 1
    Kept.LETTERS.letters.append("d")
    return x + Kept.LETTERS.seen + len(Kept.LETTERS.letters)


class Holding(enum.Enum):
    LIST = [1]


@program("I10 O7", lambda: [t(2), t(2)])
def value_of_a_member_is_the_object_itself(x):
    Holding.LIST.value.append(2)
    return x + len(Holding.LIST.value), Holding.LIST.value is Holding.LIST.value


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5
    shift = property(lambda self: STEP)

    def __str__(self):
        return f"level {self.name.lower()} {STEP}"

    def __add__(self, other):
        return int(self) + STEP * other

    def __bool__(self):
        return STEP > 1


STEP = 1


@program("I10 G1", lambda: [t(2), t(2), t(2)])
def methods_of_a_members_class_read_a_global(x):
    global STEP
    read = str(Level.LOW), Level.HIGH + 2, Level.LOW.shift, bool(Level.LOW), Level.LOW < Level.HIGH
    STEP += 1
    return x + Level.HIGH, read


def lower(self):
    return "lower"


@program(
    "I10 G1",
    lambda: [t(2), t(2)],
    differs="torch_differs",
    why="torch does not notice that the method was replaced",
)
def method_of_a_members_class_replaced(x):
    read = x * 2, str(Level.HIGH)
    torch._dynamo.graph_break()
    Level.__str__ = lower
    return read

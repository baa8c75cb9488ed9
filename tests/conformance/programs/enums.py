"""Enums: members and flags, looked up, combined, iterated over, with attributes and methods of their own."""

import enum
import types

from tests.conformance.program import program, t


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    CRIMSON = 1

    def next(self):
        members = list(Color)
        return members[(members.index(self) + 1) % len(members)]

    @property
    def weight(self):
        return self.value * 10

    @classmethod
    def default(cls):
        return cls.GREEN

    @staticmethod
    def count():
        return len(Color)


class Perm(enum.Flag):
    R = 4
    W = 2
    X = 1
    ALL = 7


class Mode(enum.IntFlag):
    A = 1
    B = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Planet(enum.Enum):
    EARTH = (5.0, 6.5)
    MARS = (0.5, 3.5)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def gravity(self):
        return self.mass / self.radius


class Auto(enum.StrEnum):
    FIRST = enum.auto()
    SECOND = enum.auto()


@program("I12 I10", lambda: [(t(2), c) for c in Color])
def member_decides(x, c):
    if c is Color.RED:
        return x + 1
    return x * c.value if c == Color.GREEN else x - len(c.name)


@program("I12 I10", lambda: [(t(2), Color.BLUE)])
def methods_of_members(x, c):
    return x * c.next().value, c.next(), Color.default(), Color.count(), c.weight, Color.RED.next().name


@program("I12 I10", lambda: [(t(2),)], differs="torch_differs", why="torch.compile fails on what a lookup raises")
def looked_up(x):
    found = [Color(2), Color["BLUE"], Color["CRIMSON"], Color.CRIMSON is Color.RED, Level(5), Auto("first")]
    for wrong in (lambda: Color(9), lambda: Color["PINK"], lambda: Color.PINK):
        try:
            wrong()
        except (ValueError, KeyError, AttributeError) as error:
            found.append((type(error).__name__, str(error)))
    return x + found[0].value, found


@program("I12 I10", lambda: [(t(2),)])
def gone_over(x):
    for color in Color:
        x = x * color.value
    names = [c.name for c in Color]
    return x, names, list(reversed(Color)), len(Color), Color.RED in Color, [*Level], dict(Color.__members__)


@program(
    "I12 I10",
    lambda: [(t(2),)],
    differs="torch_differs",
    why="torch.compile raises another error for a name that is not there",
)
def members_by_name(x):
    members = Color.__members__
    x = x + members["BLUE"].value + len(members)
    read = [list(members), "RED" in members, members.get("PINK"), list(members.items())[-1], [*members.values()]]
    try:
        members["PINK"]
    except KeyError as error:
        read.append(str(error))
    return x, read, type(members).__name__


@program("I12 I10", lambda: [(t(2), Perm.R | Perm.W)])
def flags(x, p):
    both = p | Perm.X
    found = [both, both & Perm.X, p ^ Perm.R, ~p, Perm.R in p, bool(p), both.value, repr(both), Perm(6), Perm.ALL]
    found += [list(both), len(both), both.name, p == Perm.R, p is Perm.R]
    return x * both.value, found


@program("I12 I10", lambda: [(t(2), Mode.A), (t(2), Mode.A | Mode.B)])
def int_flags(x, m):
    found = [m | 2, m & Mode.A, m + 1, m == 1, Mode.B > m, Mode(3), ~m, m | 8, isinstance(m, int), f"{m}", str(m)]
    return x * m + (m | Mode.B), found


@program(
    "I12 I10",
    lambda: [(t(3), Level.HIGH), (t(3), Level.LOW)],
    differs="torch_differs",
    why="torch.compile recurses without end",
)
def int_enum_as_number(x, level):
    shape = x.reshape(3, 1).expand(3, level)
    return shape.sum() + level, x[:level], level * 2, [0, 1, 2, 3, 4, 5][level], level < Level.HIGH, max(Level)


@program("I12 I10", lambda: [(t(2), Planet.MARS)])
def members_with_attributes(x, p):
    return x * p.mass + p.gravity, p.radius, p.value, Planet((5.0, 6.5)).name, [q.mass for q in Planet]


@program("I12 I10", lambda: [(t(2), Auto.SECOND)])
def text_members(x, a):
    return x + len(a), a.upper(), a == "second", f"{a}!", a.value, "".join(Auto), {"second": 1}[a], a + "s"


@program("I12 I10 I3", lambda: [(t(2), {Color.RED: 2, Color.BLUE: 3}, Color.BLUE)])
def members_as_keys(x, table, c):
    table[Color.GREEN] = 7
    seen = {Color.RED, c}
    return x * table[c], table, c in seen, Color.GREEN in seen, hash(c) == hash(Color.BLUE), sorted(Level)


@program("I12 I10 I6", lambda: [(t(2), Color.GREEN), (t(2), Color.RED)])
def matched(x, c):
    match c:
        case Color.RED:
            return x + 1
        case Color.GREEN | Color.BLUE:
            return x * c.value


@program("I12 I10", lambda: [(t(2), Color)])
def class_as_argument(x, cls):
    return x + cls.RED.value, cls["GREEN"], cls.__name__, issubclass(cls, enum.Enum), isinstance(cls.RED, cls)


@program("I12 I10", lambda: [(t(2),)])
def missing_attributes_are_not_written(x):
    found = []
    for change in (lambda: setattr(Color, "RED", 3), lambda: setattr(Color.RED, "value", 3)):
        try:
            change()
        except AttributeError as error:
            found.append(str(error))
    return x + 1, found


@program(
    "I12 I3",
    lambda: (lambda d: [(t(2), d)])({"a": 1, "b": 2}),
    differs="fewer_breaks",
    why="torch.compile leaves it to Python",
)
def read_only_view(x, d):
    view = types.MappingProxyType(d)
    found = [view["a"], view.get("z", 5), "b" in view, len(view), list(view), list(view.items()), view == {"a": 1}]
    found += [view | {"c": 3}, view.copy(), list(reversed(view)), bool(view), view == types.MappingProxyType(d)]
    try:
        view["c"] = 1
    except TypeError as error:
        found.append(str(error))
    try:
        view |= {"c": 1}
    except TypeError as error:
        found.append(str(error))
    d["new"] = 9
    return x + view["new"], found

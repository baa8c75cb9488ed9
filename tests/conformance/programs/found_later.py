"""What a lookup did not find is there at a later call."""

import builtins
import enum

from tests.conformance.program import program, t


def _between(change, undo):
    """Inputs of three calls: `change` comes before the second, `undo` before the third."""

    def calls():
        yield t(2)
        change()
        yield t(2)
        undo()
        yield t(2)

    return calls


def _sets(owner, name, value):
    return _between(lambda: setattr(owner, name, value), lambda: delattr(owner, name))


def _define_global():
    globals()["later_global"] = 3


def _drop_global():
    del globals()["later_global"]


@program(
    "G1 I13",
    _between(_define_global, _drop_global),
    differs="fewer_breaks",
    why="torch leaves a frame with such an error to Python",
)
def a_global_comes(x):
    try:
        return x + later_global  # noqa: F821
    except NameError:
        return x * 10


@program(
    "G1 I13",
    _sets(builtins, "later_builtin", 3),
    differs="fewer_breaks",
    why="torch leaves a frame with such an error to Python",
)
def a_builtin_comes(x):
    try:
        return x + later_builtin  # noqa: F821
    except NameError:
        return x * 10


def hidden(x):
    return x + len([1])


def _hide_len():
    globals()["len"] = lambda items: 5


def _show_len():
    del globals()["len"]


@program("G1 I13", _between(_hide_len, _show_len))
def a_global_comes_to_hide_a_builtin(x):
    return hidden(x)


def _cells():
    def reads(x):
        try:
            return x * factor
        except NameError:
            return x * 10

    def fills():
        nonlocal factor
        factor = 2

    def empties():
        nonlocal factor
        del factor

    if not reads:
        factor = 1
    return reads, fills, empties


reads, fills, empties = _cells()
program(
    "G1 I7", _between(fills, empties), differs="fewer_breaks", why="torch leaves a frame with such an error to Python"
)(reads)

inner, fills_inner, empties_inner = _cells()


@program(
    "G1 I7",
    _between(fills_inner, empties_inner),
    differs="fewer_breaks",
    why="torch leaves a frame with such an error to Python",
)
def a_cell_of_an_inlined_function_is_filled(x):
    return inner(x) + 1


def lacks_default(x, k):
    return x * k


def _give_default():
    lacks_default.__defaults__ = (2,)


def _take_default():
    lacks_default.__defaults__ = None


@program(
    "G1 I7",
    _between(_give_default, _take_default),
    differs="fewer_breaks",
    why="torch leaves a frame with such an error to Python",
)
def a_default_comes(x):
    try:
        return lacks_default(x)
    except TypeError:
        return x * 10


def lacks_keyword(x, *, k):
    return x * k


def _give_keyword():
    lacks_keyword.__kwdefaults__ = {"k": 2}


def _take_keyword():
    lacks_keyword.__kwdefaults__ = None


@program(
    "G1 I7",
    _between(_give_keyword, _take_keyword),
    differs="fewer_breaks",
    why="torch leaves a frame with such an error to Python",
)
def a_default_of_a_keyword_comes(x):
    try:
        return lacks_keyword(x)
    except TypeError:
        return x * 10


def shifts(x, a=2, b=3):
    return x * a + b


def _more_defaults():
    shifts.__defaults__ = (2, 3, 9)


def _same_defaults():
    shifts.__defaults__ = (2, 3)


@program("G1 I7", _between(_more_defaults, _same_defaults))
def defaults_shift(x):
    return shifts(x)


class Base:
    pass


class Derived(Base):
    def go(self, x):
        try:
            return super().go(x)
        except AttributeError:
            return x * 10


derived = Derived()


@program(
    "G1 I9",
    _sets(Base, "go", lambda self, x: x * 2),
    differs="fewer_breaks",
    why="torch leaves a frame with such an error to Python",
)
def a_base_class_gains_a_method(x):
    return derived.go(x)


class Numbered:
    def __getitem__(self, key):
        return {"k": 17}[key]


numbered = Numbered()


@program(
    "G1 I11",
    _sets(Numbered, "keys", lambda self: ["k"]),
    differs="fewer_breaks",
    why="torch leaves a frame with such an error to Python",
)
def an_object_becomes_a_mapping(x):
    try:
        return x * {**numbered}["k"]
    except TypeError:
        return x * 10


class KeysOfItsOwn:
    def __init__(self):
        self.keys = lambda: ["k"]

    def __getitem__(self, key):
        return 4


@program("I11", differs="fewer_breaks", why="torch leaves a frame with such an error to Python")
def keys_of_the_object_itself(x):
    return x * {**KeysOfItsOwn()}["k"]


class AttributeErrorInKeys:
    def keys(self):
        return self.missing


@program("I11", differs="fewer_breaks", why="torch leaves a frame with such an error to Python")
def keys_raise_an_attribute_error(x):
    try:
        return x, {**AttributeErrorInKeys()}
    except TypeError as error:
        return x + 1, str(error)


class Shown:
    def __str__(self):
        return "shown"


shown = Shown()


@program("G1 I10", _sets(Shown, "__format__", lambda self, spec: f"by its own {spec}"))
def an_object_gains_a_format(x):
    return x * 2, f"{shown}"


class Multiple:
    pass


multiple = Multiple()


@program(
    "G1 I9",
    _sets(Multiple, "__iter__", lambda self: iter([1, 2])),
    differs="torch_differs",
    why="torch keeps what it found first",
)
def an_object_becomes_iterable(x):
    try:
        first, second = multiple
        return x * second, max(*multiple), [*multiple]
    except TypeError as error:
        return x * 10, str(error)


class Keyed:
    pass


keyed = Keyed()


def _equals():
    Keyed.__eq__ = lambda self, other: other == 3
    Keyed.__hash__ = lambda self: hash(3)


def _equals_nothing():
    del Keyed.__eq__, Keyed.__hash__


@program("G1 I11", _between(_equals, _equals_nothing))
def a_key_comes_to_equal_a_number(x):
    return x * {3: 5}.get(keyed, 1)


class Meta(type):
    pass


class Named(metaclass=Meta):
    pass


class Mode(enum.Enum):
    FAST = 1


def _tried(run, *args):
    try:
        return run(*args)
    except (TypeError, AttributeError) as error:
        return str(error)


@program("G1 I9", _sets(Meta, "__add__", lambda cls, other: other))
def a_metaclass_gains_an_operator(x):
    return x * 2, _tried(lambda: Named + 1)


@program("G1 I9", _sets(Meta, "__bool__", lambda cls: False))
def a_metaclass_gains_a_truth(x):
    return x * 2 if Named else x * 3


@program("G1 I9", _sets(Meta, "__getitem__", lambda cls, index: index))
def a_metaclass_gains_items(x):
    return x * 2, _tried(lambda: [item for item, _ in zip(Named, range(2))])


@program("G1 I9", _sets(Meta, "__next__", lambda cls: 5))
def a_metaclass_gains_next(x):
    return x * 2, _tried(next, Named)


@program("G1 I9", _sets(Mode, "__index__", lambda self: 7))
def a_member_of_an_enum_becomes_a_number(x):
    return x * 2, _tried(int, Mode.FAST), _tried(lambda: "a" * Mode.FAST)


@program(
    "G1 I9",
    _sets(Mode, "__getattr__", lambda self, name: name),
    differs="torch_differs",
    why="torch keeps what it found first",
)
def a_member_of_an_enum_answers_by_code(x):
    return x * 2, _tried(lambda: Mode.FAST.missing)

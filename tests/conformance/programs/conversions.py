"""Objects converted to builtin types by their own methods, which may give what they should not; numbers with very
many digits; operators of classes that are only registered with one another; contexts of exceptions of callers."""

import abc
import enum
import math
import operator

import torch

from tests.conformance.program import program


class Gives:
    def __init__(self, value):
        self.value = value

    def __int__(self):
        return self.value

    __float__ = __complex__ = __index__ = __bytes__ = __int__


_CONVERSIONS = (int, float, complex, operator.index, bytes, range, math.sqrt, hex, lambda v: [7, 8, 9][v])


@program("I2 I12")
def conversions_of_what_objects_give(x):
    got = []
    for value in (2, 2.0, 2j, b"2", "2", None):
        for convert in _CONVERSIONS:
            try:
                got.append(convert(Gives(value)))
            except TypeError as error:
                got.append(str(error))
    return x + 1, got


class Half(float):
    pass


@program("I2 I12", differs="fewer_breaks", why="torch leaves the frame to Python")
def conversions_that_give_subclasses(x):
    import warnings

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        got = [int(Gives(True)), float(Gives(Half(0.5))), operator.index(Gives(True)), range(Gives(True))]
    return x + 1, got, [type(each) for each in got], [str(each.message) for each in seen]


class Converted(enum.Enum):
    A = 1

    def __int__(self):
        return 7

    def __float__(self):
        return 7.5

    def __complex__(self):
        return 3j

    def __index__(self):
        return 1

    def __floor__(self):
        return 5

    def __bytes__(self):
        return b"x"


@program("I2 I12")
def conversions_of_enum_members(x):
    a = Converted.A
    return x + int(a), float(a), complex(a), math.floor(a), bytes(a), operator.index(a), [7, 8, 9][a], range(a)


@program("I11 I12", differs="torch_differs", why="torch fails at such integers")
def integers_of_too_many_digits(x):
    number = 10**5000
    said = []
    for write in (str, repr, "{}".format, "%d".__mod__, lambda v: f"{v}", lambda v: str([v]), lambda v: f"{v:d}"):
        try:
            said.append(write(number))
        except ValueError as error:
            said.append(str(error))
    return x + 1, said, len(hex(number))


asked = []


class First(abc.ABC):
    def __eq__(self, other):
        asked.append("first")
        return NotImplemented

    __lt__ = __gt__ = __add__ = __eq__


class Registered:
    def __eq__(self, other):
        asked.append("registered")
        return NotImplemented

    __lt__ = __gt__ = __radd__ = __eq__


First.register(Registered)


@program("I2", differs="torch_differs", why="torch takes registered classes for subclasses")
def operators_of_registered_classes(x):
    asked.clear()
    a, b = First(), Registered()
    said = [a == b, b == a]
    for operate in (operator.lt, operator.add):
        try:
            operate(a, b)
        except TypeError as error:
            said.append(str(error))
    return x + len(asked), said, list(asked)


def _raise_in_turn(x, first, second):
    y = x + 1
    try:
        raise first
    except Exception:
        raise second(y.shape[0])


def _chain(error):
    found = []
    while error is not None:
        found.append(type(error).__name__)
        error = error.__context__
    return found


@torch.compiler.disable(recursive=False)
def _while_handling(run, *args):
    try:
        try:
            raise LookupError
        except LookupError:
            run(*args)
    except Exception as error:
        return _chain(error)


@program("I5 O6", differs="fewer_breaks", why="torch leaves the frame to Python")
def contexts_reach_what_callers_handle(x):
    return _while_handling(_raise_in_turn, x, ValueError, KeyError), _while_handling(_caught_and_kept, x)


kept = []


def _caught_and_kept(x):
    y = x + 1
    try:
        raise ValueError(2)
    except ValueError as error:
        kept.append(error)
    raise kept.pop() from TypeError(y.shape[0])

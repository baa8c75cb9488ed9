"""What classes of exceptions make of their arguments, and what stays of them."""

import json
import re

from tests.conformance.program import program


class WithExtra(ValueError):
    def __init__(self, message, extra=1):
        self.extra = extra
        super().__init__(message)


class WithoutSuper(KeyError):
    def __init__(self, message, extra=1):
        self.extra = extra


class OfTheSystem(OSError):
    def __init__(self, message, extra=1):
        self.extra = extra
        super().__init__(2, message)


@program("I5 I10")
def arguments_of_a_subclass(x):
    made = [WithExtra("m", "e"), WithoutSuper("m", "e"), OfTheSystem("m", "e")]
    return x + 1, [(each.args, each.extra, str(each), repr(each)) for each in made], made[2].errno


@program("I5 I10")
def raised_subclass_that_leaves(x):
    y = x + 1
    raise WithExtra("m", y.shape[0])


@program("I5")
def class_of_an_exception(x):
    try:
        raise ValueError("a", 1)
    except ValueError as error:
        return x + 1, error.__class__, error.__class__.__name__


@program("I5", differs="fewer_breaks", why="torch does not trace it")
def class_of_an_exception_without_arguments(x):
    try:
        raise KeyError
    except LookupError as error:
        return x + 1, f"{error.__class__.__name__}: {error}", error.__doc__ == KeyError.__doc__


@program("I5")
def arguments_written_later(x):
    system, stop = OSError(2, "no"), StopIteration(1)
    system.args = (5,)
    stop.args = (2, 3)
    return x + 1, system.errno, system.args, stop.value, stop.args


@program("I5", differs="fewer_breaks", why="torch does not trace it")
def attributes_of_their_kinds(x):
    found = []
    for error in (
        OSError(2, "no", "file"),
        ImportError("m", name="n", path="p"),
        SystemExit(3),
        StopIteration(4),
        UnicodeDecodeError("utf8", b"ab", 0, 1, "why"),
        AttributeError("a", name="q", obj=3),
        BlockingIOError("a", "b"),
    ):
        for name in (
            "errno",
            "strerror",
            "filename",
            "name",
            "path",
            "code",
            "value",
            "reason",
            "characters_written",
        ):
            if hasattr(error, name):
                found.append((type(error).__name__, name, getattr(error, name)))
    return x + 1, found


@program("I5 I12", differs="torch_differs", why="adds to what was raised")
def attributes_of_what_a_library_raised(x):
    try:
        re.compile("(")
    except re.error as error:
        found = error.msg, error.pattern, error.pos, str(error)
    try:
        json.loads("[1,")
    except json.JSONDecodeError as error:
        return x + 1, found, error.msg, error.pos


@program("I5")
def notes_that_are_none(x):
    error = ValueError(1)
    error.__notes__ = 42
    try:
        error.add_note("more")
    except TypeError as refused:
        return x + 1, str(refused), error.__notes__


@program("I5")
def contexts_in_a_circle(x):
    def failing():
        try:
            raise ValueError(1)
        except ValueError as first:
            try:
                raise TypeError(2)
            except TypeError as second:
                first.__context__ = second
                second.__context__ = first
                raise KeyError(3)

    try:
        failing()
    except KeyError as error:
        return x + 1, repr(error.__context__), repr(error.__context__.__context__)


@program("I5", differs="stricter", why="it is left to Python on purpose: no torch program does it")
def group_reraised_in_parts(x):
    y = x + 1
    try:
        try:
            raise ExceptionGroup("eg", [TypeError(1), ValueError(2), OSError(3)])
        except* TypeError:
            raise
        except* ValueError:
            raise
    except ExceptionGroup as error:
        return y, error.message, [repr(each) for each in error.exceptions]

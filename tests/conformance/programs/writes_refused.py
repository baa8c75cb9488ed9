"""Attributes that Python refuses to have written, inside the program's own handlers."""

import functools

from tests.conformance.program import program, t


class Plain:
    pass


class Bare:
    __slots__ = ("a",)


class Number(int):
    pass


class Failure(Exception):
    pass


@program(
    "O7", lambda: [(t(2), Plain())], differs="torch_differs", why="torch.compile takes the write, or another text"
)
def no_weak_reference_is_set(x, o):
    y = x + 1
    try:
        o.__weakref__ = None
    except AttributeError as error:
        return y * 2, str(error)
    return y


@program(
    "O7", lambda: [(t(2), Number(3))], differs="torch_differs", why="torch.compile takes the write, or another text"
)
def no_part_of_a_number_is_set(x, number):
    y = x + number
    said = []
    for name in ("real", "numerator", "__weakref__"):
        try:
            setattr(number, name, 4)
        except AttributeError as error:
            said.append(str(error))
    return y * 2, said


@program("O7", lambda: [(t(2), Failure("no"))], differs="fewer_breaks", why="torch.compile gives up the frame there")
def an_exception_says_what_it_takes(x, failure):
    y = x + 1
    said = []
    try:
        failure.__suppress_context__ = 1
    except TypeError as error:
        said.append(str(error))
    try:
        failure.__cause__ = "because"
    except TypeError as error:
        said.append(str(error))
    try:
        del failure.args
    except TypeError as error:
        said.append(str(error))
    return y * 2, said, failure.args


@program(
    "O7",
    lambda: [(t(2), functools.partial(max, 1))],
    differs="fewer_breaks",
    why="torch.compile gives up the frame there",
)
def a_partial_keeps_its_function(x, part):
    y = x + part(2)
    try:
        part.func = min
    except AttributeError as error:
        return y * 2, str(error)
    return y


@program(
    "O7", lambda: [(t(2), Bare())], differs="torch_differs", why="torch.compile takes the write, or another text"
)
def a_slot_is_empty_or_not_there(x, o):
    y = x + 1
    said = []
    try:
        del o.a
    except AttributeError as error:
        said.append(str(error))
    try:
        o.b = 1
    except AttributeError as error:
        said.append(str(error))
    o.a = y * 2
    return o.a, said

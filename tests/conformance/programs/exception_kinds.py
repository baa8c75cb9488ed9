"""Exceptions of classes of every kind, and what ends a block by one."""

import contextlib

import torch

from tests.conformance.program import program


class Coded(Exception):
    default = 7

    def __init__(self, code=None, *, extra="e"):
        super().__init__(code, extra)
        self.code = code or self.default
        self.extra = extra

    def __str__(self):
        return f"<{self.code}:{self.extra}>"


class CodedChild(Coded):
    default = 8


@program("I5 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def exceptions_of_the_users_own(x):
    found = []
    for make in (Coded, CodedChild, lambda: Coded(3, extra="f")):
        try:
            raise make()
        except Coded as error:
            found.append((str(error), repr(error), error.args, error.code))
    try:
        raise CodedChild
    except Coded as error:
        found.append(error.code)
    return x + len(found), found


class New(Exception):
    def __new__(cls, *args):
        made = super().__new__(cls, *args)
        made.from_new = len(args)
        return made


@program("I5 I10", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def exception_with_new(x):
    try:
        raise New(1, 2)
    except New as error:
        return x + error.from_new, error.args


@program("I5", differs="torch_differs", why="torch.compile gives another result here")
def system_exit_and_stop_iteration_values(x):
    try:
        raise SystemExit(3)
    except SystemExit as error:
        code = error.code
    try:
        next(iter(()))
    except StopIteration as error:
        value = error.value
    try:
        {}.pop("k")
    except KeyError as error:
        key = error.args
    try:
        b"\xff".decode()
    except UnicodeDecodeError as error:
        where = (error.encoding, error.start, error.end, error.reason, error.object)
    return x + code, value, key, where


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def os_errors(x):
    error = FileNotFoundError(2, "No such file", "name")
    other = OSError(13, "denied")
    return x + error.errno, str(error), error.filename, type(other).__name__, isinstance(other, PermissionError)


@program("I5")
def finally_swallows_and_return_wins(x):
    def run():
        try:
            raise ValueError
        finally:
            return 3  # noqa: B012

    def loop():
        for i in range(3):
            try:
                raise KeyError(i)
            finally:
                continue  # noqa: B012
        return i

    return x + run() + loop()


@program("I5 I6")
def suppressed_and_nested_stack(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, "last")
        stack.enter_context(contextlib.suppress(ValueError))
        stack.callback(log.append, "first")
        raise ValueError("v")
    return x + len(log), log


@program("I5 I14", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def break_in_a_handler_keeps_the_exception(x):
    try:
        raise ValueError("v")
    except ValueError as error:
        torch._dynamo.graph_break()
        y = x + len(error.args)
        try:
            raise
        except ValueError as again:
            return y * 2, again is error, again.__context__


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def assert_with_message_object(x):
    try:
        assert x.shape[0] == 7, ("shape", tuple(x.shape))
    except AssertionError as error:
        return x + 1, error.args


@program("I5")
def exception_attributes_and_pickle_state(x):
    error = ValueError("a", "b")
    error.extra = [1]
    error.args = ("c",)
    return x + 1, error.__dict__, str(error), error.__reduce__()[1], ValueError("a") == ValueError("a")

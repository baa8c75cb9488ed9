"""Exception groups, causes and contexts, notes, tracebacks, and exceptions that outlive their handler."""

import contextlib
import traceback

import torch

from tests.conformance.program import program


@program("I5")
def except_star(x):
    y = x + 1
    log = []
    try:
        raise ExceptionGroup("many", [ValueError("v"), TypeError("t"), ValueError("w")])
    except* ValueError as group:
        log.append(("value", [str(e) for e in group.exceptions]))
    except* TypeError as group:
        log.append(("type", group.message))
    return y * 2, log


@program("I5")
def except_star_of_a_single_exception(x):
    try:
        raise KeyError("k")
    except* KeyError as group:
        found = (type(group).__name__, repr(group.exceptions[0]))
    return x + 1, found


@program("I5")
def except_star_leaves_the_rest(x):
    log = []
    try:
        try:
            raise ExceptionGroup("many", [ValueError("v"), OSError("o")])
        except* ValueError:
            log.append("value")
    except ExceptionGroup as rest:
        log.append([repr(e) for e in rest.exceptions])
    return x + 1, log


@program("I5")
def except_star_that_nothing_hits(x):
    try:
        y = x + 1
    except* ValueError:
        y = x - 1
    else:
        y = y * 2
    finally:
        y = y + 3
    return y


@program("I5")
def except_star_in_an_inlined_function(x):
    def run(error):
        try:
            if error is not None:
                raise error
        except* ValueError as group:
            return_value = len(group.exceptions)
        else:
            return_value = 0
        return return_value

    return x + run(None), run(ExceptionGroup("g", [ValueError(1), ValueError(2)]))


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def exception_group_made_and_taken_apart(x):
    inner = ExceptionGroup("inner", [TypeError(1)])
    group = ExceptionGroup("outer", [ValueError("a"), inner])
    match_, rest = group.split(ValueError)
    sub = group.subgroup(lambda e: isinstance(e, TypeError))
    return x + len(group.exceptions), repr(match_), repr(rest), repr(sub), group.derive([ValueError()]).message


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def exception_group_raised_and_caught_plainly(x):
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except Exception as error:
        return x + 1, type(error), error.message, error.exceptions[0].args, str(error)


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def exception_group_leaves(x):
    x.add_(1)
    raise ExceptionGroup("g", [ValueError(1), TypeError("t")])


@program("I5")
def raise_from(x):
    try:
        try:
            raise KeyError("a")
        except KeyError as error:
            raise ValueError("b") from error
    except ValueError as caught:
        cause, context = caught.__cause__, caught.__context__
        return x + 1, repr(cause), cause is context, caught.__suppress_context__


@program("I5")
def raise_from_none_and_class(x):
    found = []
    for cause in (None, KeyError, KeyError("k")):
        try:
            try:
                raise OSError("first")
            except OSError:
                raise ValueError("b") from cause
        except ValueError as caught:
            found.append((repr(caught.__cause__), repr(caught.__context__), caught.__suppress_context__))
    return x + len(found), found


@program("I5", differs="torch_differs", why="torch.compile gives another result here")
def raise_from_a_wrong_thing(x):
    try:
        raise ValueError from 3
    except TypeError as error:
        return x + 1, str(error)


@program("I5")
def context_chain(x):
    def chain(error):
        names = []
        while error is not None:
            names.append(repr(error))
            error = error.__context__
        return names

    try:
        try:
            try:
                raise KeyError(1)
            finally:
                raise ValueError(2)
        except ValueError:
            raise TypeError(3)
    except TypeError as caught:
        return x + 1, chain(caught)


@program("I5")
def cause_set_by_hand(x):
    error = ValueError("v")
    error.__cause__ = KeyError("k")
    error.__context__ = OSError("o")
    try:
        error.__cause__ = 3
    except TypeError as refused:
        text = str(refused)
    return x + 1, repr(error.__cause__), repr(error.__context__), error.__suppress_context__, text


@program("I5", then=lambda r: r[1].__notes__, differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def notes(x):
    error = ValueError("v")
    before = hasattr(error, "__notes__")
    error.add_note("one")
    error.add_note("two")
    try:
        error.add_note(3)
    except TypeError as refused:
        text = str(refused)
    return x + 1, error, error.__notes__, before, text


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def note_added_while_it_passes(x):
    x = x + 1
    try:
        raise ValueError("v")
    except ValueError as error:
        error.add_note("seen")
        raise


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def exception_kept_after_the_block(x):
    kept = None
    try:
        raise ValueError("v", 1)
    except ValueError as error:
        kept = error
    try:
        error  # noqa: B018
    except UnboundLocalError as gone:
        text = str(gone)
    return x + kept.args[1], repr(kept), text


@program("I5", then=lambda r: [line.strip() for line in traceback.format_exception(r[1])][-1])
def exception_returned(x):
    try:
        raise ValueError("v")
    except ValueError as error:
        kept = error
    return x + 1, kept


@program(
    "I5",
    then=lambda r: (r[1].__traceback__ is not None, r[1].__context__.__traceback__ is not None),
    differs="torch_differs",
    why="torch.compile gives another result here",
)
def traceback_of_a_returned_exception(x):
    y = x * 2
    try:
        try:
            raise KeyError("k")
        except KeyError:
            raise ValueError("v")
    except ValueError as error:
        kept = error
    return y, kept


def deep(n):
    if n == 0:
        raise LookupError("deep")
    deep(n - 1)


@program("I5")
def traceback_shape(x):
    y = x + 1
    try:
        deep(2)
    except LookupError as error:
        names = []
        tb = error.__traceback__
        while tb is not None:
            names.append(tb.tb_frame.f_code.co_name)
            tb = tb.tb_next
        return y, names


@program("I5", differs="torch_differs", why="torch.compile gives another result here")
def with_traceback(x):
    error = ValueError("v")
    same = error.with_traceback(None)
    try:
        error.with_traceback(3)
    except TypeError as refused:
        text = str(refused)
    return x + 1, same is error, error.__traceback__, text


@program("I5", differs="fewer_breaks", why="torch.compile leaves more of it to Python")
def error_in_the_handler_leaves(x):
    y = x + 1
    try:
        raise KeyError("k")
    except KeyError as error:
        raise RuntimeError(f"bad {error}") from error


@program("I5", differs="torch_differs", why="torch.compile gives another result here")
def errors_appended_to_a_list(x):
    errors = []
    for make in (lambda: 1 / 0, lambda: [][1], lambda: {}["k"], lambda: int("z"), lambda: None.a, lambda: "a" + 1):
        try:
            make()
        except Exception as error:
            errors.append(error)
    return x + len(errors), [(type(e).__name__, str(e)) for e in errors], errors[2].args


@program("I5")
def same_exception_raised_twice(x):
    error = ValueError("again")
    count = 0
    for _ in range(3):
        try:
            raise error
        except ValueError as caught:
            count += caught is error
    return x + count, error.__context__


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

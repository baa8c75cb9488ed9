"""Exception groups, causes and contexts, notes, tracebacks, and exceptions that outlive their handler."""

import traceback

from tests.conformance.program import program


@program("I5", differs="stricter", why="it is left to Python on purpose: no torch program does it")
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


@program("I5", differs="stricter", why="it is left to Python on purpose: no torch program does it")
def cause_set_by_hand(x):
    error = ValueError("v")
    error.__cause__ = KeyError("k")
    error.__context__ = OSError("o")
    try:
        error.__cause__ = 3
    except TypeError as refused:
        text = str(refused)
    return x + 1, repr(error.__cause__), repr(error.__context__), error.__suppress_context__, text


@program("I5", then=lambda r: r[1].__notes__)
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

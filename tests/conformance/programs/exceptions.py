"""Exceptions raised, caught, chained, crossing inlined frames, and leaving."""

from tests.conformance.program import program, t


class Trouble(Exception):
    def __init__(self, code, note="n"):
        super().__init__(f"trouble {code}")
        self.code = code
        self.note = note


class WorseTrouble(Trouble):
    pass


@program("I5")
def raised_and_caught(x):
    try:
        raise ValueError("bad value")
    except ValueError as error:
        return x + 1, str(error), error.args


@program("I5", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def raised_and_leaves(x):
    y = x + 1
    raise ValueError("leaves", 3)


@program("I5")
def user_exception_leaves(x):
    y = x + 1
    raise WorseTrouble(7, note="kept")


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def user_exception_caught_by_base(x):
    try:
        raise WorseTrouble(5)
    except Trouble as error:
        return x + error.code, error.note, str(error), type(error).__name__


@program("I5")
def exception_class_without_call(x):
    try:
        raise KeyError
    except KeyError as error:
        return x + 1, error.args, repr(error)


@program("I5")
def second_except_clause(x):
    try:
        raise IndexError("i")
    except (TypeError, KeyError):
        return x
    except (ValueError, IndexError) as error:
        return x + 1, str(error)


@program("I5")
def else_clause(x):
    try:
        y = x + 1
    except ValueError:
        y = x
    else:
        y = y * 2
    return y


@program("I5")
def finally_runs_after_return(x):
    log = []

    def f():
        try:
            log.append("try")
            return x + 1
        finally:
            log.append("finally")

    return f(), log


@program("I5")
def finally_runs_after_exception(x):
    log = []
    try:
        try:
            raise ValueError("v")
        finally:
            log.append("inner finally")
    except ValueError:
        log.append("caught")
    return x + 1, log


@program("I5")
def return_in_finally_swallows(x):
    def f():
        try:
            raise ValueError
        finally:
            return x + 1

    return f()


@program("I5")
def break_and_continue_through_finally(x):
    log = []
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 2:
                break
            x = x + i
        finally:
            log.append(i)
    return x + 1, log


@program("I5")
def nested_handlers(x):
    log = []
    try:
        try:
            raise KeyError("a")
        except KeyError as error:
            log.append(repr(error))
            raise ValueError("b") from error
    except ValueError as error:
        log.append((repr(error), repr(error.__cause__)))
    return x + 1, log


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def raise_from_leaves(x):
    y = x + 1
    try:
        {}["k"]
    except KeyError as error:
        raise Trouble(1) from error


@program("I5")
def raise_from_none_leaves(x):
    try:
        int("z")
    except ValueError:
        raise Trouble(2) from None


@program("I5", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def raise_while_handling_leaves(x):
    y = x * 2
    try:
        raise KeyError("first")
    except KeyError:
        raise ValueError("second")


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def bare_raise(x):
    log = []
    try:
        try:
            raise Trouble(3)
        except Trouble as error:
            log.append("again")
            raise
    except Trouble as error:
        return x + error.code, log


@program("I5", differs="fewer_breaks", why="torch does not raise the UnboundLocalError itself")
def handler_name_is_deleted(x):
    error = "outer"
    try:
        raise ValueError
    except ValueError as error:
        pass
    try:
        error
    except UnboundLocalError as e:
        return x + 1, str(e)


def thrower(n):
    if n == 0:
        raise Trouble(n)
    return thrower(n - 1)


@program("I5 I9", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def crosses_inlined_frames(x):
    try:
        thrower(3)
    except Trouble as error:
        return x + 1, error.code


@program("I5 I9")
def crosses_inlined_frames_and_leaves(x):
    y = x + 1
    return thrower(2)


def cleaner(log):
    try:
        thrower(1)
    finally:
        log.append("cleaned")


@program("I5 I9", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def finally_in_a_crossed_frame(x):
    log = []
    try:
        cleaner(log)
    except Trouble:
        log.append("caught")
    return x + 1, log


@program("I5 O7", lambda: [(t(2), [])])
def mutations_before_an_exception_stay(x, log):
    log.append(x + 1)
    x.add_(1)
    log.append("last")
    raise Trouble(9)


@program(
    "I5 O7 I13",
    lambda: [(t(2), {"n": 0}), (t(2), {"n": 0})],
    differs="fewer_breaks",
    why="torch cannot trace super().__init__ of an exception",
)
def mutations_before_a_caught_exception_stay(x, d):
    try:
        d["n"] += 1
        d["y"] = x + 1
        raise Trouble(1)
    except Trouble as error:
        d["code"] = error.code
    return x * d["n"]


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def exception_as_value(x):
    error = Trouble(4, note=x)
    return error, error.note + 1


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def exception_stored_and_raised_later(x):
    stored = None
    try:
        raise Trouble(6)
    except Trouble as error:
        stored = error
    try:
        raise stored
    except Trouble as error:
        return x + 1, error is stored, error.code


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def exceptions_in_a_loop(x):
    results = []
    for i in range(3):
        try:
            if i == 1:
                raise Trouble(i)
            x = x + i
        except Trouble as error:
            results.append(error.code)
            continue
        else:
            results.append("ok")
    return x, results

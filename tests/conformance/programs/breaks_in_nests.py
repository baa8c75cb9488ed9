"""Breaks deep in blocks: `with` in `try` in `for` in `with`, in handlers, `finally`, `match`, calls three deep."""

import contextlib

import torch

from tests.conformance.program import program, t

LEFT = "torch leaves a frame that breaks in such a block to Python"
LOG = lambda: [(t(2, 3), [])]


def p(value, *more):
    print("p", value if not hasattr(value, "shape") else tuple(value.shape), *more)
    return value


class Noting:
    def __init__(self, log, name="a", swallow=()):
        self.log = log
        self.name = name
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter " + self.name)
        return self.name

    def __exit__(self, kind, value, trace):
        self.log.append(("exit " + self.name, kind and kind.__name__))
        return kind is not None and issubclass(kind, self.swallow)


@contextlib.contextmanager
def noted(log, name):
    log.append("in " + name)
    try:
        yield name
    finally:
        log.append("out " + name)


@program("O6 I14 I6 I5 I3", LOG, differs="fewer_breaks", why=LEFT)
def with_in_try_in_for_in_with(x, log):
    with Noting(log, "outer"):
        for i in range(3):
            try:
                with torch.no_grad(), noted(log, str(i)):
                    x = x + i
                    p(i)
                    if i == 1:
                        raise KeyError(i)
                    x = x * 2
            except KeyError as error:
                log.append(("caught", error.args))
                p("handler")
            else:
                log.append("else")
            finally:
                log.append(p("finally"))
    return x, log


@program("O6 I14 I6 I5 I3", LOG, differs="fewer_breaks", why=LEFT)
def for_in_with_in_finally(x, log):
    try:
        y = x + 1
        raise ValueError("v")
    except ValueError as error:
        kept = error
    finally:
        with Noting(log, "f"):
            for i in range(2):
                y = y * p(i + 2)
    return y, log, str(kept)


@program("O6 I14 I5", LOG, differs="fewer_breaks", why=LEFT)
def exception_used_after_a_break_in_its_handler(x, log):
    try:
        x = x + 1
        raise KeyError("k", 1)
    except KeyError as error:
        p("in")
        x = x * error.args[1]
        p("again", error)
        log.append(repr(error))
    try:
        log.append(error)
    except UnboundLocalError as unbound:
        log.append(type(unbound).__name__)
    return x * 2, log


@program("O6 I14 I5", LOG, differs="fewer_breaks", why=LEFT)
def chained_in_nested_handlers_with_breaks(x, log):
    try:
        try:
            raise KeyError("inner")
        except KeyError as first:
            x = x + 1
            p("one")
            try:
                raise TypeError("second") from first
            finally:
                x = x * 2
                p("two")
    except TypeError as error:
        log.append((str(error), repr(error.__cause__), repr(error.__context__)))
    return x + 3, log


@program("O6 I14 I5 I3", LOG, differs="fewer_breaks", why=LEFT)
def continue_and_break_through_finally(x, log):
    for i in range(4):
        try:
            x = x + i
            if p(i) == 1:
                continue
            if i == 2:
                break
            x = x * 2
        finally:
            log.append(p(("finally", i)))
    else:
        log.append("not reached")
    return x, log


@program("O6 I14 I5", LOG, differs="fewer_breaks", why=LEFT)
def return_in_finally_drops_an_exception(x, log):
    def f(v):
        try:
            v = v + 1
            p("try")
            raise KeyError("k")
        finally:
            p("finally")
            return v * 2  # noqa: B012

    return f(x) + 1, log


@program("O6 I14 I3", LOG)
def in_the_else_of_for_and_while(x, log):
    for i in range(2):
        x = x + i
    else:
        p("for")
        x = x * 2
    n = 0
    while n < 2:
        n += 1
        x = x + n
    else:
        p("while")
        x = x - 1
    return x


@program("O6 I14 I3 I6", LOG, differs="fewer_breaks", why=LEFT)
def in_a_comprehension_in_with(x, log):
    with torch.no_grad(), Noting(log):
        y = [x + p(i) for i in range(2)]
        z = {p(i): v * 2 for i, v in enumerate(y)}
    return y, z, log


@program("O6 I14 I3 I6", LOG, differs="fewer_breaks", why=LEFT)
def in_match_in_with_in_a_loop(x, log):
    for item in [1, "s", (2, 3), {"k": 4}]:
        with Noting(log, str(item)):
            match item:
                case int() as n if p(n) == 1:
                    x = x + n
                case str(s):
                    log.append(p(s))
                case (a, b):
                    x = x * p(a) + b
                case {"k": v}:
                    x = x - p(v)
    return x, log


class Things:
    def __init__(self, log):
        self.log = log
        self.at = 0

    @property
    def size(self):
        with Noting(self.log, "size"):
            return p(2)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            self.at += 1
            if p(self.at) > 2:
                raise StopIteration
            return self.at
        finally:
            self.log.append("next")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return {"known": 5}[name]
        except KeyError:
            p("missing", name)
            return 7

    def __enter__(self):
        p("enter")
        return self.size

    def __exit__(self, kind, value, trace):
        try:
            return p(kind is KeyError)
        finally:
            self.log.append("exit")


class Scaled:
    def __get__(self, owner, cls):
        with torch.no_grad():
            return p(owner.v) * 2

    def __set__(self, owner, value):
        try:
            owner.v = p(value)
        finally:
            owner.log.append("set")


class Holder:
    scaled = Scaled()

    def __init__(self, v, log):
        self.v = v
        self.log = log


@program("O6 I14 I10 I6", LOG, differs="fewer_breaks", why=LEFT)
def in_special_methods_in_blocks(x, log):
    things = Things(log)
    with things as size:
        for i in things:
            x = x + i * size
        x = x + things.known + things.other
        raise KeyError("swallowed")
    return x * 2, log


@program("O6 I14 I10", LOG, differs="fewer_breaks", why=LEFT)
def in_a_descriptor_in_a_try(x, log):
    h = Holder(x, log)
    try:
        y = h.scaled + 1
        h.scaled = y
    finally:
        log.append("done")
    return h.scaled, log


def deep(x, log, n):
    with noted(log, f"deep {n}"):
        try:
            if n:
                return deep(x + n, log, n - 1)
            x = x * 2
            p("bottom")
            return x - 1
        finally:
            log.append(("left", n))


@program("O6 I14 I9 I6", LOG, differs="fewer_breaks", why=LEFT)
def three_calls_deep_in_blocks(x, log):
    with Noting(log):
        y = deep(x, log, 3)
    return y + 1, log


@program("O6 I14 I9 I5", LOG, differs="fewer_breaks", why=LEFT)
def raised_three_calls_deep_after_a_break(x, log):
    def third(v):
        v = v * 2
        p("third")
        raise LookupError("deep")

    def second(v):
        with noted(log, "second"):
            return third(v + 1)

    def first(v):
        try:
            return second(v)
        except KeyError:
            log.append("not this")

    try:
        with Noting(log, "outer", (LookupError,)):
            x = x + 1
            first(x)
        log.append("swallowed")
    finally:
        x = x * 3
    return x, log


@program("O6 I14 I6 I3", LOG, differs="fewer_breaks", why=LEFT)
def stack_of_managers_filled_in_a_loop_with_breaks(x, log):
    with contextlib.ExitStack() as stack:
        for name in "abc":
            stack.enter_context(Noting(log, name))
            x = x + len(name)
            p(name)
        stack.enter_context(noted(log, "generator"))
        x = x * 2
        p("full")
    return x, log


@program("O6 I14 I6 I7", LOG, differs="fewer_breaks", why=LEFT)
def cells_changed_in_blocks_around_breaks(x, log):
    total = 0

    def add(n):
        nonlocal total
        with Noting(log, str(n)):
            total += n
            p(total)
            total += 1
        return total

    for i in range(2):
        with noted(log, "loop"):
            x = x + add(i)
            p("between")
            x = x * total
    return x, total, log


@program("O6 I14 I6 I8", LOG, differs="fewer_breaks", why=LEFT)
def in_a_generator_consumed_in_a_block(x, log):
    def items(v):
        with Noting(log, "items"):
            for i in range(3):
                p(i)
                yield v + i

    with noted(log, "outer"):
        for y in items(x):
            x = x + y
            if y.shape[0] == 2 and len(log) > 2:
                break
    return x, log


@program("O6 I14 I5 I6", LOG, differs="fewer_breaks", why=LEFT)
def enter_and_exit_that_raise_around_breaks(x, log):
    class Bad:
        def __init__(self, where):
            self.where = where

        def __enter__(self):
            p("enter")
            if self.where == "enter":
                raise KeyError("enter")

        def __exit__(self, *exc):
            p("exit")
            if self.where == "exit":
                raise LookupError("exit")

    for where in ("enter", "exit", "body"):
        try:
            with Noting(log, where), Bad(where):
                x = x + 1
                p("body")
                if where == "body":
                    raise ValueError("body")
        except LookupError as error:
            log.append((type(error).__name__, repr(error.__context__)))
        except ValueError as error:
            log.append(str(error))
    return x, log

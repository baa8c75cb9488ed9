"""Generators that exceptions are thrown into, that hand control on, and what they are called."""

import copy
import functools

from tests.conformance.program import program


@program("I8 I5", differs="fewer_breaks", why="torch does not trace it")
def thrown_into_what_was_handed_control(x):
    seen = []

    def inner():
        try:
            yield x
        except ValueError as error:
            seen.append(str(error))
            yield x + 1
        return 7

    def outer():
        result = yield from inner()
        seen.append(result)
        yield x * 2

    g = outer()
    try:
        return next(g) + g.throw(ValueError("v")) + next(g), seen
    except ValueError:
        return "not handed on"


@program("I8 I5", differs="torch_differs", why="does not close what was handed control")
def closing_closes_what_was_handed_control(x):
    seen = []

    def inner():
        try:
            yield x
        finally:
            seen.append("inner")

    def outer():
        try:
            yield from inner()
        finally:
            seen.append("outer")

    g = outer()
    first = next(g)
    g.close()
    return first + len(seen), seen


@program("I8 I5")
def thrown_past_an_iterator_without_throw(x):
    def outer():
        try:
            yield from [x, x + 1]
        except ValueError:
            yield x * 5

    g = outer()
    return next(g) + g.throw(ValueError)


@program("I8 I5")
def closing_what_raises_while_it_is_closed(x):
    def inner():
        try:
            yield x
        finally:
            raise KeyError("inner")

    def outer():
        try:
            yield from inner()
        except KeyError as error:
            yield repr(error.__context__)

    g = outer()
    next(g)
    try:
        g.close()
    except RuntimeError as error:
        return x + 1, str(error)


@program("I8 I5")
def context_of_what_is_thrown(x):
    def handling():
        try:
            raise KeyError("a")
        except KeyError:
            yield x

    g = handling()
    next(g)
    try:
        g.throw(ValueError("thrown"))
    except ValueError as error:
        context = error.__context__
    return x + 1, type(context), context.args


@program("I8 I5")
def context_of_what_is_thrown_through(x):
    def inner():
        yield x

    def handling():
        try:
            raise KeyError("a")
        except KeyError:
            yield from inner()

    g = handling()
    next(g)
    try:
        g.throw(ValueError("thrown"))
    except ValueError as error:
        context = error.__context__
    return x + 1, type(context), context.args


@program("I8 I5", differs="torch_differs", why="finds a context outside the generator")
def thrown_while_another_is_handled_outside(x):
    def quiet():
        yield x

    waiting, finished = quiet(), quiet()
    list(finished)
    contexts = []
    for g in (waiting, finished):
        try:
            try:
                raise KeyError("outside")
            except KeyError:
                g.throw(ValueError("thrown"))
        except ValueError as error:
            contexts.append(repr(error.__context__))
    return x + 1, contexts


@program("I8 I5", differs="fewer_breaks", why="torch does not trace it")
def what_throw_refuses(x):
    def g():
        yield x

    waiting = g()
    value = next(waiting)
    said = []
    for given in ((1,), (int,), ("text",), (ValueError(1), "value"), (ValueError, None, 3)):
        try:
            waiting.throw(*given)
        except TypeError as error:
            said.append(str(error))
    return value + 1, said


@program("I8 I5", differs="torch_differs", why="makes an error without text and cause")
def stop_iteration_that_leaves_a_generator(x):
    def g():
        yield x
        raise StopIteration("z")

    waiting = g()
    next(waiting)
    try:
        next(waiting)
    except RuntimeError as error:
        return x + 1, str(error), repr(error.__cause__), repr(error.__context__), error.__suppress_context__


@program("I8 F4")
def named_as_the_function_was(x):
    def plain():
        yield x
        yield x + 1

    plain.__name__ = "other"
    plain.__qualname__ = "an.other"
    g = plain()
    plain.__name__ = "later"
    return next(g), g.__name__, g.__qualname__


@program("I8 F4", differs="fewer_breaks", why="torch leaves it to Python")
def named_as_what_is_wrapped(x):
    def original():
        return x

    @functools.wraps(original)
    def wrapper():
        yield x
        yield x + 1

    g = wrapper()
    first = next(g)
    print(g.__name__, g.__qualname__.rpartition(".")[2])
    return first, g.__name__, list(g)


@program("I8 I12")
def generators_are_not_copied(x):
    def g():
        yield x

    said = []
    for copied in (copy.copy, copy.deepcopy):
        try:
            copied(g())
        except TypeError as error:
            said.append(str(error))
    return x + 1, said

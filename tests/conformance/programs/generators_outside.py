"""Generators from outside as arguments and globals; generators that break at each item; coroutines driven by hand."""

import asyncio

from tests.conformance.program import program, t

LEFT = "torch leaves the frame to Python"


def counting(v, log=None):
    try:
        while True:
            got = yield v
            v = v + (1 if got is None else got)
    except KeyError as error:
        log.append(str(error))
        yield -v
    finally:
        if log is not None:
            log.append("closed")


def talking(v, n):
    for i in range(n):
        print("item", i)
        yield v + i


def started(log):
    g = counting(10, log)
    next(g)
    return g


@program("I8 O6", lambda: [(t(2), counting(3))])
def given_and_advanced(x, g):
    y = x + next(g)
    return y * next(g), type(g).__name__


@program("I8 O6", lambda: [(t(2), started([]))])
def given_and_sent_to(x, g):
    y = x + 1
    y = y + g.send(5)
    return y * 2, g.send(1)


@program("I8 I5", lambda: [(t(2), started(log := []), log)])
def given_and_thrown_into(x, g, log):
    y = x + g.throw(KeyError("k"))
    g.close()
    return y * 2, log, list(g)


@program("I8", lambda: [(t(2), started(log := []), log)])
def given_and_closed(x, g, log):
    y = x + 1
    g.close()
    log.append("after")
    return y * 2, log


@program("I8 I3", lambda: [(t(2), (i for i in range(3)))], differs="fewer_breaks", why=LEFT)
def given_and_looped_over(x, g):
    for i in g:
        x = x + i
    return x * 2


@program("I8 I12", lambda: [(t(2), (i for i in range(3)))])
def given_and_summed(x, g):
    return x * 2 + sum(g), list(g)


@program("I8", lambda: [(t(2), counting(3))])
def given_and_only_passed_on(x, g):
    return x + 1, g is not None, isinstance(g, int)


@program("I8 I14 O6", differs="fewer_breaks", why=LEFT)
def breaking_at_each_item_in_a_loop(x):
    total = x
    for y in talking(x, 3):
        total = total + y
    return total * 2


@program("I8 I14 O6", differs="fewer_breaks", why=LEFT)
def breaking_at_each_item_by_hand(x):
    g = talking(x, 3)
    a = next(g) * 2
    b = next(g) * 3
    rest = list(g)
    return a + b, len(rest)


@program("I8 I14 O6", differs="fewer_breaks", why=LEFT)
def breaking_in_a_delegating_generator(x):
    def all_of(v):
        yield from talking(v, 2)
        v = v * 2
        yield from talking(v, 1)

    return [y + 1 for y in all_of(x)]


@program("I8 I14 O6", then=lambda r: [next(r[1]), list(r[1])], differs="fewer_breaks", why=LEFT)
def handed_out_and_breaking_at_each_item(x):
    return x * 2, talking(x + 1, 3)


def work_on(v):
    return v * 2 + 1


async def awaited(v):
    return work_on(v)


async def working(v):
    v = v + 1
    w = await awaited(v)
    return work_on(w)


@program("I8 I14", differs="fewer_breaks", why="one compilation serves both calls of a function")
def coroutine_driven_by_hand(x):
    y = x * 2
    coroutine = working(y)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value + 1


@program("I8 I14", differs="fewer_breaks", why="torch leaves what follows the coroutine to Python")
def coroutine_run(x):
    y = x * 2
    return asyncio.run(working(y)) + 1


async def several(v):
    for i in range(3):
        yield work_on(v + i)


async def gathered(v):
    return [y async for y in several(v)]


@program("I8 I14", differs="torch_differs", why="its hooks on asynchronous generators fail")
def asynchronous_generator_run(x):
    return asyncio.run(gathered(x * 2))


@program("I8", lambda: [(t(2), "no")])
def coroutine_closed(x, word):
    coroutine = working(x)
    coroutine.close()
    return x + 1, word

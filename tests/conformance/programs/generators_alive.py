"""Generators that are alive when a graph ends: real ones wait where the trace left them."""

from tests.conformance.program import program, t

STRICTER = "torch runs the generator to its end at the break and hands on the items"


def count_up(n):
    for i in range(n):
        yield i


def accumulate(v, n, *, step=1):
    total = v
    for i in range(n):
        total = total + i * step
        got = yield total
        if got is not None:
            total = total + got
    return total


def chained(v):
    yield v
    result = yield from accumulate(v, 3)
    yield result


def finishing(log):
    try:
        yield 1
        yield 2
    finally:
        log.append("closed")


@program("I8 I14 O6")
def started_before_a_break(x):
    g = count_up(4)
    y = x + next(g)
    print("break")
    return y + next(g) + sum(g), list(g)


@program("I8 I14 O6", differs="torch_differs", why=STRICTER)
def not_started_before_a_break(x):
    g = accumulate(x, 3, step=2)
    y = x * 2
    print("break")
    return y, list(g), type(g).__name__, g.__name__


@program("I8 I14 O6", differs="torch_differs", why=STRICTER)
def ended_before_a_break(x):
    g = count_up(1)
    y = x + next(g) + len(list(g))
    print("break")
    return y, list(g), g.__name__, g.__qualname__


@program("I8 I14 O6", differs="torch_differs", why=STRICTER)
def sent_to_after_a_break(x):
    g = accumulate(x, 4)
    first = next(g)
    second = g.send(10)
    print("break")
    return first, second, g.send(20), next(g)


@program("I8 I14 O6", differs="torch_differs", why=STRICTER)
def delegating_at_a_break(x):
    g = chained(x + 1)
    first, second = next(g), next(g)
    print("break")
    return first, second, list(g)


@program("I8 I14 O6 I7", differs="stricter", why=STRICTER)
def cells_shared_with_a_waiting_generator(x):
    k = 1

    def items():
        nonlocal k
        own = 10
        read = lambda: own + k  # noqa: E731
        while True:
            k += 1
            own += 1
            yield x * k, read()

    g = items()
    a = next(g)
    k += 5
    print("break")
    k += 5
    return a, next(g), k


@program("I8 I14 O6", differs="stricter", why=STRICTER)
def expression_alive_at_a_break(x):
    g = (v * 2 for v in (x, x + 1, x + 2))
    first = next(g)
    print("break")
    return first, list(g)


@program("I8 I14 O6 I3", differs="stricter", why=STRICTER)
def break_between_items(x):
    total = x
    for item in accumulate(x, 3):
        total = total + item
        print("item")
    return total


@program("I8 I14 I5", lambda: [(t(2), [])], differs="stricter", why=STRICTER)
def closed_after_a_break(x, log):
    g = finishing(log)
    y = x + next(g)
    print("break")
    g.close()
    return y, log, list(g)


@program("I8 I14 I5", differs="stricter", why=STRICTER)
def thrown_into_after_a_break(x):
    def items():
        n = 0
        while True:
            n += 1
            try:
                yield n
            except KeyError:
                n += 100

    g = items()
    y = x + next(g)
    print("break")
    return y, g.throw(KeyError("k")), next(g)


@program("I8 O6", then=lambda g: (next(g), list(g)), differs="torch_differs", why="torch hands on the items")
def returned_half_way(x):
    g = accumulate(x + 1, 4)
    next(g)
    return g


@program("I8 O6", then=lambda r: (r[0], list(r[1])), differs="torch_differs", why="torch hands on the items")
def returned_unstarted(x):
    return x * 2, accumulate(x, 2)


@program("I8 O6", differs="torch_differs", why=STRICTER)
def yield_inside_a_call(x):
    def items():
        print(max((yield 1), (yield 2), 3))
        yield x * 2

    g = items()
    next(g)
    y = x + g.send(5)
    print("break")
    return y, g.send(7)

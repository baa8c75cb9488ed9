"""Generators that wait in a `try` or `with` block of their own when a graph ends: closed, thrown into, dropped."""

import torch

from tests.conformance.program import program, t

LEFT = "torch leaves the frame to Python"
CLOSE = "torch does not close what is dropped or delegated to"
LOG = lambda: [(t(2), [])]


def counted(log, upto=4):
    log.append("start")
    try:
        for i in range(upto):
            yield i + 1
    finally:
        log.append("closed")


def guarded(log):
    n = 0
    while True:
        n += 1
        try:
            got = yield n
            log.append(("got", got))
        except KeyError as error:
            log.append(("caught", str(error)))
            n += 10


def quiet(x, log):
    with torch.no_grad():
        yield x * 2
        log.append(torch.is_grad_enabled())
        yield x * 3


def inner(log):
    try:
        got = yield "first"
        log.append(got)
        yield "second"
    except ValueError as error:
        log.append(str(error))
        yield "thrown"
    finally:
        log.append("inner closed")
    return "result"


def outer(log):
    try:
        result = yield from inner(log)
        log.append(result)
    finally:
        log.append("outer closed")


@program("I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def run_to_its_end_after_a_break(x, log):
    g = counted(log)
    y = x + next(g)
    print("break")
    return y + sum(g), log


@program("I8 I14 O6 I5", LOG, differs="fewer_breaks", why=LEFT)
def closed_after_a_break(x, log):
    g = counted(log)
    y = x + next(g)
    print("break")
    y = y + next(g)
    g.close()
    return y * 2, log, list(g)


@program("I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def deleted_after_a_break(x, log):
    g = counted(log)
    y = x + next(g)
    print("break")
    y = y * 2
    del g
    log.append("deleted")
    return y + 1, log


@program(
    "I8 I14 O6",
    LOG,
    differs="torch_differs",
    why=CLOSE,
)
def replaced_after_a_break(x, log):
    g = counted(log)
    y = x + next(g)
    print("break")
    g = None
    log.append("replaced")
    return y + 1, log, g


@program(
    "I8 I14 O6",
    LOG,
    differs="torch_differs",
    why=CLOSE,
)
def dropped_at_the_end_after_a_break(x, log):
    g = counted(log)
    y = x + next(g)
    print("break", log)
    log.append("returning")
    return y + 1, log


@program("I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def dropped_from_a_list_after_a_break(x, log):
    held = [counted(log), x]
    y = x + next(held[0])
    print("break")
    held.clear()
    log.append("cleared")
    return y + 1, log


@program("I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def kept_in_two_places_at_a_break(x, log):
    g = counted(log)
    held = {"g": g}
    y = x + next(g)
    print("break", held["g"] is g)
    del g
    log.append("still there")
    held.clear()
    log.append("gone")
    return y + 1, log


@program(
    "I8 I3 O6",
    LOG,
    differs="torch_differs",
    why=CLOSE,
)
def loop_left_by_break(x, log):
    for i in counted(log):
        x = x + i
        if i == 2:
            break
    log.append("after")
    return x * 2, log


@program("I8 I3 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def loop_with_breaks_left_early(x, log):
    for i in counted(log):
        x = x + i
        print("item", i)
        if i == 2:
            break
    log.append("after")
    return x * 2, log


@program("I8 I3 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def loop_with_breaks_to_the_end(x, log):
    for i in counted(log):
        x = x + i
        print("item", i)
    else:
        log.append("else")
    return x * 2, log


@program("I8 I14 I5", LOG, differs="fewer_breaks", why=LEFT)
def thrown_into_and_sent_to_after_a_break(x, log):
    g = guarded(log)
    y = x + next(g)
    print("break")
    y = y + g.throw(KeyError("k"))
    y = y + g.send("s")
    return y, log, next(g)


@program(
    "I8 I14 I6",
    lambda: [(t(2, grad=True), [])],
    differs="fewer_breaks",
    why=LEFT,
)
def waiting_under_no_grad_at_a_break(x, log):
    g = quiet(x, log)
    a = next(g)
    print("break", torch.is_grad_enabled())
    b = next(g)
    last = next(g, "end")
    return a, b, last, log, torch.is_grad_enabled(), x * 4


@program("I8 I14 I5", LOG, differs="fewer_breaks", why=LEFT)
def delegating_and_thrown_into_after_a_break(x, log):
    g = outer(log)
    log.append(next(g))
    y = x + 1
    print("break")
    log.append(g.throw(ValueError("v")))
    log.append(next(g, "end"))
    return y * 2, log


@program("I8 I14 I5", LOG, differs="fewer_breaks", why=LEFT)
def delegating_and_closed_after_a_break(x, log):
    g = outer(log)
    log.append(next(g))
    y = x + 1
    print("break")
    g.close()
    return y * 2, log


@program("I8 I5", LOG, differs="fewer_breaks", why=LEFT)
def delegating_and_thrown_into(x, log):
    g = outer(log)
    log.append(next(g))
    log.append(g.throw(ValueError("v")))
    log.append(next(g, "end"))
    return x * 2, log


@program("I8 I5", LOG, differs="torch_differs", why=CLOSE)
def delegating_and_closed(x, log):
    g = outer(log)
    log.append(next(g))
    g.close()
    return x * 2, log


@program("I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def not_started_in_a_block_at_a_break(x, log):
    g = counted(log)
    y = x + 1
    print("break", log)
    y = y + next(g)
    del g
    return y, log


@program(
    "I8 O6",
    LOG,
    then=lambda r: (next(r[1]), r[1].close(), r[2]),
    differs="fewer_breaks",
    why=LEFT,
)
def returned_waiting_in_a_block(x, log):
    g = counted(log)
    next(g)
    return x + 1, g, log


@program("I8 I7 I14", LOG, differs="fewer_breaks", why=LEFT)
def cells_changed_by_the_end_of_a_generator(x, log):
    total = 0

    def adding():
        nonlocal total
        try:
            total += 1
            yield total
            total += 10
        finally:
            total += 100
            log.append(total)

    g = adding()
    y = x + next(g)
    print("break", total)
    rest = list(g)
    return y + total, log, rest

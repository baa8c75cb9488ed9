"""Generators that wait in a block when a function that broke is left, and what their blocks do then."""

import contextlib

import torch

from tests.conformance.program import program, t

LEFT = "torch leaves the frame to Python"


LOG = lambda: [(t(2), [])]


@contextlib.contextmanager
def noted(log, name):
    log.append("in " + name)
    try:
        yield name.upper()
    except KeyError as error:
        log.append(("caught", str(error)))
    finally:
        log.append("out " + name)


@program("I6 I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def left_after_a_break(x, log):
    with noted(log, "a") as name:
        y = x + len(name)
        print("inside", log)
        y = y * 2
    return y + 1, log


@program("I6 I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def two_left_after_a_break(x, log):
    with noted(log, "a"), noted(log, "b") as name:
        y = x + len(name)
        print("inside", log)
        y = y * 2
    return y + 1, log


@program("I6 I8 I14 I5 O6", LOG, differs="fewer_breaks", why=LEFT)
def swallowing_after_a_break(x, log):
    with noted(log, "a"):
        y = x + 1
        print("inside", log)
        y = y * 2
        raise KeyError("k")
    return y + 1, log


@program("I6 I8 I14 I5 O6", LOG, differs="fewer_breaks", why=LEFT)
def letting_through_after_a_break(x, log):
    try:
        with noted(log, "a"):
            y = x + 1
            print("inside", log)
            y = y * 2
            raise ValueError("v")
    except ValueError as error:
        return y + 1, log, str(error)


@program("I6 I8 I14 I5 O6", LOG, differs="fewer_breaks", why=LEFT)
def left_by_what_the_break_raises(x, log):
    def loud():
        print("raising")
        raise KeyError("k")

    with noted(log, "a"):
        y = x + 1
        loud()
    return y + 1, log


@program("I6 I8 I14 I3 O6", LOG, differs="fewer_breaks", why=LEFT)
def left_each_round_after_a_break(x, log):
    for i in range(3):
        with noted(log, str(i)):
            x = x + i
            print("inside", i)
            if i == 1:
                continue
            x = x * 2
    return x, log


@program("I6 I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def three_breaks_in_one_block(x, log):
    with noted(log, "a") as name:
        x = x + 1
        print(1, name)
        x = x * 2
        print(2, name)
        x = x - 3
        print(3, name)
        x = x / 2
    return x, log


@program("I6 I8 I14 O6", LOG, differs="fewer_breaks", why=LEFT)
def returned_from_after_a_break(x, log):
    with noted(log, "a"):
        x = x + 1
        print("inside")
        return x * 2, log


@contextlib.contextmanager
def switched(log):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(log.append, "stack")
            yield stack
    finally:
        torch.set_grad_enabled(before)


@program("I6 I8 I14 O6", lambda: [(t(2, grad=True), [])], differs="fewer_breaks", why=LEFT)
def a_stack_in_a_generator_left_after_a_break(x, log):
    with switched(log) as stack:
        y = x * 2
        print("inside", torch.is_grad_enabled())
        stack.callback(log.append, "late")
        z = y + 1
    return y, z, x * 3, log

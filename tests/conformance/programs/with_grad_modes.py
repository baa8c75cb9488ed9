"""Grad modes: as blocks, decorators, calls; nested, in helpers, held in variables, with breaks inside."""

import contextlib

import torch

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]


def shown(x):
    print(torch.is_grad_enabled())
    return x + 1


@program("I6 O3", G)
def breaks_in_no_grad_in_a_helper(x):
    y = shown_without_grad(x)
    return y * 2, x * y


def shown_without_grad(x):
    with torch.no_grad():
        y = x * 2
        print(torch.is_grad_enabled())
        return y + 1


@program("I6 I14", G)
def nested_grad_modes_with_a_break(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
            print(torch.is_grad_enabled())
            c = b * 2
        d = c * 4
    return a, b, c, d, x * d


@program("I6 I14", G)
def two_breaks_in_one_block(x):
    with torch.no_grad():
        x = x * 2
        print("one")
        x = x + 1
        print("two")
        x = x * 3
    return x * 2, torch.is_grad_enabled()


@program("I6 I14", G, differs="torch_differs", why="the mode stays off after the second block")
def held_manager_with_a_break(x):
    manager = torch.no_grad()
    with manager:
        y = x * 2
        print(torch.is_grad_enabled())
        y = y + 1
    with manager:
        z = x * 3
    return y, z, x * y, manager.prev


@program("I6", lambda: [(t(2, 3, grad=True), torch.no_grad())], differs="fewer_breaks", why="torch does not know it")
def given_manager_with_a_break(x, manager):
    with manager:
        y = x * 2
        print(torch.is_grad_enabled())
        y = y + 1
    return y, x * y, manager.prev


@program("I6 O3", G, differs="torch_differs", why="the mode stays off")
def entered_by_hand(x):
    manager = torch.no_grad()
    manager.__enter__()
    y = x * 2
    manager.__exit__(None, None, None)
    return y, x * y


@program("I6 O3", G, differs="torch_differs", why="the mode stays off")
def entered_by_hand_with_a_break(x):
    manager = torch.no_grad()
    manager.__enter__()
    y = x * 2
    print(torch.is_grad_enabled())
    z = y + x
    manager.__exit__(None, None, None)
    return y, z, x * y


@program("I6 O3", G, differs="torch_differs", why="the mode is off again after the break")
def mode_set_inside_a_block_with_a_break(x):
    with torch.no_grad():
        y = x * 2
        torch.set_grad_enabled(True)
        z = x * 3
        print(torch.is_grad_enabled())
        w = x * 4
    return y, z, w, torch.is_grad_enabled()


@program("I6 I5 I14", G, differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def exception_after_a_break_in_no_grad(x):
    try:
        with torch.no_grad():
            y = x * 2
            print(torch.is_grad_enabled())
            z = y * 2
            raise ValueError("v")
    except ValueError as error:
        return y, z, x * 2, str(error), torch.is_grad_enabled()


@program("I6 I5 I14", G, differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def exception_from_the_breaking_call(x):
    try:
        with torch.no_grad():
            y = x * 2
            failing()
    except ValueError as error:
        return y, x * 2, str(error), torch.is_grad_enabled()


def failing():
    print("fails")
    raise ValueError("v")


@program("I6 I8", G)
def no_grad_in_a_contextmanager(x):
    with quietly():
        y = x * 2
    return y, x * 3


@contextlib.contextmanager
def quietly():
    with torch.no_grad():
        yield


@program("I6 F3", G)
def decorated_with_enable_grad(x):
    with torch.no_grad():
        y = with_grad(x)
    return y, x * 2


@torch.enable_grad()
def with_grad(x):
    return x * 5


@program("I6 F3", G, differs="fewer_breaks", why="torch does not know how to copy the manager")
def decorated_with_set_grad_enabled(x):
    return grad_switched_off(x), x * 2


@torch.set_grad_enabled(False)
def grad_switched_off(x):
    return x * 5


@program("I6 F3", G)
def decorated_without_parentheses(x):
    return bare(x), x * 2


@torch.no_grad
def bare(x):
    return x * 5


@program("I6 I7", G)
def manager_from_a_factory(x):
    def choose(on):
        return torch.enable_grad() if on else torch.no_grad()

    with choose(False):
        y = x * 2
    with choose(True):
        z = x * 3
    return y, z


@program("I6 O3", G)
def mode_left_off_after_a_break(x):
    y = x * 2
    torch.set_grad_enabled(False)
    print(torch.is_grad_enabled())
    return y, x * 3


@program("I6 I3 I14", G, differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def loop_of_blocks_with_breaks(x):
    made = []
    for i in range(3):
        with torch.set_grad_enabled(i % 2 == 0):
            made.append(x * i)
            print(torch.is_grad_enabled())
            made.append(x + i)
    return made


@program("I6 I14", G)
def breaking_call_returned_from_a_block(x):
    with torch.no_grad():
        return shown(x * 2)


@program("I6", G)
def inference_mode_decorator(x):
    return inferred(x.detach()), x * 2


@torch.inference_mode()
def inferred(x):
    return x * 2


@program("I6 I14", then=lambda r: [each.is_inference() for each in r])
def inference_mode_with_a_break(x):
    with torch.inference_mode():
        y = x * 2
        print("inside")
        z = y + 1
    return y, z, x * 2


@program("I6", then=lambda r: [each.is_inference() for each in r])
def inference_mode_off_inside(x):
    with torch.inference_mode():
        y = x * 2
        with torch.inference_mode(False):
            z = x * 3
    return y, z


@program("I6 I14")
def inference_mode_and_a_breaking_call(x):
    with torch.inference_mode():
        y = told(x) * 3
    return y


def told(x):
    y = x + 1
    print("told")
    return y * 2


@program("I6 I14", then=lambda r: [each.is_inference() for each in r])
def grad_and_inference_modes_with_a_break(x):
    with torch.no_grad(), torch.inference_mode():
        y = x * 2
        with torch.enable_grad():
            print("inside")
            z = y + 1
    return y, z

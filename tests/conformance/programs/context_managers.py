"""`with`: torch's context managers, `contextlib`, user classes; with breaks inside and outside."""

import contextlib

import torch

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]


class Noting:
    def __init__(self, log, name="a", swallow=False):
        self.log = log
        self.name = name
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter " + self.name)
        return self

    def __exit__(self, kind, value, trace):
        self.log.append("exit " + self.name + (" with " + kind.__name__ if kind else ""))
        return self.swallow


@program("I6", G)
def no_grad(x):
    with torch.no_grad():
        y = x * 2
    return y, x * 3


@program("I6", G)
def enable_grad_inside_no_grad(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
        c = x * 4
    return a, b, c


@program("I6", lambda: [(t(2, grad=True), True), (t(2, grad=True), False)])
def set_grad_enabled(x, flag):
    with torch.set_grad_enabled(flag):
        y = x * 2
    return y, torch.is_grad_enabled()


@program("I6 O3", G)
def set_grad_enabled_as_a_call(x):
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    return y, x * 3


@program("I6 O3", G)
def grad_mode_left_changed(x):
    y = x * 2
    torch.set_grad_enabled(False)
    return y, x * 3


@program("I6")
def inference_mode(x):
    with torch.inference_mode():
        y = x * 2
    return y.sum() + 1


@program("I6")
def autocast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = x @ y.t()
    return z, x @ y.t()


@program("I6 I14")
def break_in_autocast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = x @ y.t()
        print(torch.is_autocast_enabled("cpu"))
        b = x @ y.t()
    return a, b


@program("I6")
def several_managers_in_one_with(x):
    log = []
    with Noting(log, "a") as a, Noting(log, "b"), torch.no_grad():
        x = x + len(log)
        log.append(a.name)
    return x, log


@program("I6")
def user_manager(x):
    log = []
    with Noting(log) as n:
        y = x + 1
        n.log.append("body")
    return y, log


@program(
    "I6 I14", differs="fewer_breaks", why="torch leaves a frame that breaks under a manager of the user to Python"
)
def break_in_a_user_manager(x):
    log = []
    with Noting(log):
        y = x + 1
        print("inside", log)
        y = y * 2
    return y, log


@program(
    "I6 I14", differs="fewer_breaks", why="torch leaves a frame that breaks under a manager of the user to Python"
)
def break_in_nested_managers(x):
    log = []
    with Noting(log, "outer"):
        x = x + 1
        with torch.no_grad():
            with Noting(log, "inner"):
                x = x * 2
                print("deep", log)
                x = x - 1
            x = x / 2
    return x, log


@program("I6 I14")
def break_before_and_after_with(x):
    print("before")
    with torch.no_grad():
        y = x + 1
    print("after")
    return y * 2


@program("I6 I5")
def manager_swallows(x):
    log = []
    with Noting(log, swallow=True):
        x = x + 1
        raise ValueError("v")
    return x * 2, log


@program(
    "I6 I5 O7",
    lambda: [(t(2), [])],
    differs="fewer_breaks",
    why="torch leaves a frame that ends in an exception to Python",
)
def manager_lets_through(x, log):
    with Noting(log):
        y = x + 1
        raise ValueError("v")


@program(
    "I6 I5 I14", differs="fewer_breaks", why="torch leaves a frame that breaks under a manager of the user to Python"
)
def exception_after_a_break_in_with(x):
    log = []
    try:
        with Noting(log):
            y = x + 1
            print("in")
            raise ValueError("v")
    except ValueError:
        log.append("caught")
    return y * 2, log


@program("I6")
def return_inside_with(x):
    log = []

    def f():
        with Noting(log):
            return x + 1

    return f(), log


@program("I6 I3")
def break_and_continue_inside_with(x):
    log = []
    for i in range(4):
        with Noting(log, str(i)):
            if i == 0:
                continue
            if i == 2:
                break
            x = x + i
    return x, log


@program("I6 I3 I14", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def with_in_a_loop_with_breaks(x):
    for i in range(2):
        with torch.no_grad():
            x = x + i
            print(i)
            x = x * 2
    return x


@contextlib.contextmanager
def noted(log, name):
    log.append("in " + name)
    try:
        yield name.upper()
    finally:
        log.append("out " + name)


@program("I6 I8")
def contextmanager_function(x):
    log = []
    with noted(log, "a") as up:
        y = x + len(up)
    return y, log


@program("I6 I8 I14", differs="fewer_breaks", why="torch leaves a frame that breaks under such a manager to Python")
def break_in_a_contextmanager_block(x):
    log = []
    with noted(log, "a"):
        y = x + 1
        print(log)
        y = y * 2
    return y, log


@program("I6 I8 I5")
def exception_through_a_contextmanager(x):
    log = []
    try:
        with noted(log, "a"):
            raise ValueError("v")
    except ValueError:
        log.append("caught")
    return x + 1, log


@contextlib.contextmanager
def swallowing():
    try:
        yield
    except KeyError:
        pass


@program("I6 I8 I5")
def contextmanager_that_swallows(x):
    with swallowing():
        x = x + 1
        raise KeyError
    return x * 2


@program("F3", G)
def decorated_with_no_grad(x):
    return without_grad(x), x * 2


@torch.no_grad()
def without_grad(x):
    return x * 5


@program("F3 I14", G)
def decorated_with_no_grad_and_breaking(x):
    return without_grad_printing(x) * 2 + x


@torch.no_grad()
def without_grad_printing(x):
    y = x * 2
    print(torch.is_grad_enabled())
    return y + 1


@program("F3", G)
def local_function_decorated_with_no_grad(x):
    @torch.no_grad()
    def f(v):
        return v * 2

    return f(x), x * 3


@contextlib.contextmanager
def doubling(box):
    box[0] *= 2
    yield


@doubling([1])
def decorated_by_a_contextmanager(x):
    return x + 1


@program("F3 I6")
def contextmanager_as_decorator(x):
    return decorated_by_a_contextmanager(x)

"""More `with`: managers held and given, exit stacks, enter and exit that raise, torch's own."""

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


@program("I6")
def manager_held_in_a_variable(x):
    manager = torch.no_grad()
    with manager:
        y = x * 2
    with manager:
        z = y * 3
    return z


@program(
    "I6",
    lambda: [(t(2, grad=True), torch.no_grad())],
    then=lambda r: None,
    differs="fewer_breaks",
    why="torch does not know the manager",
)
def manager_as_argument(x, manager):
    with manager:
        y = x * 2
    return y.requires_grad


@program(
    "I6 O7", lambda: [(t(2), Noting([], "given"))], differs="fewer_breaks", why="torch does not know the manager"
)
def user_manager_as_argument(x, manager):
    with manager:
        y = x * 2
    return y


@program("I6")
def exit_stack_with_managers(x):
    log = []
    with contextlib.ExitStack() as stack:
        for name in "ab":
            stack.enter_context(Noting(log, name))
        x = x + len(log)
    return x, log


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python after the class is made")
def closing(x):
    class Thing:
        closed = False

        def close(self):
            self.closed = True

    with contextlib.closing(Thing()) as thing:
        y = x + 1
    return y, thing.closed


@program("I6")
def sdpa_kernel(x):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q = x.reshape(1, 1, 2, 3)
    with sdpa_kernel(SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)


@program("I6")
def profiler_record_function(x):
    with torch.profiler.record_function("part"):
        y = x + 1
    return y * 2


@program("I6")
def manager_with_class_getattr(x):
    class Switch:
        on = False

        def __enter__(self):
            Switch.on = True

        def __exit__(self, *_):
            Switch.on = False

    with Switch():
        inside = Switch.on
        y = x + inside
    return y, inside, Switch.on


@program("I6 I5")
def enter_raises(x):
    class Bad:
        def __enter__(self):
            raise ValueError("no entry")

        def __exit__(self, *_):
            return True

    try:
        with Bad():
            x = x * 100
    except ValueError as error:
        return x + 1, str(error)


@program("I6 I5")
def exit_raises(x):
    class Bad:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            raise ValueError("no exit")

    try:
        with Bad():
            x = x + 1
    except ValueError as error:
        return x * 2, str(error)


@program("I6 I5", differs="fewer_breaks", why="torch does not know the manager")
def not_a_manager(x):
    try:
        with 5:
            pass
    except TypeError as error:
        return x + 1, str(error)


@program("I6 I14", G)
def grad_mode_restored_after_exception(x):
    try:
        with torch.no_grad():
            y = x * 2
            raise ValueError
    except ValueError:
        return y, x * 3, torch.is_grad_enabled()


@program("I6")
def redirect_and_suppress(x):
    with contextlib.suppress(ZeroDivisionError, ValueError):
        1 / 0
    with contextlib.suppress(ZeroDivisionError):
        x = x + 1
    return x


@program("I6")
def default_dtype_switched(x):
    torch.set_default_dtype(torch.float64)
    y = torch.ones(2)
    torch.set_default_dtype(torch.float32)
    return y, x + 1


@program("I6", differs="fewer_breaks", why="torch does not know the manager")
def device_context(x):
    with torch.device("cpu"):
        y = torch.ones(3)
    return x + y

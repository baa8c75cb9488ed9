"""`contextlib`: stacks, null contexts, suppress, closing, redirects, generator functions; around torch's own and with
breaks."""

import contextlib
import io

import torch

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]


@program("I6", lambda: [(t(2, 3, grad=True), True), (t(2, 3, grad=True), False)])
def null_or_no_grad(x, on):
    with torch.no_grad() if on else contextlib.nullcontext():
        y = x * 2
    return y


@program("I6", G)
def null_context_gives_its_value(x):
    with contextlib.nullcontext(x * 3) as y:
        z = y + 1
    return z


@program("I6 I14", G, differs="torch_differs", why="it fails after the break")
def break_in_a_null_context(x):
    with contextlib.nullcontext(5) as n:
        y = x * n
        print("inside")
        y = y + n
    return y


@program("I6", G, differs="fewer_breaks", why="torch leaves the frame to Python")
def stack_of_grad_modes(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        y = x * 2
        stack.enter_context(torch.enable_grad())
        z = x * 3
    return y, z, x * 4


@program("I6 I14", G, differs="fewer_breaks", why="torch leaves the frame to Python")
def stack_of_grad_modes_with_a_break(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        y = x * 2
        print(torch.is_grad_enabled())
        z = x * 3
    return y, z, x * 4


@program(
    "I6",
    lambda: [(t(2, 3), t(3, 2), True), (t(2, 3), t(3, 2), False)],
    differs="fewer_breaks",
    why="torch leaves the frame to Python",
)
def stack_with_autocast_sometimes(x, y, on):
    with contextlib.ExitStack() as stack:
        if on:
            stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        z = x @ y
    return z


@program("I6")
def stack_callbacks(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, "first")
        stack.callback(log.append, "second")
        stack.push(lambda *exc: log.append(exc[0]))
        y = x + len(log)
    return y, log


@program("I6")
def stack_closed_by_hand(x):
    log = []
    stack = contextlib.ExitStack()
    stack.callback(log.append, "closed")
    y = x + 1
    stack.close()
    return y, log


@program("I6 I5")
def suppress_with_tensor_work(x):
    y = x + 1
    with contextlib.suppress(KeyError):
        y = y * 2
        {}["missing"]
        y = y * 100
    return y


@program("I6 I5 I14", differs="fewer_breaks", why="torch leaves a frame that breaks there to Python")
def suppress_with_a_break(x):
    y = x + 1
    with contextlib.suppress(KeyError):
        y = y * 2
        print("before")
        y = y + 3
        {}["missing"]
        y = y * 100
    return y * 2


@program("I6", differs="fewer_breaks", why="torch traces nothing after the break")
def redirected_output(x):
    text = io.StringIO()
    y = x + 1
    with contextlib.redirect_stdout(text):
        print("caught")
    return y * 2, text.getvalue()


@program("I6 I8")
def generator_manager_with_a_value_and_finally(x):
    log = []

    @contextlib.contextmanager
    def scaled(by):
        log.append("in")
        try:
            yield by * 2
        finally:
            log.append("out")

    with scaled(3) as n, scaled(4) as m:
        y = x * n + m
    return y, log


@program("I6 I8 I14", G, differs="fewer_breaks", why="torch leaves the frame to Python")
def break_inside_a_generator_manager_that_switches(x):
    with without():
        y = x * 2
        print(torch.is_grad_enabled())
        z = x * 3
    return y, z, x * 4


@contextlib.contextmanager
def without():
    with torch.no_grad():
        yield


@program("I6 F3")
def generator_manager_as_decorator_with_arguments(x):
    log = []

    @contextlib.contextmanager
    def noted(name):
        log.append(name)
        yield
        log.append("/" + name)

    @noted("a")
    def f(v):
        log.append("body")
        return v + 1

    return f(x), f(x) * 2, log


@program("I6")
def context_decorator_class(x):
    log = []

    class Noted(contextlib.ContextDecorator):
        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, *exc):
            log.append("exit")

    @Noted()
    def f(v):
        return v + 1

    return f(x), log


@program("I6")
def abstract_manager(x):
    class Plain(contextlib.AbstractContextManager):
        left = 0

        def __exit__(self, *exc):
            self.left += 1

    p = Plain()
    with p as same:
        y = x + 1
    return y, same is p, p.left


class Switch:
    """A user's manager that changes the grad mode."""

    def __init__(self, on):
        self.on = on

    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(self.on)
        return self

    def __exit__(self, *exc):
        torch.set_grad_enabled(self.before)


@program("I6 O3", G)
def user_manager_switches_grad(x):
    with Switch(False):
        y = x * 2
    return y, x * 3


@program(
    "I6 O3 I14",
    G,
    differs="fewer_breaks",
    why="torch leaves a frame that breaks under a manager of the user to Python",
)
def user_manager_in_no_grad_with_a_break(x):
    with torch.no_grad():
        y = x * 2
        with Switch(True):
            z = x * 3
            print(torch.is_grad_enabled())
            w = x * 4
        v = x * 5
    return y, z, w, v, x * 6


@program(
    "I6 O3 I14",
    G,
    differs="fewer_breaks",
    why="torch leaves a frame that breaks under a manager of the user to Python",
)
def no_grad_in_a_user_manager_with_a_break(x):
    with Switch(False):
        y = x * 2
        with torch.enable_grad():
            z = x * 3
            print(torch.is_grad_enabled())
            w = x * 4
        v = x * 5
    return y, z, w, v, x * 6

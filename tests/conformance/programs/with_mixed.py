"""Torch's context managers among other things: loops, generators, methods, recursion, closures, `try`."""

import contextlib

import torch

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]
P = lambda: [(t(2, 3), t(3, 2))]
B16 = torch.bfloat16


@program("I6 I8", G)
def no_grad_in_a_generator(x):
    def parts(v):
        with torch.no_grad():
            yield v * 2
            yield v * 3

    return [*parts(x), x * 4]


@program("I6 I9", G)
def mode_by_recursion(x):
    def f(v, n):
        if n == 0:
            return v
        with torch.set_grad_enabled(n % 2 == 0):
            return f(v * 2, n - 1) + v

    return f(x, 3), x * 2


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(t(3, 3))

    @torch.no_grad()
    def quiet(self, x):
        return x @ self.weight

    @torch.autocast("cpu", dtype=B16)
    def half(self, x):
        return x @ self.weight

    @torch.no_grad()
    @torch.autocast("cpu", dtype=B16)
    def both(self, x):
        return x @ self.weight

    def forward(self, x):
        return self.quiet(x), self.half(x), self.both(x), x @ self.weight


@program("I6 F3 B11", lambda: [(Block(), t(2, 3))], then=lambda r: [(y.dtype, y.requires_grad) for y in r])
def decorated_methods_of_a_module(module, x):
    return module(x)


class Talking(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        with torch.no_grad():
            self.inner.weight.fill_(0.5)
            self.inner.bias.fill_(1.0)

    @torch.inference_mode()
    def forward(self, x):
        y = self.inner(x)
        print("forward")
        return self.inner(y)


@program("I6 F3 B11 I14", lambda: [(Talking(), t(2, 3))], then=lambda r: r.is_inference())
def decorated_forward_with_a_break(module, x):
    return module(x) * 2


@program("I6 I7", lambda: [(t(2, 3), t(3, 2), True), (t(2, 3), t(3, 2), False)])
def manager_in_a_closure(x, y, on):
    def make():
        return torch.autocast("cpu", dtype=B16, enabled=on)

    def run(f):
        with make():
            return f()

    return run(lambda: x @ y)


@program("I6 I8", P)
def user_generator_around_autocast(x, y):
    with lower() as dtype:
        z = x @ y
    return z, dtype, x @ y


@contextlib.contextmanager
def lower():
    with torch.autocast("cpu", dtype=B16):
        yield torch.get_autocast_dtype("cpu")


@program("I6 I5", G)
def break_in_a_finally_under_no_grad(x):
    with torch.no_grad():
        try:
            y = x * 2
        finally:
            print(torch.is_grad_enabled())
            z = x * 3
    return y, z, x * 4


@program("I6 I5 I14", G, differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def break_in_a_handler_under_no_grad(x):
    with torch.no_grad():
        try:
            y = x * 2
            raise KeyError("k")
        except KeyError as error:
            print(error, torch.is_grad_enabled())
            z = y + 1
    return y, z, x * 4


@program("I6 I5 I14", G, differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def no_grad_in_a_handler_with_a_break(x):
    try:
        raise KeyError("k")
    except KeyError as error:
        with torch.no_grad():
            y = x * 2
            print(error, torch.is_grad_enabled())
            z = y + 1
    return y, z, x * 4


@program("I6 I3 I14", P, differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def autocast_around_a_loop_with_breaks(x, y):
    made = []
    with torch.autocast("cpu", dtype=B16):
        for i in range(3):
            made.append(x @ y + i)
            print(torch.is_autocast_enabled("cpu"))
    made.append(x @ y)
    return made


@program("I6 I3 I14", G)
def return_from_a_block_in_a_loop_with_breaks(x):
    for i in range(3):
        with torch.no_grad():
            x = x * 2
            print(i, torch.is_grad_enabled())
            if i == 1:
                return x, torch.is_grad_enabled()
    return x


@program("I6", P)
def attention_under_autocast(x, y):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q = x.reshape(1, 1, 2, 3)
    with torch.autocast("cpu", dtype=B16), sdpa_kernel(SDPBackend.MATH):
        z = torch.nn.functional.scaled_dot_product_attention(q @ x.t() @ x, q, q)
    return z


@program("I6 I14", P)
def five_managers_with_a_break(x, y):
    with torch.no_grad(), torch.autocast("cpu", dtype=B16), torch.profiler.record_function("part"):
        with torch.inference_mode(), contextlib.nullcontext():
            a = x @ y
            print("inside")
            b = a @ x
    return a, b, x @ y


@program("I6 I14 I7", G)
def break_under_no_grad_with_a_cell(x):
    total = x

    def add(v):
        nonlocal total
        total = total + v

    with torch.no_grad():
        add(x * 2)
        print("inside")
        add(x * 3)
    return total


@program("I6 O7 I14", lambda: [(t(2, 3, grad=True), [])])
def break_under_no_grad_with_side_effects(x, log):
    with torch.no_grad():
        log.append(x * 2)
        print(len(log))
        log.append(x * 3)
    log.append(x * 4)
    return len(log)


@program("I6 I14", G)
def break_in_an_expression_under_no_grad(x):
    with torch.no_grad():
        y = x * 2 + told(x) * (x + 1)
    return y, x * 2


def told(x):
    print("told", torch.is_grad_enabled())
    return x - 1


@program("I6 I14", G, differs="torch_differs", why="it forgets the attribute")
def block_whose_manager_has_attributes(x):
    manager = torch.no_grad()
    manager.label = "mine"
    with manager:
        y = x * 2
        print(manager.label, manager.prev)
        z = y + 1
    return y, z, manager.label, manager.prev


@program("I6 I14", G)
def break_before_leaving_and_after_entering(x):
    with torch.no_grad():
        print("entered")
        y = x * 2
        print("leaving")
    return y, x * 3


@program("I6 I12", G, differs="fewer_breaks", why="torch leaves the frame to Python")
def catching_warnings(x):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x * 2
    return y * 3

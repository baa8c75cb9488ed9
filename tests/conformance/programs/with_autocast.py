"""Autocast: devices, dtypes, cache; blocks, decorators, breaks, state guarded and left."""

import torch

from tests.conformance.program import program, t

P = lambda: [(t(2, 3), t(3, 2))]
F16 = torch.float16
B16 = torch.bfloat16


@program("I6", P)
def default_dtype_of_the_device(x, y):
    with torch.autocast("cpu"):
        z = x @ y
    return z, x @ y


@program("I6", P)
def by_device_type_keyword(x, y):
    with torch.autocast(device_type="cpu", dtype=F16, cache_enabled=False):
        z = x @ y
        cached = torch.is_autocast_cache_enabled()
    return z, cached, torch.is_autocast_cache_enabled()


@program("I6", P)
def amp_autocast(x, y):
    with torch.amp.autocast("cpu", dtype=B16):
        z = x @ y
    return z


@program("I6", P, differs="torch_differs", why="it does not warn")
def cpu_amp_autocast(x, y):
    with torch.cpu.amp.autocast():
        z = x @ y
    return z


@program("I6", P, differs="torch_differs", why="it does not warn")
def cuda_without_a_device(x, y):
    with torch.autocast("cuda"):
        z = x @ y
    return z, torch.is_autocast_enabled("cuda")


@program("I6", lambda: [(t(2, 3), t(3, 2), True), (t(2, 3), t(3, 2), False)])
def enabled_by_a_flag(x, y, on):
    with torch.autocast("cpu", dtype=B16, enabled=on):
        z = x @ y
    return z


@program("I6", P)
def switched_off_inside(x, y):
    with torch.autocast("cpu", dtype=B16):
        a = x @ y
        with torch.autocast("cpu", enabled=False):
            b = x @ y
        c = x @ y
    return a, b, c


@program("I6 I14", P)
def nested_with_a_break(x, y):
    with torch.autocast("cpu", dtype=B16):
        a = x @ y
        with torch.autocast("cpu", enabled=False):
            b = x @ y
            print(torch.is_autocast_enabled("cpu"))
            c = b @ x
        d = x @ y
    return a, b, c, d, x @ y


@program("I6 I14", P)
def with_no_grad_and_a_break(x, y):
    with torch.autocast("cpu", dtype=B16), torch.no_grad():
        a = x @ y
        print(torch.is_autocast_enabled("cpu"), torch.is_grad_enabled())
        b = a @ x
    return a, b


@program("I6 F3", P)
def as_a_decorator(x, y):
    return halved(x, y), x @ y


@torch.autocast("cpu", dtype=B16)
def halved(x, y):
    return x @ y


@program("I6 F3", P)
def as_a_decorator_with_a_break(x, y):
    return halved_printing(x, y), x @ y


@torch.autocast("cpu", dtype=B16)
def halved_printing(x, y):
    z = x @ y
    print(torch.is_autocast_enabled("cpu"))
    return z @ x


@program("I6 I14", P)
def breaking_call_inside(x, y):
    with torch.autocast("cpu", dtype=B16):
        z = multiplied(x, y)
    return z, x @ y


def multiplied(x, y):
    z = x @ y
    print(torch.get_autocast_dtype("cpu"))
    return z @ x


@program("I6", P)
def held_in_a_variable(x, y):
    manager = torch.autocast("cpu", dtype=B16)
    with manager:
        a = x @ y
    with manager:
        b = y @ x
    return a, b, manager.fast_dtype


@program(
    "I6",
    lambda: [(t(2, 3), t(3, 2), torch.autocast("cpu", dtype=B16))],
    differs="torch_differs",
    why="the manager does not keep what was before",
)
def given_as_an_argument(x, y, manager):
    with manager:
        z = x @ y
    return z


@program("I6 O3", P, then=lambda r: torch.set_autocast_enabled("cpu", False))
def state_set_by_calls(x, y):
    torch.set_autocast_dtype("cpu", B16)
    torch.set_autocast_enabled("cpu", True)
    return x @ y


def gpu_state():
    return torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda"), torch.is_autocast_cache_enabled()


def gpu_state_left(result):
    left = gpu_state()
    torch.set_autocast_enabled("cuda", False)
    torch.set_autocast_dtype("cuda", F16)
    torch.set_autocast_cache_enabled(True)
    return left


@program("I6 O3", P, then=gpu_state_left, differs="torch_differs", why="autocast of the GPU is off afterwards")
def gpu_state_set_by_calls(x, y):
    torch.set_autocast_dtype("cuda", B16)
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_cache_enabled(False)
    return x @ y, gpu_state()


@program("I6 O3", P, then=gpu_state_left, differs="torch_differs", why="the dtype set is there before it was set")
def gpu_state_set_by_calls_with_a_break(x, y):
    before = gpu_state()
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", B16)
    z = x @ y
    print(gpu_state())
    torch.set_autocast_enabled("cuda", before[0])
    return z @ x, before, gpu_state()


@program("I6 O3", P, differs="torch_differs", why="autocast stays on")
def entered_by_hand(x, y):
    manager = torch.autocast("cpu", dtype=B16)
    manager.__enter__()
    z = x @ y
    manager.__exit__(None, None, None)
    return z, x @ y


@program("I6 O3", P, differs="torch_differs", why="autocast stays on")
def entered_by_hand_with_a_break(x, y):
    manager = torch.autocast("cpu", dtype=B16)
    manager.__enter__()
    z = x @ y
    print(torch.is_autocast_enabled("cpu"))
    w = x @ y
    manager.__exit__(None, None, None)
    return z, w, x @ y


@program("I6 I5", P)
def exception_through_it(x, y):
    try:
        with torch.autocast("cpu", dtype=B16):
            z = x @ y
            raise ValueError("v")
    except ValueError:
        return z, x @ y, torch.is_autocast_enabled("cpu")


@program("I6 O3 G1", lambda: [(t(2, 3), t(3, 2))] * 3)
def called_in_other_states(x, y):
    return x @ y, torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")


@program("I6", P, differs="torch_differs", why="it does not warn")
def unsupported_dtype_warns(x, y):
    with torch.autocast("cpu", dtype=torch.float64):
        z = x @ y
    return z


@program("I6", P, differs="torch_differs", why="it fails inside")
def unknown_device(x, y):
    try:
        with torch.autocast("nowhere"):
            z = x @ y
    except (RuntimeError, ValueError) as error:
        return x + 1, type(error).__name__


@program("I6", lambda: [t(2, 3)])
def module_under_autocast(x):
    with torch.autocast("cpu", dtype=B16):
        return LAYER(x).float() * 2


LAYER = torch.nn.Linear(3, 2)
with torch.no_grad():
    LAYER.weight.fill_(0.5)
    LAYER.bias.fill_(0.25)

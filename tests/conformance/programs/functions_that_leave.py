"""Functions and partials made in the trace, looked at when they have left it: all that a real one has."""

import functools
import inspect

import torch

from tests.conformance.program import program, t


def shown(made):
    f = made[0]
    closure = [cell.cell_contents for cell in f.__closure__ or ()]
    return (
        f.__name__,
        f.__qualname__.rpartition(".")[2],
        f.__module__,
        f.__doc__,
        f.__defaults__,
        f.__kwdefaults__,
        f.__annotations__,
        f.__dict__,
        f.__code__.co_freevars,
        [type(each).__name__ for each in closure],
        str(inspect.signature(f)),
        f(t(2)),
        f(t(2), 5, k=7),
    )


@program("F4 I9", lambda: [(t(2), 3), (t(2), 4)], then=shown)
def function_with_everything_leaves(x, n):
    y = x * n

    def made(v: torch.Tensor, a: int = n, /, b=2, *rest, k: float = n + 1, **more) -> torch.Tensor:
        """Text."""
        return v * a + b + k + n

    made.note = "kept"
    return made, y


@program("F4 I9", lambda: [(t(2), 3)], then=lambda made: [f(t(2)) for f in made[0]])
def defaults_and_late_binding_leave(x, n):
    late = [lambda v: v * i for i in range(3)]
    early = [lambda v, i=i: v * i for i in range(n)]
    return late + early, x + 1


def wrapped_shown(made):
    f = made[0]
    return f.__name__, f.__doc__, f.__wrapped__.__name__, f.__wrapped__ is made[1], f(t(2)), sorted(f.__dict__)


@program("F4 I7", then=wrapped_shown)
def wrapper_leaves(x):
    def inner(v):
        """Inner text."""
        return v + 1

    @functools.wraps(inner)
    def outer(*args, **kwargs):
        return inner(*args, **kwargs) * 2

    return outer, inner, outer(x)


def shared_shown(made):
    up, down, _ = made
    return [up(), up(), down(), up.__closure__[0] is down.__closure__[0]]


@program("F4 O6", then=shared_shown)
def closures_that_leave_share_a_cell(x):
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    def down():
        nonlocal n
        n -= 1
        return n

    up()
    return up, down, x * n


def recursion_shown(made):
    return made[0](5), made[0].__closure__[0].cell_contents is made[0]


@program("F4 I7", then=recursion_shown)
def recursive_function_leaves(x):
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    return fact, x * fact(3)


def partial_shown(made):
    p, q, _ = made
    return (
        type(p) is functools.partial,
        p.args,
        p.keywords,
        p.func.__name__,
        q.func is p.func,
        q.args,
        q.keywords,
        p(t(2)),
        p.__dict__,
    )


def scaled(x, *args, k=1):
    return x * k + sum(args)


@program("F8 O6", lambda: [(t(2), 3), (t(2), 4)], then=partial_shown)
def partials_leave(x, n):
    p = functools.partial(scaled, k=n)
    q = functools.partial(p, 1, k=2)
    return p, q, q(x)


SCALED = functools.partial(scaled, k=2)


@program("F8 I2")
def partial_as_a_constant(x):
    table = {SCALED: 1, "f": SCALED}
    found = [hasattr(SCALED, name) for name in ("func", "args", "keywords", "__name__", "other", "__call__")]
    same = SCALED == SCALED, SCALED is table["f"], table[SCALED], callable(SCALED), bool(SCALED)
    return SCALED(x), found, same, SCALED.keywords, SCALED.args, SCALED.func is scaled, getattr(SCALED, "zzz", 4)


@program(
    "F8 I11",
    lambda: [(t(2), {SCALED: 1}, SCALED), (t(2), {SCALED: 1}, SCALED)],
    differs="torch_differs",
    why="torch.compile takes partials of the same for one",
)
def partials_as_keys(x, table, p):
    made = functools.partial(scaled, k=3)
    table[made] = 2
    alike = functools.partial(scaled, k=3)
    return (
        x * table[made] + table[p],
        alike in table,
        p in table,
        len({made, alike, made}),
        SCALED == p,
        made == alike,
    )

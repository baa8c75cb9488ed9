"""Programs to be broken at each of their instructions. Each is `(x, *more)`; `ARGUMENTS` makes what more there is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import torch

Program = Callable[..., Any]
PROGRAMS: list[Program] = []
ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {}
FACTOR = 3


def program(fn: Program) -> Program:
    PROGRAMS.append(fn)
    return fn


def takes(make: Callable[[], tuple[Any, ...]]) -> Callable[[Program], Program]:
    def register(fn: Program) -> Program:
        ARGUMENTS[fn.__name__] = make
        return program(fn)

    return register


def arguments_of(fn: Program) -> tuple[Any, ...]:
    make = ARGUMENTS.get(fn.__name__)
    return (torch.arange(4.0), *(make() if make is not None else ()))


@program
def straight(x):
    y = x * 2 + FACTOR
    z = y - x
    return z, [y, x]


@program
def keywords_and_methods(x):
    y = torch.clamp(x + 1, min=1, max=3)
    a, (b, *c) = y.sum().mul(2), (y, 1, 2)
    return a.reshape(1, -1), b, c


@program
def loop(x):
    total = x
    for i, name in enumerate(["a", "b"]):
        if i == 1:
            continue
        total = total + len(name) * i + 1
    else:
        total = total * 2
    return total


@program
def while_with_break(x):
    n = 0
    while True:
        n += 1
        x = x + n
        if n > 1:
            break
    return x, n


@takes(lambda: ([1, 2], {"a": 1}))
def containers(x, items, table):
    items.append(x + 1)
    table["b"] = items
    table["a"] += 2
    first, *rest = items
    del items[0]
    return {"first": first, **table}, rest, {n for n in (1, 2)}, items[0] is rest[-1]


@program
def comprehensions(x):
    pairs = {str(i): x + i for i in range(2)}
    squares = [v * v for v in pairs.values() if v is not None]
    return squares, sum(len(k) for k in pairs), f"{len(pairs)!r:>4}|{FACTOR}"


@program
def closures(x):
    count = 0

    def add(by, *, times=2):
        nonlocal count
        count += by * times
        return x + count

    y = add(1)
    x = x * 2
    return add(2, times=3), y, count


@program
def lambda_defaults(x):
    scale = 2
    f = lambda v, s=scale: v * s + scale
    scale = 3
    return f(x), f


class Manager:
    """Notes what happens to it, and swallows `KeyError`s."""

    def __init__(self):
        self.log = []

    def __enter__(self):
        self.log.append("enter")
        return self.log

    def __exit__(self, kind, error, trace):
        self.log.append("exit" if kind is None else f"exit {kind.__name__}")
        return kind is KeyError


@takes(lambda: (Manager(),))
def with_block(x, manager):
    with manager as log:
        y = x + 1
        log.append("inside")
    return y * 2


@takes(lambda: (Manager(), Manager()))
def with_swallowed(x, outer, inner):
    y = x
    with outer, inner:
        y = x + 1
        raise KeyError("k")
    return y * 2


@program
def with_no_grad(x):
    w = x.clone().requires_grad_()
    with torch.no_grad():
        y = w + 1
    z = w * 2
    return y.requires_grad, z.requires_grad, torch.is_grad_enabled()


@takes(lambda: (Manager(),))
def with_return_in_loop(x, manager):
    for i in range(3):
        with manager:
            x = x + i
            if i == 1:
                return x
    return None


@program
def try_except(x):
    y = x + 1
    try:
        y = y * 2
        raise ValueError("bad", 1)
    except (KeyError, ValueError) as error:
        y = y + len(error.args)
    else:
        y = y * 100
    return y, sys.exc_info()


@program
def nested_handlers(x):
    try:
        try:
            y = x + 1
            raise KeyError("inner")
        except KeyError:
            y = y * 2
            raise ValueError("outer")
    except ValueError as error:
        context = type(error.__context__)
        return y + 1, context, sys.exc_info()[0]


@program
def finally_block(x):
    done = []
    try:
        y = x + 1
        done.append("try")
    finally:
        done.append("finally")
        y = y * 2
    return y, done


@program
def finally_after_raise(x):
    done = []
    try:
        try:
            done.append(x + 1)
            {}["missing"]
        finally:
            done.append(sys.exc_info()[0])
    except LookupError as error:
        done.append(error.args)
    return done, sys.exc_info()[1]


@program
def raises_out(x):
    y = x + 1
    try:
        raise KeyError("first")
    except KeyError as error:
        y = y * 2
        raise ValueError("second") from error


@program
def exceptions_in_a_loop(x):
    seen = []
    for key in ("a", "b"):
        try:
            x = x + {"a": 1}[key]
        except KeyError as error:
            seen.append(error.args[0])
            continue
        finally:
            x = x * 2
    return x, seen, sys.exc_info()


@program
def generators_inside(x):
    def counting(n):
        got = yield x + n
        yield got

    g = counting(1)
    first = next(g)
    second = g.send(first * 2)
    rest = [v for v in zip(counting(2), range(1))]
    return first, second, rest, list(g)


@program
def conditional_values(x):
    flag = x.shape[0] > 3 and "yes" or "no"
    other = None if flag is None else flag
    ok = 1 < x.dim() + 1 < 3
    assert ok, "not reached"
    return (x + 1 if not ok else x - 1), flag, other


class Point:
    size = 2

    def __init__(self, at):
        self.at = at

    def moved(self):
        return Point(self.at + self.size)


@program
def classes(x):
    p = Point(x).moved()
    p.extra = p.at * 2
    return p, p.extra, vars(p)["extra"] is p.extra


@contextlib.contextmanager
def managing(log):
    log.append("before")
    try:
        yield "managed"
    finally:
        log.append("after")


@takes(lambda: ([],))
def generator_manager(x, log):
    with managing(log) as name:
        y = x + len(name)
        log.append(name)
    return y


@program
def matching(x):
    found = []
    for subject in ({"k": 1, "r": 2}, [1, 2, 3], "text"):
        match subject:
            case {"k": value, **rest}:
                found.append((value, rest))
            case [first, *_]:
                found.append(first)
            case str(text):
                found.append(text)
    return x + len(found), found


@takes(lambda: (2, 3))
def star_calls(x, *args, scale=2, **kwargs):
    def f(a, b, *rest, k=1, **more):
        return a * k + b, rest, more

    return f(x, *args, 4, k=scale, **{"z": 1, **kwargs})

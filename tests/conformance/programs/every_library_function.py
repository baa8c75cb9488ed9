"""Functions of `functools`, `contextlib`, `re`, `random` and the builtins that other files do not have."""

import contextlib
import functools
import random
import re
from collections.abc import Iterator

import torch

from tests.conformance.program import program, t


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n


@program("I10 I12")
def comparisons_made_by_total_ordering(x):
    a, b = Version(1), Version(2)
    return x + 1, a < b, a <= b, a > b, a >= b, a == b, a != b, max(a, b) is b


@program("I10 I12")
def total_ordering_inside(x):
    @functools.total_ordering
    class Local:
        def __init__(self, n):
            self.n = n

        def __le__(self, other):
            return self.n <= other.n

    return x + 1, Local(1) < Local(2), Local(2) > Local(1), Local(1) >= Local(2)


@functools.singledispatch
def scaled(v):
    return "anything"


@scaled.register
def _(v: int):
    return v * 10


@scaled.register(torch.Tensor)
def _(v):
    return v * 2


@program("I12 F6")
def single_dispatch(x):
    return scaled(x), scaled(3), scaled("s"), scaled.dispatch(int)(4)


@program("I12 F6")
def single_dispatch_made_inside(x):
    @functools.singledispatch
    def f(v):
        return 0

    f.register(int, lambda v: v + 1)
    return x + f(1), f("s")


class Scale:
    @functools.singledispatchmethod
    def of(self, v):
        return "anything"

    @of.register
    def _(self, v: int):
        return v + 1


@program("I10 I12")
def single_dispatch_of_a_method(x):
    return x + Scale().of(1), Scale().of("s")


@program("I12 F6", differs="torch_differs", why="calls the cached function each time")
def cache_made_inside(x):
    calls = []

    @functools.cache
    def square(n):
        calls.append(n)
        return n * n

    return x + square(3) + square(3) + square(2), calls


@program("I12 F4")
def update_wrapper_by_hand(x):
    def f(v: int) -> int:
        """Docs."""
        return v + 1

    def g(v):
        return f(v) * 2

    out = functools.update_wrapper(g, f, assigned=("__name__", "__doc__"))
    return g(x), out is g, g.__name__, g.__doc__, g.__wrapped__ is f


class Logged(contextlib.ContextDecorator):
    log: list[str] = []

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *exc):
        self.log.append("out")


@Logged()
def logged(v):
    return v * 2


@program("I6 I12 F3", differs="fewer_breaks", why="torch breaks at the manager")
def context_decorator(x):
    out = logged(x)
    with Logged() as manager:
        out = out + 1
    return out, list(manager.log)


@program("I6 I10 I12")
def abstract_context_manager(x):
    class Local(contextlib.AbstractContextManager):
        def __exit__(self, *exc):
            return True

    with Local() as v:
        raise ValueError("hidden")
    return x + 1, isinstance(v, contextlib.AbstractContextManager)


@program("I6 I8 I12 I15", differs="torch_differs", why="fails inside")
def asynchronous_managers(x):
    import asyncio

    log = []

    @contextlib.asynccontextmanager
    async def manager(v):
        log.append("in")
        yield v + 1
        log.append("out")

    class Source(contextlib.AbstractAsyncContextManager):
        async def __aexit__(self, *exc):
            log.append("left")

        async def aclose(self):
            log.append("closed")

    async def numbers():
        yield 1
        yield 2

    async def main(v):
        async with manager(v) as y, contextlib.AsyncExitStack() as stack, Source(), contextlib.aclosing(Source()):
            await stack.enter_async_context(manager(v))
            items = aiter(numbers())
            return y, await anext(items), await anext(items), await anext(items, "none")

    return asyncio.run(main(x)), log


@program("I6 I12", differs="fewer_breaks", why="torch runs it all in plain Python")
def chdir_and_back(x):
    import os

    before = os.getcwd()
    with contextlib.chdir(os.sep):
        y, there = x + 1, os.getcwd()
    return y, there, os.getcwd() == before


@program("I12", differs="fewer_breaks", why="torch runs it all in plain Python")
def patterns_made_inside(x):
    pattern: re.Pattern = re.compile(r"(?P<k>\w)=(\d+)", re.ASCII)
    found = [(m["k"], m.span(2), m.groups()) for m in re.finditer(pattern, "a=1 b=22")]
    return x + len(found), found, isinstance(pattern, re.Pattern), pattern.flags & re.ASCII, re.RegexFlag(2).name


@program("I12")
def bytes_drawn(x):
    random.seed(3)
    return x + 1, random.randbytes(4)


@program("I12 I15")
def code_compiled_and_run(x):
    names = {"v": 2}
    exec(compile("w = v + 1", "<text>", "exec"), names)
    return x + names["w"], eval(compile("v * 3", "<text>", "eval"), names)


@program("I12", differs="fewer_breaks", why="torch runs it all in plain Python")
def breakpoint_with_a_hook_of_ones_own(x):
    import sys

    log = []
    before, sys.breakpointhook = sys.breakpointhook, lambda *args: log.append(args)
    try:
        y = x + 1
        breakpoint()
        return y * 2, log
    finally:
        sys.breakpointhook = before


@program("I12", differs="fewer_breaks", why="torch runs it all in plain Python")
def input_from_a_text(x):
    import io
    import sys

    before, sys.stdin = sys.stdin, io.StringIO("5\n")
    try:
        return x + int(input("n? "))
    finally:
        sys.stdin = before


@program("I8 I12", lambda: [(t(2), [1, 2]), (t(2), [3])])
def iterators_asked_by_type(x, items):
    return x + len(items), isinstance(iter(items), Iterator), next(iter(items))

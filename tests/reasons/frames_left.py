"""Frames that run as plain Python, and what is said beside a trace."""

from __future__ import annotations

import asyncio
import json
import sys
import weakref
from typing import Any

import torch

import tracer_core
from tests.reasons.breaks_of_calls import Watching
from tests.reasons.table import given_by, given_when


def compiled(fn: Any, **options: Any) -> Any:
    return tracer_core.compile(fn, backend="eager", **options)


@given_by("cache-limit", lambda: [(torch.ones(3), str(n)) for n in range(12)])
def takes_another_text_each_time(x, text):
    return x + int(text)


@given_when("marked-size-fixed")
def fixes_a_marked_size():
    x = torch.ones(3)
    torch._dynamo.mark_dynamic(x, 0)
    compiled(lambda x: x + 1 if x.shape[0] == 3 else x)(x)


@given_when("frame-library")
def compiles_a_function_of_the_library():
    compiled(json.dumps)([1])


@given_when("frame-disabled")
def compiles_a_disabled_function():
    @torch.compiler.disable(recursive=False)
    def disabled(x):
        return x + 1

    compiled(lambda x: disabled(x) * 2)(torch.ones(3))


@given_when("frame-generator")
def compiles_a_generator():
    def numbers(x):
        yield x + 1

    list(compiled(numbers)(torch.ones(3)))


@given_by("frame-looks-at-stack")
def looks_at_its_frame(x):
    y = x + 1
    print(end="")
    return y, sys._getframe().f_code.co_name


@given_by("frame-watches-lifetimes")
def watches_an_object(x):
    class Held:
        pass

    held = Held()
    seen = weakref.ref(held)
    y = x + 1
    print(end="")
    return y, seen() is None


@given_when("frame-async")
def compiles_a_coroutine():
    async def later(x):
        return x + 1

    asyncio.run(compiled(later)(torch.ones(3)))


@given_by("frame-not-function")
def runs_the_body_of_a_class(x):
    y = x + 1
    print(end="")

    class Held:
        z = y + 1
        print(end="")

    return Held.z


@given_when("inside-vmap")
def compiles_inside_vmap():
    torch.func.vmap(compiled(lambda x: x + 1))(torch.ones(3))


@given_when("inside-derivative")
def compiles_inside_grad():
    torch.func.grad(compiled(lambda x: (x * x).sum()))(torch.ones(3))


@given_when("inside-transform")
def compiles_inside_functionalize():
    torch.func.functionalize(compiled(lambda x: x + 1))(torch.ones(3))


@given_when("inside-torch-mode")
def compiles_inside_a_mode():
    with Watching():
        compiled(lambda x: x + 1)(torch.ones(3))


@given_when("back-end-raises")
def has_a_back_end_that_fails():
    def failing(graph, inputs):
        def fails(*args):
            raise RuntimeError("boom")

        return fails

    tracer_core.compile(lambda x: x + 1, backend=failing)(torch.ones(3))


@given_by("no-tensor-work", lambda: [(1,)])
def adds_numbers(n):
    return n + 1


@given_by("no-tensor-work-before-break", lambda: [(1,)])
def prints(n):
    print(end="")
    return n


@given_by("no-tensor-work-before-exception", lambda: [(1,)])
def raises(n):
    raise ValueError(n)


@given_by("no-tensor-work-in-rest")
def prints_at_the_end(x):
    y = (x + 1).sum()
    print(end="")
    return 1


@given_by("no-tensors-in-sight", lambda: [(1,), (2,)])
def adds_other_numbers(n):
    return n + 1


@given_by("recursion-limit")
def compares_what_is_deeply_nested(x):
    one, other = [x], [x]
    for _ in range(2000):
        one, other = [one], [other]
    return x + 1, one == other


@given_by("cannot-rebuild")
def breaks_while_a_traceback_is_alive(x):
    y = x + 1
    try:
        raise ValueError
    except ValueError as error:
        traceback = error.__traceback__
    print(end="")
    return y, traceback.tb_lineno


@given_by("exception-leaves")
def leaves(x):
    y = x + 1
    raise ValueError(y.shape)


@given_by("told-otherwise")
def asks_whether_it_is_compiled(x):
    if torch.compiler.is_compiling():
        print(end="")
    return x + 1

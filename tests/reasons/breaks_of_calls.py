"""Breaks at calls, statements and what the function does to the world around it."""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
import io
import os
import threading
import types

import numpy as np
import torch
from torch._dynamo.comptime import comptime
from torch.overrides import TorchFunctionMode

import tracer_core
from tests.reasons.table import given_by, given_when

COUNT = [0]
SCALE = 2


@functools.cache
def counted(n):
    COUNT.append(n)
    return n


@functools.cache
def scaled(n):
    return n * SCALE


async def later(x):
    return x + 1


def deeper(x, n):
    return x if n == 0 else deeper(x + 1, n - 1)


@given_by("comptime")
def gives_comptime_a_function_that_breaks(x):
    y = x + 1
    comptime.graph_break()
    return y


@given_by("needs-constant", lambda: [(torch.ones(3), np.ones(3))])
def needs_a_text(x, array):
    return x + 1, f"{array}"


@given_by("huge-constant")
def repeats_too_often(x):
    return x + 1, [0] * (1 << 21)


@given_by("skipped-function")
def calls_a_lock(x):
    return x + 1, threading.Lock()


@given_by("call")
def calls_a_stream(x):
    return x + 1, io.BytesIO()


@given_by("except-star")
def catches_groups(x):
    try:
        y = x + 1
        raise ValueError
    except* ValueError:
        y = y + 1
    return y


class Block(enum.Enum):
    ONE = 1

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None


@given_by("context-manager")
def enters_a_member_of_an_enum(x):
    with Block.ONE:
        return x + 1


class Watching(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@given_by("torch-mode")
def enters_a_mode(x):
    with Watching():
        return x + 1


@given_by("left-elsewhere")
def leaves_in_another_order(x):
    one, two = torch.autocast("cpu"), torch.autocast("cpu", enabled=False)
    one.__enter__()
    two.__enter__()
    y = x + 1
    one.__exit__(None, None, None)
    two.__exit__(None, None, None)
    return y


@given_by("left-open")
def breaks_in_a_dual_level(x):
    with torch.autograd.forward_ad.dual_level():
        y = x + 1
        print(end="")
        return y


@given_by("match", lambda: [(torch.ones(3), os.environ)])
def matches_a_mapping(x, mapping):
    match mapping:
        case {"PATH": _}:
            return x + 1
    return x


@given_by("import")
def imports(x):
    import this_module_does_not_exist

    return x + this_module_does_not_exist.one


SHOWS = compile("1 + 1", "<shell>", "single")  # only a shell's line has PRINT_EXPR
FUNCTION = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
shows = types.FunctionType(SHOWS.replace(co_flags=SHOWS.co_flags | FUNCTION), {})


@given_by("instruction")
def shows_a_result_as_a_shell_does(x):
    y = x + 1
    shows()
    return y


@given_by("coroutine")
def calls_a_coroutine(x):
    later(x).close()
    return x + 1


@given_by("too-deep")
def goes_deep(x):
    return deeper(x, 200)


@given_by("cached-effect")
def calls_a_cached_function_with_an_effect(x):
    return x + counted(1)


@given_by("cached-after-change")
def calls_a_cached_function_after_a_change(x):
    global SCALE
    SCALE = 3
    return x + scaled(1)


@given_by("print")
def prints(x):
    y = x + 1
    print(end="")
    return y


@given_by("input")
def reads_from_the_keyboard(x):
    y = x + 1
    with contextlib.suppress(OSError, EOFError):
        input()
    return y


@given_by("open-file")
def opens_a_file(x):
    y = x + 1
    open(os.devnull).close()
    return y


@given_when("breakpoint")
def stops():
    def stopping(x):
        y = x + 1
        breakpoint()
        return y

    before, os.environ["PYTHONBREAKPOINT"] = os.environ.get("PYTHONBREAKPOINT"), "0"
    try:
        tracer_core.compile(stopping, backend="eager")(torch.ones(3))
    finally:
        del os.environ["PYTHONBREAKPOINT"]
        os.environ.update({} if before is None else {"PYTHONBREAKPOINT": before})


@given_by("exec")
def runs_text(x):
    exec("y = 1")
    return x + 1


@given_by("frame-namespace")
def reads_its_namespace(x):
    return x + 1, sorted(locals())


@given_by("collective")
def reduces_later(x):
    torch.distributed.all_reduce(x, async_op=True)
    return x + 1

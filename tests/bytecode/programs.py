"""Code to try the bytecode layer on: the standard library, and snippets with what it lacks."""

from __future__ import annotations

import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from tracer_core.bytecode import assemble, decode

STDLIB = Path(sysconfig.get_paths()["stdlib"])
_LEFT_OUT = {"site-packages", "test", "tests", "idle_test"}

SNIPPETS = {
    "match": """
def f(value):
    match value:
        case {"kind": kind, "size": [first, *_, last], **rest} if last > first:
            return kind, first, last, rest
        case [int(x) | float(x), complex(real=re)]:
            return x, re
        case (1, 2, *rest):
            return rest
        case str() as text:
            return text
        case None:
            return None
""",
    "async": """
async def g(source, lock):
    async for item in source:
        async with lock as held:
            yield item, held
    found = [await x async for x in source if await x]
    yield found

async def h(x):
    try:
        return await x
    finally:
        await x
""",
    "except_star": """
def f(g):
    try:
        g()
    except* (ValueError, KeyError) as group:
        print(group)
    except* OSError:
        raise
""",
    "class": """
def f(x):
    class A:
        y = x
        field: int = 3
        def m(self):
            return super().m() + __class__.y
        del field
    return A
""",
    "cell_both_ways": """
def f():
    class Inner:
        def outer(self):
            class Nested:
                before = __class__
                def m(self):
                    return __class__
            return Nested
    return Inner
""",
    "unpack": """
a, (b, *c), *d = x
def f(*args, key=1, **kwargs):
    first, *middle, last = args
    return g(*args, *middle, **kwargs, **key), {**kwargs, "a": 1}, [*args], {*args, 1}, f"{a!r:>{last}}{b}"
del a
from os import *
""",
    "operators": """
def f(a, b):
    global G
    a += b; a -= b; a *= b; a /= b; a //= b; a %= b; a **= b; a @= b; a &= b; a |= b; a ^= b; a <<= b; a >>= b
    c = (a + b, a - b, a * b, a / b, a // b, a % b, a ** b, a @ b, a & b, a | b, a ^ b, a << b, a >> b)
    d = (a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b, a in b, a not in b, a < b < c)
    e = (+a, -a, ~a, not a, a and b, a or b, a if b else c)
    G = a[b:c:d]
    a[b] = c
    del a[b], a.b, G, b
    a.b = a.c.d(e)
    assert a, b
    while a is not None and b is None:
        a = lambda x=a, *, y=b: x + y
    def inner() -> int:
        nonlocal c
        del c
    return inner
""",
}

INTERACTIVE = "x: int = 3\nx\n"


def snippet_codes() -> Iterator[CodeType]:
    for name, text in SNIPPETS.items():
        yield from nested_codes(compile(text, name, "exec", dont_inherit=True))
    for line in INTERACTIVE.splitlines():
        yield from nested_codes(compile(line, "interactive", "single", dont_inherit=True))


def stdlib_codes() -> Iterator[CodeType]:
    """All code objects of every third file of the standard library, without its tests."""
    files = [path for path in STDLIB.rglob("*.py") if not _LEFT_OUT.intersection(path.relative_to(STDLIB).parts)]
    for path in sorted(files)[::3]:
        yield from nested_codes(compile_file(path))


def module_codes(relative: str) -> Iterator[CodeType]:
    return nested_codes(compile_file(STDLIB / relative))


def compile_file(path: Path) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def round_trip(code: CodeType) -> CodeType:
    """The code object taken apart and put together again, and so are those it makes functions of."""
    program = decode(code)
    for instruction in program.instructions:
        if instruction.op == "LOAD_CONST" and isinstance(instruction.arg, CodeType):
            instruction.arg = round_trip(instruction.arg)
    return assemble(program)

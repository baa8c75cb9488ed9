"""The opcodes of CPython 3.11 that functions hold, and the arguments that make another use of one."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from inspect import CO_OPTIMIZED
from itertools import chain
from pathlib import Path
from types import CodeType

BINARY = ("+ & // << @ * % | ** >> - / ^ += &= //= <<= @= *= %= |= **= >>= -= /= ^=").split()
RAISED = ("again", "an exception", "an exception from another")


def size(count: int) -> str:
    """Containers of no, one and more items may take different paths."""
    return ("none", "one")[count] if count < 2 else "more"


def function_parts(flags: int) -> Iterator[str]:
    names = {1: "defaults", 2: "keyword defaults", 4: "annotations", 8: "closure"}
    return (name for bit, name in names.items() if flags & bit) if flags else iter(("plain",))


def format_parts(argument: int) -> Iterator[str]:
    yield ("", "!s", "!r", "!a")[argument & 3] or "plain"
    if argument & 4:
        yield "with a format"


def unpacked(argument: int) -> Iterator[str]:
    yield f"{size(argument & 0xFF)} before"
    yield f"{size(argument >> 8)} after"


#: For an opcode, what its argument makes of it. Those that are not here have one use.
VARIANTS: dict[str, Callable[[int], Iterator[str]]] = {
    "BINARY_OP": lambda argument: iter((BINARY[argument],)),
    "COMPARE_OP": lambda argument: iter((dis.cmp_op[argument],)),
    "CONTAINS_OP": lambda argument: iter(("not in" if argument else "in",)),
    "IS_OP": lambda argument: iter(("is not" if argument else "is",)),
    "FORMAT_VALUE": format_parts,
    "MAKE_FUNCTION": function_parts,
    "RAISE_VARARGS": lambda argument: iter((RAISED[argument],)),
    "CALL": lambda argument: iter((size(argument),)),
    "CALL_FUNCTION_EX": lambda argument: iter(("with keywords" if argument & 1 else "positional",)),
    "UNPACK_EX": unpacked,
    "UNPACK_SEQUENCE": lambda argument: iter((size(argument),)),
    "BUILD_SLICE": lambda argument: iter((f"of {argument}",)),
    "BUILD_LIST": lambda argument: iter((size(argument),)),
    "BUILD_TUPLE": lambda argument: iter((size(argument),)),
    "BUILD_MAP": lambda argument: iter((size(argument),)),
    "LOAD_GLOBAL": lambda argument: iter(("to be called" if argument & 1 else "as a value",)),
    "MATCH_CLASS": lambda argument: iter((f"{size(argument)} by position",)),
    "SWAP": lambda argument: iter((str(min(argument, 4)),)),
    "COPY": lambda argument: iter((str(min(argument, 3)),)),
    "GET_AWAITABLE": lambda argument: iter((("await", "async with enter", "async with exit")[argument],)),
}

#: What each opcode with variants must be seen with.
USES: dict[str, tuple[str, ...]] = {
    "BINARY_OP": tuple(BINARY),
    "COMPARE_OP": tuple(dis.cmp_op),
    "CONTAINS_OP": ("in", "not in"),
    "IS_OP": ("is", "is not"),
    "FORMAT_VALUE": ("plain", "!s", "!r", "!a", "with a format"),
    "MAKE_FUNCTION": ("plain", "defaults", "keyword defaults", "annotations", "closure"),
    "RAISE_VARARGS": RAISED,
    "CALL": ("none", "one", "more"),
    "CALL_FUNCTION_EX": ("positional", "with keywords"),
    "UNPACK_EX": ("none before", "one before", "more before", "none after", "one after", "more after"),
    "UNPACK_SEQUENCE": ("none", "one", "more"),
    "BUILD_SLICE": ("of 2", "of 3"),
    "BUILD_LIST": ("none", "one", "more"),
    "BUILD_TUPLE": ("one", "more"),
    "BUILD_MAP": ("none", "one", "more"),
    "LOAD_GLOBAL": ("to be called", "as a value"),
    "MATCH_CLASS": ("none by position", "one by position", "more by position"),
    "SWAP": ("2", "3", "4"),
    "COPY": ("1", "2", "3"),
    "GET_AWAITABLE": ("await", "async with enter", "async with exit"),
}

#: Opcodes that no function of a program can hold, and why.
NOT_IN_FUNCTIONS = {
    "IMPORT_STAR": "`from m import *` is allowed in modules only",
    "PRINT_EXPR": "the interactive prompt only",
    "SETUP_ANNOTATIONS": "modules, and bodies of classes, which run as frames of their own",
    "CACHE": "room for CPython's own notes after an instruction; never run",
    "PRECALL": "half of a call; stands before every CALL",
    "EXTENDED_ARG": "the upper part of the next instruction's argument",
    "DO_TRACING": "put in by CPython while it runs",
}


def wanted() -> set[str]:
    """Every opcode that functions can hold, each with its uses: `BINARY_OP +=`."""
    names = {name for name in dis.opmap if not name.startswith("<")} - NOT_IN_FUNCTIONS.keys()
    uses = ([f"{name} {use}" for use in USES[name]] if name in USES else [name] for name in names)
    return set(chain.from_iterable(uses))


def found(files: list[Path]) -> set[str]:
    """The opcodes, with their uses, in all functions and in the classes made in functions of these files."""
    codes = chain.from_iterable(functions_in(compile(file.read_text(), str(file), "exec")) for file in files)
    return set(chain.from_iterable(uses_in(code) for code in codes))


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions in `code`, at any depth, and the bodies of classes that stand in functions."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & CO_OPTIMIZED or code.co_flags & CO_OPTIMIZED:
                yield constant
            yield from functions_in(constant)


def uses_in(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in VARIANTS:
            yield from (f"{name} {use}" for use in VARIANTS[name](instruction.arg or 0))
        else:
            yield name

"""The table of canonical operations: the one place that knows which ones exist and what each does to the stack.

`stack.stack_after` applies it, and knows the three operations that move items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

CountOf = Callable[[Any], int]
"""A number of stack items as a function of an instruction's `arg`."""


class Operand(Enum):
    """The type of `Instruction.arg`."""

    NONE = auto()
    COUNT = auto()
    """A plain int: a count, a depth, or flags, as CPython encodes it."""
    NAME = auto()
    """A global, attribute or module name."""
    CONSTANT = auto()
    """The constant itself, any object."""
    LOCAL = auto()
    """The name of a fast local."""
    CELL = auto()
    """The name of a cell or free variable."""
    COMPARISON = auto()
    """`"<"`, `"<="`, `"=="`, `"!="`, `">"`, `">="`."""
    BINARY = auto()
    """`"+"`, `"+="`, `"@"`, ..."""
    IDENTITY = auto()
    """`"is"` or `"is not"`."""
    MEMBERSHIP = auto()
    """`"in"` or `"not in"`."""
    CALL = auto()
    """A `CallShape`."""


@dataclass(frozen=True, slots=True)
class OpInfo:
    """One canonical operation.

    Attributes:
        takes: how many items from the top of the stack it pops or reads.
        leaves: how many items stand in their place when the next instruction runs.
        leaves_on_jump: the same when it jumps; None if it never does.
        keeps: how many of those that it leaves, from the lowest on, are items that it only looks at, as they were.
        keeps_on_jump: the same when it jumps.
        terminal: the next instruction in the list does not follow from it.
        binds: it may bind or unbind the local or the cell that `arg` names; no other operation does.
    """

    name: str
    operand: Operand
    takes: CountOf
    leaves: CountOf
    leaves_on_jump: CountOf | None = None
    keeps: CountOf = lambda _arg: 0
    keeps_on_jump: int = 0
    terminal: bool = False
    binds: bool = False

    @property
    def jumps(self) -> bool:
        return self.leaves_on_jump is not None

    def effect(self, arg: Any, jump: bool) -> int:
        """Net change of the stack's depth, in items."""
        leaves = self.leaves_on_jump if jump else self.leaves
        if leaves is None:
            raise ValueError(f"{self.name} never jumps; ask for its effect with jump=False.")
        return leaves(arg) - self.takes(arg)


OPS: dict[str, OpInfo] = {}
"""Every canonical operation by name."""


def _count(value: int | CountOf) -> CountOf:
    if isinstance(value, int):
        return lambda _arg: value
    return value


def _define(
    names: str,
    takes: int | CountOf,
    leaves: int | CountOf,
    operand: Operand = Operand.NONE,
    *,
    on_jump: int | None = None,
    keeps: int | CountOf = 0,
    keeps_on_jump: int = 0,
    terminal: bool = False,
    binds: bool = False,
) -> None:
    for name in names.split():
        OPS[name] = OpInfo(
            name=name,
            operand=operand,
            takes=_count(takes),
            leaves=_count(leaves),
            leaves_on_jump=None if on_jump is None else _count(on_jump),
            keeps=_count(keeps),
            keeps_on_jump=keeps_on_jump,
            terminal=terminal,
            binds=binds,
        )


def _n(arg: int) -> int:
    return arg


def _n_plus(extra: int) -> CountOf:
    return lambda arg: arg + extra


def _unpacked_by_star(arg: int) -> int:
    before, after = arg & 0xFF, arg >> 8
    return before + 1 + after


# Stack shuffling and markers.
_define("NOP SETUP_ANNOTATIONS", 0, 0)
_define("RESUME COPY_FREE_VARS", 0, 0, Operand.COUNT)
_define("POP_TOP", 1, 0)
_define("PUSH_NULL", 0, 1)
_define("SWAP", _n, _n, Operand.COUNT)
_define("COPY", _n, _n_plus(1), Operand.COUNT)

# Operators.
_define("UNARY_POSITIVE UNARY_NEGATIVE UNARY_NOT UNARY_INVERT", 1, 1)
_define("BINARY_OP", 2, 1, Operand.BINARY)
_define("COMPARE_OP", 2, 1, Operand.COMPARISON)
_define("IS_OP", 2, 1, Operand.IDENTITY)
_define("CONTAINS_OP", 2, 1, Operand.MEMBERSHIP)
_define("BINARY_SUBSCR", 2, 1)
_define("STORE_SUBSCR", 3, 0)
_define("DELETE_SUBSCR", 2, 0)

# Constants and names.
_define("LOAD_CONST", 0, 1, Operand.CONSTANT)
_define("LOAD_NAME LOAD_GLOBAL", 0, 1, Operand.NAME)
_define("LOAD_GLOBAL_NULL", 0, 2, Operand.NAME)
_define("STORE_NAME STORE_GLOBAL", 1, 0, Operand.NAME)
_define("DELETE_NAME DELETE_GLOBAL", 0, 0, Operand.NAME)
_define("LOAD_FAST", 0, 1, Operand.LOCAL)
_define("STORE_FAST", 1, 0, Operand.LOCAL, binds=True)
_define("DELETE_FAST", 0, 0, Operand.LOCAL, binds=True)
_define("MAKE_CELL", 0, 0, Operand.CELL, binds=True)
_define("DELETE_DEREF", 0, 0, Operand.CELL)
_define("LOAD_CLOSURE LOAD_DEREF LOAD_CLASSDEREF", 0, 1, Operand.CELL)
_define("STORE_DEREF", 1, 0, Operand.CELL)
_define("LOAD_ATTR", 1, 1, Operand.NAME)
_define("LOAD_METHOD", 1, 2, Operand.NAME)
_define("STORE_ATTR", 2, 0, Operand.NAME)
_define("DELETE_ATTR", 1, 0, Operand.NAME)
_define("IMPORT_NAME", 2, 1, Operand.NAME)
_define("IMPORT_FROM", 1, 2, Operand.NAME, keeps=1)
_define("IMPORT_STAR PRINT_EXPR", 1, 0)
_define("LOAD_BUILD_CLASS LOAD_ASSERTION_ERROR", 0, 1)

# Containers and text.
_define("BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_STRING", _n, 1, Operand.COUNT)
_define("BUILD_SLICE", lambda arg: 3 if arg == 3 else 2, 1, Operand.COUNT)
_define("BUILD_MAP", lambda arg: 2 * arg, 1, Operand.COUNT)
_define("BUILD_CONST_KEY_MAP", _n_plus(1), 1, Operand.COUNT)
_define("LIST_APPEND SET_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE", _n_plus(1), _n, Operand.COUNT, keeps=_n)
_define("MAP_ADD", _n_plus(2), _n, Operand.COUNT, keeps=_n)
# DICT_MERGE looks below the dict, past the positional arguments, at the callable that its error message names.
_define("DICT_MERGE", _n_plus(3), _n_plus(2), Operand.COUNT, keeps=_n_plus(2))
_define("LIST_TO_TUPLE", 1, 1)
_define("UNPACK_SEQUENCE", 1, _n, Operand.COUNT)
_define("UNPACK_EX", 1, _unpacked_by_star, Operand.COUNT)
_define("FORMAT_VALUE", lambda arg: 2 if arg & 4 else 1, 1, Operand.COUNT)

# Calls and functions.
_define("CALL", lambda shape: shape.count + 2, 1, Operand.CALL)
_define("CALL_FUNCTION_EX", lambda arg: 3 + (arg & 1), 1, Operand.COUNT)
_define("MAKE_FUNCTION", lambda arg: 1 + (arg & 0xF).bit_count(), 1, Operand.COUNT)
_define("RETURN_VALUE", 1, 0, terminal=True)

# Jumps and loops.
_define("JUMP JUMP_NO_INTERRUPT", 0, 0, on_jump=0, terminal=True)
_define("POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE", 1, 0, on_jump=0)
_define("JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP", 1, 0, on_jump=1, keeps_on_jump=1)
_define("GET_ITER GET_YIELD_FROM_ITER", 1, 1)
_define("FOR_ITER", 1, 2, on_jump=0, keeps=1)

# Pattern matching.
_define("GET_LEN MATCH_MAPPING MATCH_SEQUENCE", 1, 2, keeps=1)
_define("MATCH_KEYS", 2, 3, keeps=2)
_define("MATCH_CLASS", 3, 1, Operand.COUNT)

# Exceptions and context managers.
_define("PUSH_EXC_INFO", 1, 2)
_define("CHECK_EXC_MATCH", 2, 2, keeps=1)
_define("CHECK_EG_MATCH", 2, 2)
_define("PREP_RERAISE_STAR", 2, 1)
_define("POP_EXCEPT", 1, 0)
_define("RAISE_VARARGS", _n, 0, Operand.COUNT, terminal=True)
# RERAISE n reads the offset saved n items below the exception, for the traceback.
_define("RERAISE", _n_plus(1), _n, Operand.COUNT, terminal=True)
_define("BEFORE_WITH BEFORE_ASYNC_WITH", 1, 2)
_define("WITH_EXCEPT_START", 4, 5, keeps=4)

# Generators and coroutines. RETURN_GENERATOR leaves the first value sent in, which the frame finds when it resumes.
_define("RETURN_GENERATOR", 0, 1)
_define("YIELD_VALUE ASYNC_GEN_WRAP", 1, 1)
_define("SEND", 2, 2, on_jump=1, keeps=1)
_define("GET_AWAITABLE", 1, 1, Operand.COUNT)
_define("GET_AITER", 1, 1)
_define("GET_ANEXT", 1, 2, keeps=1)
_define("END_ASYNC_FOR", 2, 0)

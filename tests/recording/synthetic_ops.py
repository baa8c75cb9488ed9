"""The instructions that the pretended engine knows, each a small function under `@op`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from tests.recording.synthetic_values import (
    NULL,
    BuiltinVariable,
    CellVariable,
    ConstantVariable,
    ExceptionVariable,
    Fake,
    IteratorVariable,
    ListVariable,
    TensorVariable,
    UserFunctionVariable,
    UserMethodVariable,
)

if TYPE_CHECKING:
    from tests.recording.synthetic import Frame, Walk
    from tracer_core.bytecode import Instruction

Op = Callable[["Walk", "Frame", "Instruction"], "Instruction | None"]
OPS: dict[str, Op] = {}

_BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "@": operator.matmul}
_COMPARE = {">": operator.gt, "<": operator.lt, "==": operator.eq}


class Raised(Exception):
    def __init__(self, exception: ExceptionVariable) -> None:
        self.exception = exception


class TensorBranch(Exception):
    """The walk cannot go on at this jump."""


def op(*names: str) -> Callable[[Op], Op]:
    def register(function: Op) -> Op:
        OPS.update(dict.fromkeys(names, function))
        return function

    return register


@op("RESUME", "NOP", "COPY_FREE_VARS", "MAKE_CELL")
def nothing(walk: Walk, frame: Frame, at: Instruction) -> None:
    if at.op == "MAKE_CELL":
        cell = CellVariable()
        cell.content = frame.locals.pop(at.arg, None)
        frame.cells[at.arg] = cell


@op("POP_TOP", "POP_EXCEPT")
def drop(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.pop()


@op("PUSH_NULL")
def push_null(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.append(NULL)


@op("LOAD_FAST")
def load_fast(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.append(frame.locals[at.arg])


@op("STORE_FAST")
def store_fast(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.locals[at.arg] = frame.stack.pop()


@op("LOAD_CLOSURE")
def load_closure(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.append(frame.cells[at.arg])


@op("LOAD_DEREF")
def load_deref(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.append(frame.cells[at.arg].content)


@op("STORE_DEREF")
def store_deref(walk: Walk, frame: Frame, at: Instruction) -> None:
    cell = frame.cells[at.arg]
    cell.content = frame.stack.pop()
    walk.tell.on_change(cell)


@op("LOAD_CONST")
def load_const(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.append(ConstantVariable(at.arg))


@op("LOAD_GLOBAL", "LOAD_GLOBAL_NULL")
def load_global(walk: Walk, frame: Frame, at: Instruction) -> None:
    if at.op == "LOAD_GLOBAL_NULL":
        frame.stack.append(NULL)
    frame.stack.append(walk.global_(at.arg))


@op("LOAD_METHOD")
def load_method(walk: Walk, frame: Frame, at: Instruction) -> None:
    owner = frame.stack.pop()
    frame.stack += [NULL, UserMethodVariable(owner, at.arg)]


@op("BUILD_LIST")
def build_list(walk: Walk, frame: Frame, at: Instruction) -> None:
    items = [frame.stack.pop() for _ in range(at.arg)]
    frame.stack.append(ListVariable(items[::-1]))


@op("BINARY_SUBSCR")
def subscript(walk: Walk, frame: Frame, at: Instruction) -> None:
    index, owner = frame.stack.pop(), frame.stack.pop()
    walk.tell.on_dispatch("list_getitem")
    frame.stack.append(owner.items[index.value])


@op("BINARY_OP", "COMPARE_OP")
def binary(walk: Walk, frame: Frame, at: Instruction) -> None:
    right, left = frame.stack.pop(), frame.stack.pop()
    function = {**_BINARY, **_COMPARE}[at.arg.removesuffix("=") if at.arg.endswith("+=") else at.arg]
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        walk.tell.on_dispatch("constant_fold")
        frame.stack.append(ConstantVariable(function(left.value, right.value)))
        return
    walk.tell.on_dispatch("tensor_operator")
    shape = left.fake.shape if not (at.arg == "@") else (left.fake.shape[0], right.fake.shape[1])
    args = tuple(one.node if one.node is not None else one.value for one in (left, right))
    frame.stack.append(walk.tensor("call_function", function, args, function.__name__, Fake(*shape)))


@op("CALL")
def call(walk: Walk, frame: Frame, at: Instruction) -> None:
    count = at.arg.count
    args = frame.stack[len(frame.stack) - count :]
    del frame.stack[len(frame.stack) - count :]
    callee = frame.stack.pop()
    frame.stack.pop()
    if isinstance(callee, UserFunctionVariable):
        walk.tell.on_dispatch("inline_user_function")
        frame.stack.append(walk.inline(frame, callee, args))
    elif isinstance(callee, UserMethodVariable):
        frame.stack.append(_call_method(walk, callee, args))
    else:
        walk.tell.on_dispatch("call_builtin")
        frame.stack.append(_call_builtin(callee, args))


def _call_method(walk: Walk, callee: UserMethodVariable, args: list[Any]) -> Any:
    owner = callee.owner
    if isinstance(owner, ListVariable):
        walk.tell.on_dispatch("list_append")
        owner.items.append(args[0])
        walk.tell.on_change(owner)
        return ConstantVariable(None)
    walk.tell.on_dispatch("tensor_method")
    assert isinstance(owner, TensorVariable)
    return walk.tensor("call_method", callee.name, (owner.node,), callee.name, Fake())


def _call_builtin(callee: Any, args: list[Any]) -> Any:
    assert isinstance(callee, BuiltinVariable)
    try:
        return ConstantVariable(callee.function(*(arg.value for arg in args)))
    except ValueError as error:
        raise Raised(ExceptionVariable(type(error).__name__, str(error))) from None


@op("MAKE_FUNCTION")
def make_function(walk: Walk, frame: Frame, at: Instruction) -> None:
    code = frame.stack.pop().value
    assert isinstance(code, CodeType)
    closure = frame.stack.pop()
    frame.stack.append(walk.closure(code, closure.items))


@op("BUILD_TUPLE")
def build_tuple(walk: Walk, frame: Frame, at: Instruction) -> None:
    build_list(walk, frame, at)


@op("GET_ITER")
def get_iter(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.append(IteratorVariable(frame.stack.pop()))


@op("FOR_ITER")
def for_iter(walk: Walk, frame: Frame, at: Instruction) -> Instruction | None:
    iterator = frame.stack[-1]
    item = iterator.next()
    if item is None:
        frame.stack.pop()
        return at.target
    frame.stack.append(item)
    walk.tell.on_change(iterator)
    return None


@op("JUMP")
def jump(walk: Walk, frame: Frame, at: Instruction) -> Instruction | None:
    return at.target


@op("POP_JUMP_IF_FALSE")
def jump_if_false(walk: Walk, frame: Frame, at: Instruction) -> Instruction | None:
    if isinstance(frame.stack[-1], TensorVariable):
        raise TensorBranch
    return None if frame.stack.pop().value else at.target


@op("PUSH_EXC_INFO")
def push_exc_info(walk: Walk, frame: Frame, at: Instruction) -> None:
    frame.stack.insert(-1, ConstantVariable(None))


@op("CHECK_EXC_MATCH")
def check_exc_match(walk: Walk, frame: Frame, at: Instruction) -> None:
    wanted = frame.stack.pop()
    frame.stack.append(ConstantVariable(frame.stack[-1].name == wanted.function.__name__))

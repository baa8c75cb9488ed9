"""Parts of values, operators, containers and texts in Python text."""

from __future__ import annotations

import functools

from tracer_core import operator_table
from tracer_core.bytecode import Instruction, call_items
from tracer_core.codegen.emit.names import OUTPUTS
from tracer_core.listing.rules import writes
from tracer_core.listing.shown import (
    ATOM,
    COMPARISON,
    NOT,
    POSTFIX,
    TERNARY,
    Shown,
    added,
    computed,
    display,
    name_of,
)
from tracer_core.listing.state import NULL, State

# --- parts of values ----------------------------------------------------------------------------------------


@writes("LOAD_ATTR")
def _load_attr(state: State, instruction: Instruction) -> None:
    state.push(computed(_attribute(state.pop(), instruction.arg)))


@writes("LOAD_METHOD")
def _load_method(state: State, instruction: Instruction) -> None:
    state.stack.extend(call_items(computed(_attribute(state.pop(), instruction.arg)), NULL))


def _attribute(value: Shown, name: str) -> str:
    base = value.within(POSTFIX)
    return f"({base}).{name}" if base.isdecimal() else f"{base}.{name}"


@writes("STORE_ATTR")
def _store_attr(state: State, instruction: Instruction) -> None:
    value, owner = state.pop_n(2)
    state.statement(f"{_attribute(owner, instruction.arg)} = {value.text}")


@writes("DELETE_ATTR")
def _delete_attr(state: State, instruction: Instruction) -> None:
    state.statement(f"del {_attribute(state.pop(), instruction.arg)}")


def _item(owner: Shown, index: Shown) -> str:
    within = index.open[0] if index.open is not None and index.open[1] == "" else index.text
    return f"{owner.within(POSTFIX)}[{within}]"


@writes("BINARY_SUBSCR")
def _binary_subscr(state: State, instruction: Instruction) -> None:
    owner, index = state.pop_n(2)
    is_output = owner.text == state.name(OUTPUTS) and not index.names and index.names is not None
    state.push(Shown(_item(owner, index), POSTFIX, owner.names if is_output else None))


@writes("STORE_SUBSCR")
def _store_subscr(state: State, instruction: Instruction) -> None:
    value, owner, index = state.pop_n(3)
    state.statement(f"{_item(owner, index)} = {value.text}")


@writes("DELETE_SUBSCR")
def _delete_subscr(state: State, instruction: Instruction) -> None:
    owner, index = state.pop_n(2)
    state.statement(f"del {_item(owner, index)}")


@writes("BUILD_SLICE")
def _build_slice(state: State, instruction: Instruction) -> None:
    parts = state.pop_n(instruction.arg)
    text = ":".join("" if part.text == "None" else part.within(TERNARY) for part in parts)
    whole = ", ".join(part.within(TERNARY) for part in parts)
    state.push(Shown(f"slice({whole})", POSTFIX, None, (text if len(parts) > 1 else whole, "", [])))


@writes("UNPACK_SEQUENCE")
def _unpack_sequence(state: State, instruction: Instruction) -> None:
    value = state.pop()
    names = [state.temporary() for _ in range(instruction.arg)]
    left = ", ".join(names) + ("," if len(names) == 1 else "")
    state.statement(f"{left or '()'} = {value.text}")
    state.stack.extend(name_of(name) for name in reversed(names))


@writes("UNPACK_EX")
def _unpack_ex(state: State, instruction: Instruction) -> None:
    value, before = state.pop(), instruction.arg & 0xFF
    names = [state.temporary() for _ in range(before + 1 + (instruction.arg >> 8))]
    left = ", ".join(f"*{name}" if at == before else name for at, name in enumerate(names))
    state.statement(f"{left}{',' if len(names) == 1 else ''} = {value.text}")
    state.stack.extend(name_of(name) for name in reversed(names))


# --- operators ----------------------------------------------------------------------------------------------


@writes("BINARY_OP")
def _binary_op(state: State, instruction: Instruction) -> None:
    left, right = state.pop_n(2)
    operator = instruction.arg
    if operator not in operator_table.BINARY:
        changed = left if left.names is not None and left.binds == ATOM else state.named(left)
        state.statement(f"{changed.text} {operator} {right.text}", storing=changed.text)
        state.push(changed)
        return
    binds = operator_table.BINARY[operator].binds
    # `**` binds to the right, all others to the left.
    first, second = (binds + 1, binds) if operator == "**" else (binds, binds + 1)
    state.push(computed(f"{left.within(first)} {operator} {right.within(second)}", binds))


@writes("COMPARE_OP", "IS_OP", "CONTAINS_OP")
def _compare(state: State, instruction: Instruction) -> None:
    left, right = (value.within(COMPARISON + 1) for value in state.pop_n(2))
    state.push(computed(f"{left} {instruction.arg} {right}", COMPARISON))


def _unary(sign: str, binds: int, state: State, instruction: Instruction) -> None:
    state.push(computed(f"{sign}{state.pop().within(binds)}", binds))


for _op, _operator in operator_table.UNARY.items():
    writes(_op)(functools.partial(_unary, _operator.symbol, _operator.binds))
writes("UNARY_NOT")(functools.partial(_unary, "not ", NOT))


# --- containers and text ------------------------------------------------------------------------------------


_BRACKETS = {"BUILD_TUPLE": "()", "BUILD_LIST": "[]", "BUILD_SET": "{}"}


@writes(*_BRACKETS)
def _build(state: State, instruction: Instruction) -> None:
    items = state.pop_n(instruction.arg)
    made = display(_BRACKETS[instruction.op], items)
    if instruction.op == "BUILD_TUPLE" and all(item.names is not None for item in items):
        made.names = frozenset().union(*(item.names or () for item in items))
    state.push(made)


@writes("BUILD_MAP")
def _build_map(state: State, instruction: Instruction) -> None:
    flat = [item.within(TERNARY) for item in state.pop_n(2 * instruction.arg)]
    pairs = (f"{key}: {value}" for key, value in zip(flat[::2], flat[1::2], strict=True))
    state.push(computed(f"{{{', '.join(pairs)}}}", ATOM))


@writes("BUILD_CONST_KEY_MAP")
def _build_const_key_map(state: State, instruction: Instruction) -> None:
    *values, keys = (item.within(TERNARY) for item in state.pop_n(instruction.arg + 1))
    state.push(computed(f"dict(zip({keys}, ({', '.join(values)},)))"))


def _add(method: str, starred: bool, state: State, instruction: Instruction) -> None:
    item = state.pop()
    depth = instruction.arg
    container = state.stack[-depth] if depth <= len(state.stack) else Shown("<nothing>")
    text = f"*{item.within(POSTFIX)}" if starred else item.within(TERNARY)
    if depth == 1 and added(container, text):
        return
    state.spill(below=0)
    container = state.stack[-depth] if depth <= len(state.stack) else container
    state.write(f"{container.within(POSTFIX)}.{method}({item.text})")


for _op, _method, _starred in (
    ("LIST_APPEND", "append", False),
    ("SET_ADD", "add", False),
    ("LIST_EXTEND", "extend", True),
    ("SET_UPDATE", "update", True),
    ("DICT_UPDATE", "update", True),
    ("DICT_MERGE", "update", True),
):
    writes(_op)(functools.partial(_add, _method, _starred))


@writes("MAP_ADD")
def _map_add(state: State, instruction: Instruction) -> None:
    key, value = state.pop_n(2)
    state.spill()
    depth = instruction.arg
    container = state.stack[-depth] if depth <= len(state.stack) else Shown("<nothing>")
    state.write(f"{container.within(POSTFIX)}[{key.text}] = {value.text}")


@writes("LIST_TO_TUPLE")
def _list_to_tuple(state: State, instruction: Instruction) -> None:
    value = state.pop()
    state.push(computed(f"tuple({value.text})"))


@writes("BUILD_STRING")
def _build_string(state: State, instruction: Instruction) -> None:
    parts = ", ".join(part.within(TERNARY) for part in state.pop_n(instruction.arg))
    state.push(computed(f"''.join([{parts}])"))


_CONVERSIONS = ("{}", "str({})", "repr({})", "ascii({})")


@writes("FORMAT_VALUE")
def _format_value(state: State, instruction: Instruction) -> None:
    spec = [state.pop().within(TERNARY)] if instruction.arg & 4 else []
    value = _CONVERSIONS[instruction.arg & 3].format(state.pop().within(TERNARY))
    state.push(computed(f"format({', '.join([value, *spec])})"))

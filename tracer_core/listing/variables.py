"""The stack and the variables in Python text."""

from __future__ import annotations

from tracer_core.bytecode import Instruction, call_items
from tracer_core.codegen.emit.names import is_ours, is_passed
from tracer_core.listing.rules import writes
from tracer_core.listing.shown import Shown, constant, name_of, slice_text
from tracer_core.listing.state import NULL, State

# --- the stack and the frame --------------------------------------------------------------------------------


@writes("NOP", "RESUME", "COPY_FREE_VARS", "MAKE_CELL", "JUMP_NO_INTERRUPT")
def _nothing(state: State, instruction: Instruction) -> None:
    pass


@writes("POP_TOP")
def _pop_top(state: State, instruction: Instruction) -> None:
    value = state.pop()
    if value.names is None and value not in state.stack:
        state.statement(value.text)


@writes("PUSH_NULL")
def _push_null(state: State, instruction: Instruction) -> None:
    state.push(NULL)


@writes("SWAP")
def _swap(state: State, instruction: Instruction) -> None:
    state.spill()
    stack, depth = state.stack, instruction.arg
    if depth <= len(stack):
        stack[-1], stack[-depth] = stack[-depth], stack[-1]


@writes("COPY")
def _copy(state: State, instruction: Instruction) -> None:
    if instruction.arg != 1 or id(instruction) not in state.stored_next:
        state.spill()
    stack = state.stack
    state.push(stack[-instruction.arg] if instruction.arg <= len(stack) else Shown("<nothing>"))


# --- variables ----------------------------------------------------------------------------------------------


@writes("LOAD_CONST")
def _load_const(state: State, instruction: Instruction) -> None:
    value = constant(instruction.arg)
    within = slice_text(instruction.arg)
    state.push(value if within is None else Shown(value.text, open=(within, "", [])))


@writes("LOAD_FAST")
def _load_fast(state: State, instruction: Instruction) -> None:
    alias = state.aliases.get(instruction.arg)
    state.push(name_of(state.name(instruction.arg)) if alias is None else alias)


@writes("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
def _load_name(state: State, instruction: Instruction) -> None:
    state.push(name_of(instruction.arg))


@writes("LOAD_GLOBAL_NULL")
def _load_global_null(state: State, instruction: Instruction) -> None:
    state.stack.extend(call_items(name_of(instruction.arg), NULL))


@writes("LOAD_CLOSURE")
def _load_closure(state: State, instruction: Instruction) -> None:
    state.push(Shown(f"<cell {instruction.arg}>"))


@writes("LOAD_ASSERTION_ERROR")
def _load_assertion_error(state: State, instruction: Instruction) -> None:
    state.push(Shown("AssertionError"))


@writes("STORE_FAST")
def _store_fast(state: State, instruction: Instruction) -> None:
    name, value = instruction.arg, state.pop()
    ours = is_ours(name)
    if ours and not state.loads[name]:
        state.push(value)
        shared = value in state.stack[:-1]
        _pop_top(state, instruction) if not shared else state.pop()
        return
    state.aliases.pop(name, None)
    if ours and value.names is not None and (is_passed(name) or not value.names):
        state.aliases[name] = value
        return
    shown = state.name(name)
    if value.text == shown:
        return
    shared = value in state.stack
    state.replace(value, name_of(shown)) if shared else None
    if not ours:
        _rename_aliases(state, shown)
    state.statement(f"{shown} = {value.text}", storing=None if shared else shown)


def _rename_aliases(state: State, stored: str) -> None:
    """Give aliases of a variable that is about to change a name of their own."""
    for name, value in list(state.aliases.items()):
        if value.names is not None and stored in value.names:
            state.statement(f"{state.name(name)} = {value.text}")
            del state.aliases[name]


@writes("STORE_GLOBAL", "STORE_NAME", "STORE_DEREF")
def _store_name(state: State, instruction: Instruction) -> None:
    _declare(state, instruction)
    value = state.pop()
    state.statement(f"{instruction.arg} = {value.text}", storing=instruction.arg)


@writes("DELETE_FAST", "DELETE_GLOBAL", "DELETE_NAME", "DELETE_DEREF")
def _delete_name(state: State, instruction: Instruction) -> None:
    if instruction.op == "DELETE_FAST" and is_ours(instruction.arg):
        return  # a variable of ours, deleted only so that it is not found in the frame
    _declare(state, instruction)
    name = state.name(instruction.arg)
    state.statement(f"del {name}", storing=name)


def _declare(state: State, instruction: Instruction) -> None:
    if instruction.op.endswith("GLOBAL"):
        state.globals.add(instruction.arg)
    elif instruction.arg in state.free:
        state.nonlocals.add(instruction.arg)

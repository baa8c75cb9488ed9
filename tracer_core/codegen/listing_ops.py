"""What each instruction is in Python text: one rule per canonical instruction, under `@writes`."""

from __future__ import annotations

import functools
from collections.abc import Callable

from tracer_core.bytecode import CallShape, Instruction
from tracer_core.codegen.emitter import OUTPUTS
from tracer_core.codegen.listing_state import NULL, State
from tracer_core.codegen.shown import (
    ATOM,
    COMPARISON,
    LOOSE,
    NOT,
    OPERATORS,
    POSTFIX,
    TERNARY,
    UNARY,
    Shown,
    added,
    computed,
    constant,
    display,
    name_of,
    slice_text,
)

Rule = Callable[[State, Instruction], None]
RULES: dict[str, Rule] = {}


def writes(*ops: str) -> Callable[[Rule], Rule]:
    """Register the rule of these instructions."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register


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
    state.push(NULL)
    state.push(name_of(instruction.arg))


@writes("LOAD_CLOSURE")
def _load_closure(state: State, instruction: Instruction) -> None:
    state.push(Shown(f"<cell {instruction.arg}>"))


@writes("LOAD_ASSERTION_ERROR")
def _load_assertion_error(state: State, instruction: Instruction) -> None:
    state.push(Shown("AssertionError"))


@writes("STORE_FAST")
def _store_fast(state: State, instruction: Instruction) -> None:
    name, value = instruction.arg, state.pop()
    is_ours = name.startswith("___")
    if is_ours and not state.loads[name]:
        state.push(value)
        shared = value in state.stack[:-1]
        _pop_top(state, instruction) if not shared else state.pop()
        return
    state.aliases.pop(name, None)
    if is_ours and value.names is not None and (name.startswith("___pass") or not value.names):
        state.aliases[name] = value
        return
    shown = state.name(name)
    if value.text == shown:
        return
    shared = value in state.stack
    state.replace(value, name_of(shown)) if shared else None
    if not is_ours:
        _rename_aliases(state, shown)
    state.statement(f"{shown} = {value.text}", storing=None if shared else shown)


def _rename_aliases(state: State, stored: str) -> None:
    """Aliases of a variable that is about to change get a name of their own."""
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
    _declare(state, instruction)
    name = state.name(instruction.arg)
    state.statement(f"del {name}", storing=name)


def _declare(state: State, instruction: Instruction) -> None:
    if instruction.op.endswith("GLOBAL"):
        state.globals.add(instruction.arg)
    elif instruction.arg in state.free:
        state.nonlocals.add(instruction.arg)


# --- parts of values ----------------------------------------------------------------------------------------


@writes("LOAD_ATTR")
def _load_attr(state: State, instruction: Instruction) -> None:
    state.push(computed(_attribute(state.pop(), instruction.arg)))


@writes("LOAD_METHOD")
def _load_method(state: State, instruction: Instruction) -> None:
    value = state.pop()
    state.push(NULL)
    state.push(computed(_attribute(value, instruction.arg)))


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
    if operator not in OPERATORS:
        changed = left if left.names is not None and left.binds == ATOM else state.named(left)
        state.statement(f"{changed.text} {operator} {right.text}", storing=changed.text)
        state.push(changed)
        return
    binds = OPERATORS[operator]
    # `**` binds to the right, all others to the left.
    first, second = (binds + 1, binds) if operator == "**" else (binds, binds + 1)
    state.push(computed(f"{left.within(first)} {operator} {right.within(second)}", binds))


@writes("COMPARE_OP", "IS_OP", "CONTAINS_OP")
def _compare(state: State, instruction: Instruction) -> None:
    left, right = (value.within(COMPARISON + 1) for value in state.pop_n(2))
    state.push(computed(f"{left} {instruction.arg} {right}", COMPARISON))


def _unary(sign: str, binds: int, state: State, instruction: Instruction) -> None:
    state.push(computed(f"{sign}{state.pop().within(binds)}", binds))


for _op, _sign, _binds in (
    ("UNARY_NEGATIVE", "-", UNARY),
    ("UNARY_POSITIVE", "+", UNARY),
    ("UNARY_INVERT", "~", UNARY),
    ("UNARY_NOT", "not ", NOT),
):
    writes(_op)(functools.partial(_unary, _sign, _binds))


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


# --- calls --------------------------------------------------------------------------------------------------


@writes("CALL")
def _call(state: State, instruction: Instruction) -> None:
    shape: CallShape = instruction.arg
    first, second, *given = state.pop_n(shape.count + 2)
    function, arguments = (second, given) if first is NULL else (first, [second, *given])
    texts = [argument.within(TERNARY) for argument in arguments]
    plain = len(texts) - len(shape.keywords)
    keywords = (f"{name}={text}" for name, text in zip(shape.keywords, texts[plain:], strict=True))
    state.push(computed(f"{function.within(POSTFIX)}({', '.join([*texts[:plain], *keywords])})"))


@writes("CALL_FUNCTION_EX")
def _call_function_ex(state: State, instruction: Instruction) -> None:
    keywords = [f"**{state.pop().within(POSTFIX)}"] if instruction.arg & 1 else []
    _, function, arguments = state.pop_n(3)
    texts = ", ".join([f"*{arguments.within(POSTFIX)}", *keywords])
    state.push(computed(f"{function.within(POSTFIX)}({texts})"))


@writes("MAKE_FUNCTION")
def _make_function(state: State, instruction: Instruction) -> None:
    *_, code = state.pop_n(1 + (instruction.arg & 0xF).bit_count())
    state.push(Shown(code.text))


@writes("LOAD_BUILD_CLASS")
def _load_build_class(state: State, instruction: Instruction) -> None:
    state.push(Shown("__build_class__"))


@writes("IMPORT_NAME")
def _import_name(state: State, instruction: Instruction) -> None:
    level, names = state.pop_n(2)
    state.push(computed(f"__import__({instruction.arg!r}, fromlist={names.text}, level={level.text})"))


@writes("GET_ITER")
def _get_iter(state: State, instruction: Instruction) -> None:
    state.push(computed(f"iter({state.pop().text})"))


@writes("YIELD_VALUE")
def _yield_value(state: State, instruction: Instruction) -> None:
    state.push(computed(f"yield {state.pop().text}", LOOSE))


@writes("BEFORE_WITH")
def _before_with(state: State, instruction: Instruction) -> None:
    manager = state.named(state.pop())
    leave = name_of(state.temporary("leave"))
    state.statement(f"{leave.text} = {manager.text}.__exit__")
    state.push(leave)
    state.push(computed(f"{manager.text}.__enter__()"))


# --- leaving ------------------------------------------------------------------------------------------------


@writes("RETURN_VALUE")
def _return_value(state: State, instruction: Instruction) -> None:
    value = state.pop()
    _drop(state)
    state.write(f"return {value.within(TERNARY)}")


@writes("RAISE_VARARGS")
def _raise(state: State, instruction: Instruction) -> None:
    values = state.pop_n(instruction.arg)
    _drop(state)
    state.write(" from ".join(["raise", *(value.text for value in values)]).replace("raise from ", "raise ", 1))


@writes("RERAISE")
def _reraise(state: State, instruction: Instruction) -> None:
    value = state.pop()
    _drop(state)
    state.write(f"raise {value.text}")


def _drop(state: State) -> None:
    """What still waits to be evaluated when the frame is left has been."""
    for value in state.stack:
        if value.names is None:
            state.write(value.text)
    state.stack.clear()


@writes("POP_EXCEPT")
def _pop_except(state: State, instruction: Instruction) -> None:
    state.pop()
    state.statement("# leaves the `except` block")

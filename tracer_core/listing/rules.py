"""Say how each canonical instruction is written: as a template or an expression of its operands, or by a rule."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tracer_core.bytecode import OPS, CallShape, Instruction, call_items, called
from tracer_core.codegen.emit.names import is_ours, is_passed
from tracer_core.listing.expressions import (
    constant,
    expression,
    filled,
    in_brackets,
    module_of,
    slice_of,
    variables_of,
    verbatim,
)
from tracer_core.listing.state import NULL, State
from tracer_core.operator_table import UNARY

Rule = Callable[[State, Instruction], None]

_TEMPLATES = {
    **dict.fromkeys(("COMPARE_OP", "IS_OP", "CONTAINS_OP"), "_0 {} _1"),
    **{op: f"{operator.symbol}_0" for op, operator in UNARY.items()},
    "UNARY_NOT": "not _0",
    "GET_ITER": "iter(_0)",
    "YIELD_VALUE": "yield _0",
    "IMPORT_NAME": "__import__('{}', fromlist=_1, level=_0)",
    "LIST_TO_TUPLE": "tuple(_0)",
    "LOAD_BUILD_CLASS": "__build_class__",
    "LOAD_ASSERTION_ERROR": "AssertionError",
}
"""Expressions of the operands `_0`, `_1`, ..., the deepest first. `{}` is what the instruction itself names."""


def _call(shape: CallShape, lower: ast.expr, upper: ast.expr, *given: ast.expr) -> ast.expr:
    function, bound = called(lower, upper, NULL)
    plain = shape.count - len(shape.keywords)
    keywords = [ast.keyword(*pair) for pair in zip(shape.keywords, given[plain:], strict=True)]
    return ast.Call(function, [*bound, *given[:plain]], keywords)


def _call_unpacked(_: int, lower: ast.expr, upper: ast.expr, given: ast.expr, *keywords: ast.expr) -> ast.expr:
    function, _bound = called(lower, upper, NULL)
    return ast.Call(function, [ast.Starred(given)], [ast.keyword(None, each) for each in keywords])


def _formatted(flags: int, *operands: ast.expr) -> ast.expr:
    conversion = ("_0", "str(_0)", "repr(_0)", "ascii(_0)")[flags & 3]
    return expression(f"format({conversion}{', _1' * (len(operands) - 1)})", *operands)


def _item(owner: ast.expr, index: ast.expr) -> ast.expr:
    return ast.Subscript(owner, in_brackets(index))


def _stored(owner: ast.expr, index: ast.expr) -> ast.expr | None:
    """Return what generated code reads from an object's `__dict__` as the program reads it (`self.conv.weight`, not
    the dicts that `nn.Module` keeps them in); None for any other item."""
    match owner, index:
        case ast.Attribute(instance, "__dict__"), ast.Constant(str(name)) if name.isidentifier():
            read = ast.Attribute(instance, name)
            read.module = instance if name in _MEMBERS else None  # type: ignore[attr-defined]
            return read
        case ast.Attribute(), ast.Constant(str(name)) if (module := getattr(owner, "module", None)) is not None:
            if name.isdigit():
                return ast.Subscript(module, ast.Constant(int(name)))
            return ast.Attribute(module, name) if name.isidentifier() else None
        case ast.Constant(str(text)), ast.Constant(str(name)) if (called := module_of(text)) is not None:
            return verbatim(f"{called}.{name}")
    return None


_MEMBERS = ("_modules", "_parameters", "_buffers")
_SET = ast.Name("set")
_SYNTAX: dict[str, Callable[..., ast.expr | ast.stmt]] = {
    "PUSH_NULL": lambda _: NULL,
    "LOAD_CONST": constant,
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"), ast.Name),
    "LOAD_CLOSURE": lambda name: verbatim(f"<cell {name}>"),
    "LOAD_ATTR": lambda name, owner: ast.Attribute(owner, name),
    "STORE_ATTR": lambda name, value, owner: ast.Assign([ast.Attribute(owner, name)], value, lineno=0),
    "DELETE_ATTR": lambda name, owner: ast.Delete([ast.Attribute(owner, name)]),
    "BINARY_SUBSCR": lambda _, owner, index: _stored(owner, index) or _item(owner, index),
    "STORE_SUBSCR": lambda _, value, owner, index: ast.Assign([_item(owner, index)], value, lineno=0),
    "DELETE_SUBSCR": lambda _, owner, index: ast.Delete([_item(owner, index)]),
    "BUILD_TUPLE": lambda _, *items: ast.Tuple(list(items)),
    "BUILD_LIST": lambda _, *items: ast.List(list(items)),
    "BUILD_SET": lambda _, *items: ast.Set(list(items)) if items else ast.Call(_SET, [], []),
    "BUILD_MAP": lambda _, *flat: ast.Dict(list(flat[::2]), list(flat[1::2])),
    "BUILD_CONST_KEY_MAP": lambda _, *parts: expression("dict(zip(_0, _1))", parts[-1], ast.Tuple(list(parts[:-1]))),
    "BUILD_SLICE": lambda _, *parts: slice_of(parts),
    "BUILD_STRING": lambda _, *parts: expression("''.join(_0)", ast.List(list(parts))),
    "FORMAT_VALUE": _formatted,
    "CALL": _call,
    "CALL_FUNCTION_EX": _call_unpacked,
    "MAKE_FUNCTION": lambda _, *parts: parts[-1],
}
"""Expressions and statements as functions of what the instruction names, and of its operands."""

RULES: dict[str, Rule] = dict.fromkeys(
    ("NOP", "RESUME", "COPY_FREE_VARS", "MAKE_CELL", "JUMP", "JUMP_NO_INTERRUPT"), lambda state, instruction: None
)
"""Instructions that move what stands on the stack, bind names, or become several statements."""


def write(state: State, instruction: Instruction) -> None:
    """Write one instruction; one that has no Python text stands in a comment, and its results get names."""
    op, arg = instruction.op, instruction.arg
    if op in RULES:
        RULES[op](state, instruction)
        return
    if op not in _SYNTAX and op not in _TEMPLATES:
        _untold(state, instruction)
        return
    operands = state.pop_n(OPS[op].takes(arg))
    made = _SYNTAX[op](arg, *operands) if op in _SYNTAX else expression(_TEMPLATES[op].format(arg), *operands)
    if isinstance(made, ast.expr):
        state.stack.append(made)
    else:
        state.statement(made)


def _untold(state: State, instruction: Instruction) -> None:
    info = OPS[instruction.op]
    state.spill()
    operands = ", ".join(map(ast.unparse, state.pop_n(info.takes(instruction.arg))))
    name, operand, _ = instruction.origin or (instruction.op, "", 0)
    state.write(f"# {name} {operand}".rstrip() + (f" on {operands}" if operands else ""))
    state.stack += [state.temporary() for _ in range(info.leaves(instruction.arg))]


def writes(*ops: str) -> Callable[[Rule], Rule]:
    """Register the rule of these instructions."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register


# --- the stack ----------------------------------------------------------------------------------------------


@writes("POP_TOP")
def _pop_top(state: State, instruction: Instruction) -> None:
    value = state.stack.pop()
    if not state.lasts(value) and value not in state.stack:
        state.statement(ast.Expr(value))


@writes("SWAP")
def _swap(state: State, instruction: Instruction) -> None:
    state.spill()
    stack, depth = state.stack, instruction.arg
    stack[-1], stack[-depth] = stack[-depth], stack[-1]


@writes("COPY")
def _copy(state: State, instruction: Instruction) -> None:
    # `Emitter.keep` stores the copy at once: that statement gives it a name.
    if instruction.arg != 1 or instruction.origin is not None:
        state.spill()
    state.stack.append(state.stack[-instruction.arg])


# --- variables ----------------------------------------------------------------------------------------------


@writes("LOAD_FAST")
def _load_fast(state: State, instruction: Instruction) -> None:
    name = instruction.arg
    state.stack.append(state.aliases[name] if name in state.aliases else ast.Name(state.name(name)))


@writes("LOAD_GLOBAL_NULL", "LOAD_METHOD")
def _load_callable(state: State, instruction: Instruction) -> None:
    name, is_method = instruction.arg, instruction.op == "LOAD_METHOD"
    state.stack += call_items(ast.Attribute(state.stack.pop(), name) if is_method else ast.Name(name), NULL)


@writes("STORE_FAST")
def _store_fast(state: State, instruction: Instruction) -> None:
    name, ours = instruction.arg, is_ours(instruction.arg)
    if ours and name not in state.loads:
        _pop_top(state, instruction)
        return
    value = state.stack.pop()
    state.aliases.pop(name, None)
    if ours and state.lasts(value) and (is_passed(name) or not variables_of(value)):
        state.aliases[name] = value
        return
    shown = ast.Name(state.name(name))
    if isinstance(value, (ast.Name, ast.Constant)) and ast.unparse(value) == shown.id:
        return
    if not ours:
        _rename_aliases(state, shown.id)
    shared = value in state.stack
    state.replace(value, shown)
    state.assign(shown, value, storing=None if shared else shown.id)


def _rename_aliases(state: State, stored: str) -> None:
    """Give aliases of a variable that is about to change a name of their own."""
    for name, value in list(state.aliases.items()):
        if stored in variables_of(value):
            del state.aliases[name]
            state.assign(ast.Name(state.name(name)), value)


@writes("STORE_GLOBAL", "STORE_NAME", "STORE_DEREF")
def _store_name(state: State, instruction: Instruction) -> None:
    _declare(state, instruction)
    state.assign(ast.Name(instruction.arg), state.stack.pop(), storing=instruction.arg)


@writes("DELETE_FAST", "DELETE_GLOBAL", "DELETE_NAME", "DELETE_DEREF")
def _delete_name(state: State, instruction: Instruction) -> None:
    if instruction.op == "DELETE_FAST" and is_ours(instruction.arg):
        return  # a variable of ours, deleted only so that it is not found in the frame
    _declare(state, instruction)
    name = state.name(instruction.arg)
    state.statement(filled("del _0", ast.Name(name)), storing=name)


def _declare(state: State, instruction: Instruction) -> None:
    if instruction.op.endswith("GLOBAL"):
        state.declared["global"].add(instruction.arg)
    elif instruction.arg in state.free:
        state.declared["nonlocal"].add(instruction.arg)


# --- operators and containers -------------------------------------------------------------------------------


@writes("BINARY_OP")
def _binary_op(state: State, instruction: Instruction) -> None:
    left, right = state.pop_n(2)
    template = f"_0 {instruction.arg} _1"
    if not instruction.arg.endswith("="):
        state.stack.append(expression(template, left, right))
        return
    if not isinstance(left, ast.Name):
        left = state.new_name(left)
    state.statement(filled(template, left, right), storing=left.id)
    state.stack.append(left)


@writes("UNPACK_SEQUENCE", "UNPACK_EX")
def _unpack(state: State, instruction: Instruction) -> None:
    value, count = state.stack.pop(), OPS[instruction.op].leaves(instruction.arg)
    names = [state.temporary() for _ in range(count)]
    targets: list[ast.expr] = list(names)
    if instruction.op == "UNPACK_EX":
        starred = instruction.arg & 0xFF
        targets[starred] = ast.Starred(targets[starred])
    state.assign(ast.Tuple(targets), value)
    state.stack += reversed(names)


_ADDED = {
    "LIST_APPEND": "_0.append(_1)",
    "SET_ADD": "_0.add(_1)",
    "MAP_ADD": "_0[_1] = _2",
    "LIST_EXTEND": "_0.extend(_1)",
    **dict.fromkeys(("SET_UPDATE", "DICT_UPDATE", "DICT_MERGE"), "_0.update(_1)"),
}


@writes(*_ADDED)
def _add(state: State, instruction: Instruction) -> None:
    """Write the items into the display of the container, as long as it has no name."""
    op, depth = instruction.op, instruction.arg
    items = state.pop_n(2 if op == "MAP_ADD" else 1)
    container = state.stack[-depth]
    if depth == 1 and isinstance(container, ast.Call) and container.func is _SET:
        container = state.stack[-1] = ast.Set([])
    if depth == 1 and isinstance(container, (ast.List, ast.Set)):
        container.elts += items if op in ("LIST_APPEND", "SET_ADD") else map(ast.Starred, items)
        return
    state.spill()
    state.statement(filled(_ADDED[op], state.stack[-depth], *items))


@writes("BEFORE_WITH")
def _before_with(state: State, instruction: Instruction) -> None:
    manager = state.named(state.stack.pop())
    leave = state.temporary("leave")
    state.assign(leave, ast.Attribute(manager, "__exit__"))
    state.stack.append(leave)
    state.stack.append(expression("_0.__enter__()", manager))


# --- exceptions, and the ways to leave a frame --------------------------------------------------------------


@writes("RETURN_VALUE", "RERAISE", "RAISE_VARARGS")
def _leave(state: State, instruction: Instruction) -> None:
    raises = instruction.op == "RAISE_VARARGS"
    if raises and instruction.origin is None:  # `blocks.raise_and_catch`
        state.stack[-1] = state.named(state.stack[-1])
        state.spill()
        state.write(f"# from here on as in an `except` block that handles {ast.unparse(state.stack[-1])}")
        return
    values = state.pop_n(instruction.arg if raises else 1)
    for pending in state.stack:
        if not state.lasts(pending):
            state.write(ast.unparse(pending))
    state.stack.clear()
    templates = ("raise", "raise _0", "raise _0 from _1")
    template = "return _0" if instruction.op == "RETURN_VALUE" else templates[len(values)]
    state.statement(filled(template, *values))


@writes("PUSH_EXC_INFO")
def _push_exc_info(state: State, instruction: Instruction) -> None:
    state.stack.insert(-1, verbatim("sys.exception()"))


@writes("POP_EXCEPT")
def _pop_except(state: State, instruction: Instruction) -> None:
    state.stack.pop()
    state.spill()
    state.write("# leaves the `except` block")

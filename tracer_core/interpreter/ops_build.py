"""Instructions that compute: operators, building containers and strings, unpacking, calls, making functions."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from tracer_core.bytecode import CallShape, Instruction
from tracer_core.errors import Unsupported
from tracer_core.interpreter.ops import op
from tracer_core.variables import operators
from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.constant import NULL, ConstantVariable
from tracer_core.variables.dict_methods import Pair, pairs, pairs_of_mapping, plain_dict, take_all
from tracer_core.variables.dicts import DictVariable, SetVariable
from tracer_core.variables.frames import Frame
from tracer_core.variables.functions import UserFunctionVariable
from tracer_core.variables.listed import listed
from tracer_core.variables.membership import membership
from tracer_core.variables.nested_functions import NestedFunctionVariable
from tracer_core.variables.sequence_methods import list_extend
from tracer_core.variables.sequences import ListVariable, SequenceVariable, SliceVariable, TupleVariable
from tracer_core.variables.special_methods import class_has
from tracer_core.variables.tensor import InGraphVariable
from tracer_core.variables.text_methods import formatted, shown
from tracer_core.variables.tracing import ObservedException
from tracer_core.variables.user_objects import static_lookup


@op("BINARY_OP")
def binary_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    a, b = frame.pop_n(2)
    frame.push(operators.binary(tx, ins.arg, a, b))


@op("UNARY_POSITIVE", "UNARY_NEGATIVE", "UNARY_INVERT")
def unary_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(operators.unary(tx, ins.op, frame.pop()))


@op("UNARY_NOT")
def unary_not(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(operators.negation(tx, frame.pop()))


@op("COMPARE_OP")
def compare_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    a, b = frame.pop_n(2)
    frame.push(operators.compare(tx, ins.arg, a, b))


@op("IS_OP")
def is_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    a, b = frame.pop_n(2)
    frame.push(ConstantVariable(tx.same(a, b) == (ins.arg == "is")))


@op("CONTAINS_OP")
def contains_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    item, container = frame.pop_n(2)
    found = membership(tx, container, item)
    frame.push(found if ins.arg == "in" else operators.negation(tx, found))


# --- containers ---------------------------------------------------------------------------------------------


@op("BUILD_TUPLE")
def build_tuple(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(TupleVariable(frame.pop_n(ins.arg)))


@op("BUILD_LIST")
def build_list(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(ListVariable(frame.pop_n(ins.arg)))


@op("BUILD_SET")
def build_set(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(SetVariable.hashing(tx, frame.pop_n(ins.arg)))


@op("BUILD_MAP")
def build_map(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    items = frame.pop_n(2 * ins.arg)
    made = DictVariable()
    for key, value in zip(items[::2], items[1::2], strict=True):
        made.set(tx, key, value)
    frame.push(made)


@op("BUILD_CONST_KEY_MAP")
def build_const_key_map(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    keys = frame.pop().realize().value()
    made = DictVariable()
    for key, value in zip(keys, frame.pop_n(ins.arg), strict=True):
        made.set(tx, tx.constant(key), value)
    frame.push(made)


@op("BUILD_SLICE")
def build_slice(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    items = [item.realize() for item in frame.pop_n(3 if ins.arg == 3 else 2)]
    frame.push(SliceVariable([*items, ConstantVariable(None)][:3]))


@op("BUILD_STRING")
def build_string(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(ConstantVariable("".join(part.realize().value() for part in frame.pop_n(ins.arg))))


@op("FORMAT_VALUE")
def format_value(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    spec = frame.pop().realize().value() if ins.arg & 4 else ""
    value = frame.pop().realize()
    conversion = {1: "__str__", 2: "__repr__", 3: "ascii"}.get(ins.arg & 3)
    if conversion == "ascii":
        value = ConstantVariable(ascii(shown(tx, value)))
    elif conversion is not None or (not spec and not _has_own_format(value)):
        text = tx.text_of(value, conversion or "__str__")
        if text is None:
            raise Unsupported("object-address", what=value.describe())
        value = text.realize()
    if not spec and conversion is None and value.python_type() is str:
        frame.push(value)
        return
    frame.push(formatted(tx, value, spec))


def _has_own_format(value: VariableTracker) -> bool:
    return static_lookup(value.python_type(), "__format__")[1] is not object


@op("LIST_APPEND")
def list_append(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    item = frame.pop()
    tx.call_method(frame.stack[-ins.arg].realize(), "append", [item], {})


@op("SET_ADD")
def set_add(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    item = frame.pop()
    tx.call_method(frame.stack[-ins.arg].realize(), "add", [item], {})


@op("MAP_ADD")
def map_add(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    key, value = frame.pop_n(2)
    tx.set_item(frame.stack[-ins.arg], key, value)


@op("LIST_EXTEND")
def list_extend_op(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    items = frame.pop().realize()
    target = frame.stack[-ins.arg].realize()
    assert isinstance(target, ListVariable)
    if items.items_or_none(tx) is None and not class_has(items, "__iter__"):
        tx.raise_(TypeError, f"Value after * must be an iterable, not {items.python_type_name()}")
    list_extend(tx, target, items)


@op("LIST_TO_TUPLE")
def list_to_tuple(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(TupleVariable(tx.unpack(frame.pop())))


@op("SET_UPDATE")
def set_update(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    items = frame.pop()
    tx.call_method(frame.stack[-ins.arg].realize(), "update", [items], {})


@op("DICT_UPDATE")
def dict_update(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    items = frame.pop().realize()
    target = frame.stack[-ins.arg].realize()
    assert isinstance(target, DictVariable)
    given = plain_dict(items)
    if given is not None:
        take_all(tx, target, given)
        return
    for key, value in _pairs_for(tx, items, f"'{items.python_type_name()}' object is not a mapping"):
        target.set(tx, key, value)


@op("DICT_MERGE")
def dict_merge(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    """As DICT_UPDATE, for `**kwargs` of a call: a name given twice is an error."""
    items = frame.pop().realize()
    target = frame.stack[-ins.arg].realize()
    assert isinstance(target, DictVariable)
    function = _called_name(frame.stack[-ins.arg - 2].realize())
    refusal = f"{function}() argument after ** must be a mapping, not {items.python_type_name()}"
    for key, value in _pairs_for(tx, items, refusal):
        if target.get(tx, key) is not None:
            tx.raise_(TypeError, f"{function}() got multiple values for keyword argument {key.realize().value()!r}")
        target.set(tx, key, value)


def _pairs_for(tx: Tracing, items: VariableTracker, refusal: str) -> Iterable[Pair]:
    """What `**items` gives. Any AttributeError on the way counts as having no `keys`, as in CPython."""
    try:
        found = pairs_of_mapping(tx, items)
    except ObservedException as raised:
        if not issubclass(raised.tracker.cls, AttributeError):
            raise
        found = None
    return tx.raise_(TypeError, refusal) if found is None else found


def _called_name(function: VariableTracker) -> str:
    """How CPython names a function in such errors: module and qualified name."""
    if isinstance(function, NestedFunctionVariable):
        return f"{function.globals.get('__name__')}.{function.qualname}"
    if isinstance(function, UserFunctionVariable):
        return f"{function.function.__module__}.{function.function.__qualname__}"
    return str(getattr(constant_or(function, None), "__qualname__", function.describe()))


# --- unpacking ----------------------------------------------------------------------------------------------


@op("UNPACK_SEQUENCE")
def unpack_sequence(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    items = _unpacked(tx, frame.pop(), ins.arg, ins.arg)
    frame.stack.extend(reversed(items))


@op("UNPACK_EX")
def unpack_ex(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    before, after = ins.arg & 0xFF, ins.arg >> 8
    items = _unpacked(tx, frame.pop(), before + after, None, before)
    middle = ListVariable(items[before : len(items) - after])
    tail = items[len(items) - after :] if after else []
    frame.stack.extend([*reversed(tail), middle, *reversed(items[:before])])


def _unpacked(
    tx: Tracing, tracker: VariableTracker, least: int, most: int | None, listed_from: int | None = None
) -> list[VariableTracker]:
    """Items of an iterable of `least` to `most` (None: any number), fetched no further than Python does. It makes a
    list of the rest from number `listed_from` on, for which it asks the iterator for an iterator."""
    tracker = tracker.realize()
    if not isinstance(tracker, (SequenceVariable, InGraphVariable)) and not class_has(tracker, "__iter__"):
        if not class_has(tracker, "__getitem__"):
            tx.raise_(TypeError, f"cannot unpack non-iterable {tracker.python_type_name()} object")
    iterator = tx.iterate(tracker)
    items: list[VariableTracker] = []
    while most is None or len(items) <= most:
        if len(items) == listed_from:
            iterator = tx.iterate(iterator)
        item = tx.next_item(iterator)
        if item is None:
            break
        items.append(item)
    if len(items) < least:
        wanted = f"expected {least}" if most is not None else f"expected at least {least}"
        tx.raise_(ValueError, f"not enough values to unpack ({wanted}, got {len(items)})")
    if most is not None and len(items) > most:
        tx.raise_(ValueError, f"too many values to unpack (expected {most})")
    return items


# --- calls and functions ------------------------------------------------------------------------------------


@op("CALL")
def call(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    shape: CallShape = ins.arg
    args = frame.pop_n(shape.count)
    first, second = frame.pop_n(2)
    if first is NULL:
        function = second
    else:
        function = first
        args.insert(0, second)
    split = len(args) - len(shape.keywords)
    kwargs = dict(zip(shape.keywords, args[split:], strict=True))
    frame.push(tx.call(function, args[:split], kwargs))


@op("CALL_FUNCTION_EX")
def call_function_ex(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    kwargs: dict[str, VariableTracker] = {}
    named = frame.pop().realize() if ins.arg & 1 else None
    positional = frame.pop().realize()
    function = frame.pop()
    frame.pop()
    if named is not None:
        for key, value in pairs(tx, named):
            name = constant_or(key.realize(), None)
            if not isinstance(name, str):
                tx.raise_(TypeError, "keywords must be strings")
            kwargs[name] = value
    if positional.items_or_none(tx) is None and not class_has(positional, "__iter__"):
        what = f"{_called_name(function.realize())}() argument after * must be an iterable"
        tx.raise_(TypeError, f"{what}, not {positional.python_type_name()}")
    frame.push(tx.call(function, listed(tx, positional), kwargs))


@op("MAKE_FUNCTION")
def make_function(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    code = frame.pop().realize().value()
    closure = frame.pop().realize() if ins.arg & 8 else None
    annotations = frame.pop() if ins.arg & 4 else None
    kwdefaults = frame.pop() if ins.arg & 2 else None
    defaults = frame.pop() if ins.arg & 1 else None
    cells: Any = [cell.realize() for cell in closure.items] if isinstance(closure, SequenceVariable) else []
    frame.push(NestedFunctionVariable(code, frame.globals, cells, defaults, kwdefaults, annotations))


@op("LOAD_BUILD_CLASS")
def load_build_class(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(tx.constant(builtins.__build_class__))

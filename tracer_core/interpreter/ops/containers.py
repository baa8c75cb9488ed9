"""Building containers, slices and strings, and adding to them."""

from __future__ import annotations

from collections.abc import Iterable

from tracer_core.bytecode import Instruction
from tracer_core.interpreter.ops.calls import called_name
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.builtins.dict_methods import Pair, pairs_of_mapping, plain_dict, take_all
from tracer_core.variables.builtins.sequence_methods import list_extend
from tracer_core.variables.builtins.text import no_text
from tracer_core.variables.builtins.text_methods import formatted, shown
from tracer_core.variables.containers.dicts import ConstDictVariable, SetVariable
from tracer_core.variables.containers.sequences import ListVariable, SliceVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.operations.special_methods import class_has


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
    made = ConstDictVariable()
    for key, value in zip(items[::2], items[1::2], strict=True):
        made.set(tx, key, value)
    frame.push(made)


@op("BUILD_CONST_KEY_MAP")
def build_const_key_map(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    keys = frame.pop().realize().value()
    made = ConstDictVariable()
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
            raise no_text(value)
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
        tx.raise_(TypeError, f"Value after * must be an iterable, not {items.type_name_in_errors()}")
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
    assert isinstance(target, ConstDictVariable)
    given = plain_dict(items)
    if given is not None:
        take_all(tx, target, given)
        return
    for key, value in _pairs_for(tx, items, f"'{items.type_name_in_errors()}' object is not a mapping"):
        target.set(tx, key, value)


@op("DICT_MERGE")
def dict_merge(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    """Do DICT_UPDATE for the `**kwargs` of a call: a name given twice is an error."""
    items = frame.pop().realize()
    target = frame.stack[-ins.arg].realize()
    assert isinstance(target, ConstDictVariable)
    function = called_name(frame.stack[-ins.arg - 2].realize())
    refusal = f"{function}() argument after ** must be a mapping, not {items.type_name_in_errors()}"
    for key, value in _pairs_for(tx, items, refusal):
        if target.get(tx, key) is not None:
            tx.raise_(TypeError, f"{function}() got multiple values for keyword argument {key.realize().value()!r}")
        target.set(tx, key, value)


def _pairs_for(tx: Tracing, items: VariableTracker, refusal: str) -> Iterable[Pair]:
    """Return the dict for `**items`. Any AttributeError on the way means that there is no `keys`, as in CPython."""
    try:
        found = pairs_of_mapping(tx, items)
    except ObservedException as raised:
        if not issubclass(raised.tracker.cls, AttributeError):
            raise
        found = None
    return tx.raise_(TypeError, refusal) if found is None else found

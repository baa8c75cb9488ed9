"""`str` and `repr`, and the text of any tracker."""

from __future__ import annotations

import collections
import functools
import re
import types
import weakref

import torch

from tracer_core.class_origins import HEAP_TYPE, class_in_c
from tracer_core.errors import Unsupported
from tracer_core.variables.containers.dicts import ConstDictVariable, DictViewVariable, MappingProxyVariable
from tracer_core.variables.containers.sequences import DequeVariable, ListVariable, SizeVariable, TupleVariable
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, needs_data
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable, raise_real
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.enum_members import EnumMemberVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.special_methods import call_special, has_special


@handles(str, VariableTracker)
def str_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    return text_of(tx, obj, "__str__")


@handles(repr, VariableTracker)
def repr_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    return text_of(tx, obj, "__repr__")


# Types whose texts show the value, and not an address.
_TELL_THEIR_VALUE = (
    bool, int, float, complex, str, bytes, type(None), type, tuple, list, dict, set, frozenset, range, slice,
    types.EllipsisType, types.NotImplementedType, types.GenericAlias, types.UnionType,
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme, torch.finfo, torch.iinfo,
)  # fmt: skip


def text_of(tx: Tracing, obj: VariableTracker, special: str) -> VariableTracker | None:
    """Return `str(obj)` or `repr(obj)`; None if folding computes it."""
    obj = obj.realize()
    if isinstance(obj, TensorVariable):
        raise needs_data(obj, special)
    if isinstance(obj, SymNodeVariable):
        return ConstantVariable(str(obj.specialize(tx, obj.python_type())))
    if isinstance(obj, ExceptionVariable):
        return _exception_text(tx, obj, special)
    if isinstance(obj, UserDefinedObjectVariable):
        for name in (special, "__repr__"):
            found, owner = static_lookup(obj.cls, name)
            if owner is not object and owner is not None:
                bound = obj.bind_descriptor(tx, name, found, owner)
                assert bound is not None
                return tx.call(bound, [])
        raise no_text(obj)
    if isinstance(obj, EnumMemberVariable) and has_special(obj, special):
        return call_special(tx, obj, special, [], "")
    try:
        value = obj.value()
    except NotConstant:
        return _container_text(tx, obj)
    if special == "__repr__" and type(value) in (re.Pattern, re.Match):
        return ConstantVariable(repr(value))
    if isinstance(value, _TELL_THEIR_VALUE):
        try:
            return ConstantVariable(str(value) if special == "__str__" else repr(value))
        except ValueError as error:  # (An integer of too many digits.)
            raise_real(tx, error)
    return None


_SHOW_ADDRESSES = frozenset(
    cls.__repr__
    for cls in (
        object, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.CodeType, types.CellType,
        types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, weakref.ref, functools.partial,
    )
)  # fmt: skip


def no_text(obj: VariableTracker) -> Unsupported:
    """Return the reason why a value's text is not known while tracing."""
    shows_address = getattr(obj.python_type(), "__repr__", None) in _SHOW_ADDRESSES
    return Unsupported("object-address" if shows_address else "text", what=obj.describe())


def _container_text(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    """Return the text of a container of values with known texts; None for other values."""
    if type(obj) is ListVariable:
        return ConstantVariable(f"[{', '.join(_texts(tx, obj.items))}]")
    if type(obj) is TupleVariable:
        comma = "," if len(obj.items) == 1 else ""
        return ConstantVariable(f"({', '.join(_texts(tx, obj.items))}{comma})")
    if type(obj) is SizeVariable:
        return ConstantVariable(f"torch.Size([{', '.join(_texts(tx, obj.items))}])")
    if type(obj) is DequeVariable:
        most = "" if obj.maxlen is None else f", maxlen={obj.maxlen}"
        return ConstantVariable(f"deque([{', '.join(_texts(tx, obj.items))}]{most})")
    if type(obj) is ConstDictVariable:
        return _dict_text(tx, obj)
    if isinstance(obj, DictViewVariable):
        items = ", ".join(_texts(tx, obj.items_or_none(tx)))
        return ConstantVariable(f"{obj.python_type_name()}([{items}])")
    if isinstance(obj, MappingProxyVariable):
        return ConstantVariable(f"mappingproxy({', '.join(_texts(tx, [obj.of]))})")
    return None


def _dict_text(tx: Tracing, obj: ConstDictVariable) -> VariableTracker | None:
    keys, values = _texts(tx, obj.keys()), _texts(tx, [value for _, value in obj.entries(tx)])
    entries = list(zip(keys, values, strict=True))
    plain = "{" + ", ".join(f"{key}: {value}" for key, value in entries) + "}"
    if obj.cls is dict:
        return ConstantVariable(plain)
    if obj.cls is collections.OrderedDict:
        pairs = ", ".join(f"({key}, {value})" for key, value in entries)
        return ConstantVariable(f"OrderedDict([{pairs}])" if entries else "OrderedDict()")
    if obj.cls is collections.defaultdict:
        return ConstantVariable(f"defaultdict({', '.join(_texts(tx, [obj.default_factory or NONE]))}, {plain})")
    return None


def _texts(tx: Tracing, items: list[VariableTracker]) -> list[str]:
    texts = []
    for item in items:
        text = text_of(tx, item, "__repr__")
        if text is None:
            raise no_text(item.realize())
        texts.append(str(text.value()))
    return texts


def _exception_text(tx: Tracing, obj: ExceptionVariable, special: str) -> VariableTracker | None:
    found, _ = static_lookup(obj.cls, special)
    if hasattr(found, "__code__"):
        return tx.call(tx.get_attr(obj, special), [])
    made = plain_exception(obj)
    return ConstantVariable(str(made) if special == "__str__" else repr(made))


def plain_exception(obj: ExceptionVariable) -> BaseException:
    """Return a real exception with the same arguments and the values that C code stores beside them, created without
    the class's own code."""
    owner = class_in_c(obj.cls)
    values = [arg.realize().value() for arg in obj.args]
    made: BaseException = owner.__new__(obj.cls, *values)
    if obj.made_of is not None:
        try:
            owner.__init__(made, *(arg.realize().value() for arg in obj.made_of))
        except (TypeError, ValueError):
            # It is external, and was not created from its arguments.
            raise no_text(obj) from None
        made.args = tuple(values)
    # (The object and the name that an AttributeError or NameError holds are no part of its text.)
    in_c = [
        cls for cls in obj.cls.__mro__ if not cls.__flags__ & HEAP_TYPE and cls not in (AttributeError, NameError)
    ]
    for name, value in obj.attributes.items():
        if any(name in vars(cls) for cls in in_c) and not name.startswith("__"):
            setattr(made, name, value.realize().value())
    return made

"""Python's builtin functions."""

from __future__ import annotations

import builtins
import math
import operator
import re
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.polyfills import CallIterator
from tracer_core.variables.attributes import del_attr, find_attr, get_attr, set_attr
from tracer_core.variables.base import NotConstant, Tracing, VariableTracker, constant_or
from tracer_core.variables.calling import call_method, callable_type
from tracer_core.variables.classes import ClassVariable, SuperVariable
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.dicts import DictVariable
from tracer_core.variables.exceptions import ExceptionVariable, ObservedException
from tracer_core.variables.folding import fold
from tracer_core.variables.functions import BuiltinMethodVariable, CellVariable, FunctionVariable
from tracer_core.variables.generators import GeneratorVariable
from tracer_core.variables.in_graph import call_in_graph
from tracer_core.variables.iteration import iterate, next_item, unpack
from tracer_core.variables.iterators import (
    make_enumerate,
    make_filter,
    make_map,
    make_zip,
)
from tracer_core.variables.operators import binary, by_methods, compare, unsupported_operands
from tracer_core.variables.registry import handles
from tracer_core.variables.sequence_methods import index_value, sorted_items
from tracer_core.variables.sequences import ListVariable, RangeVariable, SequenceVariable, TupleVariable
from tracer_core.variables.special_methods import call_special, has_special
from tracer_core.variables.stand_ins import call_stand_in
from tracer_core.variables.tensor import InGraphVariable, SymNodeVariable, TensorVariable
from tracer_core.variables.truth_and_length import length, truth
from tracer_core.variables.user_objects import InstanceDictVariable, UserObjectVariable, static_lookup

NONE = ConstantVariable(None)
FALSE = ConstantVariable(False)
# The class of torch.FloatTensor and its kin.
_TENSOR_TYPE: Any = type(torch.FloatTensor)


@handles(len, VariableTracker)
def len_(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return length(tx, obj)


@handles(bool)
def bool_(tx: Tracing, obj: VariableTracker = FALSE) -> VariableTracker:
    return ConstantVariable(truth(tx, obj))


@handles(iter, VariableTracker)
def iter_(tx: Tracing, obj: VariableTracker, sentinel: VariableTracker | None = None) -> VariableTracker | None:
    if sentinel is None:
        return iterate(tx, obj)
    if not callable_type(obj):
        tx.raise_(TypeError, "iter(v, w): v must be callable")
    return call_stand_in(tx, type(iter(int, 0)), CallIterator, [obj, sentinel], {})


@handles(next, VariableTracker)
def next_(tx: Tracing, iterator: VariableTracker, default: VariableTracker | None = None) -> VariableTracker:
    if default is None and isinstance(iterator, UserObjectVariable):
        return call_special(
            tx, iterator, "__next__", [], f"{iterator.python_type_name()!r} object is not an iterator"
        )
    if default is None and isinstance(iterator, GeneratorVariable):
        return call_method(tx, iterator, "__next__", [], {})
    item = next_item(tx, iterator)
    if item is not None:
        return item
    return default if default is not None else tx.raise_(StopIteration)


@handles(enumerate, VariableTracker)
def enumerate_(
    tx: Tracing, iterable: VariableTracker, start: VariableTracker = ConstantVariable(0)
) -> VariableTracker:
    first = index_value(tx, start, f"{start.python_type_name()!r} object cannot be interpreted as an integer")
    return make_enumerate(iterate(tx, iterable), next_item, first)


@handles(zip)
def zip_(tx: Tracing, *iterables: VariableTracker, strict: VariableTracker = FALSE) -> VariableTracker:
    return make_zip([iterate(tx, each) for each in iterables], next_item, truth(tx, strict))


@handles(map, VariableTracker, VariableTracker)
def map_(tx: Tracing, function: VariableTracker, *iterables: VariableTracker) -> VariableTracker:
    return make_map(function, [iterate(tx, each) for each in iterables], next_item)


@handles(filter, VariableTracker, VariableTracker)
def filter_(tx: Tracing, function: VariableTracker, iterable: VariableTracker) -> VariableTracker:
    by_itself = constant_or(function, 0) is None

    def keep(tx: Tracing, item: VariableTracker) -> bool:
        return truth(tx, item if by_itself else tx.call(function, [item]))

    return make_filter(keep, function, iterate(tx, iterable), next_item)


@handles(range)
def range_(tx: Tracing, *bounds: VariableTracker) -> VariableTracker:
    items: list[VariableTracker] = []
    for bound in bounds:
        if isinstance(bound, SymNodeVariable):
            items.append(bound)
        else:
            message = f"{bound.python_type_name()!r} object cannot be interpreted as an integer"
            items.append(ConstantVariable(index_value(tx, bound, message)))
    if len(items) == 1:
        items.insert(0, ConstantVariable(0))
    if not 2 <= len(items) <= 3:
        wrong = "at least 1 argument, got 0" if not items else f"at most 3 arguments, got {len(items)}"
        tx.raise_(TypeError, f"range expected {wrong}")
    if len(items) == 2:
        items.append(ConstantVariable(1))
    if constant_or(items[2]) == 0:
        tx.raise_(ValueError, "range() arg 3 must not be zero")
    return RangeVariable(items)


@handles(sum, VariableTracker)
def sum_(tx: Tracing, iterable: VariableTracker, start: VariableTracker = ConstantVariable(0)) -> VariableTracker:
    kind = start.python_type()
    if kind in (str, bytes, bytearray):
        hint = "''.join(seq)" if kind is str else "b''.join(seq)"
        tx.raise_(TypeError, f"sum() can't sum {'strings' if kind is str else kind.__name__} [use {hint} instead]")
    if isinstance(iterable, SequenceVariable) and constant_or(start) == 0 and _symbolic_ints(iterable.items):
        return call_in_graph(tx, "call_function", torch.sym_sum, [ListVariable(list(iterable.items))], {})
    total = start
    iterator = iterate(tx, iterable)
    while (item := next_item(tx, iterator)) is not None:
        total = binary(tx, "+", total, item)
    return total


def _symbolic_ints(items: list[VariableTracker]) -> bool:
    """Whether these are ints, and at least one of them a symbol."""
    realized = [item.realize() for item in items]
    return any(isinstance(item, SymNodeVariable) for item in realized) and all(
        item.python_type() is int for item in realized
    )


@handles(any, VariableTracker)
def any_(tx: Tracing, iterable: VariableTracker) -> VariableTracker:
    iterator = iterate(tx, iterable)
    while (item := next_item(tx, iterator)) is not None:
        if truth(tx, item):
            return ConstantVariable(True)
    return FALSE


@handles(all, VariableTracker)
def all_(tx: Tracing, iterable: VariableTracker) -> VariableTracker:
    iterator = iterate(tx, iterable)
    while (item := next_item(tx, iterator)) is not None:
        if not truth(tx, item):
            return FALSE
    return ConstantVariable(True)


def _extreme(name: str, symbol: str) -> Any:
    def handler(
        tx: Tracing, *args: VariableTracker, key: VariableTracker = NONE, default: VariableTracker | None = None
    ) -> VariableTracker:
        if not args:
            tx.raise_(TypeError, f"{name} expected at least 1 argument, got 0")
        items = unpack(tx, args[0]) if len(args) == 1 else list(args)
        if not items:
            return default if default is not None else tx.raise_(ValueError, f"{name}() arg is an empty sequence")
        by_itself = constant_or(key, 0) is None
        if by_itself and any(isinstance(item.realize(), SymNodeVariable) for item in items):
            return _symbolic_extreme(tx, name, items)
        best = items[0]
        best_key = best if by_itself else tx.call(key, [best])
        for item in items[1:]:
            item_key = item if by_itself else tx.call(key, [item])
            if truth(tx, compare(tx, symbol, item_key, best_key)):
                best, best_key = item, item_key
        return best

    return handler


def _symbolic_extreme(tx: Tracing, name: str, items: list[VariableTracker]) -> VariableTracker:
    function = torch.sym_max if name == "max" else torch.sym_min
    result = items[0]
    for item in items[1:]:
        result = call_in_graph(tx, "call_function", function, [result, item], {})
    return result


handles(max)(_extreme("max", ">"))
handles(min)(_extreme("min", "<"))


@handles(sorted, VariableTracker)
def sorted_(
    tx: Tracing, iterable: VariableTracker, *, key: VariableTracker = NONE, reverse: VariableTracker = FALSE
) -> VariableTracker:
    return ListVariable(sorted_items(tx, unpack(tx, iterable), key, reverse))


@handles(abs, InGraphVariable)
def abs_(tx: Tracing, a: InGraphVariable) -> VariableTracker:
    return call_in_graph(tx, "call_function", operator.abs, [a], {})


def _asks(special: str) -> Any:
    """A handler for objects that goes by a special method."""

    def handler(tx: Tracing, a: UserObjectVariable, *rest: VariableTracker) -> VariableTracker | None:
        return call_special(tx, a, special, list(rest), "") if has_special(a, special) else None

    return handler


for _function_asking, _special in {
    abs: "__abs__",
    bytes: "__bytes__",
    complex: "__complex__",
    math.ceil: "__ceil__",
    math.floor: "__floor__",
    math.trunc: "__trunc__",
    operator.index: "__index__",
    round: "__round__",
}.items():
    handles(_function_asking, UserObjectVariable)(_asks(_special))


@handles(divmod, UserObjectVariable, VariableTracker)
@handles(divmod, VariableTracker, UserObjectVariable)
def divmod_object(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    return by_methods(tx, divmod, "divmod", a, b) or unsupported_operands(tx, "divmod()", a, b)


@handles(pow, UserObjectVariable, VariableTracker)
@handles(pow, VariableTracker, UserObjectVariable)
def pow_object(
    tx: Tracing, a: VariableTracker, b: VariableTracker, mod: VariableTracker | None = None
) -> VariableTracker | None:
    if mod is None:
        return binary(tx, "**", a, b)
    return call_special(tx, a, "__pow__", [b, mod], "") if has_special(a, "__pow__") else None


@handles(pow, InGraphVariable, VariableTracker)
@handles(pow, VariableTracker, InGraphVariable)
def pow_(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    return binary(tx, "**", a, b)


@handles(divmod, InGraphVariable, VariableTracker)
def divmod_(tx: Tracing, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    from tracer_core.variables.sequences import tuple_of

    return tuple_of(binary(tx, "//", a, b), binary(tx, "%", a, b))


@handles(round, SymNodeVariable)
def round_number(tx: Tracing, a: SymNodeVariable, digits: VariableTracker = NONE) -> VariableTracker:
    return tx.constant(round(a.specialize(tx, a.python_type()), constant_or(digits.realize(), None)))


@handles(round, TensorVariable)
def round_(tx: Tracing, a: TensorVariable) -> VariableTracker:
    return call_in_graph(tx, "call_method", "round", [a], {})


def _number(cls: type, special: str) -> Any:
    def handler(tx: Tracing, a: VariableTracker) -> VariableTracker | None:
        if isinstance(a, TensorVariable):
            raise Unsupported("tensor-data", name=special, what=a.describe())
        if isinstance(a, SymNodeVariable):
            if issubclass(a.python_type(), cls) or (cls is int and a.python_type() is bool):
                return a
            return call_in_graph(tx, "call_function", {int: torch.sym_int, float: torch.sym_float}[cls], [a], {})
        if has_special(a, special):
            assert isinstance(a, UserObjectVariable)
            return call_special(tx, a, special, [], "")
        return None

    return handler


handles(int, VariableTracker)(_number(int, "__int__"))
handles(float, VariableTracker)(_number(float, "__float__"))


@handles(str, VariableTracker)
def str_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    return text_of(tx, obj, "__str__")


@handles(repr, VariableTracker)
def repr_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    return text_of(tx, obj, "__repr__")


def text_of(tx: Tracing, obj: VariableTracker, special: str) -> VariableTracker | None:
    """`str(obj)` or `repr(obj)`; None where folding knows."""
    obj = obj.realize()
    if isinstance(obj, TensorVariable):
        raise Unsupported("tensor-data", name=special, what=obj.describe())
    if isinstance(obj, SymNodeVariable):
        return ConstantVariable(str(obj.specialize(tx, obj.python_type())))
    if isinstance(obj, ExceptionVariable):
        return _exception_text(tx, obj, special)
    if isinstance(obj, UserObjectVariable):
        for name in (special, "__repr__"):
            found, owner = static_lookup(obj.cls, name)
            if owner is not object and owner is not None:
                bound = obj.bind_descriptor(tx, name, found, owner)
                assert bound is not None
                return tx.call(bound, [])
        raise Unsupported("object-address", what=obj.describe())
    try:
        value = obj.value()
    except NotConstant:
        return _container_text(tx, obj)
    if special == "__repr__" and type(value) in (re.Pattern, re.Match):
        return ConstantVariable(repr(value))
    if isinstance(
        value, (bool, int, float, complex, str, bytes, type(None), type, tuple, list, dict, set, frozenset)
    ):
        return ConstantVariable(str(value) if special == "__str__" else repr(value))
    return None


def _container_text(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    """The text of a container of values that have theirs; None for other things."""
    if type(obj) is ListVariable:
        return ConstantVariable(f"[{', '.join(_texts(tx, obj.items))}]")
    if type(obj) is TupleVariable:
        comma = "," if len(obj.items) == 1 else ""
        return ConstantVariable(f"({', '.join(_texts(tx, obj.items))}{comma})")
    if isinstance(obj, DictVariable) and obj.cls is dict:
        keys, values = _texts(tx, obj.keys()), _texts(tx, [value for _, value in obj.entries(tx)])
        return ConstantVariable("{" + ", ".join(f"{k}: {v}" for k, v in zip(keys, values, strict=True)) + "}")
    return None


def _texts(tx: Tracing, items: list[VariableTracker]) -> list[str]:
    texts = []
    for item in items:
        text = text_of(tx, item, "__repr__")
        if text is None:
            raise Unsupported("object-address", what=item.realize().describe())
        texts.append(str(text.value()))
    return texts


def _exception_text(tx: Tracing, obj: ExceptionVariable, special: str) -> VariableTracker | None:
    found, _ = static_lookup(obj.cls, special)
    if hasattr(found, "__code__"):
        return tx.call(get_attr(tx, obj, special), [])
    values = [arg.realize().value() for arg in obj.args]
    made = BaseException(*values) if special == "__str__" and not issubclass(obj.cls, KeyError) else obj.cls(*values)
    return ConstantVariable(str(made) if special == "__str__" else repr(made))


# --- types and attributes -----------------------------------------------------------------------------------


@handles(isinstance, VariableTracker, VariableTracker)
def isinstance_(tx: Tracing, obj: VariableTracker, classes: VariableTracker) -> VariableTracker:
    return ConstantVariable(is_instance(tx, obj.realize(), class_or_tuple(tx, classes)))


def class_or_tuple(tx: Tracing, tracker: VariableTracker) -> Any:
    """The class, union or (nested) tuple of classes given to isinstance."""
    try:
        return tracker.realize().value()
    except NotConstant:
        raise Unsupported("call", what="isinstance with classes not known while tracing") from None


_TENSOR_TYPE = type(torch.FloatTensor)


def is_instance(tx: Tracing, obj: VariableTracker, wanted: Any) -> bool:
    """`isinstance(obj, wanted)`."""
    if isinstance(wanted, tuple):
        return any(is_instance(tx, obj, each) for each in wanted)
    if isinstance(obj, TensorVariable):
        if wanted in (torch.nn.Parameter, torch.nn.Buffer):
            return isinstance(obj.fake, wanted)
        if isinstance(wanted, type) and issubclass(wanted, torch.Tensor):
            return issubclass(obj.python_type(), wanted)
        if isinstance(wanted, _TENSOR_TYPE):
            return bool(obj.fake.dtype == wanted.dtype and obj.fake.device.type == "cpu")
    if isinstance(obj, UserObjectVariable) and obj.real is not None:
        return isinstance(obj.real, wanted)
    try:
        return issubclass(obj.python_type(), wanted)
    except TypeError as error:
        message = str(error).replace("issubclass()", "isinstance()")
        return bool(tx.raise_(TypeError, message))


@handles(issubclass, VariableTracker, VariableTracker)
def issubclass_(tx: Tracing, cls: VariableTracker, classes: VariableTracker) -> VariableTracker | None:
    return fold(tx, issubclass, [cls, classes], {})


@handles(type, VariableTracker)
def type_(tx: Tracing, obj: VariableTracker, *rest: VariableTracker) -> VariableTracker:
    if rest:
        raise Unsupported("class-created", what="type()")
    return tx.constant(obj.realize().python_type())


@handles(callable, VariableTracker)
def callable_(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return ConstantVariable(callable_type(obj.realize()))


def _attribute_name(tx: Tracing, name: VariableTracker) -> str:
    value = constant_or(name.realize(), None)
    if not isinstance(value, str):
        tx.raise_(TypeError, f"attribute name must be string, not '{name.python_type_name()}'")
    return str(value)


@handles(getattr, VariableTracker, VariableTracker)
def getattr_(
    tx: Tracing, obj: VariableTracker, name: VariableTracker, default: VariableTracker | None = None
) -> VariableTracker:
    text = _attribute_name(tx, name)
    if default is None:
        return get_attr(tx, obj, text)
    found = _attribute_or_none(tx, obj, text)
    return default if found is None else found


def _attribute_or_none(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker | None:
    try:
        return find_attr(tx, obj, name)
    except ObservedException as error:
        if issubclass(error.tracker.cls, AttributeError):
            return None
        raise


@handles(hasattr, VariableTracker, VariableTracker)
def hasattr_(tx: Tracing, obj: VariableTracker, name: VariableTracker) -> VariableTracker:
    return ConstantVariable(_attribute_or_none(tx, obj, _attribute_name(tx, name)) is not None)


@handles(setattr, VariableTracker, VariableTracker, VariableTracker)
def setattr_(tx: Tracing, obj: VariableTracker, name: VariableTracker, value: VariableTracker) -> VariableTracker:
    set_attr(tx, obj, _attribute_name(tx, name), value)
    return NONE


@handles(delattr, VariableTracker, VariableTracker)
def delattr_(tx: Tracing, obj: VariableTracker, name: VariableTracker) -> VariableTracker:
    del_attr(tx, obj, _attribute_name(tx, name))
    return NONE


@handles(vars, VariableTracker)
def vars_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    return InstanceDictVariable(obj) if isinstance(obj, UserObjectVariable) else None


@handles(super)
def super_(tx: Any, cls: VariableTracker | None = None, obj: VariableTracker | None = None) -> VariableTracker:
    if cls is None:
        frame = tx.frame
        cell = frame.cells.get("__class__")
        assert isinstance(cell, CellVariable) and cell.contents is not None
        cls = cell.contents.realize()
        first = frame.code.co_varnames[0]
        held = frame.cells.get(first)
        obj = held.contents if isinstance(held, CellVariable) else frame.locals.get(first)
    if obj is None or not isinstance(cls, ClassVariable):
        raise Unsupported("call", what="super() without an object")
    return SuperVariable(cls.known, obj.realize())


# --- object's own methods, as classes reach them through super() ---------------------------------------------


@handles(object.__init__, VariableTracker)
def object_init(
    tx: Tracing, self: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return NONE


@handles(object.__init_subclass__)
def object_init_subclass(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    return NONE


@handles(BaseException.__init__, ExceptionVariable)
@handles(Exception.__init__, ExceptionVariable)
def exception_init(tx: Tracing, self: ExceptionVariable, *args: VariableTracker) -> VariableTracker:
    self.args = list(args)
    return NONE


@handles(object.__new__, ClassVariable)
def object_new(
    tx: Tracing, cls: ClassVariable, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    return UserObjectVariable(cls.known)


@handles(object.__setattr__, UserObjectVariable, VariableTracker, VariableTracker)
def object_setattr(
    tx: Tracing, self: UserObjectVariable, name: VariableTracker, value: VariableTracker
) -> VariableTracker:
    self.plain_set_attribute(tx, _attribute_name(tx, name), value)
    return NONE


@handles(object.__delattr__, UserObjectVariable, VariableTracker)
def object_delattr(tx: Tracing, self: UserObjectVariable, name: VariableTracker) -> VariableTracker:
    from tracer_core.variables.constant import DELETED

    self.plain_set_attribute(tx, _attribute_name(tx, name), DELETED)
    return NONE


@handles(object.__getattribute__, UserObjectVariable, VariableTracker)
def object_getattribute(tx: Tracing, self: UserObjectVariable, name: VariableTracker) -> VariableTracker:
    text = _attribute_name(tx, name)
    found = self.plain_attribute(tx, text)
    if found is None:
        tx.raise_(AttributeError, f"{self.python_type_name()!r} object has no attribute {text!r}")
    assert found is not None
    return found


@handles(object.__eq__, VariableTracker, VariableTracker)
def object_eq(tx: Tracing, self: VariableTracker, other: VariableTracker) -> VariableTracker:
    from tracer_core.variables.identity import same

    return ConstantVariable(True if same(tx, self, other) else NotImplemented)


# --- what always breaks -------------------------------------------------------------------------------------


def _breaks(reason: str) -> Any:
    def handler(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        raise Unsupported(reason)

    return handler


for _function, _reason in {
    builtins.input: "input",
    builtins.open: "open-file",
    builtins.breakpoint: "breakpoint",
    builtins.exec: "exec",
    builtins.eval: "exec",
    builtins.compile: "exec",
    builtins.id: "object-id",
    builtins.locals: "frame-namespace",
    builtins.globals: "frame-namespace",
    builtins.dir: "frame-namespace",
}.items():
    handles(_function)(_breaks(_reason))


@handles(hash, VariableTracker)
def hash_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    if has_special(obj, "__hash__"):
        assert isinstance(obj, UserObjectVariable)
        if static_lookup(obj.cls, "__hash__")[1] is not object:
            return call_special(tx, obj, "__hash__", [], f"unhashable type: {obj.python_type_name()!r}")
    if isinstance(obj, (InGraphVariable, UserObjectVariable, FunctionVariable, BuiltinMethodVariable)):
        raise Unsupported("object-id")
    return fold(tx, hash, [obj], {})

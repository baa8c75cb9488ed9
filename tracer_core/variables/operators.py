"""Binary, in-place, unary and comparison operators, `in`, and subscripts, in Python's order of `__op__`/`__rop__`."""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Callable
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.libraries import may_change
from tracer_core.variables.attributes import get_attr
from tracer_core.variables.base import Tracing, VariableTracker, all_constant
from tracer_core.variables.classes import ClassVariable
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.dicts import SetVariable
from tracer_core.variables.folding import fold
from tracer_core.variables.identity import same
from tracer_core.variables.in_graph import call_in_graph
from tracer_core.variables.iteration import iterable_type, iterate, next_item
from tracer_core.variables.registry import answered
from tracer_core.variables.sequences import RangeVariable, SequenceVariable
from tracer_core.variables.settled import settled
from tracer_core.variables.special_methods import call_special, has_special
from tracer_core.variables.tensor import InGraphVariable, SymNodeVariable, TensorVariable
from tracer_core.variables.truth_and_length import truth
from tracer_core.variables.user_objects import UserObjectVariable, class_attribute_source, static_lookup

BINARY: dict[str, tuple[Callable[..., Any], str]] = {
    "+": (operator.add, "add"),
    "-": (operator.sub, "sub"),
    "*": (operator.mul, "mul"),
    "/": (operator.truediv, "truediv"),
    "//": (operator.floordiv, "floordiv"),
    "%": (operator.mod, "mod"),
    "**": (operator.pow, "pow"),
    "@": (operator.matmul, "matmul"),
    "&": (operator.and_, "and"),
    "|": (operator.or_, "or"),
    "^": (operator.xor, "xor"),
    "<<": (operator.lshift, "lshift"),
    ">>": (operator.rshift, "rshift"),
}
INPLACE: dict[str, Callable[..., Any]] = {
    f"{symbol}=": getattr(operator, f"i{function.__name__.rstrip('_')}") for symbol, (function, _) in BINARY.items()
}
COMPARE: dict[str, tuple[Callable[..., Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}
UNARY: dict[str, tuple[Callable[..., Any], str, str]] = {
    "UNARY_NEGATIVE": (operator.neg, "__neg__", "-"),
    "UNARY_POSITIVE": (operator.pos, "__pos__", "+"),
    "UNARY_INVERT": (operator.invert, "__invert__", "~"),
}


def binary(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    """`a symbol b`; `symbol` may be an in-place one (`+=`)."""
    a, b = a.realize(), b.realize()
    if symbol in INPLACE:
        return _inplace(tx, symbol, a, b)
    function, name = BINARY[symbol]
    done = by_table(tx, function, a, b)
    if done is not None:
        return done
    result = _dunder(tx, function, f"__{name}__", f"__r{name}__", a, b)
    if result is not None:
        return result
    if symbol == "*":
        for sequence, count in ((a, b), (b, a)):
            if has_special(count, "__index__") and hasattr(sequence.python_type(), "__len__"):
                times = call_special(tx, count, "__index__", [], "")
                return binary(tx, "*", *((sequence, times) if sequence is a else (times, sequence)))
    shown = "** or pow()" if symbol == "**" else symbol
    return unsupported_operands(tx, shown, a, b)


def _inplace(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    inplace = INPLACE[symbol]
    function, name = BINARY[symbol[:-1]]
    done = answered(tx, inplace, a, b)
    if done is not None:
        return done
    if isinstance(a, TensorVariable):
        return call_in_graph(tx, "call_function", inplace, [a, b], {})
    if has_special(a, f"__i{name}__"):
        result = call_special(tx, a, f"__i{name}__", [b], "")
        if not _is_not_implemented(result):
            return result
    done = by_table(tx, function, a, b)
    if done is None:
        done = _dunder(tx, function, f"__{name}__", f"__r{name}__", a, b)
    return done if done is not None else unsupported_operands(tx, symbol, a, b)


def by_methods(
    tx: Tracing, function: Callable[..., Any], name: str, a: VariableTracker, b: VariableTracker
) -> VariableTracker | None:
    """The operator `name` by methods of the operands' classes; None if neither knows."""
    return _dunder(tx, function, f"__{name}__", f"__r{name}__", a, b)


def by_table(
    tx: Tracing, function: Callable[..., Any], a: VariableTracker, b: VariableTracker
) -> VariableTracker | None:
    done = answered(tx, function, a, b)
    if done is not None:
        return done
    if (isinstance(a, InGraphVariable) and _numeric(b)) or (isinstance(b, InGraphVariable) and _numeric(a)):
        return call_in_graph(tx, "call_function", function, [a, b], {})
    if isinstance(a, UserObjectVariable) or isinstance(b, UserObjectVariable):
        return None
    name = function.__name__.strip("_")
    if has_special(a, f"__{name}__") or has_special(b, f"__r{name}__"):
        return None
    if not a.mutable and not b.mutable:
        if isinstance(a, ConstantVariable) or isinstance(b, ConstantVariable):
            a, b = settled(tx, a), settled(tx, b)
        return fold(tx, function, [a, b], {})
    return None


def _numeric(tracker: VariableTracker) -> bool:
    """Whether the graph can combine it with a tensor or a symbolic number."""
    if isinstance(tracker, InGraphVariable):
        return True
    return isinstance(tracker, ConstantVariable) and isinstance(tracker.value(), (int, float, complex))


def _dunder(
    tx: Tracing, function: Callable[..., Any], name: str, reflected: str, a: VariableTracker, b: VariableTracker
) -> VariableTracker | None:
    """Try `a.name(b)` and `b.reflected(a)` in Python's order; None if neither knows."""
    a_type, b_type = a.python_type(), b.python_type()
    tries = [(a, name, b), (b, reflected, a)]
    if a_type is b_type:
        tries = tries[:1]
    elif (
        issubclass(b_type, a_type) and static_lookup(b_type, reflected)[0] is not static_lookup(a_type, reflected)[0]
    ):
        tries.reverse()
    for receiver, method, other in tries:
        if has_special(receiver, method):
            result = call_special(tx, receiver, method, [other], "")
            if not _is_not_implemented(result):
                return result
        elif isinstance(other, UserObjectVariable) and other.part is not None and receiver is a:
            done = by_table(tx, function, a, other.part)
            if done is not None:
                return done
        elif isinstance(other, UserObjectVariable) and other.part is not None:
            # The class's own method did not know; its builtin base may.
            done = by_table(tx, function, other.part, receiver)
            if done is not None:
                return done
        elif isinstance(receiver, TensorVariable) and isinstance(other, UserObjectVariable):
            raise Unsupported("graph-argument", what=method, argument=other.describe())
    return None


def _is_not_implemented(tracker: VariableTracker) -> bool:
    return isinstance(tracker, ConstantVariable) and tracker.value() is NotImplemented


def unsupported_operands(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    raise_for_sequence(tx, symbol, a, b)
    return tx.raise_(  # type: ignore[no-any-return]
        TypeError,
        f"unsupported operand type(s) for {symbol}: {a.type_name_in_errors()!r} and {b.type_name_in_errors()!r}",
    )


_SEQUENCES = ("list", "tuple", "deque")


def raise_for_sequence(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> None:
    """The messages that sequences have of their own."""
    name = a.python_type_name()
    if symbol in ("+", "+=") and isinstance(a, SequenceVariable) and name in _SEQUENCES:
        if symbol == "+=" and name == "list":
            tx.raise_(TypeError, f"{b.type_name_in_errors()!r} object is not iterable")
        tx.raise_(TypeError, f'can only concatenate {name} (not "{b.type_name_in_errors()}") to {name}')
    if symbol in ("*", "*="):
        for sequence, other in ((a, b), (b, a)):
            if isinstance(sequence, SequenceVariable) and sequence.python_type_name() in _SEQUENCES:
                tx.raise_(TypeError, f"can't multiply sequence by non-int of type {other.type_name_in_errors()!r}")


def unary(tx: Tracing, op: str, a: VariableTracker) -> VariableTracker:
    """`-a`, `+a`, `~a`."""
    a = a.realize()
    function, name, symbol = UNARY[op]
    if isinstance(a, SymNodeVariable) and a.python_type() is bool:
        a = tx.constant(a.specialize(tx, bool))
    if isinstance(a, SymNodeVariable) and op == "UNARY_INVERT" and a.python_type() is int:
        return binary(tx, "-", unary(tx, "UNARY_NEGATIVE", a), ConstantVariable(1))
    if isinstance(a, InGraphVariable):
        return call_in_graph(tx, "call_function", function, [a], {})
    done = answered(tx, function, a)
    if done is not None:
        return done
    if has_special(a, name):
        return call_special(tx, a, name, [], "")
    folded = None if a.mutable else fold(tx, function, [a], {})
    if folded is not None:
        return folded
    return tx.raise_(TypeError, f"bad operand type for unary {symbol}: {a.type_name_in_errors()!r}")  # type: ignore[no-any-return]


def compare(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    """`a symbol b` for the six comparisons."""
    a, b = a.realize(), b.realize()
    function, name, reflected = COMPARE[symbol]
    done = answered(tx, function, a, b)
    if done is not None:
        return done
    if isinstance(a, SymNodeVariable) or isinstance(b, SymNodeVariable):
        if _numeric(a) and _numeric(b):
            return call_in_graph(tx, "call_function", function, [a, b], {})
    elif isinstance(a, TensorVariable) or isinstance(b, TensorVariable):
        if _numeric(a) and _numeric(b):
            if isinstance(b, TensorVariable) and not isinstance(a, InGraphVariable):
                # A number leaves the comparison to the tensor, which is asked the other way round.
                return call_in_graph(tx, "call_function", getattr(operator, reflected.strip("_")), [b, a], {})
            return call_in_graph(tx, "call_function", function, [a, b], {})
        other = b if isinstance(a, TensorVariable) else a
        if isinstance(other, ConstantVariable) and symbol in ("==", "!="):
            return ConstantVariable(symbol == "!=")
    if has_special(a, name) or has_special(b, reflected):
        result = _dunder_compare(tx, name, reflected, a, b)
        if result is not None:
            return result
    elif not isinstance(a, InGraphVariable) and not isinstance(b, InGraphVariable) and all_constant([a, b]):
        folded = fold(tx, function, [a, b], {})
        assert folded is not None
        return folded
    if symbol in ("==", "!="):
        return ConstantVariable(same(tx, a, b) == (symbol == "=="))
    return tx.raise_(  # type: ignore[no-any-return]
        TypeError,
        f"{symbol!r} not supported between instances of {a.type_name_in_errors()!r} and {b.type_name_in_errors()!r}",
    )


def _dunder_compare(
    tx: Tracing, name: str, reflected: str, a: VariableTracker, b: VariableTracker
) -> VariableTracker | None:
    a_type, b_type = a.python_type(), b.python_type()
    tries = [(a, name, b), (b, reflected, a)]
    if a_type is not b_type and issubclass(b_type, a_type):
        tries.reverse()
    for receiver, method, other in tries:
        found, owner = static_lookup(receiver.python_type(), method)
        if owner is None:
            continue
        if not has_special(receiver, method):
            done = _compare_inside(tx, method, receiver, other) if owner is not object else None
            if done is not None:
                return done
            continue
        if owner is object:
            # object.__ne__ asks __eq__ and turns the answer round; the others know nothing of the value.
            if method == "__ne__" and static_lookup(receiver.python_type(), "__eq__")[1] is not object:
                equal = call_special(tx, receiver, "__eq__", [other], "")
                if not _is_not_implemented(equal):
                    return ConstantVariable(not truth(tx, equal))
            continue
        if found is None:
            continue
        result = call_special(tx, receiver, method, [other], "")
        if not _is_not_implemented(result):
            return result
    return None


def _compare_inside(
    tx: Tracing, method: str, receiver: VariableTracker, other: VariableTracker
) -> VariableTracker | None:
    """What a builtin type's own method says of an object that has a part of such a type."""
    if not isinstance(other, UserObjectVariable) or other.part is None:
        return None
    inside = receiver.part if isinstance(receiver, UserObjectVariable) else receiver
    return None if inside is None else answered(tx, getattr(operator, method.strip("_")), inside, other.part)


def contains(tx: Tracing, container: VariableTracker, item: VariableTracker) -> bool:
    """`item in container`."""
    container, item = container.realize(), item.realize()
    done = answered(tx, operator.contains, container, item)
    if done is not None:
        return truth(tx, done)
    if has_special(container, "__contains__"):
        return truth(tx, call_special(tx, container, "__contains__", [item], ""))
    if not container.mutable and all_constant([container, item]) and not isinstance(container, SequenceVariable):
        folded = fold(tx, operator.contains, [container, item], {})
        assert folded is not None
        return truth(tx, folded)
    if not iterable_type(container):
        tx.raise_(TypeError, f"argument of type {container.type_name_in_errors()!r} is not iterable")
    iterator = iterate(tx, container)
    while (candidate := next_item(tx, iterator)) is not None:
        if equal_items(tx, candidate, item):
            return True
    return False


def membership(tx: Tracing, container: VariableTracker, item: VariableTracker) -> VariableTracker:
    """`item in container` as a value: a symbolic one where only symbolic numbers decide."""
    container, item = container.realize(), item.realize()
    listed = isinstance(container, (SequenceVariable, ConstantVariable)) and not isinstance(container, RangeVariable)
    items = container.items_or_none(tx) if listed else None
    if items is not None and _decided_by_symbols([item, *items]):
        return _joined(tx, operator.or_, [(each, item) for each in items])
    return ConstantVariable(contains(tx, container, item))


def all_equal(tx: Tracing, ours: list[VariableTracker], theirs: list[VariableTracker]) -> VariableTracker | None:
    """Whether items are equal, pair by pair, where only symbolic numbers decide; else None."""
    if not _decided_by_symbols([*ours, *theirs]):
        return None
    return _joined(tx, operator.and_, list(zip(ours, theirs, strict=True)))


_MAX_SYMBOLIC = 32


def _decided_by_symbols(items: list[VariableTracker]) -> bool:
    """Whether all are numbers, some of them symbolic; not too many for as many nodes."""
    if not 1 < len(items) <= 2 * _MAX_SYMBOLIC:
        return False
    numbers = [each.realize() for each in items]
    return all(map(_number, numbers)) and any(isinstance(each, SymNodeVariable) for each in numbers)


def _number(tracker: VariableTracker) -> bool:
    return _numeric(tracker) and not isinstance(tracker, TensorVariable)


def _joined(
    tx: Tracing, function: Callable[..., Any], pairs: list[tuple[VariableTracker, VariableTracker]]
) -> VariableTracker:
    """Whether any (`or_`), or each (`and_`), of these pairs of numbers is equal."""
    decides = function is operator.or_
    found: VariableTracker = ConstantVariable(not decides)
    for one, other in pairs:
        equal = ConstantVariable(True) if one is other else compare(tx, "==", one, other).realize()
        if isinstance(equal, ConstantVariable):
            if equal.value() == decides:
                return equal
        elif isinstance(found, ConstantVariable):
            found = equal
        else:
            operands = [equal, found] if decides else [found, equal]
            found = call_in_graph(tx, "call_function", function, operands, {})
    return found


def negation(tx: Tracing, a: VariableTracker) -> VariableTracker:
    """`not a`."""
    a = a.realize()
    if isinstance(a, SymNodeVariable) and isinstance(a.fake, torch.SymBool):
        return call_in_graph(tx, "call_function", operator.not_, [a], {}, torch.sym_not)
    return ConstantVariable(not truth(tx, a))


def equal_items(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """Equality as containers ask it: the same object, or equal."""
    return _surely_same(tx, a.realize(), b.realize()) or truth(tx, compare(tx, "==", a, b))


def _surely_same(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """Whether they are one object, where that matters: what cannot be told of equal values makes no difference."""
    if isinstance(a, SymNodeVariable) or isinstance(b, SymNodeVariable):
        return False
    if isinstance(a, _BY_VALUE) or isinstance(b, _BY_VALUE):
        # A NaN is the only one of them that may be the same and not equal.
        return a is b or (_is_nan(a) and _is_nan(b) and same(tx, a, b))
    return same(tx, a, b)


def _is_nan(tracker: VariableTracker) -> bool:
    value = tracker.value() if isinstance(tracker, ConstantVariable) else None
    return isinstance(value, (float, complex)) and value != value


_BY_VALUE = (ConstantVariable, SequenceVariable, SetVariable)


def get_item(tx: Tracing, container: VariableTracker, key: VariableTracker) -> VariableTracker:
    """`container[key]`."""
    container, key = container.realize(), key.realize()
    done = answered(tx, operator.getitem, container, key)
    if done is not None:
        return done
    if isinstance(container, TensorVariable):
        if isinstance(key, SymNodeVariable) and isinstance(key.fake, torch.SymInt):
            # Indexing would fix the number; this does the same and leaves it open.
            return call_in_graph(tx, "call_function", torch.select, [container, ConstantVariable(0), key], {})
        return call_in_graph(tx, "call_function", operator.getitem, [container, key], {})
    if isinstance(container, UserObjectVariable):
        return call_special(
            tx, container, "__getitem__", [key], f"{container.type_name_in_errors()!r} object is not subscriptable"
        )
    if isinstance(container, ClassVariable):
        return _class_item(tx, container, key)
    folded = None if container.mutable else fold(tx, operator.getitem, [container, key], {})
    if folded is not None:
        return folded
    if static_lookup(container.python_type(), "__getitem__")[1] is None:
        tx.raise_(TypeError, f"{container.type_name_in_errors()!r} object is not subscriptable")
    raise Unsupported("method", name="__getitem__", type=container.python_type_name())


def _class_item(tx: Tracing, cls: ClassVariable, key: VariableTracker) -> VariableTracker:
    """`cls[key]`: by the metaclass, or by the class's own `__class_getitem__`."""
    known = cls.known
    found, owner = static_lookup(type(known), "__getitem__")
    if isinstance(found, types.FunctionType) and owner is not None and not issubclass(known, enum.Enum):
        return tx.call(tx.build(found, class_attribute_source(owner, "__getitem__")), [cls, key])
    found, owner = static_lookup(known, "__class_getitem__")
    if owner is not None and may_change(owner):
        return tx.call(get_attr(tx, cls, "__class_getitem__"), [key])
    folded = fold(tx, operator.getitem, [cls, key], {})
    if folded is None:
        raise Unsupported("method", name="__class_getitem__", type=known.__name__)
    return folded


def set_item(tx: Tracing, container: VariableTracker, key: VariableTracker, value: VariableTracker) -> None:
    """`container[key] = value`."""
    container, key = container.realize(), key.realize()
    if answered(tx, operator.setitem, container, key, value) is not None:
        return
    if isinstance(container, TensorVariable):
        call_in_graph(tx, "call_function", operator.setitem, [container, key, value], {})
        return
    if isinstance(container, UserObjectVariable):
        missing = f"{container.type_name_in_errors()!r} object does not support item assignment"
        call_special(tx, container, "__setitem__", [key, value], missing)
        return
    if static_lookup(container.python_type(), "__setitem__")[1] is None:
        tx.raise_(TypeError, f"{container.type_name_in_errors()!r} object does not support item assignment")
    raise Unsupported("method", name="__setitem__", type=container.python_type_name())


def del_item(tx: Tracing, container: VariableTracker, key: VariableTracker) -> None:
    """`del container[key]`."""
    container, key = container.realize(), key.realize()
    if answered(tx, operator.delitem, container, key) is not None:
        return
    if isinstance(container, UserObjectVariable):
        missing = f"{container.type_name_in_errors()!r} object doesn't support item deletion"
        call_special(tx, container, "__delitem__", [key], missing)
        return
    if static_lookup(container.python_type(), "__delitem__")[1] is None:
        tx.raise_(TypeError, f"{container.type_name_in_errors()!r} object doesn't support item deletion")
    raise Unsupported("method", name="__delitem__", type=container.python_type_name())

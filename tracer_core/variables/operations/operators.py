"""Apply binary, in-place, unary and comparison operators, and `not`, in Python's order of `__op__`/`__rop__`."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import torch

from tracer_core.errors import Unsupported
from tracer_core.operator_table import BINARY, COMPARISONS, IN_PLACE, UNARY, Operator
from tracer_core.variables.core.base import VariableTracker, all_constant
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import answered
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable, TensorVariable, specialized
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.overrides import any_overrides, call_overridden
from tracer_core.variables.operations.special_methods import call_special, class_has, has_special


def binary(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    """`a symbol b`; `symbol` may be an in-place one (`+=`)."""
    a, b = _as_numbers(tx, symbol, a.realize(), b.realize())
    if symbol in IN_PLACE:
        return _in_place(tx, symbol, a, b)
    operation = BINARY[symbol]
    done = by_table(tx, operation, a, b)
    if done is None:
        done = by_methods(tx, operation, a, b)
    if done is None:
        done = _repeated(tx, symbol, a, b)
    return done if done is not None else unsupported_operands(tx, operation.function, a, b)


def _repeated(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker | None:
    """Return a sequence times an operand with `__index__`; None if there is no such operand."""
    if symbol not in ("*", "*="):
        return None
    for sequence, count in ((a, b), (b, a)):
        counts = isinstance(count, TensorVariable) or has_special(count, "__index__")
        if counts and class_has(sequence, "__len__"):
            times = tx.call(tx.constant(operator.index), [count])
            return binary(tx, symbol, *((sequence, times) if sequence is a else (times, sequence)))
    return None


_OF_TRUTHS = frozenset({"&", "|", "&=", "|="})


def _as_numbers(
    tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker
) -> tuple[VariableTracker, VariableTracker]:
    """Return the operands of an operator, one of them a symbol, as numbers. The solver distinguishes numbers from
    truth values, which Python treats as numbers: symbolic ones are specialized, and known ones become 0 or 1."""
    if not isinstance(a, SymNodeVariable) and not isinstance(b, SymNodeVariable):
        return a, b
    truths = [each.python_type() is bool for each in (a, b)]
    if not any(truths) or (all(truths) and symbol in _OF_TRUTHS):
        return a, b
    a, b = (tx.constant(each.specialize(tx, bool)) if _is_symbolic_truth(each) else each for each in (a, b))
    if not isinstance(a, SymNodeVariable) and not isinstance(b, SymNodeVariable):
        return a, b
    return _as_number(a), _as_number(b)


def _is_symbolic_truth(tracker: VariableTracker) -> TypeGuard[SymNodeVariable]:
    return isinstance(tracker, SymNodeVariable) and tracker.python_type() is bool


def _as_number(tracker: VariableTracker) -> VariableTracker:
    is_truth = isinstance(tracker, ConstantVariable) and type(tracker.value()) is bool
    return ConstantVariable(int(tracker.value())) if is_truth else tracker


def _in_place(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    function, method = IN_PLACE[symbol].function, IN_PLACE[symbol].method
    done = answered(tx, function, a, b)
    if done is not None:
        return done
    if isinstance(a, TensorVariable):
        return call_in_graph(tx, "call_function", function, [a, b], {})
    if has_special(a, method):
        result = call_special(tx, a, method, [b], "")
        if not _is_not_implemented(result):
            return result
    operation = BINARY[symbol[:-1]]
    done = by_table(tx, operation, a, b, function)
    if done is None:
        done = by_methods(tx, operation, a, b)
    if done is None:
        done = _repeated(tx, symbol, a, b)
    return done if done is not None else unsupported_operands(tx, function, a, b)


def by_table(
    tx: Tracing,
    operation: Operator,
    a: VariableTracker,
    b: VariableTracker,
    called: Callable[..., Any] | None = None,
) -> VariableTracker | None:
    """Apply the operator by the rules for builtin types; `called` computes it on constants, if its function does not
    do that itself (an in-place operator has messages of its own)."""
    function, reflected = operation.function, operation.reflected
    done = answered(tx, function, a, b)
    if done is not None:
        return done
    if (isinstance(a, InGraphVariable) and numeric(b)) or (isinstance(b, InGraphVariable) and numeric(a)):
        return call_in_graph(tx, "call_function", function, [a, b], {})
    if isinstance(a, UserDefinedObjectVariable) or isinstance(b, UserDefinedObjectVariable):
        return None
    if has_special(a, operation.method) or (reflected and has_special(b, reflected)):
        return None
    if not a.mutable and not b.mutable:
        if isinstance(a, ConstantVariable) or isinstance(b, ConstantVariable):
            a, b = specialized(tx, a), specialized(tx, b)
        return fold(tx, called or function, [a, b], {})
    return None


def numeric(tracker: VariableTracker) -> bool:
    """Return whether the graph can combine it with a tensor or a symbolic number."""
    if isinstance(tracker, InGraphVariable):
        return True
    return isinstance(tracker, ConstantVariable) and isinstance(tracker.value(), (int, float, complex))


def by_methods(tx: Tracing, operation: Operator, a: VariableTracker, b: VariableTracker) -> VariableTracker | None:
    """Apply the operator by methods of the operands' classes, in Python's order; None if neither has one."""
    a_type, b_type = a.python_type(), b.python_type()
    reflected = operation.reflected
    tries = [(a, operation.method, b), (b, reflected, a)]
    if a_type is b_type:
        tries = tries[:1]
    elif _derives(b_type, a_type) and static_lookup(b_type, reflected)[0] is not static_lookup(a_type, reflected)[0]:
        tries.reverse()
    for receiver, method, other in tries:
        if has_special(receiver, method):
            result = call_special(tx, receiver, method, [other], "")
            if not _is_not_implemented(result):
                return result
        elif isinstance(receiver, TensorVariable) and any_overrides([other]):
            done = call_overridden(tx, getattr(torch.Tensor, method), [receiver, other], {})
            if done is not None:
                return done
        elif isinstance(other, UserDefinedObjectVariable) and other.part is not None and receiver is a:
            done = by_table(tx, operation, a, other.part)
            if done is not None:
                return done
        elif isinstance(other, UserDefinedObjectVariable) and other.part is not None:
            # The class's own method returned NotImplemented; its builtin base's may not.
            done = by_table(tx, operation, other.part, receiver)
            if done is not None:
                return done
        elif isinstance(receiver, TensorVariable) and isinstance(other, UserDefinedObjectVariable):
            raise Unsupported("graph-argument", what=method, argument=other.describe())
    return None


def _derives(cls: type, base: type) -> bool:
    """Return whether a class inherits from another (registered subclasses do not count)."""
    return base in cls.__mro__


def _is_not_implemented(tracker: VariableTracker) -> bool:
    return isinstance(tracker, ConstantVariable) and tracker.value() is NotImplemented


def unsupported_operands(
    tx: Tracing, function: Callable[..., Any], a: VariableTracker, b: VariableTracker
) -> VariableTracker:
    """Raise Python's error if neither operand implements the operator. Python itself is called: sequences have
    messages of their own."""
    try:
        function(_example(a), _example(b))
    except TypeError as error:
        return tx.raise_(TypeError, *error.args)
    raise Unsupported("call", what=f"{function.__name__} on {a.describe()} and {b.describe()}")


_EXAMPLES: dict[type, Any] = {
    torch.Tensor: torch.empty(0),
    **{cls: cls() for cls in (list, tuple, torch.Size, collections.deque, str, bytes, bytearray, dict, set, object)},
}


def _example(tracker: VariableTracker) -> Any:
    """Return a value that operators refuse with the same message as the real one: of a type with the same name, and
    of the same builtin base."""
    cls = tracker.python_type()
    if isinstance(tracker, ConstantVariable):
        return tracker.value()
    base = next(base for base in cls.__mro__ if base in _EXAMPLES)
    return _EXAMPLES[base] if base is cls else type(tracker.type_name_in_errors(), (base,), {})()


def unary(tx: Tracing, op: str, a: VariableTracker) -> VariableTracker:
    """`-a`, `+a`, `~a`."""
    a = a.realize()
    operation = UNARY[op]
    function = operation.function
    if isinstance(a, SymNodeVariable) and a.python_type() is bool:
        a = tx.constant(a.specialize(tx, bool))
    if isinstance(a, SymNodeVariable) and op == "UNARY_INVERT" and a.python_type() is int:
        return binary(tx, "-", unary(tx, "UNARY_NEGATIVE", a), ConstantVariable(1))
    if isinstance(a, InGraphVariable):
        return call_in_graph(tx, "call_function", function, [a], {})
    done = answered(tx, function, a)
    if done is not None:
        return done
    if has_special(a, operation.method):
        return call_special(tx, a, operation.method, [], "")
    folded = None if a.mutable else fold(tx, function, [a], {})
    if folded is not None:
        return folded
    return tx.raise_(TypeError, f"bad operand type for unary {operation.symbol}: {a.type_name_in_errors()!r}")


def compare(tx: Tracing, symbol: str, a: VariableTracker, b: VariableTracker) -> VariableTracker:
    """`a symbol b` for the six comparisons."""
    a, b = _as_numbers(tx, symbol, a.realize(), b.realize())
    operation = COMPARISONS[symbol]
    function = operation.function
    done = answered(tx, function, a, b)
    if done is not None:
        return done
    if isinstance(a, SymNodeVariable) or isinstance(b, SymNodeVariable):
        if numeric(a) and numeric(b):
            return call_in_graph(tx, "call_function", function, [a, b], {})
    elif isinstance(a, TensorVariable) or isinstance(b, TensorVariable):
        if numeric(a) and numeric(b):
            if isinstance(b, TensorVariable) and not isinstance(a, InGraphVariable):
                # A number leaves the comparison to the tensor, whose reflected method is called.
                swapped = getattr(operator, operation.reflected)
                return call_in_graph(tx, "call_function", swapped, [b, a], {})
            return call_in_graph(tx, "call_function", function, [a, b], {})
        other = b if isinstance(a, TensorVariable) else a
        if isinstance(other, ConstantVariable) and symbol in ("==", "!="):
            return ConstantVariable(symbol == "!=")
    if has_special(a, operation.method) or has_special(b, operation.reflected):
        result = _compare_by_methods(tx, operation, a, b)
        if result is not None:
            return result
    elif not isinstance(a, InGraphVariable) and not isinstance(b, InGraphVariable) and all_constant([a, b]):
        folded = fold(tx, function, [a, b], {})
        assert folded is not None
        return folded
    if symbol in ("==", "!="):
        return ConstantVariable(tx.same(a, b) == (symbol == "=="))
    return tx.raise_(
        TypeError,
        f"{symbol!r} not supported between instances of {a.type_name_in_errors()!r} and {b.type_name_in_errors()!r}",
    )


def _compare_by_methods(
    tx: Tracing, operation: Operator, a: VariableTracker, b: VariableTracker
) -> VariableTracker | None:
    a_type, b_type = a.python_type(), b.python_type()
    tries = [(a, operation.method, b), (b, operation.reflected, a)]
    if a_type is not b_type and _derives(b_type, a_type):
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
            # object.__ne__ calls __eq__ and negates the result; the others know nothing of the value.
            if method == "__ne__" and static_lookup(receiver.python_type(), "__eq__")[1] is not object:
                equal = call_special(tx, receiver, "__eq__", [other], "")
                if not _is_not_implemented(equal):
                    return ConstantVariable(not tx.truth(equal))
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
    """Return the result of a builtin type's own method for an object that has a part of such a type."""
    if not isinstance(other, UserDefinedObjectVariable) or other.part is None:
        return None
    inside = receiver.part if isinstance(receiver, UserDefinedObjectVariable) else receiver
    return None if inside is None else answered(tx, getattr(operator, method), inside, other.part)


def negation(tx: Tracing, a: VariableTracker) -> VariableTracker:
    """`not a`."""
    a = a.realize()
    if isinstance(a, SymNodeVariable) and isinstance(a.fake, torch.SymBool):
        return call_in_graph(tx, "call_function", operator.not_, [a], {}, torch.sym_not)
    return ConstantVariable(not tx.truth(a))

"""Python's object protocols on trackers: attributes, calls, iteration, truth, items, length.

Each function does what the bytecode or the builtin of that name does, raising Python exceptions through `tx.raise_`
and `Unsupported` where it is not known how.
"""

from __future__ import annotations

import math
import types
from typing import Any

import torch

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.polyfills import iterate_by_index, stand_in_for
from tracer_core.sources import AttrSource, ConstSource
from tracer_core.variables.base import NotConstant, Tracing, VariableTracker, all_constant
from tracer_core.variables.classes import (
    BuiltinVariable,
    ClassVariable,
    KnownVariable,
    ModuleVariable,
    SuperMethodVariable,
)
from tracer_core.variables.constant import DELETED, ConstantVariable
from tracer_core.variables.dicts import DictVariable, DictViewVariable, SetVariable
from tracer_core.variables.exceptions import ExceptionVariable, ObservedException
from tracer_core.variables.functions import BuiltinMethodVariable, FunctionVariable, name_of
from tracer_core.variables.in_graph import call_in_graph
from tracer_core.variables.iterators import (
    DictIterator,
    IteratorVariable,
    RangeIterator,
    SequenceIterator,
    over_sequence,
)
from tracer_core.variables.registry import handlers_for, matches, method_for
from tracer_core.variables.sequences import MAX_ITEMS, RangeVariable, SequenceVariable, SliceVariable
from tracer_core.variables.tensor import InGraphVariable, SymNodeVariable, TensorVariable
from tracer_core.variables.user_objects import UserObjectVariable, static_lookup

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


# --- attributes ---------------------------------------------------------------------------------------------


def get_attr(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker:
    """`obj.name`; raises AttributeError in the traced program as Python does."""
    try:
        found = find_attr(tx, obj, name)
        if found is None:
            tx.raise_(AttributeError, _no_attribute(obj.realize(), name))
    except ObservedException as raised:
        _note_attribute(tx, raised.tracker, obj, name)
        raise
    assert found is not None
    return found.realize()


def _note_attribute(tx: Tracing, error: ExceptionVariable, obj: VariableTracker, name: str) -> None:
    """As Python does, say in an AttributeError what was asked for, where nothing is said yet."""
    if issubclass(error.cls, AttributeError) and not {"name", "obj"} & set(error.attributes):
        error.attributes.update(name=tx.constant(name), obj=obj.realize())


def find_attr(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker | None:
    """`obj.name`, or None where Python raises AttributeError."""
    obj = obj.realize()
    found = obj.attribute(tx, name)
    if found is None and isinstance(obj, TensorVariable) and obj.source is not None:
        found = _attribute_of_a_given_tensor(tx, obj, name)
    if found is not None or isinstance(obj, (UserObjectVariable, ModuleVariable)):
        return found
    return _attribute_of_type(tx, obj, name)


def _attribute_of_a_given_tensor(tx: Tracing, obj: TensorVariable, name: str) -> VariableTracker | None:
    """An attribute that the program hung on a tensor itself."""
    assert obj.source is not None
    if static_lookup(torch.nn.Parameter, name)[1] is not None:
        return None
    real = tx.output.real_value(obj)
    if name in vars(real):
        return tx.build(vars(real)[name], AttrSource(obj.source, name))
    tx.guard(make.lacks_attr(obj.source, name))
    return None


def _attribute_of_type(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker | None:
    cls = obj.python_type()
    if name == "__class__":
        return tx.constant(cls)
    found, owner = static_lookup(cls, name)
    if owner is None:
        return None
    handler = method_for(type(obj), f".{name}")
    if handler is not None:
        return handler(tx, obj)
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        return tx.call(tx.build(found.fget, ConstSource.of_object(found.fget)), [obj])
    if isinstance(
        found, (types.GetSetDescriptorType, types.MemberDescriptorType, property, types.DynamicClassAttribute)
    ):
        try:
            return tx.constant(getattr(obj.value(), name))
        except AttributeError:
            return None
        except NotConstant:
            raise Unsupported("attribute", name=name, type=obj.python_type_name()) from None
    if isinstance(found, types.FunctionType):
        from tracer_core.variables.functions import MethodVariable
        from tracer_core.variables.user_objects import class_attribute_source

        if isinstance(obj, TensorVariable):
            return BuiltinMethodVariable(obj, name)
        return MethodVariable(tx.build(found, class_attribute_source(owner, name)), obj)
    if isinstance(found, (classmethod, staticmethod)) and isinstance(found.__func__, types.FunctionType):
        return find_attr(tx, tx.constant(cls), name)
    if callable(found) or isinstance(found, (classmethod, staticmethod, types.ClassMethodDescriptorType)):
        return BuiltinMethodVariable(obj, name)
    return tx.constant(found)


def _no_attribute(obj: VariableTracker, name: str) -> str:
    if isinstance(obj, ModuleVariable):
        return f"module {obj.known.__name__!r} has no attribute {name!r}"
    if isinstance(obj, ClassVariable):
        return f"type object {obj.known.__name__!r} has no attribute {name!r}"
    return f"{obj.python_type_name()!r} object has no attribute {name!r}"


def set_attr(tx: Tracing, obj: VariableTracker, name: str, value: VariableTracker) -> None:
    """`obj.name = value`, or `del obj.name` with `DELETED`."""
    obj = obj.realize()
    handler = method_for(type(obj), f".{name}=")
    if handler is not None:
        handler(tx, obj, value.realize())
        return
    if not obj.set_attribute(tx, name, value):
        raise Unsupported("set-attribute", name=name, type=obj.python_type_name())


def del_attr(tx: Tracing, obj: VariableTracker, name: str) -> None:
    set_attr(tx, obj, name, DELETED)


# --- calls --------------------------------------------------------------------------------------------------


def call(tx: Tracing, function: VariableTracker, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`function(*args, **kwargs)`. Functions with Python code are inlined by the interpreter before this."""
    function = function.realize()
    done = function.call(tx, args, kwargs)
    if done is not None:
        return done.realize()
    args = [arg.realize() for arg in args]
    kwargs = {name: value.realize() for name, value in kwargs.items()}
    if isinstance(function, BuiltinMethodVariable):
        return call_method(tx, function.self_.realize(), function.name, args, kwargs)
    if isinstance(function, SuperMethodVariable):
        return _call_super_method(tx, function, args, kwargs)
    if isinstance(function, KnownVariable):
        return call_known(tx, function, args, kwargs)
    if isinstance(function, UserObjectVariable):
        found, owner = static_lookup(function.cls, "__call__")
        if owner is not None:
            bound = function.bind_descriptor(tx, "__call__", found, owner)
            if bound is not None:
                return tx.call(bound, args, kwargs)
    if isinstance(function, InGraphVariable) or not callable_type(function):
        tx.raise_(TypeError, f"{function.python_type_name()!r} object is not callable")
    raise Unsupported("call", what=function.describe())


def callable_type(tracker: VariableTracker) -> bool:
    return static_lookup(tracker.python_type(), "__call__")[1] is not None


def call_known(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Call a builtin, a class or a torch function."""
    from tracer_core.variables.operator_functions import call_operator

    known = function.known
    observer = tx.output.observer
    for kinds, handler in handlers_for(known):
        if matches(kinds, args) and fits(handler, 1, args, kwargs):
            result = handler(tx, *args, **kwargs)
            if result is not None:
                if observer is not None:
                    observer.on_dispatch(handler.__qualname__)
                return result.realize()
    stand_in = stand_in_for(known)
    if stand_in is not None:
        from tracer_core.variables.stand_ins import call_stand_in

        return call_stand_in(tx, known, stand_in, args, kwargs)
    if isinstance(function, ClassVariable):
        from tracer_core.variables.instantiate import instantiate

        return instantiate(tx, function, args, kwargs)
    done = call_operator(tx, known, args) if not kwargs else None
    if done is not None:
        return done
    if _in_answers(known):
        return tx.constant(rules.ANSWERS[known])
    rule = rules.decide(known)
    if rule.action == "graph":
        return call_in_graph(tx, "call_function", known, args, kwargs)
    unbound = _unbound_method(known, args)
    if unbound is not None:
        return call_method(tx, args[0], unbound, args[1:], kwargs)
    if rule.action == "fold" and any(isinstance(arg, SymNodeVariable) for arg in args):
        return _fold_symbolic(tx, function, args, kwargs)
    if rule.action == "fold" and _looks_at_what_changed(tx, known):
        raise Unsupported("skipped-function", what=name_of(known), why="it looks at what was changed just before")
    if rule.action == "fold" and not any(isinstance(arg, FunctionVariable) for arg in args):
        folded = fold(tx, known, args, kwargs)
        if folded is not None:
            return folded
    raise Unsupported(
        "skipped-function", what=name_of(known), why=rule.why or "it is not known what it does to these values"
    )


def _looks_at_what_changed(tx: Tracing, known: Any) -> bool:
    """Whether the trace changed an object in the closure of a function that would be called now."""
    cells = getattr(known, "__closure__", None) or ()
    trackers = (tx.output.trackers_by_object.get(id(cell.cell_contents)) for cell in cells)
    return any(tracker in tx.output.side_effects.changed for tracker in trackers if tracker is not None)


def _fold_symbolic(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    """A function of numbers, some of them symbols: a node where torch has one for it, else the symbols are fixed."""
    known = function.known
    if known in (math.ceil, math.floor, math.trunc):
        return call_in_graph(tx, "call_function", known, args, kwargs)
    symbolic = getattr(torch, f"_sym_{known.__name__}", None)
    if getattr(known, "__module__", None) == "math" and symbolic is not None and len(args) == 1:
        return call_in_graph(tx, "call_function", symbolic, args, kwargs)
    fixed: Args = [
        ConstantVariable(arg.specialize(tx, arg.python_type())) if isinstance(arg, SymNodeVariable) else arg
        for arg in args
    ]
    return call_known(tx, function, fixed, kwargs)


def _in_answers(known: Any) -> bool:
    try:
        return known in rules.ANSWERS
    except TypeError:
        return False


def _unbound_method(known: Any, args: Args) -> str | None:
    """The method's name when `known` is `list.append` and the like, called with an object first."""
    if isinstance(known, (types.MethodDescriptorType, types.WrapperDescriptorType)) and args:
        owner = known.__objclass__
        if issubclass(args[0].python_type(), owner):
            return str(known.__name__)
    return None


def fold(tx: Tracing, function: Any, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """`function` called now, if all arguments are constants; what it raises is raised in the traced program."""
    if not all_constant(args) or not all_constant(list(kwargs.values())):
        return None
    values = [arg.value() for arg in args]
    named = {name: value.value() for name, value in kwargs.items()}
    _refuse_huge(function, values)
    try:
        result = function(*values, **named)
    except Exception as error:  # noqa: BLE001
        tx.raise_(type(error), *error.args)
    return tx.constant(result)


_MAX_FOLDED = 1 << 20


def _refuse_huge(function: Any, values: list[Any]) -> None:
    """Constants that would not fit are left for Python to compute."""
    import operator

    if function in (operator.mul, operator.imul) and len(values) == 2:
        lengths = [len(v) for v in values if isinstance(v, (str, bytes, list, tuple))]
        counts = [v for v in values if isinstance(v, int)]
        if lengths and counts and lengths[0] * counts[0] > _MAX_FOLDED:
            raise Unsupported("huge-constant", what=f"{lengths[0]} times {counts[0]} items")
    if (
        function in (operator.pow, operator.lshift, pow)
        and len(values) >= 2
        and all(isinstance(v, int) for v in values[:2])
    ):
        base, exponent = values[:2]
        bits = exponent if function is operator.lshift else abs(base).bit_length() * exponent
        if bits > _MAX_FOLDED and len(values) == 2:
            raise Unsupported("huge-constant", what=f"an integer of {bits} bits")


def call_method(tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`obj.name(*args, **kwargs)` for a method of a builtin type."""
    handler = method_for(type(obj), name)
    observer = tx.output.observer
    if handler is not None:
        result = _call_handler(tx, handler, obj, name, args, kwargs)
        if result is not None:
            if observer is not None:
                observer.on_dispatch(handler.__qualname__)
            return result.realize()
    if isinstance(obj, TensorVariable):
        return call_in_graph(tx, "call_method", name, [obj, *args], kwargs)
    if isinstance(obj, KnownVariable):
        function = getattr(obj.known, name)
        if handlers_for(function) or stand_in_for(function) is not None:
            return call_known(tx, BuiltinVariable(function), args, kwargs)
    if isinstance(obj, UserObjectVariable):
        return _call_inherited(tx, obj, name, args, kwargs)
    if not kwargs and not isinstance(obj, (InGraphVariable, KnownVariable)):
        from tracer_core.variables.dunder_methods import call_dunder

        result = call_dunder(tx, obj, name, args)
        if result is not None:
            return result
    if isinstance(obj, SymNodeVariable):
        if (operator_function := _NUMBER_METHODS.get(name)) is not None and args:
            return call_in_graph(tx, "call_function", operator_function, [obj, *args], kwargs)
        return call_method(tx, ConstantVariable(obj.specialize(tx, obj.python_type())), name, args, kwargs)
    if obj.is_constant() and all_constant(args) and all_constant(list(kwargs.values())) and not obj.mutable:
        method = getattr(obj.value(), name)
        if isinstance(obj, KnownVariable) and rules.decide(method).action != "fold":
            raise Unsupported("method", name=name, type=name_of(obj.known))
        folded = fold(tx, method, args, kwargs)
        assert folded is not None
        return folded
    raise Unsupported("method", name=name, type=obj.python_type_name())


def _call_inherited(tx: Tracing, obj: UserObjectVariable, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
    """A method in C that an object's class inherits: of `object`, or of the builtin type it has a part of."""
    for owner in obj.cls.__mro__:
        found = owner.__dict__.get(name)
        if found is not None and not isinstance(found, types.FunctionType):
            done = _call_found(tx, obj, owner, name, found, args, kwargs)
            if done is not None:
                return done
    raise Unsupported("method", name=name, type=obj.python_type_name())


def _call_found(
    tx: Tracing, obj: VariableTracker, owner: type, name: str, found: Any, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """Call the method `found` of the C class `owner` on `obj`."""
    if handlers_for(found) or stand_in_for(found) is not None:
        return call_known(tx, BuiltinVariable(found), [obj, *args], kwargs)
    part = obj.part if isinstance(obj, UserObjectVariable) else obj
    if part is None or owner is object:
        return None
    from tracer_core.variables.parts import asks_the_class, init_part

    if isinstance(obj, UserObjectVariable) and asks_the_class(obj, name):
        raise Unsupported("method", name=name, type=obj.python_type_name())
    if name == "__init__":
        return init_part(tx, part, args, kwargs)
    if name == "__getitem__" and isinstance(part, DictVariable) and part.get(tx, args[0]) is None:
        if isinstance(static_lookup(obj.python_type(), "__missing__")[0], types.FunctionType):
            return call_special(tx, obj, "__missing__", args, "")
    result = call_method(tx, part, name, args, kwargs)
    return obj if result is part else result


def _call_handler(
    tx: Tracing, handler: Any, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """The handler's result; a call that does not fit the method's signature raises TypeError in the program."""
    if not fits(handler, 2, args, kwargs):
        _raise_signature(tx, obj, name, args, kwargs)
    result: VariableTracker | None = handler(tx, obj, *args, **kwargs)
    return result


def fits(handler: Any, own: int, args: Args, kwargs: Kwargs) -> bool:
    """Whether the handler takes these arguments; `own` is how many parameters it has before them."""
    code = handler.__code__
    fixed = code.co_argcount - own
    required = fixed - len(handler.__defaults__ or ())
    names = set(code.co_varnames[max(own, code.co_posonlyargcount) : code.co_argcount + code.co_kwonlyargcount])
    if not required <= len(args) + len(names & set(kwargs)) or (len(args) > fixed and not code.co_flags & 0x04):
        return False
    return set(kwargs) <= names or bool(code.co_flags & 0x08)


def _raise_signature(tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs) -> None:
    """Raise what the real method says of arguments of this number (it refuses them before it looks at them)."""
    cls = obj.python_type()
    try:
        getattr(cls(), name)(*([None] * len(args)), **dict.fromkeys(kwargs))
    except TypeError as error:
        tx.raise_(TypeError, *error.args)
    except Exception:  # noqa: BLE001
        # an empty object may fail otherwise first: leave the message to Python
        pass
    raise Unsupported("method", name=name, type=obj.python_type_name())


def _operator_table() -> dict[str, Any]:
    import operator

    names = "add sub mul floordiv mod pow truediv lt le gt ge eq ne neg and_ or_ xor lshift rshift"
    return {f"__{name.rstrip('_')}__": getattr(operator, name) for name in names.split()}


_NUMBER_METHODS = _operator_table()


def _call_super_method(tx: Tracing, function: SuperMethodVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    for owner in function.owner.__mro__:
        found = owner.__dict__.get(function.name)
        if found is not None:
            done = _call_found(tx, function.self_, owner, function.name, found, args, kwargs)
            if done is not None:
                return done
            break
    raise Unsupported("method", name=function.name, type=function.owner.__name__)


# --- truth, length, iteration -------------------------------------------------------------------------------


def truth(tx: Tracing, tracker: VariableTracker) -> bool:
    """`bool(tracker)`."""
    tracker = tracker.realize()
    known = tracker.truth(tx)
    if known is not None:
        return known
    if isinstance(tracker, TensorVariable):
        raise Unsupported("tensor-branch", what=tracker.describe())
    for name in ("__bool__", "__len__"):
        found, owner = static_lookup(tracker.python_type(), name)
        if owner is not None and isinstance(tracker, UserObjectVariable):
            bound = tracker.bind_descriptor(tx, name, found, owner)
            assert bound is not None
            result = tx.call(bound, [])
            if name == "__bool__" and result.python_type() is not bool:
                tx.raise_(TypeError, f"__bool__ should return bool, returned {result.python_type_name()}")
            return truth(tx, result)
    return True


def length(tx: Tracing, tracker: VariableTracker) -> VariableTracker:
    """`len(tracker)`."""
    tracker = tracker.realize()
    if isinstance(tracker, (DictVariable, SetVariable)):
        return ConstantVariable(len(tracker))
    if isinstance(tracker, DictViewVariable):
        return ConstantVariable(len(tracker.of))
    if isinstance(tracker, TensorVariable):
        if tracker.fake.dim() == 0:
            tx.raise_(TypeError, "len() of a 0-d tensor")
        from tracer_core.variables.tensor import wrap_number

        return wrap_number(tx, tracker.fake.shape[0])
    if isinstance(tracker, RangeVariable):
        return ConstantVariable(len(tracker.range(tx)))
    if isinstance(tracker, SequenceVariable) and not isinstance(tracker, SliceVariable):
        return ConstantVariable(len(tracker.items))
    if isinstance(tracker, UserObjectVariable):
        return call_special(tx, tracker, "__len__", [], f"object of type {tracker.python_type_name()!r} has no len()")
    if tracker.is_constant():
        folded = fold(tx, len, [tracker], {})
        assert folded is not None
        return folded
    items = tracker.items_or_none(tx)
    if items is None or static_lookup(tracker.python_type(), "__len__")[1] is None:
        tx.raise_(TypeError, f"object of type {tracker.python_type_name()!r} has no len()")
    return ConstantVariable(len(items or []))


def call_special(tx: Tracing, obj: VariableTracker, name: str, args: Args, missing: str) -> VariableTracker:
    """A special method, looked up in the class as Python does; TypeError with `missing` if there is none."""
    cls = obj.cls if isinstance(obj, UserObjectVariable) else obj.python_type()
    found, owner = static_lookup(cls, name)
    bound = None if owner is None or found is None else _bind_special(tx, obj, name, found, owner)
    if bound is None:
        tx.raise_(TypeError, missing)
    assert bound is not None
    return tx.call(bound, args)


def _bind_special(tx: Tracing, obj: VariableTracker, name: str, found: Any, owner: type) -> VariableTracker | None:
    if isinstance(obj, UserObjectVariable):
        return obj.bind_descriptor(tx, name, found, owner)
    from tracer_core.variables.functions import MethodVariable
    from tracer_core.variables.user_objects import class_attribute_source

    return MethodVariable(tx.build(found, class_attribute_source(owner, name)), obj)


def has_special(tracker: VariableTracker, name: str) -> bool:
    """Whether operators on it go by a method of its class, rather than by a handler for builtin types."""
    if isinstance(tracker, UserObjectVariable):
        return static_lookup(tracker.cls, name)[1] is not None
    return isinstance(tracker, _HAVE_METHODS) and isinstance(
        static_lookup(tracker.python_type(), name)[0], types.FunctionType
    )


# Trackers of builtin kinds whose class may be one written in Python all the same.
_HAVE_METHODS = (DictVariable, SequenceVariable, ExceptionVariable)


def iterate(tx: Tracing, tracker: VariableTracker) -> VariableTracker:
    """`iter(tracker)`."""
    tracker = tracker.realize()
    if isinstance(tracker, IteratorVariable):
        return tracker
    if isinstance(tracker, RangeVariable):
        return RangeIterator(tracker, tracker.range(tx))
    if isinstance(tracker, ConstantVariable):
        items = tracker.items_or_none(tx)
        if items is not None:
            known = items
            return SequenceIterator(tracker, lambda: known)
    elif isinstance(tracker, SequenceVariable) and not isinstance(tracker, SliceVariable):
        return over_sequence(tracker)
    elif isinstance(tracker, (DictVariable, SetVariable)):
        return DictIterator(tracker, tracker.items_or_none(tx) or [])
    elif isinstance(tracker, DictViewVariable):
        return DictIterator(tracker.of, tracker.items_or_none(tx), tracker.which)
    elif isinstance(tracker, TensorVariable):
        return _iterate_tensor(tx, tracker)
    elif isinstance(tracker, UserObjectVariable):
        return _iterate_object(tx, tracker)
    elif isinstance(tracker, ClassVariable) and isinstance(tracker.known, type) and _is_enum(tracker.known):
        return over_sequence(SequenceVariable([tx.constant(member) for member in tracker.known]))  # type: ignore[attr-defined]
    else:
        items = tracker.items_or_none(tx)
        if items is not None:
            return over_sequence(SequenceVariable(items))
    return tx.raise_(TypeError, f"{tracker.python_type_name()!r} object is not iterable")  # type: ignore[no-any-return]


def _is_enum(cls: type) -> bool:
    import enum

    return issubclass(cls, enum.Enum)


def _iterate_tensor(tx: Tracing, tracker: TensorVariable) -> VariableTracker:
    if tracker.fake.dim() == 0:
        tx.raise_(TypeError, "iteration over a 0-d tensor")
    count = tracker.fake.shape[0]
    if isinstance(count, torch.SymInt):
        count = int(count)
        tx.output.note_shape_guards()
    import operator

    items = [
        call_in_graph(tx, "call_function", operator.getitem, [tracker, ConstantVariable(i)], {}) for i in range(count)
    ]
    return over_sequence(SequenceVariable(items))


def _iterate_object(tx: Tracing, tracker: UserObjectVariable) -> VariableTracker:
    found, owner = static_lookup(tracker.cls, "__iter__")
    if owner is not None and found is not None:
        return call_special(tx, tracker, "__iter__", [], "")
    if has_special(tracker, "__getitem__"):
        return tx.call_python(iterate_by_index, tracker)
    return tx.raise_(TypeError, f"{tracker.python_type_name()!r} object is not iterable")  # type: ignore[no-any-return]


def next_item(tx: Tracing, iterator: VariableTracker) -> VariableTracker | None:
    """The next item of an iterator, or None at its end."""
    iterator = iterator.realize()
    if isinstance(iterator, IteratorVariable):
        return iterator.next(tx)
    if isinstance(iterator, UserObjectVariable):
        from tracer_core.variables.exceptions import ObservedException

        try:
            return call_special(
                tx, iterator, "__next__", [], f"{iterator.python_type_name()!r} object is not an iterator"
            )
        except ObservedException as error:
            if issubclass(error.tracker.cls, StopIteration):
                return None
            raise
    return tx.raise_(TypeError, f"{iterator.python_type_name()!r} object is not an iterator")  # type: ignore[no-any-return]


def unpack(tx: Tracing, tracker: VariableTracker) -> list[VariableTracker]:
    """All items of an iterable."""
    tracker = tracker.realize()
    if not isinstance(tracker, (IteratorVariable, UserObjectVariable, TensorVariable)):
        items = tracker.items_or_none(tx)
        if items is not None and (not isinstance(tracker, SliceVariable)):
            return list(items)
    iterator = iterate(tx, tracker)
    items = []
    while (item := next_item(tx, iterator)) is not None:
        items.append(item)
        if len(items) > MAX_ITEMS:
            raise Unsupported("huge-constant", what=f"an iterable of more than {MAX_ITEMS} items")
    return items


# --- identity -----------------------------------------------------------------------------------------------


def same(tx: Tracing, a: VariableTracker, b: VariableTracker) -> bool:
    """`a is b`."""
    a, b = a.realize(), b.realize()
    if a is b:
        return True
    if (
        a.mutable
        and b.mutable
        and a.source is not None
        and b.source is not None
        and a.python_type() is b.python_type()
    ):
        tx.guard(make.not_duplicate([a.source, b.source]))
    if isinstance(a, InGraphVariable) or isinstance(b, InGraphVariable):
        if isinstance(a, SymNodeVariable) and isinstance(b, (SymNodeVariable, ConstantVariable)):
            raise Unsupported("identity", a=a.describe(), b=b.describe())
        return False
    if a.is_constant() and b.is_constant() and not a.mutable and not b.mutable:
        if isinstance(a, SequenceVariable) or isinstance(b, SequenceVariable):
            if (
                isinstance(a, SequenceVariable)
                and isinstance(b, SequenceVariable)
                and a.python_type() is b.python_type()
            ):
                return not a.items and not b.items and a.python_type() is tuple
            return False
        x, y = a.value(), b.value()
        if type(x) is not type(y):
            return False
        if isinstance(x, (int, float, complex, str, bytes)) and not isinstance(x, bool):
            # Whether equal numbers or strings are one object is up to CPython: small ints and interned names are.
            return x is y or (x == y and isinstance(x, int) and -5 <= x <= 256)
        return x is y or x == y
    if isinstance(a, FunctionVariable) and isinstance(b, FunctionVariable) and a.is_constant() and b.is_constant():
        for function in (a, b):
            if function.source is not None:
                tx.guard(make.identity(function.source, function.value()))
        return a.value() is b.value()
    if isinstance(a, (BuiltinVariable, KnownVariable)) and isinstance(b, KnownVariable):
        return a.known is b.known
    return False

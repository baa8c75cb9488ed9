"""Builtins for properties of a value: its type, length, truth and hash, its attributes, and `super`."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch

from tracer_core.class_origins import may_change
from tracer_core.errors import Unsupported
from tracer_core.variables.containers.dicts import ConstDictVariable, SetVariable
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import NotConstant, VariableTracker, constant_or
from tracer_core.variables.core.constant import FALSE, NONE, ConstantVariable
from tracer_core.variables.core.keys import hash_is_known, key_of
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable
from tracer_core.variables.objects import overlay
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup
from tracer_core.variables.objects.classes import ClassVariable, SuperVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.calling import callable_type
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.special_methods import call_special, has_special

# The class of torch.FloatTensor and the like.
_TENSOR_TYPE: Any = type(torch.FloatTensor)


@handles(len, VariableTracker)
def len_(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return tx.length(obj)


@handles(bool)
def bool_(tx: Tracing, obj: VariableTracker = FALSE, /) -> VariableTracker:
    return ConstantVariable(tx.truth(obj))


@handles(isinstance, VariableTracker, VariableTracker)
def isinstance_(tx: Tracing, obj: VariableTracker, classes: VariableTracker) -> VariableTracker:
    return ConstantVariable(is_instance(tx, obj.realize(), class_or_tuple(tx, classes)))


def class_or_tuple(tx: Tracing, tracker: VariableTracker) -> Any:
    """Return the class, union or (nested) tuple of classes given to isinstance."""
    try:
        return tracker.realize().value()
    except NotConstant:
        raise Unsupported("call", what="isinstance with classes not known while tracing") from None


def is_instance(tx: Tracing, obj: VariableTracker, wanted: Any) -> bool:
    """Return `isinstance(obj, wanted)`."""
    if isinstance(wanted, tuple):
        return any(is_instance(tx, obj, each) for each in wanted)
    if isinstance(obj, TensorVariable):
        if wanted in (torch.nn.Parameter, torch.nn.Buffer):
            return isinstance(obj.fake, wanted)
        if isinstance(wanted, type) and issubclass(wanted, torch.Tensor):
            return issubclass(obj.python_type(), wanted)
        if isinstance(wanted, _TENSOR_TYPE):
            return bool(obj.fake.dtype == wanted.dtype and obj.fake.device.type == "cpu")
    if isinstance(wanted, types.UnionType):
        return is_instance(tx, obj, wanted.__args__)
    check = _python_check(tx, wanted, "__instancecheck__", obj)
    if check is not None:
        return obj.python_type() is wanted or tx.truth(check())
    claimed = _claimed_class(tx, obj)
    if claimed is None and isinstance(obj, UserDefinedObjectVariable) and obj.real is not None:
        answer = isinstance(obj.real, wanted)
        note_derives(tx, obj.cls, wanted, answer)
        return answer
    _refuse_written(obj.python_type(), wanted)
    try:
        for cls in (obj.python_type(), *(() if claimed is None else (claimed,))):
            answer = issubclass(cls, wanted)
            note_derives(tx, cls, wanted, answer)
            if answer:
                return True
        return False
    except TypeError as error:
        refused = _refused_class(wanted)
        if refused is None and getattr(wanted, "_is_protocol", False):
            raise Unsupported(
                "call", what=f"isinstance() with {wanted.__qualname__}, a protocol of attributes"
            ) from None
        return bool(tx.raise_(TypeError, refused or str(error)))


def _claimed_class(tx: Tracing, obj: VariableTracker) -> type | None:
    """Return the class that an object's own code reports in `__class__`; None if that is its type."""
    if not isinstance(obj, UserDefinedObjectVariable):
        return None
    own = isinstance(static_lookup(obj.cls, "__getattribute__")[0], types.FunctionType)
    if not own and static_lookup(obj.cls, "__class__")[1] is object:
        return None
    said = _attribute_or_none(tx, obj, "__class__")
    claimed = None if said is None else constant_or(said.realize(), None)
    return claimed if isinstance(claimed, type) and claimed is not obj.cls else None


def _refuse_written(cls: type, wanted: Any) -> None:
    """Break at a check on a class that the trace has changed: Python would use the real one."""
    written = next((base for base in cls.__mro__ if base in overlay.current), None)
    runs_code = type.__subclasscheck__ is not getattr(type(wanted), "__subclasscheck__", None)
    if written is not None and runs_code:
        raise Unsupported(
            "set-class-attribute", what=f"{written.__qualname__}.{next(iter(overlay.current[written]))}"
        )


def _refused_class(wanted: Any) -> str | None:
    """Return the result of `isinstance` with an object that is not a class."""
    try:
        isinstance(None, wanted)
    except TypeError as error:
        return str(error)
    return None


def _python_check(
    tx: Tracing, wanted: Any, hook: str, subject: VariableTracker
) -> Callable[[], VariableTracker] | None:
    """Return the call of the metaclass's check for `wanted`, if it has one in Python that is the program's."""
    found, owner = static_lookup(type(wanted), hook) if isinstance(wanted, type) else (None, None)
    if owner is None or not isinstance(found, types.FunctionType):
        return None
    if not may_change(owner) and wanted not in overlay.made:
        return None
    function, cls = tx.build(found, class_attribute_source(owner, hook)), tx.constant(wanted)
    return lambda: tx.call(function, [cls, subject])


@handles(issubclass, VariableTracker, VariableTracker)
def issubclass_(tx: Tracing, cls: VariableTracker, classes: VariableTracker) -> VariableTracker | None:
    wanted = class_or_tuple(tx, classes)
    if isinstance(wanted, types.UnionType):
        wanted = wanted.__args__
    for each in wanted if isinstance(wanted, tuple) else (wanted,):
        check = _python_check(tx, each, "__subclasscheck__", cls.realize())
        if check is not None:
            answer = tx.truth(check())
        else:
            known = cls.realize().is_constant() and cls.realize().value()
            if isinstance(known, type):
                _refuse_written(known, each)
            folded = fold(tx, issubclass, [cls, tx.constant(each)], {})
            if folded is None:
                return None
            answer = folded.value()
            note_derives(tx, cls.realize().value(), each, answer)
        if answer:
            return ConstantVariable(True)
    return ConstantVariable(False)


def note_derives(tx: Tracing, cls: type, wanted: Any, answer: bool) -> None:
    """Guard the result of `issubclass`, called with one class, or with several at once."""
    if isinstance(wanted, tuple | types.UnionType):
        for each in wanted if isinstance(wanted, tuple) else wanted.__args__:
            note_derives(tx, cls, each, issubclass(cls, each))
        return
    tx.trace.libraries.derives(cls, wanted, answer)


@handles(type.__instancecheck__, ClassVariable, VariableTracker)
def type_instancecheck(tx: Tracing, cls: ClassVariable, obj: VariableTracker) -> VariableTracker:
    return ConstantVariable(cls.known in obj.python_type().__mro__)


@handles(type.__subclasscheck__, ClassVariable, ClassVariable)
def type_subclasscheck(tx: Tracing, cls: ClassVariable, other: ClassVariable) -> VariableTracker:
    return ConstantVariable(cls.known in other.known.__mro__)


@handles(type, VariableTracker)
def type_(tx: Tracing, obj: VariableTracker, *rest: VariableTracker) -> VariableTracker:
    if rest:
        return tx.call(tx.constant(type.__new__), [tx.constant(type), obj, *rest])
    return tx.constant(obj.realize().python_type())


@handles(callable, VariableTracker)
def callable_(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return ConstantVariable(callable_type(obj.realize()))


def attribute_name(tx: Tracing, name: VariableTracker) -> str:
    value = constant_or(name.realize(), None)
    if not isinstance(value, str):
        tx.raise_(TypeError, f"attribute name must be string, not '{name.type_name_in_errors()}'")
    return str(value)


@handles(getattr, VariableTracker, VariableTracker)
def getattr_(
    tx: Tracing, obj: VariableTracker, name: VariableTracker, default: VariableTracker | None = None
) -> VariableTracker:
    text = attribute_name(tx, name)
    if default is None:
        return tx.get_attr(obj, text)
    found = _attribute_or_none(tx, obj, text)
    return default if found is None else found


def _attribute_or_none(tx: Tracing, obj: VariableTracker, name: str) -> VariableTracker | None:
    try:
        return tx.find_attr(obj, name)
    except ObservedException as error:
        if issubclass(error.tracker.cls, AttributeError):
            return None
        raise


@handles(hasattr, VariableTracker, VariableTracker)
def hasattr_(tx: Tracing, obj: VariableTracker, name: VariableTracker) -> VariableTracker:
    return ConstantVariable(_attribute_or_none(tx, obj, attribute_name(tx, name)) is not None)


@handles(setattr, VariableTracker, VariableTracker, VariableTracker)
def setattr_(tx: Tracing, obj: VariableTracker, name: VariableTracker, value: VariableTracker) -> VariableTracker:
    tx.set_attr(obj, attribute_name(tx, name), value)
    return NONE


@handles(delattr, VariableTracker, VariableTracker)
def delattr_(tx: Tracing, obj: VariableTracker, name: VariableTracker) -> VariableTracker:
    tx.del_attr(obj, attribute_name(tx, name))
    return NONE


@handles(vars, VariableTracker)
def vars_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    return tx.find_attr(obj, "__dict__")


@handles(dir, SequenceVariable)
@handles(dir, ConstDictVariable)
@handles(dir, SetVariable)
@handles(dir, ConstantVariable)
def dir_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    """Return the names in an object of a type written in C; None if a class of the program overrides that."""
    cls = obj.python_type()
    return None if may_change(cls) else tx.constant(dir(cls))


@handles(super)
def super_(tx: Tracing, cls: VariableTracker | None = None, obj: VariableTracker | None = None) -> VariableTracker:
    if cls is None:
        frame = tx.frame
        cell = frame.cells.get("__class__")
        if not frame.code.co_argcount:
            tx.raise_(RuntimeError, "super(): no arguments")
        if not isinstance(cell, CellVariable):
            tx.raise_(RuntimeError, "super(): __class__ cell not found")
        if cell.contents is None:
            tx.raise_(RuntimeError, "super(): empty __class__ cell")
        cls = cell.contents.realize()
        first = frame.code.co_varnames[0]
        held = frame.cells.get(first)
        obj = held.contents if isinstance(held, CellVariable) else frame.locals.get(first)
        if obj is None:
            tx.raise_(RuntimeError, "super(): arg[0] deleted")
    if obj is None or not isinstance(cls, ClassVariable):
        raise Unsupported("call", what="super() without an object")
    obj = obj.realize()
    return SuperVariable(cls.known, obj, _first_searched(tx, cls.known, obj))


def _first_searched(tx: Tracing, after: type, obj: VariableTracker) -> type:
    """Return the class whose MRO `super(after, obj)` searches."""
    known = obj.known if isinstance(obj, ClassVariable) else None
    # An object that claims another type still has its own class.
    own = obj.cls if isinstance(obj, UserDefinedObjectVariable) else obj.python_type()
    for cls in (known, own):
        # (A class that its metaclass is still creating has no MRO yet.)
        if isinstance(cls, type) and after in (cls.__mro__ or ()):
            return cls
    claimed = _claimed_class(tx, obj)
    if claimed is not None and after in (claimed.__mro__ or ()):
        return claimed
    return tx.raise_(TypeError, "super(type, obj): obj must be an instance or subtype of type")


class _Hashed:
    """An object whose `__hash__` returns `returned`, to find its hash."""

    def __init__(self, returned: Any) -> None:
        self.returned = returned

    def __hash__(self) -> int:
        return self.returned  # type: ignore[no-any-return]


def _hash_from(returned: Any) -> int:
    return hash(_Hashed(returned))


@handles(hash, VariableTracker)
def hash_(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    if has_special(obj, "__hash__"):
        if static_lookup(obj.python_type(), "__hash__")[1] is not object:
            returned = call_special(tx, obj, "__hash__", [], f"unhashable type: {obj.type_name_in_errors()!r}")
            return fold(tx, _hash_from, [returned], {})
    if isinstance(
        obj, (InGraphVariable, UserDefinedObjectVariable, BaseUserFunctionVariable, BoundBuiltinMethodVariable)
    ):
        raise Unsupported("object-id")
    if isinstance(obj, (SequenceVariable, ConstDictVariable, SetVariable)):
        return _hash_of_parts(tx, obj)
    return fold(tx, hash, [obj], {})


def _hash_of_parts(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    key = key_of(tx, obj)
    if not hash_is_known(key):
        raise Unsupported("object-id")
    return ConstantVariable(hash(key))

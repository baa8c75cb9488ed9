"""Attributes that the trace sets on classes and deletes from them; see `overlay` for how they are found again."""

from __future__ import annotations

import types
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.sources import ConstantSource
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import BaseUserFunctionVariable, UserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.functions.nested_functions import NestedUserFunctionVariable
from tracer_core.variables.objects import overlay
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup
from tracer_core.variables.objects.classes import KnownVariable
from tracer_core.variables.objects.descriptors import DescriptorVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


class ClassWrites(VariableTracker):
    """Writes to one class: `attributes` by name, `DELETED` for deleted ones."""

    __slots__ = ("attributes", "cls")
    kind = "class"
    mutable = True

    def __init__(self, cls: type) -> None:
        super().__init__(ConstantSource.of_object(cls))
        self.cls = cls
        self.attributes: dict[str, VariableTracker] = {}

    def python_type(self) -> type:
        return type(self.cls)

    def describe(self) -> str:
        return f"class {self.cls.__qualname__}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(f".{name}", value) for name, value in self.attributes.items() if value is not DELETED]


def write(tx: Tracing, cls: type, name: str, value: VariableTracker) -> None:
    """Do `cls.name = value`, or its deletion, by the hook of the metaclass if a program has written one."""
    hook_name = "__delattr__" if value is DELETED else "__setattr__"
    hook, owner = static_lookup(type(cls), hook_name)
    if isinstance(hook, types.FunctionType) and owner is not None:
        function = tx.build(hook, class_attribute_source(owner, hook_name))
        args = [tx.constant(cls), tx.constant(name)]
        tx.call(function, args if value is DELETED else [*args, value])
        return
    write_plainly(tx, cls, name, value)


def write_plainly(tx: Tracing, cls: type, name: str, value: VariableTracker) -> None:
    """Set (or delete) as `type.__setattr__` (or `__delattr__`) does.

    Raises:
        Unsupported: the attribute is one that the class, or its metaclass, makes something of.
    """
    verb = "set"
    if cls.__flags__ & _IMMUTABLE:
        tx.raise_(TypeError, f"cannot {verb} {name!r} attribute of immutable type {cls.__name__!r}")
    meta, meta_owner = static_lookup(type(cls), name)
    if _is_special(name, value) or (meta_owner is not None and hasattr(type(meta), "__set__")):
        raise Unsupported("set-class-attribute", what=f"{cls.__qualname__}.{name}")
    held = overlay.own(cls, name)
    if value is DELETED and held is overlay.ABSENT:
        tx.raise_(AttributeError, f"type object {cls.__name__!r} has no attribute {name!r}")
    if value is DELETED:
        tx.build(held, class_attribute_source(cls, name))
    if cls in overlay.made and name in LOOKED_AT and value.realize().is_constant():
        overlay.refuse_if_kept(tx, cls, f"{cls.__qualname__}.{name}")
        type.__setattr__(cls, name, value.realize().value())
        return
    stands_for = overlay.DELETED if value is DELETED else placeholder(tx, value)
    if cls not in overlay.made:
        _note(tx, cls, name, value)
    tx.trace.overlay.setdefault(cls, {})[name] = stands_for


def _note(tx: Tracing, cls: type, name: str, value: VariableTracker) -> None:
    """Note a write to a class that outlives the trace, to be replayed after it."""
    writes = tx.trace.class_writes.get(cls)
    if writes is None:
        writes = tx.trace.class_writes[cls] = ClassWrites(cls)
    tx.trace.side_effects.changes(writes, "class", f"attribute {name} is {'deleted' if value is DELETED else 'set'}")
    writes.attributes[name] = value


def _is_special(name: str, value: VariableTracker) -> bool:
    """Return whether the class itself acts on the attribute; special methods are looked up when they are used."""
    value = value.realize()
    return name in _FIXED or (
        name in _SPECIAL and not isinstance(value, BaseUserFunctionVariable) and not _is_init(value)
    )


def _is_init(value: VariableTracker) -> bool:
    """Return whether it is `object.__init__` or the like, which `typing` puts into protocols' subclasses."""
    known = value.known if isinstance(value, KnownVariable) else None
    return isinstance(known, types.WrapperDescriptorType) and known.__name__ == "__init__"


def _special_names() -> frozenset[str]:
    """Return the methods that Python's own types have in slots, and the attributes of a class that `type` stores."""
    kinds: tuple[type, ...] = (
        object,
        type,
        int,
        float,
        list,
        dict,
        str,
        set,
        types.GeneratorType,
        types.CoroutineType,
    )
    slots = {name for cls in kinds for name in vars(cls) if name.startswith("__") and name.endswith("__")}
    more = "get set delete set_name getattr enter exit aenter aexit anext aiter missing length_hint fspath".split()
    kept = "slots match_args set_name instancecheck subclasscheck prepare mro_entries subclasshook imatmul matmul"
    return frozenset(slots | {f"__{name}__" for name in [*more, *kept.split()]})


_SPECIAL = _special_names()
#: Attributes that `typing` reads from the real class, where a placeholder would not do.
LOOKED_AT = frozenset({"__parameters__", "_is_protocol", "_is_runtime_protocol"})
_FIXED = frozenset({"__init_subclass__", "__class_getitem__", "__new__", "__del__", "__getattribute__", "__eq__"})


def placeholder(tx: Tracing, value: VariableTracker) -> Any:
    """Return an object that lookups treat like `value`, and builders turn into its tracker.

    Raises:
        Unsupported: it is not known how the value binds to an instance.
    """
    value = value.realize()
    if _is_init(value):
        return value.value()
    made = _stands_for(tx, value)
    tx.trace.placeholders[id(made)] = (made, value)
    return made


def _stands_for(tx: Tracing, value: VariableTracker) -> Any:
    if isinstance(value, NestedUserFunctionVariable):
        function = _function_like(value.code)
        if "__isabstractmethod__" in value.attributes:
            function.__isabstractmethod__ = True  # type: ignore[attr-defined]
        return function
    if isinstance(value, UserFunctionVariable):
        return _function_like(value.function.__code__)
    if isinstance(value, DescriptorVariable):
        return value.of(lambda part: placeholder(tx, part))
    cls = value.python_type()
    if isinstance(value, UserMethodVariable) or not hasattr(cls, "__get__"):
        if not isinstance(value, UserDefinedObjectVariable) or not any(
            hasattr(cls, n) for n in ("__set__", "__delete__")
        ):
            return overlay.Written()
    if isinstance(value, UserDefinedObjectVariable) and cls.__new__ is object.__new__:
        return object.__new__(cls)
    raise Unsupported("set-class-attribute", what=f"a {value.describe()}")


def _function_like(code: types.CodeType) -> types.FunctionType:
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, {}, code.co_name, None, cells)

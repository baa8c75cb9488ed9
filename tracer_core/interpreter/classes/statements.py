"""`class` statements that run while tracing, and `type(name, bases, namespace)`.

The body is traced like a function. The class itself is created at once, for the trace alone: what its namespace holds
stands in it as placeholders (see `overlay`), and it is found by lookups like any other. Each run of the program makes
a class of its own, so this one must never reach the program: where it, or an instance, would leave the trace, the
graph ends before the class is created.
"""

from __future__ import annotations

import builtins
import types
import typing
from typing import Any

from tracer_core.class_origins import may_change
from tracer_core.errors import Unsupported
from tracer_core.interpreter.binding import bind
from tracer_core.interpreter.classes.library import (
    METACLASSES,
    MirroredNamespace,
    known_keywords,
    make_by_library,
    namespace_for,
)
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import tuple_of
from tracer_core.variables.core.base import VariableTracker, all_constant, constant_or
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.objects import overlay
from tracer_core.variables.objects.class_lookup import class_attribute_source, static_lookup
from tracer_core.variables.objects.class_writes import LOOKED_AT, placeholder
from tracer_core.variables.objects.classes import BuiltinVariable, ClassVariable

#: Names from which `type` builds something when it creates a class: their values must be known while tracing.
_TAKEN_AS_THEY_ARE = frozenset(
    "__module__ __qualname__ __doc__ __slots__ __match_args__ __annotations__ __hash__ __orig_bases__".split()
).union(LOOKED_AT)


@handles(builtins.__build_class__, BaseUserFunctionVariable, VariableTracker)
def build_class(
    tx: Tracing,
    body: BaseUserFunctionVariable,
    name: VariableTracker,
    /,
    *bases: VariableTracker,
    metaclass: VariableTracker | None = None,
    **keywords: VariableTracker,
) -> VariableTracker:
    text = str(constant_or(name.realize(), "class"))
    given = [base.realize() for base in bases]
    real = [each for base in given for each in _bases_of(tx, base, given, text)]
    meta = _metaclass(tx, text, real, metaclass)
    target = body.target(tx)
    cells = dict(zip(target.code.co_freevars, target.closure, strict=True))
    frame = Frame(target.code, target.globals, bind(tx, target, [], {}), cells, tx.frame)
    frame.namespace = namespace = namespace_for(tx, meta, text, real, keywords)
    tx.run_frame(frame)
    if not all(isinstance(base, ClassVariable) for base in given):
        namespace["__orig_bases__"] = tuple_of(*given)
    if isinstance(namespace, MirroredNamespace):
        return _made_by_library(tx, meta, text, real, namespace, keywords)
    return create(tx, meta, text, real, namespace, keywords)


def _bases_of(tx: Tracing, base: VariableTracker, given: list[VariableTracker], name: str) -> list[type]:
    """Return the real bases of a base: the result of `__mro_entries__` of `Generic[T]` and the like, else itself."""
    stands_for = base.known if isinstance(base, BuiltinVariable) else getattr(base, "function", None)
    if (type(stands_for) in overlay.ALIASES or stands_for in _STANDING_FOR_BASES) and all_constant(given):
        return list(stands_for.__mro_entries__(tuple(each.value() for each in given)))  # type: ignore[union-attr]
    return [_base(base, name)]


#: Functions that may be written as bases.
_STANDING_FOR_BASES = (typing.NamedTuple,)


def _base(base: VariableTracker, name: str) -> type:
    base = base.realize()
    if not isinstance(base, ClassVariable) or not isinstance(base.known, type):
        raise Unsupported("class-created", what=f"{name}, with a base that is not a class")
    return base.known


def _metaclass(tx: Tracing, name: str, bases: list[type], given: VariableTracker | None) -> type:
    """Return the most derived metaclass, as `__build_class__` finds it."""
    keywords = {} if given is None else {"metaclass": constant_or(given.realize(), None)}
    try:
        meta: type = types._calculate_meta(keywords.get("metaclass", type(bases[0]) if bases else type), bases)  # type: ignore[attr-defined]
    except TypeError as error:
        tx.raise_(TypeError, *error.args)
    if meta is not type and not (isinstance(meta, type) and issubclass(meta, METACLASSES)):
        raise Unsupported("class-created", what=f"{name}, with a metaclass other than type, EnumType or NamedTuple's")
    return meta


def _made_by_library(
    tx: Tracing,
    meta: type,
    name: str,
    bases: list[type],
    namespace: MirroredNamespace,
    keywords: dict[str, VariableTracker],
) -> VariableTracker:
    cell = dict.pop(namespace, "__classcell__", None)
    made = make_by_library(tx, meta, name, bases, namespace, keywords)
    if isinstance(cell, CellVariable):
        cell.store(tx, made)
    return made


@handles(type.__new__, ClassVariable, VariableTracker, VariableTracker, ConstDictVariable)
def type_new(
    tx: Tracing,
    meta: ClassVariable,
    name: VariableTracker,
    bases: VariableTracker,
    namespace: ConstDictVariable,
    /,
    **keywords: VariableTracker,
) -> VariableTracker:
    text = constant_or(name.realize(), None)
    items = bases.realize().items_or_none(tx)
    if not isinstance(text, str) or items is None:
        raise Unsupported("class-created", what="type()")
    entries = {str(key.realize().value()): value for key, value in namespace.entries(tx)}
    real = [_base(item, text) for item in items]
    if _metaclass(tx, text, real, meta) is not meta.known:
        raise Unsupported("class-created", what=f"{text}, with the metaclass of a base")
    return create(tx, meta.known, text, real, entries, keywords)


def create(
    tx: Tracing,
    meta: type,
    name: str,
    bases: list[type],
    namespace: dict[str, VariableTracker],
    keywords: dict[str, VariableTracker],
) -> VariableTracker:
    """Create the class as `type.__new__` does.

    Raises:
        Unsupported: code of the program would run where the class is created, past the trace.
    """
    if any(may_change(static_lookup(base, "__init_subclass__")[1] or object) for base in bases):
        raise Unsupported("class-created", what=f"{name}, a subclass of a class with __init_subclass__")
    cell = namespace.get("__classcell__")
    cell = None if cell is None else cell.realize()
    namespace = {key: value for key, value in namespace.items() if key != "__classcell__"}
    real, late = _namespace(tx, name, namespace)
    real.setdefault("__module__", tx.frame.module)
    try:
        made: Any = type.__new__(meta, name, tuple(bases), real, **known_keywords(name, keywords))
    except Exception as error:  # noqa: BLE001
        raise_real(tx, error)
    for key, stands_for in late.items():
        type.__setattr__(made, key, stands_for)
    overlay.note_created(tx, made)
    tracker: VariableTracker = tx.constant(made)
    if isinstance(cell, CellVariable):
        cell.store(tx, tracker)
    for key, value in namespace.items():
        _set_name(tx, value.realize(), tracker, key)
    return tracker


def _namespace(
    tx: Tracing, name: str, namespace: dict[str, VariableTracker]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the namespace that the class is created with, and the entries set afterwards (creation would call their
    methods)."""
    real: dict[str, Any] = {}
    late: dict[str, Any] = {}
    for key, value in namespace.items():
        value = value.realize()
        if key in _TAKEN_AS_THEY_ARE and not isinstance(value, BaseUserFunctionVariable):
            if not all_constant([value]):
                raise Unsupported("class-created", what=f"{name}, whose {key} is not known while tracing")
            real[key] = value.value()
        else:
            stands_for = placeholder(tx, value)
            has_hook = isinstance(static_lookup(type(stands_for), "__set_name__")[0], types.FunctionType)
            (late if has_hook else real)[key] = stands_for
    return real, late


def _set_name(tx: Tracing, value: VariableTracker, owner: VariableTracker, name: str) -> None:
    found, holder = static_lookup(value.python_type(), "__set_name__")
    if holder is not None and isinstance(found, types.FunctionType):
        function = tx.build(found, class_attribute_source(holder, "__set_name__"))
        tx.call(UserMethodVariable(function, value), [owner, tx.constant(name)])

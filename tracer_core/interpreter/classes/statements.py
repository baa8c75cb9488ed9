"""`class` statements that run while tracing, and `type(name, bases, namespace)`.

The body is walked like a function. The class itself is made at once, for the trace alone: what its namespace holds
stands in it as placeholders (see `overlay`), and it is found by lookups like any other. Each run of the program makes
a class of its own, so this one must never reach the program: where it, or an instance, would leave the trace, the
graph ends before the class is made.
"""

from __future__ import annotations

import abc
import builtins
import types
import typing
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.graph.libraries import may_change
from tracer_core.interpreter.binding import bind
from tracer_core.interpreter.classes.library import METACLASSES, MirroredNamespace, make_by_library, namespace_for
from tracer_core.variables import overlay
from tracer_core.variables.base import Tracing, VariableTracker, all_constant, constant_or
from tracer_core.variables.cells import CellVariable
from tracer_core.variables.class_writes import LOOKED_AT, placeholder
from tracer_core.variables.classes import BuiltinVariable, ClassVariable, SuperVariable
from tracer_core.variables.constant import NONE
from tracer_core.variables.dicts import DictVariable
from tracer_core.variables.exceptions import raise_real
from tracer_core.variables.frames import Frame
from tracer_core.variables.functions import FunctionVariable
from tracer_core.variables.methods import MethodVariable
from tracer_core.variables.registry import handles
from tracer_core.variables.sequences import tuple_of
from tracer_core.variables.user_objects import class_attribute_source, static_lookup

#: Metaclasses whose own `__new__`, written in Python, does no more than is done here.
_PLAIN_METACLASSES = (type, abc.ABCMeta)
#: What the class makes something of when it is made: these must be known while tracing.
_TAKEN_AS_THEY_ARE = frozenset(
    "__module__ __qualname__ __doc__ __slots__ __match_args__ __annotations__ __hash__ __orig_bases__".split()
).union(LOOKED_AT)


@handles(builtins.__build_class__, FunctionVariable, VariableTracker)
def build_class(
    tx: Tracing,
    body: FunctionVariable,
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
    class_cell = tx.run_frame(frame).realize()
    if not all(isinstance(base, ClassVariable) for base in given):
        namespace["__orig_bases__"] = tuple_of(*given)
    made = _call_metaclass(tx, meta, text, real, namespace, keywords)
    if isinstance(class_cell, CellVariable):
        _check_class_cell(tx, class_cell, text, made)
    return made


def _check_class_cell(tx: Tracing, cell: CellVariable, name: str, made: VariableTracker) -> None:
    """What `super()` in the body finds must be the class that the metaclass has made."""
    made = made.realize()
    if not isinstance(made, ClassVariable):
        return
    contents = cell.contents
    if contents is None:
        text = f"__class__ not set defining {name!r} as {made.known!r}. Was __classcell__ propagated to type.__new__?"
        tx.raise_(RuntimeError, text)
    held = contents.realize()
    if not isinstance(held, ClassVariable) or held.known is not made.known:
        shown = repr(held.known) if isinstance(held, ClassVariable) else held.describe()
        tx.raise_(TypeError, f"__class__ set to {shown} defining {name!r} as {made.known!r}")


def _bases_of(tx: Tracing, base: VariableTracker, given: list[VariableTracker], name: str) -> list[type]:
    """The classes that stand for a base: what `Generic[T]` and its like say of themselves, else itself."""
    stands_for = base.known if isinstance(base, BuiltinVariable) else getattr(base, "function", None)
    if (type(stands_for) in overlay.ALIASES or stands_for in _STANDING_FOR_BASES) and all_constant(given):
        return list(stands_for.__mro_entries__(tuple(each.value() for each in given)))  # type: ignore[union-attr]
    return [_base(base, name)]


#: Functions that are written as bases.
_STANDING_FOR_BASES = (typing.NamedTuple, typing.TypedDict)


def _base(base: VariableTracker, name: str) -> type:
    base = base.realize()
    if not isinstance(base, ClassVariable) or not isinstance(base.known, type):
        raise Unsupported("class-created", what=f"{name}, with a base that stands for a class")
    return base.known


def _metaclass(tx: Tracing, name: str, bases: list[type], given: VariableTracker | None) -> type:
    """The most derived metaclass, as `__build_class__` finds it."""
    asked = {} if given is None else {"metaclass": constant_or(given.realize(), None)}
    try:
        meta = types._calculate_meta(asked.get("metaclass", type(bases[0]) if bases else type), bases)  # type: ignore[attr-defined]
    except TypeError as error:
        tx.raise_(TypeError, *error.args)
    prepares = isinstance(meta, type) and static_lookup(meta, "__prepare__")[1] is not type
    if not isinstance(meta, type) or (prepares and not issubclass(meta, METACLASSES)):
        raise Unsupported("class-created", what=f"{name}, with a namespace of its metaclass's own")
    return meta


def _call_metaclass(
    tx: Tracing,
    meta: type,
    name: str,
    bases: list[type],
    namespace: dict[str, VariableTracker],
    keywords: dict[str, VariableTracker],
) -> VariableTracker:
    if isinstance(namespace, MirroredNamespace):
        cell = dict.pop(namespace, "__classcell__", None)
        made = make_by_library(tx, meta, name, bases, namespace, keywords)
        if isinstance(cell, CellVariable):
            cell.store(tx, made)
        return made
    if meta in _PLAIN_METACLASSES:
        return create(tx, meta, name, bases, namespace, keywords)
    if not any(isinstance(static_lookup(meta, hook)[0], _PYTHON) for hook in ("__new__", "__init__", "__call__")):
        return create(tx, meta, name, bases, namespace, keywords)
    entries = DictVariable([(tx.constant(key), value) for key, value in namespace.items()])
    args = [tx.constant(name), tuple_of(*(tx.constant(base) for base in bases)), entries]
    return tx.call(tx.constant(meta), args, keywords)


_PYTHON = (types.FunctionType, staticmethod)


@handles(type.__new__, ClassVariable, VariableTracker, VariableTracker, DictVariable)
def type_new(
    tx: Tracing,
    meta: ClassVariable,
    name: VariableTracker,
    bases: VariableTracker,
    namespace: DictVariable,
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
        raise Unsupported("class-created", what=f"{text}, by the metaclass of a base")
    return create(tx, meta.known, text, real, entries, keywords)


def create(
    tx: Tracing,
    meta: type,
    name: str,
    bases: list[type],
    namespace: dict[str, VariableTracker],
    keywords: dict[str, VariableTracker],
) -> VariableTracker:
    """What `type.__new__` does, and `ABCMeta` after it.

    Raises:
        Unsupported: code of the program would run where the class is made, past the trace.
    """
    if meta.__hash__ is not type.__hash__:
        raise Unsupported("class-equality", cls=name, meta=meta.__qualname__)
    if static_lookup(meta, "mro")[1] is not type:
        raise Unsupported("class-created", what=f"{name}, whose metaclass says itself what it derives from")
    cell = _class_cell(tx, namespace)
    namespace = {key: value for key, value in namespace.items() if key != "__classcell__"}
    real, late = _namespace(tx, name, namespace)
    real.setdefault("__module__", tx.frame.module)
    made: Any = _without_hook(tx, meta, name, bases, real)
    for key, stands_for in late.items():
        type.__setattr__(made, key, stands_for)
    if isinstance(made, abc.ABCMeta):
        abc._abc_init(made)  # type: ignore[attr-defined]
    overlay.note_made(tx, made)
    tracker: VariableTracker = tx.constant(made)
    if cell is not None:
        cell.store(tx, tracker)
    for key, value in namespace.items():
        _set_name(tx, value.realize(), tracker, key)
    hook = SuperVariable(made, tracker, made).attribute(tx, "__init_subclass__")
    assert hook is not None
    tx.call(hook, [], keywords)
    return tracker


def _class_cell(tx: Tracing, namespace: dict[str, VariableTracker]) -> CellVariable | None:
    """The cell that methods with `super()` or `__class__` find the class in, if there are any."""
    given = namespace.get("__classcell__")
    cell = None if given is None else given.realize()
    if isinstance(cell, CellVariable):
        return cell
    if cell is not None:
        tx.raise_(TypeError, f"__classcell__ must be a nonlocal cell, not {cell.python_type()!r}")
    return None


class _Quiet:
    """Stands before the bases in the order of lookup while a class is made, so that no `__init_subclass__` of theirs
    is run: it is walked."""

    __slots__ = ()

    def __init_subclass__(cls) -> None: ...


def _without_hook(tx: Tracing, meta: Any, name: str, bases: list[type], namespace: dict[str, Any]) -> Any:
    """`type.__new__`, without running a hook of the bases."""
    hooked = any(static_lookup(base, "__init_subclass__")[1] is not object for base in bases)
    make = type.__new__ if not hooked else _made_quietly if meta is type else _made_by_quiet_metaclass
    try:
        return make(meta, name, tuple(bases), namespace)
    except _Hooked:
        raise Unsupported("class-created", what=f"{name}, a subclass of one with __init_subclass__") from None
    except Exception as error:  # noqa: BLE001
        raise_real(tx, error)


class _Hooked(Exception):
    """A class cannot be made without running a hook of the program."""


def _made_quietly(meta: Any, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
    """With a base more, which is taken away again: that takes one laid out like the first of the bases."""
    first = next((base for base in bases if base.__dictoffset__), bases[0])
    while first is not object and (first.__dictoffset__, first.__basicsize__) == _layout(first.__base__):
        first = first.__base__  # type: ignore[assignment]
    within = first.__base__ or object
    if may_change(static_lookup(within, "__init_subclass__")[1] or object):
        raise _Hooked
    entries: dict[str, Any] = {"__init_subclass__": classmethod(lambda cls: None), "__orig_bases__": ()}
    if first is object:
        entries["__slots__"] = ()
    made: Any = type.__new__(meta, name, (type("_Quiet", (within,), entries), *bases), namespace)
    try:
        made.__bases__ = bases
    except TypeError:
        raise _Hooked from None
    return made


def _layout(cls: type | None) -> tuple[int, int] | None:
    return None if cls is None else (cls.__dictoffset__, cls.__basicsize__)


def _made_by_quiet_metaclass(meta: Any, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
    """By a metaclass for a moment that has `_Quiet` looked up before the bases."""
    if type(meta) is not type or static_lookup(meta, "__init_subclass__")[1] is not object:
        raise _Hooked
    made: Any = type.__new__(_quiet(meta), name, bases, namespace)
    made.__class__ = meta
    made.__bases__ = made.__bases__  # so that the order of lookup is found again
    return made


def _quiet(meta: Any) -> Any:
    def mro(cls: Any) -> list[type]:
        own, *others = type.mro(cls)
        return [own, _Quiet, *others]

    return type(meta.__name__, (meta,), {"__slots__": (), "mro": mro})


def _namespace(
    tx: Tracing, name: str, namespace: dict[str, VariableTracker]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the class is made with, and what is put there afterwards (making it would call methods of that)."""
    real: dict[str, Any] = {}
    late: dict[str, Any] = {}
    for key, value in namespace.items():
        value = value.realize()
        if key in _TAKEN_AS_THEY_ARE and not isinstance(value, FunctionVariable):
            if not all_constant([value]):
                raise Unsupported("class-created", what=f"{name}, whose {key} is not known while tracing")
            real[key] = value.value()
        else:
            stands_for = placeholder(tx, value)
            told = isinstance(static_lookup(type(stands_for), "__set_name__")[0], types.FunctionType)
            (late if told else real)[key] = stands_for
    return real, late


def _set_name(tx: Tracing, value: VariableTracker, owner: VariableTracker, name: str) -> None:
    found, holder = static_lookup(value.python_type(), "__set_name__")
    if holder is not None and isinstance(found, types.FunctionType):
        function = tx.build(found, class_attribute_source(holder, "__set_name__"))
        tx.call(MethodVariable(function, value), [owner, tx.constant(name)])


@handles(abc._abc_init, ClassVariable)  # type: ignore[attr-defined]
def abc_init(tx: Tracing, cls: ClassVariable) -> VariableTracker:
    if cls.known not in overlay.made:
        raise Unsupported("class-created", what=cls.known.__qualname__)
    return NONE

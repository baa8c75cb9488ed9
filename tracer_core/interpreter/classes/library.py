"""Create classes that the standard library builds from a program's class statement: enums, named tuples, dataclasses.

The library itself creates them while tracing, from the namespace that the body has filled: constants as they are,
functions as placeholders (see `overlay`), so that no code of the program runs. Like every class created in the trace,
they exist for it alone.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import inspect
import typing
from collections.abc import Callable
from typing import Any

from tracer_core.class_origins import may_change
from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.objects import overlay
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.class_writes import placeholder
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.objects.descriptors import DescriptorVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

#: Metaclasses of the library that process the whole class body.
METACLASSES = (enum.EnumType, typing.NamedTupleMeta)  # type: ignore[attr-defined]
#: Methods that they, or `type`, would call while they create a class: the program must not define any of them.
_HOOKS = ("__new__", "__init__", "__init_subclass__", "__set_name__", "_generate_next_value_", "__eq__", "__hash__")
_KEPT_APART = ("__classcell__", "__orig_bases__", "__annotations__")
_UNKNOWN = object()


class MirroredNamespace(dict[str, VariableTracker]):
    """The namespace of a class body, each entry of which is also set in the namespace that the metaclass has
    prepared.

    That one may make something else of what it is given (an `auto()` becomes a number): the body reads this then.
    """

    def __init__(self, tx: Tracing, name: str, real: dict[str, Any]) -> None:
        super().__init__()
        self.tx = tx
        self.name = name
        self.real = real

    def __setitem__(self, key: str, value: VariableTracker) -> None:
        if key not in _KEPT_APART:
            given = _as_written(self.tx, self.name, key, value.realize())
            held = self._store(key, given)
            value = value if held is given else self.tx.constant(held)
        super().__setitem__(key, value)

    def _store(self, key: str, given: Any) -> Any:
        try:
            self.real[key] = given
        except Exception as error:  # noqa: BLE001 - of the library's namespace
            raise_real(self.tx, error)
        return self.real.get(key, given)

    def pop(self, key: str, *default: Any) -> Any:
        raise Unsupported("class-created", what=f"{self.name}, whose body deletes {key}")


def namespace_for(
    tx: Tracing, meta: type, name: str, bases: list[type], keywords: dict[str, VariableTracker]
) -> dict[str, VariableTracker]:
    """Return the namespace for the names that a class body defines."""
    if not issubclass(meta, METACLASSES):
        return {}
    if meta not in METACLASSES:
        raise Unsupported("class-created", what=f"{name}, with the metaclass {meta.__qualname__}")
    try:
        prepared: Any = meta.__prepare__(name, tuple(bases), **known_keywords(name, keywords))
    except Exception as error:  # noqa: BLE001
        raise_real(tx, error)
    return MirroredNamespace(tx, name, prepared)


def make_by_library(
    tx: Tracing,
    meta: Any,
    name: str,
    bases: list[type],
    namespace: MirroredNamespace,
    keywords: dict[str, VariableTracker],
) -> VariableTracker:
    """Create the class from the namespace by its metaclass.

    Raises:
        Unsupported: code of the program would run where the class is created, past the trace.
    """
    for hook in _HOOKS:
        holder = next((base for base in bases if may_change(static_lookup(base, hook)[1] or object)), None)
        if hook in namespace or holder is not None:
            raise Unsupported("class-created", what=f"{name}, with a {hook} of its own")
    for key in ("__annotations__", "__orig_bases__"):
        if key in namespace:
            namespace.real[key] = _value(name, key, namespace[key])
    return _made(tx, lambda: meta(name, tuple(bases), namespace.real, **known_keywords(name, keywords)))


def _made(tx: Tracing, make: Callable[[], Any]) -> VariableTracker:
    try:
        made = make()
    except Unsupported:
        raise
    except Exception as error:  # noqa: BLE001 - raised in the traced program
        raise_real(tx, error)
    overlay.note_created(tx, made)
    return tx.constant(made)


def known_keywords(name: str, keywords: dict[str, VariableTracker]) -> dict[str, Any]:
    """Return the keywords of a class statement, all of which must be constants."""
    return {key: _value(name, key, value) for key, value in keywords.items()}


def _value(name: str, key: str, tracker: VariableTracker) -> Any:
    value = constant_or(tracker.realize(), _UNKNOWN)
    if value is _UNKNOWN:
        raise Unsupported("class-created", what=f"{name}, whose {key} is not known while tracing")
    return value


def _as_written(tx: Tracing, name: str, key: str, tracker: VariableTracker) -> Any:
    """Return the object for a namespace: a placeholder for a value with Python code, else the value that the body
    created."""
    if isinstance(tracker, (BaseUserFunctionVariable, DescriptorVariable)):
        return placeholder(tx, tracker)
    if isinstance(tracker, UserDefinedObjectVariable) and tracker.cls is enum.auto:
        given = tx.get_attr(tracker, "value")
        return enum.auto(given.value()) if given.is_constant() else enum.auto()  # type: ignore[call-arg]
    return _value(name, key, tracker)


# --- functions and decorators -------------------------------------------------------------------------------


@handles(collections.namedtuple)
def namedtuple(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    """Return `collections.namedtuple(...)` of known names and defaults."""
    known = [_parts_of(tx, arg) for arg in args]
    named: dict[str, Any] = {"module": tx.frame.module, **_parts_by_name(tx, kwargs)}
    return _made(tx, lambda: collections.namedtuple(*known, **named))


@handles(typing.NamedTuple)
def typed_named_tuple(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    """Return `typing.NamedTuple(...)`, called with known names and types."""
    known, named = [_parts_of(tx, arg) for arg in args], _parts_by_name(tx, kwargs)

    def make() -> Any:
        made: Any = typing.NamedTuple(*known, **named)  # type: ignore[misc]
        made.__module__ = tx.frame.module
        return made

    return _made(tx, make)


def _parts_by_name(tx: Tracing, kwargs: dict[str, VariableTracker]) -> dict[str, Any]:
    return {name: _parts_of(tx, value) for name, value in kwargs.items()}


def _parts_of(tx: Tracing, tracker: VariableTracker) -> Any:
    """Return an argument that is a constant, or a list of constants."""
    items = tracker.realize().items_or_none(tx)
    if items is None or tracker.realize().is_constant():
        return _value("a named tuple", "description", tracker)
    return [_value("a named tuple", "description", item) for item in items]


@handles(dataclasses._process_class, VariableTracker)  # type: ignore[attr-defined]
def dataclass(
    tx: Tracing, cls: VariableTracker, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    """Run the library's `dataclass` on a class created in the trace; a class from before the trace would outlive
    it."""
    known = cls.known if isinstance(cls, ClassVariable) else None
    if known is None or known not in overlay.made:
        raise Unsupported("set-class-attribute", what=f"or several, of {cls.describe()} with @dataclass")
    if overlay.current.get(known) or may_change(static_lookup(known, "__init_subclass__")[1] or object):
        raise Unsupported("class-created", what=f"{known.__qualname__}, which its own code changes")
    overlay.refuse_if_kept(tx, known, f"or several, of {known.__qualname__} with @dataclass")
    _fields_as_written(tx, known)
    values = [_value(known.__qualname__, "decorator's argument", arg) for arg in args]
    options = known_keywords(known.__qualname__, kwargs)
    return _made(tx, lambda: dataclasses._process_class(known, *values, **options))  # type: ignore[attr-defined]


def _fields_as_written(tx: Tracing, cls: Any) -> None:
    """Put the real defaults of a dataclass's fields into the class, in place of placeholders."""
    for name in inspect.get_annotations(cls):
        found = overlay.placeholders.get(id(cls.__dict__.get(name)))
        if found is not None:
            type.__setattr__(cls, name, _default(tx, cls.__qualname__, name, found[1].realize()))


def _default(tx: Tracing, cls: str, name: str, tracker: VariableTracker) -> Any:
    if not isinstance(tracker, UserDefinedObjectVariable) or tracker.cls is not dataclasses.Field:
        return _as_written(tx, cls, name, tracker)
    if getattr(tracker.attributes.get("metadata"), "real", None) is not _NO_METADATA:
        raise Unsupported("class-created", what=f"{cls}, whose field {name} has metadata")
    options = {key: _option(tx, cls, name, tx.get_attr(tracker, key)) for key in _FIELD_OPTIONS}
    return dataclasses.field(**options)


_NO_METADATA = dataclasses.field().metadata
_FIELD_OPTIONS = ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only")


def _option(tx: Tracing, cls: str, name: str, tracker: VariableTracker) -> Any:
    tracker = tracker.realize()
    real = getattr(tracker, "real", None)
    return real if real is dataclasses.MISSING else _as_written(tx, cls, name, tracker)

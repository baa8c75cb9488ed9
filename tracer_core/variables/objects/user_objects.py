"""Instances of classes written in Python: external, and created in the trace."""

from __future__ import annotations

import functools
import types
from typing import Any

from tracer_core.class_origins import HEAP_TYPE
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.guards.kinds.libraries import note_lookup
from tracer_core.sources import AttrSource, ConstantSource, InstanceDictSource, ObjectAttrSource, Source
from tracer_core.sources.parts import instance_dict
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable, with_changes
from tracer_core.variables.containers.slots import is_kept_in_c, is_slot, raise_not_there
from tracer_core.variables.core.base import ByIdentity, NotConstant, VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.keys import KeyWithCode, key_of
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable, UserMethodVariable
from tracer_core.variables.objects.class_lookup import (
    BUILTIN_METHODS,
    claims_another_class,
    class_attribute_source,
    is_data_descriptor,
    is_half_descriptor,
    own_method,
    refuse_property,
    set_by_descriptor,
    static_lookup,
)


class UserDefinedObjectVariable(VariableTracker):
    """An object with attributes. `real` is the object itself if it is external, else None.

    `attributes` holds what the trace set, `deleted` the names of what it deleted, before it may have set them again;
    anything else is read from the real object when needed.
    """

    __slots__ = (
        "attributes",
        "cls",
        "deleted",
        "dict_shown",
        "given_dict",
        "last_key",
        "left_behind",
        "part",
        "real",
    )
    kind = "object"
    mutable = True

    def __init__(self, cls: type, real: Any = None, source: Source | None = None) -> None:
        super().__init__(source)
        self.cls = cls
        self.real = real
        self.attributes: dict[str, VariableTracker] = {}
        self.deleted: dict[str, None] = {}
        # The key it was last looked up by in a dict, for classes with a hash of their own.
        self.last_key: KeyWithCode | None = None
        # For classes that inherit from a builtin type: the builtin part (see `builtin_parts`).
        self.part: VariableTracker | None = None
        # The dict that the trace has set as its `__dict__`, and whether the program has seen the one before.
        self.given_dict: ConstDictVariable | None = None
        self.dict_shown = False
        # The trace's earlier writes to the real one.
        self.left_behind: dict[str, VariableTracker] = {}

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.cls.__qualname__} object"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        inside = [] if self.part is None else self.part.parts()
        inside += [] if self.given_dict is None else [(".__dict__", self.given_dict)]
        return [*inside, *((f".{name}", value) for name, value in self.attributes.items())]

    def value(self) -> Any:
        raise NotConstant(f"a {self.cls.__name__} object")

    def key(self, tx: Tracing | None) -> Any:
        cls, part = self.python_type(), self.part
        for name in ("__hash__", "__eq__"):
            note_lookup(cls, name)
        if part is not None and (cls.__hash__, cls.__eq__) == (
            part.python_type().__hash__,
            part.python_type().__eq__,
        ):
            return key_of(tx, part)
        if cls.__hash__ is not object.__hash__ or cls.__eq__ is not object.__eq__:
            return self._key_with_code(tx)
        return ByIdentity(self)

    def _key_with_code(self, tx: Tracing | None) -> KeyWithCode:
        """Return its key; without `tx`, with the hash that it had when it was last a key, as copies of dicts use
        it."""
        if tx is not None:
            key = KeyWithCode(tx, self)
            tx.trace.journal.save(self)
            self.last_key = key
        if self.last_key is None:
            raise Unsupported("hash-user-object", cls=self.python_type_name())
        return self.last_key

    # --- reading ------------------------------------------------------------------------------------------

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        try:
            found = self._first_attribute(tx, name)
        except ObservedException as raised:
            if not issubclass(raised.tracker.cls, AttributeError) or not self._has_fallback():
                raise
            found = None
        return found or self.fallback_attribute(tx, name)

    def _first_attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the result of the class's `__getattribute__`."""
        hook, _ = static_lookup(self.cls, "__getattribute__")
        if isinstance(hook, types.FunctionType):
            return tx.call(self._class_function(tx, "__getattribute__", hook), [self, tx.constant(name)])
        return self.plain_attribute(tx, name)

    def _has_fallback(self) -> bool:
        return own_method(self.cls, "__getattr__") is not None

    def plain_attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the result of `object.__getattribute__`; None if it raises AttributeError."""
        found, owner = static_lookup(self.cls, name)
        if owner is not None and is_data_descriptor(found) and static_lookup(type(found), "__get__")[1] is not None:
            return self.bind_descriptor(tx, name, found, owner)
        stored = self.stored(tx, name)
        if stored is not None:
            return stored
        if owner is None:
            return None
        return self.bind_descriptor(tx, name, found, owner)

    def fallback_attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the result of the class's `__getattr__`, if it has one."""
        hook = own_method(self.cls, "__getattr__")
        if hook is not None:
            return tx.call(self._class_function(tx, "__getattr__", hook), [self, tx.constant(name)])
        return None

    def stored(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the contents of the instance's `__dict__`, guarded; None if nothing."""
        if self.given_dict is not None:
            return self.given_dict.get(tx, tx.constant(name))
        own = self.attributes.get(name)
        if own is not None or name in self.deleted or self.real is None:
            return own
        held = instance_dict(self.real)
        if held is None:
            return None
        if claims_another_class(self.cls):
            raise Unsupported("own-lookup", cls=self.cls.__qualname__)
        if name in held:
            if self.source is None:
                raise NotConstant(self.describe())
            value = tx.build(held[name], ObjectAttrSource(self.source, name))
            return value
        if self.source is not None:
            tx.guard(make.lacks(InstanceDictSource(self.source), name))
        return None

    def bind_descriptor(self, tx: Tracing, name: str, found: Any, owner: type) -> VariableTracker | None:
        """Bind the attribute found in the class to this object as its type requires."""
        if isinstance(found, types.FunctionType):
            return UserMethodVariable(self._class_function(tx, name, found, owner), self)
        if isinstance(found, functools._lru_cache_wrapper):
            return UserMethodVariable(tx.build(found, class_attribute_source(owner, name)), self)
        if isinstance(found, property):
            if found.fget is None:
                refuse_property(tx, found, self.cls, "getter")
            fget = tx.build(found.fget, AttrSource(class_attribute_source(owner, name), "fget"))
            return tx.call(fget, [self])
        if isinstance(found, staticmethod):
            return tx.build(found.__func__, class_attribute_source(owner, name))
        if isinstance(found, classmethod):
            function = tx.build(found.__func__, AttrSource(class_attribute_source(owner, name), "__func__"))
            return UserMethodVariable(function, tx.build(self.cls, ConstantSource.of_object(self.cls)))
        in_part = self.part is not None and not owner.__flags__ & HEAP_TYPE
        if isinstance(found, types.MemberDescriptorType) and name != "__dict__" and not in_part:
            return self._slot(tx, name)
        if isinstance(found, (types.GetSetDescriptorType, types.MemberDescriptorType)):
            return self._builtin_attribute(tx, name)
        if isinstance(
            found, (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
        ):
            if isinstance(found, BUILTIN_METHODS) and found.__objclass__ is not owner:
                return UserMethodVariable(self._class_function(tx, name, found, owner), self)
            return BoundBuiltinMethodVariable(self, name)
        if type(found).__name__ == "_tuplegetter" and self.part is not None:
            return (self.part.items_or_none(tx) or [])[int(found.__reduce__()[1][0])]
        getter, getter_owner = static_lookup(type(found), "__get__")
        if isinstance(getter, types.FunctionType):
            assert getter_owner is not None
            # The descriptor itself is in the class's __dict__, where reading it runs nothing.
            descriptor = tx.build(found, ConstantSource.of_object(found, f"{owner.__qualname__}.{name}"))
            function = tx.build(getter, class_attribute_source(getter_owner, "__get__"))
            return tx.call(function, [descriptor, self, tx.build(self.cls, ConstantSource.of_object(self.cls))])
        if getter_owner is not None and not isinstance(found, type):
            raise Unsupported("descriptor", what=f"{owner.__qualname__}.{name}")
        return tx.build(found, class_attribute_source(owner, name))

    def _class_function(self, tx: Tracing, name: str, found: Any, owner: type | None = None) -> VariableTracker:
        if owner is None:
            owner = static_lookup(self.cls, name)[1]
            assert owner is not None
        return tx.build(found, class_attribute_source(owner, name))

    def _slot(self, tx: Tracing, name: str) -> VariableTracker | None:
        own = self.attributes.get(name)
        if own is not None or name in self.deleted or self.real is None or self.source is None:
            return own
        if isinstance(static_lookup(self.cls, "__getattribute__")[0], types.FunctionType):
            raise Unsupported("attribute", name=name, type=self.cls.__qualname__)
        try:
            value = getattr(self.real, name)
        except AttributeError:
            tx.guard(make.lacks_attr(self.source, name))
            return None
        return tx.build(value, AttrSource(self.source, name))

    def _builtin_attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__dict__":
            tx.trace.journal.save(self)
            self.dict_shown = self.given_dict is None
            return self.given_dict or InstanceDictVariable(self, self)
        if name == "__class__":
            return tx.build(self.python_type(), ConstantSource.of_object(self.python_type()))
        if self.part is not None:
            return tx.find_attr(self.part, name)
        forward = vars(self.cls).get("_forward_cls")  # set where torch creates a class for the context of a Function
        if isinstance(forward, type):
            raise Unsupported("autograd-context", name=name, cls=forward.__qualname__)
        raise Unsupported("descriptor", what=f"{self.cls.__qualname__}.{name}")

    # --- writing ------------------------------------------------------------------------------------------

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        hook_name = "__delattr__" if value is DELETED else "__setattr__"
        hook = own_method(self.cls, hook_name)
        if hook is not None:
            args = [self, tx.constant(name)] if value is DELETED else [self, tx.constant(name), value]
            tx.call(self._class_function(tx, hook_name, hook), args)
            return True
        return self.plain_set_attribute(tx, name, value)

    def plain_set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        """Set (or delete) as `object.__setattr__` (or `__delattr__`) does."""
        found, owner = static_lookup(self.cls, name)
        if isinstance(found, property):
            assert owner is not None
            accessor = found.fdel if value is DELETED else found.fset
            verb, which = ("deleter", "fdel") if value is DELETED else ("setter", "fset")
            if accessor is None:
                refuse_property(tx, found, self.cls, verb)
            function = tx.build(accessor, AttrSource(class_attribute_source(owner, name), which))
            tx.call(function, [self] if value is DELETED else [self, value])
            return True
        if owner is not None and set_by_descriptor(tx, self, name, value, found, owner):
            return True
        if owner is not None and is_half_descriptor(found):
            tx.raise_(AttributeError, "__delete__" if value is DELETED else "__set__")
        if name == "__dict__" and isinstance(found, types.GetSetDescriptorType) and self._take_dict(tx, value):
            return True
        in_slot = self._is_slot(name)
        nowhere = not in_slot and not self._has_dict()
        if nowhere and owner is None and static_lookup(self.cls, "__setattr__")[1] is object:
            raise_not_there(tx, self, name)
        if nowhere or (owner is not None and is_kept_in_c(found, owner)):
            raise Unsupported("set-special-attribute", name=name, cls=self.cls.__name__)
        if value is DELETED and self._current(tx, name) is None:
            if in_slot:
                tx.raise_(AttributeError, name)
            raise_not_there(tx, self, name)
        self.dict_store(tx, name, value)
        return True

    def _take_dict(self, tx: Tracing, value: VariableTracker) -> bool:
        """Do `obj.__dict__ = value`: the object and every holder of `value` share it from now on. Return False, and
        do nothing, if a holder of the old dict would miss the writes to it."""
        value = value.realize()
        if value is DELETED:
            return False
        if not issubclass(value.python_type(), dict):
            kind = value.type_name_in_errors()
            tx.raise_(TypeError, f"__dict__ must be set to a dictionary, not a '{kind}'")
        written = [name for name in self.attributes if not self._is_beside_dict(name)]
        if type(value) is not ConstDictVariable or value.cls is not dict or self.dict_shown:
            return False
        tx.trace.side_effects.changes(self, "attributes", "its __dict__ is replaced")
        before = {name: self.attributes.pop(name) for name in written}
        if self.real is not None:
            self.left_behind.update(before)
        self.given_dict = value
        return True

    def _is_slot(self, name: str) -> bool:
        found, owner = static_lookup(self.cls, name)
        return owner is not None and is_slot(found, owner)

    def _is_beside_dict(self, name: str) -> bool:
        """Return whether the attribute is not in the object's `__dict__`."""
        return isinstance(static_lookup(self.cls, name)[0], (types.MemberDescriptorType, types.GetSetDescriptorType))

    def _current(self, tx: Tracing, name: str) -> VariableTracker | None:
        return self._slot(tx, name) if self._is_slot(name) else self.stored(tx, name)

    def _has_dict(self) -> bool:
        return any("__dict__" in vars(owner) for owner in self.cls.__mro__)

    def dict_store(self, tx: Tracing, name: str, value: VariableTracker) -> None:
        """`obj.__dict__[name] = value`, or its deletion."""
        if self.given_dict is not None and not self._is_beside_dict(name):
            key = tx.constant(name)
            if value is DELETED:
                self.given_dict.remove(tx, key)
            else:
                self.given_dict.set(tx, key, value)
            return
        tx.trace.side_effects.changes(
            self, "attributes", f"attribute {name} is {'deleted' if value is DELETED else 'set'}"
        )
        if value is not DELETED:
            self.attributes[name] = value
            return
        self.attributes.pop(name, None)
        if self.real is not None:
            self.deleted[name] = None

    # --- the instance's dict ------------------------------------------------------------------------------

    def dict_entries(self, tx: Tracing) -> dict[str, VariableTracker]:
        """Return all of the instance's `__dict__`; guarded on its keys if it is external."""
        entries: dict[str, VariableTracker] = {}
        if self.given_dict is not None:
            return {key.realize().value(): value for key, value in self.given_dict.entries(tx)}
        if self.real is not None:
            assert self.source is not None
            real = instance_dict(self.real) or {}
            tx.guard(make.dict_keys_are(InstanceDictSource(self.source), real))
            for name, value in real.items():
                entries[name] = tx.lazy(value, ObjectAttrSource(self.source, name))
        own = {name: value for name, value in self.attributes.items() if not self._is_beside_dict(name)}
        return with_changes(entries, own, self.deleted)

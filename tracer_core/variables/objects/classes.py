"""Classes, Python modules, builtin callables, torch functions, and `super()`: objects whose identity is known."""

from __future__ import annotations

import types
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.guards.describe import module_name
from tracer_core.guards.kinds.libraries import note_special_methods
from tracer_core.names.code import code_name
from tracer_core.names.public import name_of
from tracer_core.sources import AttrSource, ConstantSource, Source
from tracer_core.variables.containers.dicts import ConstDictVariable, MappingProxyVariable
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable, with_changes
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.exceptions.exceptions import raise_real
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable, UserMethodVariable
from tracer_core.variables.objects import overlay
from tracer_core.variables.objects.class_lookup import class_attribute_source, set_by_descriptor, static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


class KnownVariable(VariableTracker):
    """An object that the code being traced names directly and that stays the same: compared by identity."""

    __slots__ = ("known",)

    def __init__(self, known: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self.known = known

    def python_type(self) -> type:
        return type(self.known)

    def describe(self) -> str:
        return f"{self.kind} {name_of(self.known)}"

    def value(self) -> Any:
        return self.known

    def origin(self) -> Source:
        return self.source if self.source is not None else ConstantSource.of_object(self.known)

    def held(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the attribute as reading it from the object returns it; None if it has none."""
        try:
            value = getattr(self.known, name)
        except AttributeError:
            tx.guard(make.lacks_attr(ConstantSource.of_object(self.known), name))
            return None
        return tx.build(value, AttrSource(ConstantSource.of_object(self.known), name))

    def _from_own_class(self, tx: Tracing, name: str, found: Any, owner: type) -> VariableTracker | None:
        """Return an attribute that the class of this object (a metaclass, for a class) defines."""
        if isinstance(found, types.FunctionType):
            return UserMethodVariable(tx.build(found, class_attribute_source(owner, name)), self)
        if isinstance(found, property) and found.fget is not None:
            return tx.call(tx.build(found.fget, ConstantSource.of_object(found.fget)), [self])
        if isinstance(found, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return BoundBuiltinMethodVariable(self, name)
        if isinstance(static_lookup(type(found), "__get__")[0], types.FunctionType):
            return self._bound_in_python(tx, name, found, owner, self, tx.constant(type(self.known)))
        return self.held(tx, name)

    def _bound_in_python(
        self, tx: Tracing, name: str, found: Any, owner: type, obj: VariableTracker, cls: VariableTracker
    ) -> VariableTracker:
        """Return the result of a descriptor's own `__get__`, written in Python."""
        getter, getter_owner = static_lookup(type(found), "__get__")
        assert getter_owner is not None
        function = tx.build(getter, class_attribute_source(getter_owner, "__get__"))
        descriptor = tx.build(found, ConstantSource.of_object(found, f"{owner.__qualname__}.{name}"))
        return tx.call(function, [descriptor, obj, cls])


def _in_python(found: Any) -> bool:
    """Return whether reading what a class holds, from an instance, runs a descriptor in Python."""
    return isinstance(found, property) or isinstance(static_lookup(type(found), "__get__")[0], types.FunctionType)


class PythonModuleVariable(KnownVariable):
    """A Python module."""

    __slots__ = ()
    kind = "module"

    def describe(self) -> str:
        return f"module {module_name(self.known)}"

    def _place(self) -> Source:
        return ConstantSource.of_object(self.known, vars(self.known).get("__name__", "module"))

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__dict__":
            return InstanceDictVariable(self, self)
        written, value = tx.trace.side_effects.load_global(self.known.__dict__, name)
        if written:
            return value
        found = self.known.__dict__.get(name, _ABSENT)
        if type(self.known) is not types.ModuleType:
            descriptor, owner = static_lookup(type(self.known), name)
            if owner is not None and _in_python(descriptor) and (found is _ABSENT or _sets_and_gets(descriptor)):
                return self._computed(tx, name, descriptor, owner)
        if found is _ABSENT:
            try:
                found = getattr(self.known, name)
            except Exception as error:  # noqa: BLE001 - of the module's own __getattr__
                tx.guard(make.lacks(AttrSource(self._place(), "__dict__"), name))
                tx.trace.libraries.name(self.known.__dict__, "__getattr__")
                raise_real(tx, error)
        return tx.build(found, AttrSource(self._place(), name))

    def _computed(self, tx: Tracing, name: str, descriptor: Any, owner: type) -> VariableTracker | None:
        """Return the result of a descriptor in the module's class, as `torch.backends.cudnn.enabled` is one."""
        try:
            return self._from_own_class(tx, name, descriptor, owner)
        except ObservedException as raised:
            if issubclass(raised.tracker.cls, AttributeError):  # (A `__getattr__` would be called next.)
                raise Unsupported("attribute", name=name, type=type(self.known).__qualname__) from None
            raise

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if name in _KEPT_BY_MODULES:
            return False
        cls = type(self.known)
        if cls is not types.ModuleType:
            found, owner = static_lookup(cls, name)
            if owner is None or static_lookup(cls, "__setattr__")[1] is not types.ModuleType:
                return False  # another class may have code for it
            return set_by_descriptor(tx, self, name, value, found, owner)
        if value is DELETED and (name == "__doc__" or self.stored(tx, name) is None):
            return False
        self.dict_store(tx, name, value)
        return True

    def stored(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the contents of the module's namespace; None if nothing."""
        written, value = tx.trace.side_effects.load_global(self.known.__dict__, name)
        if written:
            return value
        source = self._place()
        if name in self.known.__dict__:
            return tx.build(self.known.__dict__[name], AttrSource(source, name))
        tx.guard(make.lacks(AttrSource(source, "__dict__"), name))
        return None

    def dict_store(self, tx: Tracing, name: str, value: VariableTracker) -> None:
        tx.trace.side_effects.store_global(self.known.__dict__, name, None if value is DELETED else value)

    def dict_entries(self, tx: Tracing) -> dict[str, VariableTracker]:
        """Return all of the module's namespace, guarded on its names."""
        namespace = self.known.__dict__
        source = self._place()
        tx.guard(make.dict_keys_are(AttrSource(source, "__dict__"), namespace))
        entries = {name: tx.lazy(value, AttrSource(source, name)) for name, value in namespace.items()}
        written = tx.trace.side_effects.globals_.items()
        changes = {name: value for (at, name), (_, value) in written if at == id(namespace)}
        return with_changes(entries, {name: value for name, value in changes.items() if value is not None}, changes)


_ABSENT = object()
_KEPT_BY_MODULES = ("__annotations__", "__class__", "__dict__")


class ClassVariable(KnownVariable):
    """A class: handlers call builtin ones, those written in Python are instantiated here."""

    __slots__ = ()
    kind = "class"

    def __init__(self, known: Any, source: Source | None = None) -> None:
        super().__init__(known, source)
        note_special_methods(type(known))

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__dict__" and self.known in overlay.made:
            return ClassDictVariable(tx, self.known)
        if name == "__dict__" and self.known in tx.trace.class_writes:
            raise Unsupported("set-class-attribute", what=f"{self.known.__qualname__} whose __dict__ it then reads")
        found, owner = static_lookup(self.known, name)
        meta, meta_owner = static_lookup(type(self.known), name)
        if meta_owner is not None and (owner is None or _sets_and_gets(meta)):
            return self._from_own_class(tx, name, meta, meta_owner)
        if owner is None:
            return self._from_hook(tx, name)
        if isinstance(found, types.FunctionType):
            return tx.build(found, class_attribute_source(owner, name))
        if isinstance(found, staticmethod):
            return tx.build(found.__func__, class_attribute_source(owner, name))
        if isinstance(found, classmethod):
            function = tx.build(found.__func__, AttrSource(class_attribute_source(owner, name), "__func__"))
            return UserMethodVariable(function, self)
        if isinstance(found, types.ClassMethodDescriptorType):
            return BoundBuiltinMethodVariable(self, name)
        if owner in overlay.current or owner in overlay.made:
            return self._found(tx, name, found, owner)
        getter, getter_owner = static_lookup(type(found), "__get__")
        if isinstance(getter, types.FunctionType):
            return self._bound_in_python(tx, name, found, owner, tx.constant(None), self)
        if getter_owner is not None and not isinstance(getter, types.WrapperDescriptorType):
            raise Unsupported("descriptor", what=f"{owner.__qualname__}.{name}")
        return self.held(tx, name)

    def _from_hook(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the result of a metaclass's `__getattr__`, if it has one in Python."""
        hook, owner = static_lookup(type(self.known), "__getattr__")
        if owner is None or not isinstance(hook, types.FunctionType):
            return None
        return tx.call(tx.build(hook, class_attribute_source(owner, "__getattr__")), [self, tx.constant(name)])

    def _found(self, tx: Tracing, name: str, found: Any, owner: type) -> VariableTracker | None:
        """Return the attribute of a class that the trace has written to, without a read of the real one."""
        getter, getter_owner = static_lookup(type(found), "__get__")
        if isinstance(getter, types.FunctionType):
            return self._bound_in_python(tx, name, found, owner, tx.constant(None), self)
        if getter_owner is not None and not isinstance(found, _READ_AS_THEY_ARE):
            raise Unsupported("descriptor", what=f"{owner.__qualname__}.{name}")
        return tx.build(found, class_attribute_source(owner, name))


_READ_AS_THEY_ARE = (property, types.MemberDescriptorType, types.WrapperDescriptorType)


class ClassDictVariable(MappingProxyVariable):
    """The `__dict__` of a class created in the trace, as it is at each read."""

    __slots__ = ("known", "tx")

    def __init__(self, tx: Tracing, known: type) -> None:
        VariableTracker.__init__(self)
        self.tx = tx
        self.known = known

    @property
    def of(self) -> ConstDictVariable:  # type: ignore[override]
        names = dict.fromkeys([*self.known.__dict__, *overlay.current.get(self.known, ())])
        held = {name: overlay.own(self.known, name) for name in names}
        entries = {name: found for name, found in held.items() if found is not overlay.ABSENT}
        return ConstDictVariable([(self.tx.constant(n), self._tracker(n, found)) for n, found in entries.items()])

    def _tracker(self, name: str, found: Any) -> VariableTracker:
        if isinstance(found, (types.GetSetDescriptorType, types.MemberDescriptorType)):
            return BuiltinVariable(found)
        return self.tx.lazy(found, ConstantSource.of_object(found, f"{self.known.__qualname__}.{name}"))


def _sets_and_gets(found: Any) -> bool:
    """Return whether an attribute that a class holds takes precedence over those of its instance itself."""
    names = {name for name in ("__get__", "__set__", "__delete__") if static_lookup(type(found), name)[1] is not None}
    return "__get__" in names and len(names) > 1


class BuiltinVariable(KnownVariable):
    """A function implemented in C, or a builtin type, or the code of a function."""

    __slots__ = ()
    kind = "builtin"

    attribute = KnownVariable.held

    def describe(self) -> str:
        return f"code {code_name(self.known)}" if type(self.known) is types.CodeType else super().describe()


class TorchInGraphFunctionVariable(KnownVariable):
    """A torch function whose calls are nodes."""

    __slots__ = ()
    kind = "torch function"

    attribute = KnownVariable.held


class SuperVariable(VariableTracker):
    """`super(cls, obj)`: attribute lookup that starts after `cls` in the MRO of the object's class."""

    __slots__ = ("after", "of", "searched")
    kind = "super"

    def __init__(self, after: type, of: VariableTracker, searched: type) -> None:
        super().__init__()
        self.after = after
        self.of = of
        # The class whose MRO is searched: the object's, the object itself, or the one that the object claims.
        self.searched = searched

    def python_type(self) -> type:
        return super

    def describe(self) -> str:
        return f"super of {self.after.__qualname__}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("object", self.of)]

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        is_class = isinstance(self.of, ClassVariable) and self.of.known is self.searched
        found, owner = static_lookup(self.searched, name, self.after)
        if owner is None:
            return None
        if name == "__new__" and isinstance(found, types.BuiltinFunctionType):
            return BuiltinVariable(found)
        if isinstance(self.of, UserDefinedObjectVariable):
            if _is_slot_wrapper(found):
                return SuperMethodVariable(self.of, owner, name)
            return self.of.bind_descriptor(tx, name, found, owner)
        if is_class and isinstance(found, classmethod):
            function = tx.build(found.__func__, AttrSource(class_attribute_source(owner, name), "__func__"))
            return UserMethodVariable(function, self.of)
        if isinstance(found, types.FunctionType):
            function = tx.build(found, class_attribute_source(owner, name))
            return function if is_class else UserMethodVariable(function, self.of)
        if isinstance(found, staticmethod):
            held = found.__func__
            if isinstance(held, types.BuiltinFunctionType):
                return BuiltinVariable(held)
            return tx.build(held, class_attribute_source(owner, name))
        if _is_slot_wrapper(found) or isinstance(found, types.BuiltinFunctionType):
            return SuperMethodVariable(self.of, owner, name)
        return tx.build(found, class_attribute_source(owner, name))


class SuperMethodVariable(VariableTracker):
    """A builtin base class's method, bound without regard to overrides, as `super()` does: `object.__init__`,
    `dict.__setitem__`, ..."""

    __slots__ = ("name", "owner", "self_")
    kind = "builtin method"

    def __init__(self, self_: VariableTracker, owner: type, name: str, source: Source | None = None) -> None:
        super().__init__(source)
        self.self_ = self_
        self.owner = owner
        self.name = name

    @property
    def found(self) -> Any:
        """Return the attribute of the base class."""
        return self.owner.__dict__[self.name]

    def python_type(self) -> type:
        bound = isinstance(self.found, types.WrapperDescriptorType)
        return types.MethodWrapperType if bound else types.BuiltinMethodType

    def describe(self) -> str:
        return f"method {self.owner.__name__}.{self.name}"

    def value(self) -> Any:
        """Return the method itself where its object is known: `torch.Tensor.shape.__get__`."""
        if not isinstance(self.self_, KnownVariable) or not isinstance(self.found, types.WrapperDescriptorType):
            raise NotConstant(self.describe())
        return self.found.__get__(self.self_.known)

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        return tx.constant(self.name) if name == "__name__" else None

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("object", self.self_)]


def _is_slot_wrapper(found: Any) -> bool:
    return isinstance(
        found, (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
    )

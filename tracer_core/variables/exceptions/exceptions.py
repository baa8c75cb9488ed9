"""Exceptions that the traced program creates and raises."""

from __future__ import annotations

import types
from typing import Any, NoReturn

from tracer_core.class_origins import HEAP_TYPE
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.guards.kinds.libraries import note_lookup
from tracer_core.sources import AttrSource, Source
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.containers.slots import raise_not_there
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.tracing import Tracing

#: Attributes that C code stores in exceptions and a program may set here, and the types they accept.
_WRITABLE: dict[str, Any] = {
    "args": object,
    "__cause__": (BaseException, types.NoneType),
    "__context__": (BaseException, types.NoneType),
    "__suppress_context__": bool,
    "__traceback__": (types.TracebackType, types.NoneType),
}


class ExceptionVariable(VariableTracker):
    """An exception instance. `attributes` also holds `__cause__`, `__context__`, `__suppress_context__`, `__notes__`;
    `at_start` has those that an external exception came with, `deleted` the names of deleted attributes, which may
    have been set again since."""

    __slots__ = ("args", "args_set", "at_start", "attributes", "cls", "deleted", "made_of", "raised_alone", "trace")
    kind = "exception"
    mutable = True

    def __init__(self, cls: type[BaseException], args: list[VariableTracker], source: Source | None = None) -> None:
        super().__init__(source)
        self.cls = cls
        self.args = args
        # Whether the program has set `args`.
        self.args_set = False
        # The arguments of the `__init__` in C, which may store more of them than `args`; None if it was not called.
        self.made_of: list[VariableTracker] | None = args
        self.attributes: dict[str, VariableTracker] = {}
        self.deleted: dict[str, None] = {}
        self.at_start: dict[str, VariableTracker] = {}
        # The frames it passed while tracing, as its traceback has them: (code, line), the innermost first.
        self.trace: list[tuple[types.CodeType, int | None]] = []
        # Whether it was raised while the trace handled no other: its context is what callers of the frame handle.
        self.raised_alone = False

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        inside = ", ".join(arg.describe() for arg in self.args)
        return f"{self.cls.__name__}({inside})"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(f"args[{i}]", arg) for i, arg in enumerate(self.args)] + list(self.attributes.items())

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__traceback__":
            return self._traceback(tx)
        if name in self.attributes:
            return self.attributes[name]
        if name == "__dict__":
            return InstanceDictVariable(self, self)
        if name in self.at_start:
            return self.at_start[name]
        if name == "args":
            return TupleVariable(list(self.args))
        if name in ("__cause__", "__context__"):
            return tx.constant(None)
        if name == "__suppress_context__":
            return tx.constant(False)
        if self.source is not None and self._in_a_slot(name):
            return self._of_real(tx, self.source, name)
        if issubclass(self.cls, StopIteration) and name == "value":
            return self.made_of[0] if self.made_of else tx.constant(None)
        return self._computed(tx, name)

    def _traceback(self, tx: Tracing) -> VariableTracker:
        if self.trace:
            return TracebackVariable(self)
        if "__traceback__" in self.attributes:
            return self.attributes["__traceback__"]
        if self.source is None:
            return tx.constant(None)
        source = AttrSource(self.source, "__traceback__")
        if tx.trace.real_value(self).__traceback__ is None:
            return tx.build(None, source)
        tx.guard(make.type_is(source, types.TracebackType))
        return TracebackVariable(self, source)

    def passes(self, tx: Tracing, code: types.CodeType, line: int | None) -> None:
        """Note that it passed through a frame without being raised again there."""
        tx.trace.side_effects.changes(self, "exception", "it is raised")
        self.trace.append((code, line))

    def _of_real(self, tx: Tracing, source: Source, name: str) -> VariableTracker | None:
        """Return the attributes of an external exception that C code stores."""
        real = tx.trace.real_value(self)
        if hasattr(real, name):
            return tx.build(getattr(real, name), AttrSource(source, name))
        tx.guard(make.lacks_attr(source, name))
        return None

    def _computed(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return an attribute that exceptions in C set from their arguments: `errno`, `start`, `code`, ..."""
        owner: Any = next((cls for cls in self.cls.__mro__ if name in vars(cls)), None)
        if (
            owner is None
            or owner is object
            or not isinstance(vars(owner)[name], (types.MemberDescriptorType, types.GetSetDescriptorType))
        ):
            return None
        given = self.made_of
        made = owner.__new__(owner) if given is None else owner(*(arg.realize().value() for arg in given))
        return tx.constant(getattr(made, name)) if hasattr(made, name) else None

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if self._class_says_how(name) or name in ("__class__", "__dict__"):
            return False
        if self._in_a_slot(name):
            if value is DELETED or not issubclass(value.realize().python_type(), _WRITABLE.get(name, ())):
                return False
        elif value is DELETED and self.stored(tx, name) is None:
            raise_not_there(tx, self, name)
        if isinstance(value, TracebackVariable) and value.of is not self and value.source is None:
            return False
        if name == "args":
            items = unpack_args(tx, value)
        tx.trace.side_effects.changes(self, "exception", f"attribute {name} is set")
        if name == "args":
            self.args, self.args_set = items, True
        elif name == "__traceback__":
            self._set_traceback(value.realize())
        else:
            self._store(name, value)
        if name == "__cause__":
            self.attributes["__suppress_context__"] = tx.constant(True)
        return True

    def _set_traceback(self, value: VariableTracker) -> None:
        """Set the traceback: if it is its own, as it was then; frames are added to any other from now on."""
        self.trace = []
        if isinstance(value, TracebackVariable) and value.of is self:
            self.trace.extend(value.trace)
        else:
            self.attributes["__traceback__"] = value

    def _class_says_how(self, name: str) -> bool:
        """Return whether the class has code of its own for setting the attribute."""
        for looked_for in ("__setattr__", "__delattr__", name):
            note_lookup(self.cls, looked_for)
        own = [vars(cls) for cls in self.cls.__mro__ if cls.__flags__ & HEAP_TYPE]
        hooks = any(hook in held for held in own for hook in ("__setattr__", "__delattr__"))
        return hooks or any(hasattr(type(held[name]), "__set__") for held in own if name in held)

    # --- the exception's dict -----------------------------------------------------------------------------

    def stored(self, tx: Tracing, name: str) -> VariableTracker | None:
        return None if self._in_a_slot(name) else self.attributes.get(name)

    def _in_a_slot(self, name: str) -> bool:
        """Return whether the attribute is not in the exception's `__dict__`."""
        return any(
            isinstance(vars(cls).get(name), (types.MemberDescriptorType, types.GetSetDescriptorType))
            for cls in self.cls.__mro__
        )

    def dict_store(self, tx: Tracing, name: str, value: VariableTracker) -> None:
        tx.trace.side_effects.changes(self, "exception", f"attribute {name} is set")
        self._store(name, value)

    def _store(self, name: str, value: VariableTracker) -> None:
        if value is DELETED:
            del self.attributes[name]
            self.deleted[name] = None
        else:
            self.attributes[name] = value

    def dict_entries(self, tx: Tracing) -> dict[str, VariableTracker]:
        return {name: value for name, value in self.attributes.items() if self.stored(tx, name) is not None}

    def set_context(self, tx: Tracing, context: ExceptionVariable) -> None:
        """Note that it is raised while `context` is handled. Like Python, remove it from the contexts of `context`
        first, so that there is no cycle."""
        if self._context(tx) is context:
            return
        inner: ExceptionVariable | None = context
        seen: set[int] = set()  # the program itself may have created a cycle
        while inner is not None and inner.uid not in seen:
            seen.add(inner.uid)
            outer = inner._context(tx)
            if outer is self:
                inner._put_context(tx, tx.constant(None))
            inner = outer if outer is not self else None
        self._put_context(tx, context)

    def _put_context(self, tx: Tracing, context: VariableTracker) -> None:
        if self.source is not None:
            self.set_attribute(tx, "__context__", context)
        else:
            tx.trace.journal.save(self)
            self.attributes["__context__"] = context

    def _context(self, tx: Tracing) -> ExceptionVariable | None:
        found = self.attribute(tx, "__context__")
        found = None if found is None else found.realize()
        return found if isinstance(found, ExceptionVariable) else None


def unpack_args(tx: Tracing, value: VariableTracker) -> list[VariableTracker]:
    """Return the tuple that `error.args = value` builds from its items."""
    items = value.realize().items_or_none(tx)
    if items is None:
        raise Unsupported("set-attribute", name="args", type="exception")
    return list(items)


class TracebackVariable(VariableTracker):
    """The traceback of the exception `of`, with the entries that the trace has added so far: only its existence is
    known while tracing."""

    __slots__ = ("of", "trace")
    kind = "traceback"

    def __init__(self, of: ExceptionVariable, source: Source | None = None) -> None:
        super().__init__(source)
        self.of = of
        self.trace = tuple(of.trace)

    def python_type(self) -> type:
        return types.TracebackType


_KEPT_IN_C = {OSError: ("filename", "filename2"), ImportError: ("name", "path"), NameError: ("name",)}


def from_real(tx: Tracing, error: BaseException) -> ExceptionVariable:
    """Return the tracker of an exception raised by a function that was called while tracing."""
    made = ExceptionVariable(type(error), [tx.constant(arg) for arg in error.args])
    held = dict(vars(error))
    for cls, names in _KEPT_IN_C.items():
        if isinstance(error, cls):
            held.update({name: getattr(error, name) for name in names if getattr(error, name) is not None})
    made.attributes.update({name: tx.constant(value) for name, value in held.items()})
    return made


def raise_real(tx: Tracing, error: BaseException) -> NoReturn:
    """Raise, in the traced program, the exception that a function called while tracing has raised."""
    tx.raise_tracker(from_real(tx, error))


def matches(raised: type[BaseException], wanted: Any) -> bool:
    """Return whether `except wanted` catches an exception of class `raised`."""
    if isinstance(wanted, tuple):
        return any(matches(raised, item) for item in wanted)
    return isinstance(wanted, type) and wanted in raised.__mro__

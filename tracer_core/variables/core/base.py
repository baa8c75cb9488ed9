"""`VariableTracker`: the interface of the tracker of any value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tracer_core.errors import Unsupported
from tracer_core.names.code import class_name
from tracer_core.sources import Source
from tracer_core.variables.core.tracing import Tracing

if TYPE_CHECKING:
    import torch.fx


_uids = itertools.count()


def next_uid() -> int:
    """Return a number greater than the uids of all existing trackers."""
    return next(_uids)


_MISSING = object()
# The bit of `type.__flags__` of types whose attributes cannot be set: those written in C.
_IMMUTABLE_TYPE = 1 << 8


_FACTS = ("describe", "literal", "node", "fake", "parts")
"""What people are told of a tracker; one without a `describe` of its own is described by the name of its type."""


class NotConstant(Exception):
    """The value of a tracker was read, which is not known at trace time."""


class VariableTracker:
    """The trace's knowledge of one value. Compared by identity; `uid` is unique in the process.

    `kind` is its name in plain words. `source` tells where the value is found when the frame starts, None for
    values created in the trace.
    """

    __slots__ = ("__weakref__", "source", "uid")
    kind = "value"
    # Whether Python code can change it, so that one tracker must stand for one object.
    mutable = False
    # Of `_FACTS`, those that a tracker of the class may have. The others need not be read.
    may_have: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.may_have = frozenset(name for name in _FACTS if getattr(cls, name) is not getattr(VariableTracker, name))

    def __init__(self, source: Source | None = None) -> None:
        self.source = source
        self.uid = next(_uids)

    # --- for people ---------------------------------------------------------------------------------------

    def python_type(self) -> type:
        """Return the type the value has in plain Python."""
        raise NotImplementedError(type(self).__name__)

    def python_type_name(self) -> str:
        return class_name(self.python_type(), "__name__")

    def type_name_in_errors(self) -> str:
        """Return its type's name as in Python's own messages: for types written in C, with their module."""
        cls = self.python_type()
        in_c = cls.__flags__ & _IMMUTABLE_TYPE and cls.__module__ != "builtins"
        return f"{cls.__module__}.{cls.__qualname__}" if in_c else self.python_type_name()

    def describe(self) -> str:
        """Describe the value in one short line."""
        return self.python_type_name()

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return []

    @property
    def literal(self) -> Any:
        """Return a key that equals that of a tracker only if both are described alike, by `python_type_name` and
        `describe`, and have nothing else; None if there is no such key."""
        return None

    @property
    def node(self) -> torch.fx.Node | None:
        return None

    @property
    def fake(self) -> Any:
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.describe()})"

    def __bool__(self) -> bool:
        """Return True: a tracker is an object; the value's own truth is `truth(tx)`."""
        return True

    # --- for the interpreter ------------------------------------------------------------------------------

    def realize(self) -> VariableTracker:
        """Return the tracker of the value itself: a lazy tracker builds it now, all others return themselves."""
        return self

    def value(self) -> Any:
        """Return the Python value, if it is known at trace time. Raises NotConstant otherwise."""
        raise NotConstant(self.describe())

    def key(self, tx: Tracing | None) -> Any:
        """Return the key that dicts and sets use for it; call `keys.key_of`, which knows the types without a hash.

        Raises:
            Unsupported: values of its type are equal by their contents, which are not known.
        """
        try:
            value = self.value()
            hash(value)
        except (NotConstant, TypeError):
            if self.python_type().__hash__ is not object.__hash__:
                raise Unsupported("hash-user-object", cls=self.python_type_name()) from None
            return ByIdentity(self)
        return value

    def is_constant(self) -> bool:
        try:
            self.value()
        except NotConstant:
            return False
        return True

    def truth(self, tx: Tracing) -> bool | None:
        """Return the truth value; None if the type decides (`truth_and_length.truth` calls it), or if it depends on
        data."""
        return None

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        """Return its items, if iterating has no side effect and all are known; else None."""
        return None

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the attribute `name`, or None if this kind of value has no rule of its own for it."""
        return None

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        """Set the attribute; return False if this kind of value has no rule of its own for it."""
        return False

    def call(
        self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker | None:
        """Call the value; return None if this kind of value has no rule of its own for calls."""
        return None


class ByParts:
    """A key that equals others of its kind whose parts are equal: for values such as bound methods."""

    __slots__ = ("kind", "of", "parts")

    def __init__(self, of: VariableTracker, *parts: Any) -> None:
        self.of = of
        self.kind = of.kind
        self.parts = parts

    def __hash__(self) -> int:
        return hash((self.kind, self.parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByParts) and self.kind == other.kind and self.parts == other.parts


class ByIdentity:
    """A key that equals only itself: for values whose equality is identity."""

    __slots__ = ("of",)

    def __init__(self, of: VariableTracker) -> None:
        self.of = of

    def __hash__(self) -> int:
        return hash(id(self.of))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.of is other.of


# The arguments of a call.
Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def constant_or(tracker: VariableTracker, default: Any = _MISSING) -> Any:
    """Return `tracker.value()`, or `default` if it is not known."""
    try:
        return tracker.value()
    except NotConstant:
        return default


def all_constant(trackers: Sequence[VariableTracker]) -> bool:
    return all(tracker.is_constant() for tracker in trackers)

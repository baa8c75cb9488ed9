"""The tables by which behaviour is found: `@handles`, `@method`, `@getter`, `@setter`, `@builds`.

Adding support for something adds a function under one of these decorators and touches nothing else. Handlers are
looked up by the function called and the kinds (tracker classes) of its arguments, the most specific class first.

A handler realizes an argument before it looks at it, unless the argument matched a kind of its own. It
returns a tracker, or None for arguments that it does not know. It raises the program's exceptions by `tx.raise_`, and
`Unsupported` to break the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from tracer_core.higher_order_table import undecorated
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing

Handler = Callable[..., VariableTracker | None]
Getter = Callable[[Tracing, Any], VariableTracker | None]
Setter = Callable[[Tracing, Any, VariableTracker], None]
H = TypeVar("H", bound=Callable[..., Any])
F = TypeVar("F")

_functions: dict[Any, list[tuple[tuple[type, ...], Handler]]] = {}
_functions_by_name: dict[tuple[str, str], Handler] = {}
_methods: dict[tuple[type, str], Handler] = {}
_getters: dict[tuple[type, str], Getter] = {}
_setters: dict[tuple[type, str], Setter] = {}
_only_keep: set[Handler] = set()
_builders: dict[type, Callable[..., VariableTracker]] = {}
_builders_by_name: dict[str, Callable[..., VariableTracker]] = {}
_builders_by_base: list[tuple[type, Callable[..., VariableTracker]]] = []


def handles(function: Any, *kinds: type) -> Callable[[H], H]:
    """Register `handler(tx, *args, **kwargs)` for calls of `function` whose first arguments are of `kinds`.

    A handler may return None to decline; the next one is tried. It also handles the function with torch's own mark
    that it is not to be compiled: loading torch's compiler sets some of those marks, at any time.
    """

    def register(handler: H) -> H:
        entries = _functions.setdefault(_unmarked(function), [])
        entries.append((kinds, handler))
        # Longer and more specific signatures are tried first.
        entries.sort(key=lambda entry: -sum(len(kind.__mro__) for kind in entry[0]))
        return handler

    return register


def handles_later(module: str, qualname: str) -> Callable[[H], H]:
    """As `handles`, for a function of a module that the engine does not import."""

    def register(handler: H) -> H:
        _functions_by_name[module, qualname] = handler
        return handler

    return register


def method(kind: type, *names: str) -> Callable[[H], H]:
    """Register `handler(tx, self, *args, **kwargs)` for calls of these methods on trackers of `kind`."""
    return _registering(_methods, kind, names)


def getter(kind: type, *names: str) -> Callable[[H], H]:
    """Register `handler(tx, self)` for reads of these attributes of trackers of `kind`.

    A handler may return None: the object has no such attribute.
    """
    return _registering(_getters, kind, names)


def setter(kind: type, *names: str) -> Callable[[H], H]:
    """Register `handler(tx, self, value)` for writes of these attributes of trackers of `kind`.

    `del obj.name` is a write of `DELETED`.
    """
    return _registering(_setters, kind, names)


def _registering(table: dict[tuple[type, str], Any], kind: type, names: tuple[str, ...]) -> Callable[[H], H]:
    def register(handler: H) -> H:
        table.update(dict.fromkeys([(kind, name) for name in names], handler))
        return handler

    return register


def only_keeps(handler: H) -> H:
    """Mark a method's handler that does not read its arguments: lazy ones stay lazy."""
    _only_keep.add(handler)
    return handler


def builds(*types: type, subclasses: bool = False) -> Callable[[H], H]:
    """Register `builder(build, value, source)` for values of exactly these types (or also their subclasses).

    Those for subclasses are tried in the order in which they are registered, that of `object` at the end.
    """

    def register(builder: H) -> H:
        for cls in types:
            if subclasses:
                _builders_by_base.append((cls, builder))
                _builders_by_base.sort(key=lambda entry: entry[0] is object)
            else:
                _builders[cls] = builder
        return builder

    return register


def builds_named(*names: str) -> Callable[[H], H]:
    """Register `builder(build, value, source)` for values of the classes with these full names, of packages that are
    not to be imported for the builder's sake."""

    def register(builder: H) -> H:
        _builders_by_name.update(dict.fromkeys(names, builder))
        return builder

    return register


def looks_at_arguments(kind: type, name: str) -> bool:
    """Return whether the method `name` of trackers of `kind` does more with its arguments than to store them."""
    return method_for(kind, name) not in _only_keep


def handlers_for(function: Any) -> list[tuple[tuple[type, ...], Handler]]:
    try:
        function = _unmarked(function)
        found = _functions.get(function, [])
        if not found and type(function) is FunctionType:
            handler = _functions_by_name.get((function.__module__, function.__qualname__))
            found = [] if handler is None else [((), handler)]
    except TypeError:  # unhashable callable
        return []
    return found


def _unmarked(function: Any) -> Any:
    return undecorated(function) if isinstance(function, FunctionType) else function


def matches(kinds: tuple[type, ...], args: list[VariableTracker]) -> bool:
    if len(kinds) > len(args):
        return False
    for kind, arg in zip(kinds, args, strict=False):
        if not isinstance(arg, kind):
            return False
    return True


def answered(tx: Tracing, function: Any, *args: VariableTracker) -> VariableTracker | None:
    """Return the result of the first handler of `function` that accepts these arguments; None if none does."""
    given = list(args)
    for kinds, handler in handlers_for(function):
        if matches(kinds, given):
            result = handler(tx, *args)
            if result is not None:
                return result.realize()
    return None


def method_for(kind: type, name: str) -> Handler | None:
    return _inherited(_methods, kind, name)


def getter_for(kind: type, name: str) -> Getter | None:
    return _inherited(_getters, kind, name)


def setter_for(kind: type, name: str) -> Setter | None:
    return _inherited(_setters, kind, name)


def _inherited(table: dict[tuple[type, str], F], kind: type, name: str) -> F | None:
    """Find an entry for `name` as Python finds a method: by the class, then by its bases."""
    for cls in kind.__mro__:
        found = table.get((cls, name))
        if found is not None:
            return found
    return None


def builder_for(value: Any) -> Callable[..., VariableTracker]:
    """Return the builder of the value's type, else the first for a class that it is an instance of."""
    cls = type(value)
    builder = _builders.get(cls) or _builders_by_name.get(f"{cls.__module__}.{cls.__qualname__}")
    if builder is not None:
        return builder
    for cls, builder in _builders_by_base:
        # (An object may claim another class, by code of the program.)
        if issubclass(type(value), cls):
            return builder
    raise AssertionError("the builders are not loaded")

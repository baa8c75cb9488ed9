"""A compiled `nn.Module`: the same module in all respects, but calling it runs the compiler.

It shares the original's `__dict__`, so that parameters, hooks, `training`, `state_dict()` and attributes set on one
are those of both, and its class derives from the original's, so that methods and `isinstance` are too.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from typing import Any

import torch

from tracer_core.host import noticed_warnings

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]

_classes: weakref.WeakValueDictionary[int, type] = weakref.WeakValueDictionary()
"""By the original class, which lives as long as the class that derives from it."""


class CompiledModule:
    """Mixed into the original's class, in front of it. `_tracewalk_wrap` turns the original into
    `_tracewalk_call`."""

    __slots__ = ("_tracewalk_call", "_tracewalk_original", "_tracewalk_wrap")

    _tracewalk_original: torch.nn.Module
    _tracewalk_wrap: Wrap
    _tracewalk_call: Callable[..., Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Hide from the original's class that it got a subclass."""

    @noticed_warnings.hidden_from_stacklevel
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._tracewalk_call(*args, **kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return compiled_module(copy.deepcopy(self._tracewalk_original, memo), self._tracewalk_wrap)

    def __copy__(self) -> Any:
        return compiled_module(copy.copy(self._tracewalk_original), self._tracewalk_wrap)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a compiled module cannot be pickled: save its state_dict(), or the module it was made from")


def compiled_module(module: torch.nn.Module, wrap: Wrap) -> torch.nn.Module:
    """Return a module like `module` whose call is `wrap(module)`.

    Raises:
        TypeError: where the module's class cannot be derived from.
    """
    made: Any = object.__new__(_class_for(type(module)))
    object.__setattr__(made, "__dict__", module.__dict__)
    for name, value in (
        ("_tracewalk_original", module),
        ("_tracewalk_wrap", wrap),
        ("_tracewalk_call", wrap(module)),
    ):
        getattr(CompiledModule, name).__set__(made, value)
    return made  # type: ignore[no-any-return]


def _class_for(cls: type) -> type:
    known = _classes.get(id(cls))
    if known is not None:
        return known
    namespace = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    try:
        made = type(cls)(cls.__name__, (CompiledModule, cls), {**namespace, "__slots__": ()})
    except TypeError as error:
        raise TypeError(
            f"{cls.__qualname__} cannot be compiled as a module ({error}); compile its forward"
        ) from error
    _classes[id(cls)] = made
    return made

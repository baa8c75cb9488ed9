"""Keep what repeated calls do away from the program: its random state, modes, globals, loggers, context variables and
environment.

The call's own globals are rebuilt for each call (`repeating.py`). Here, the globals of other modules, and the
attributes of classes, are copies meanwhile.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

import torch

from tracer_core.fixes.copies import TooLarge, World, is_object
from tracer_core.fixes.kept import (
    Elsewhere,
    KeptCalls,
    cannot_share,
    functions_with,
    has_state,
    names_of_globals,
    random_state,
    set_random_state,
    why_not_repeated,
)
from tracer_core.names.owners import Owner, is_ours, owner_of


def why_not_repeatable(kept: KeptCalls | None) -> str | None:
    """Copy the state that the recorded calls can reach by names, as it is now. Return in sentences why they cannot be
    repeated; None if they can."""
    why_not = why_not_repeated(kept)
    if kept is None or why_not is not None:
        return why_not
    found = _Reached()
    for code in kept.ran:
        for function in functions_with(code):
            found.add(code, function.__globals__)
    try:
        while found.follow(kept.copier.classes):  # Copies may be of further classes.
            places = list(found.places.values())
            kept.elsewhere = Elsewhere(places, kept.copier.copy(*(_namespace(owner)[name] for owner, name in places)))
    except TooLarge:
        return "The globals that the calls use have too many parts to be copied."
    return cannot_share(kept.copier)


def _namespace(owner: Any) -> Any:
    return vars(owner) if isinstance(owner, type) else owner


def _set(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, type):
        type.__setattr__(owner, name, value)
    else:
        owner[name] = value


class _Reached:
    """Follows names from codes, and classes of values, to the state of the user's modules and classes."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, str], tuple[Any, str]] = {}
        self._codes: list[tuple[CodeType, dict[str, Any]]] = []
        self._seen: set[int | tuple[int, int]] = set()

    def add(self, code: CodeType, globals_: dict[str, Any]) -> None:
        if id(code) not in self._seen and owner_of(code.co_filename) == Owner.USER and not is_ours(globals_):
            self._seen.add(id(code))
            self._codes.append((code, globals_))

    def follow(self, classes: Iterable[type]) -> bool:
        """Follow all names, and these classes of values. Return whether there are new places."""
        count = len(self.places)
        for cls in list(classes):
            self._visit_class(cls)
        while self._codes:
            code, globals_ = self._codes.pop()
            for part in code.co_consts:
                if isinstance(part, CodeType):
                    self.add(part, globals_)
            for name in names_of_globals(code):
                if name in globals_:
                    self._visit(globals_, name, globals_[name], code.co_names)
                elif name in sys.modules:  # The code itself may import it.
                    self._visit_module(sys.modules[name], code.co_names)
        return len(self.places) > count

    def _visit(self, owner: Any, name: str, value: Any, names: tuple[str, ...]) -> None:
        if isinstance(value, FunctionType):
            self.add(value.__code__, value.__globals__)
        if isinstance(value, types.ModuleType):
            self._visit_module(value, names)
        elif isinstance(value, type):
            self._visit_class(value)
        elif has_state(value) and not name.startswith("__") and not _is_sentinel(value):
            self.places[id(owner), name] = (owner, name)

    def _visit_module(self, module: types.ModuleType, names: tuple[str, ...]) -> None:
        """Visit those attributes of a module, and of modules in it, that a code names."""
        inside, key = vars(module), (id(module), id(names))
        if key in self._seen or owner_of(getattr(module, "__file__", None) or "<none>") != Owner.USER:
            return
        self._seen.add(key)
        for attribute in names:
            if attribute in inside:
                self._visit(inside, attribute, inside[attribute], names)

    def _visit_class(self, cls: type) -> None:
        for base in cls.__mro__:
            self._visit_own(base)

    def _visit_own(self, cls: type) -> None:
        """Visit what a class has of its own."""
        module = sys.modules.get(str(cls.__module__))
        file = getattr(module, "__file__", None)
        of_user = cls.__module__ == "__main__" or (file is not None and owner_of(file) == Owner.USER)
        if id(cls) in self._seen or not of_user or is_ours(vars(module)):
            return
        self._seen.add(id(cls))
        for name, value in list(vars(cls).items()):
            for function in _functions_of(value):
                self.add(function.__code__, function.__globals__)
            if isinstance(value, type):
                self._visit_class(value)
            elif not hasattr(type(value), "__get__") and has_state(value) and not name.startswith(_OF_PYTHON):
                self.places[id(cls), name] = (cls, name)


_OF_PYTHON = ("__", "_abc_impl")
"""How attributes of classes begin that programs leave alone."""


def _functions_of(value: Any) -> list[FunctionType]:
    """Return the functions of a method, a class method, a static method or a property."""
    found = (value, *(getattr(value, name, None) for name in ("__func__", "fget", "fset")))
    return [one for one in found if isinstance(one, FunctionType)]


def _is_sentinel(value: Any) -> bool:
    """Return whether a value may be an object that programs only compare by `is`, as with the default of an
    argument."""
    return is_object(value) and not object.__getattribute__(value, "__dict__")


_MISSING = object()


class _Silent(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return False


def _loggers() -> list[logging.Logger]:
    named = list(logging.root.manager.loggerDict.values())
    return [logging.root, *(one for one in named if isinstance(one, logging.Logger))]


def _settings(logger: logging.Logger) -> tuple[int, list[Any], list[Any], bool, bool]:
    return logger.level, [*logger.handlers], [*logger.filters], logger.propagate, logger.disabled


@contextlib.contextmanager
def isolated(state: Elsewhere, codes: dict[CodeType, CodeType], world: World) -> Iterator[None]:
    """Restore everything afterwards; meanwhile, functions run other `codes`, and names have copies of `state`."""
    restore = Restoring(state)
    try:
        for old, new in codes.items():
            for function in functions_with(old):
                restore.codes.append((function, old))
                function.__code__ = new
        for (owner, name), value in zip(state.places, world.build(state.copies), strict=True):
            _set(owner, name, value)
        for handler in restore.handlers:
            handler.addFilter(restore.silent)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        until_done(restore)


def until_done(restore: Callable[[], None]) -> None:
    """Call a function that may be called twice; again, if Ctrl-C interrupts it."""
    try:
        restore()
    except BaseException:
        restore()
        raise


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # somebody has removed it
        return None


class Restoring:
    """What a program had before its calls are repeated; calling it puts that back."""

    def __init__(self, state: Elsewhere) -> None:
        self._random, self._grad = random_state(), torch.is_grad_enabled()
        self._dtype = torch.get_default_dtype()
        self._environment, self._folder = dict(os.environ), _folder()
        self._places = [(owner, name, _namespace(owner).get(name, _MISSING)) for owner, name in state.places]
        self._names = {id(owner): (owner, set(owner)) for owner, _ in state.places if isinstance(owner, dict)}
        self.codes: list[tuple[FunctionType, CodeType]] = []
        self.handlers = [found for ref in list(logging._handlerList) if (found := ref()) is not None]  # type: ignore[attr-defined]
        self.silent = _Silent()
        self._loggers = [(one, _settings(one)) for one in _loggers()]
        self._context = contextvars.copy_context()

    def __call__(self) -> None:
        for function, old in self.codes:
            function.__code__ = old
        for owner, name, value in self._places:
            if value is not _MISSING:
                _set(owner, name, value)
        for owner, names in self._names.values():
            for name in set(owner) - names:
                if not name.startswith("__"):  # a compiler's own
                    owner.pop(name, None)
        for handler in self.handlers:
            handler.removeFilter(self.silent)
        for logger, settings in self._loggers:
            if _settings(logger) != settings:
                level, handlers, filters, logger.propagate, logger.disabled = settings
                logger.handlers[:], logger.filters[:] = handlers, filters
                logger.setLevel(level)
        for variable, value in self._context.items():
            if variable.get(_MISSING) is not value:
                variable.set(value)
        set_random_state(self._random)
        torch.set_grad_enabled(self._grad)
        torch.set_default_dtype(self._dtype)
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        if self._folder is not None and _folder() != self._folder:
            os.chdir(self._folder)

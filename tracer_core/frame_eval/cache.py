"""The cache: the compiled versions of each code object, and the reasons not to compile a code again.

Nothing here refers strongly to the code: code objects are not garbage collected, a cycle through one would never be
freed. Entries of a code go with it, those to a module's class or to a wrapped function with that.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from tracer_core import observer as observers
from tracer_core.frame_eval import c_frame, sweep
from tracer_core.frame_eval.subject import Subject
from tracer_core.frame_input import CacheScope
from tracer_core.guards import CompiledGuards

_TRIED_OF_OTHERS = 32
"""The number of versions used only by others that are tried before a new one is compiled."""
_UNUSED = 8
"""The number of unused versions of a code that are kept."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Version:
    """One compiled version: its guards, the code that runs, and watches on objects it cannot live without. `subject`
    is the key of the subject it was compiled for. `managers` are those of the C side's entries, one in each region
    that uses the version."""

    number: int
    guards: CompiledGuards
    code: CodeType | None
    subject: Hashable = None
    managers: dict[int, weakref.ref[c_frame.GuardManager]] = field(default_factory=dict)
    watches: list[weakref.ref[Any]] = field(default_factory=list)

    def use(self, region: int, manager: c_frame.GuardManager) -> None:
        """Note the entry that is about to be created in a region; one exists already if another thread got in the way
        of its lookup."""
        self.release(region)
        self.managers[region] = weakref.ref(manager)

    def release(self, region: int) -> None:
        reference = self.managers.pop(region, None)
        manager = None if reference is None else reference()
        if manager is not None:
            sweep.drop(manager)

    def drop(self) -> None:
        """Never reuse it again, and free its code."""
        self.code = None
        for region in list(self.managers):
            self.release(region)
        self.watches.clear()


@dataclass(slots=True, eq=False, weakref_slot=True)
class CodeState:
    """The state of one code under one scope, for one subject. `stopped` is the reason (id, message) not to compile
    it any more. `warned` are the regions whose limit was reported; `collected` is the number of versions at the
    time of the last garbage collection for the limit's sake. `idle` counts the frames so far that did nothing with
    tensors."""

    history: dict[str, Any] = field(default_factory=dict)
    stopped: tuple[str, str] | None = None
    idle: int = 0
    warned: set[int] = field(default_factory=set)
    collected: int = 0


class CodeCache:
    """The versions of one code under one scope, the one used last at the end, and its states by subject. Versions are
    numbered from 1; `last_number` is that of the last one compiled."""

    __slots__ = ("__weakref__", "_states", "_watches", "last_number", "versions")

    def __init__(self) -> None:
        self.versions: list[Version] = []
        self.last_number = 0
        self._states: dict[Hashable, CodeState] = {}
        self._watches: dict[Hashable, list[weakref.ref[Any]]] = {}

    def state(self, subject: Subject) -> CodeState:
        """Return the state for `subject`, which goes when a part of it dies."""
        found = self._states.get(subject.key)
        if found is None:
            gone = functools.partial(_subject_died, weakref.ref(self), subject.key)
            self._watches[subject.key] = [weakref.ref(part, gone) for part in subject.parts]
            found = self._states[subject.key] = CodeState()
        return found

    def forget_subject(self, key: Hashable) -> None:
        self._states.pop(key, None)
        self._watches.pop(key, None)

    def add(self, version: Version) -> None:
        """Keep `version` until one of the objects that its guards compare with dies."""
        self.versions.append(version)
        self.last_number = version.number
        died = functools.partial(_died, weakref.ref(self), weakref.ref(version))
        for reference in version.guards.mortals():
            mortal = reference()
            if mortal is None:
                self.remove(version)
                return
            version.watches.append(weakref.ref(mortal, died))

    def remove(self, version: Version) -> None:
        if version in self.versions:
            self.versions.remove(version)
        version.drop()

    def used_in(self, region: int) -> list[Version]:
        return [version for version in self.versions if region in version.managers]

    def holding(self, f_locals: Mapping[str, Any], region: int) -> Version | None:
        """Return a version whose guards hold, now the one used last."""
        for version in self._to_try(region):
            if version.code is not None and version.guards.holds(f_locals):
                with contextlib.suppress(ValueError):  # its object may have died meanwhile
                    self.versions.remove(version)
                    self.versions.append(version)
                return version
        return None

    def _to_try(self, region: int) -> Iterator[Version]:
        """Return the region's own versions, then the last of others."""
        own = self.used_in(region)
        yield from reversed(own)
        yield from reversed([version for version in self.versions if version not in own][-_TRIED_OF_OTHERS:])

    def release(self, region: int) -> None:
        """Note that the region has died. Of the versions that nothing uses now, keep only the last ones."""
        for version in self.versions:
            version.release(region)
        for state in self._states.values():
            state.warned.discard(region)
        unused = [version for version in self.versions if not version.managers]
        for version in unused[: max(0, len(unused) - _UNUSED)]:
            self.remove(version)

    def clear(self) -> None:
        for version in list(self.versions):
            self.remove(version)


def _died(
    cache: weakref.ref[CodeCache],
    version: weakref.ref[Version],
    _: weakref.ref[Any],
    at_exit: Callable[[], bool] = sys.is_finalizing,
) -> None:
    if at_exit():  # the modules are already emptied
        return
    alive_cache, alive_version = cache(), version()
    if alive_cache is not None and alive_version is not None:
        alive_cache.remove(alive_version)


def _subject_died(
    cache: weakref.ref[CodeCache],
    key: Hashable,
    _: weakref.ref[Any],
    at_exit: Callable[[], bool] = sys.is_finalizing,
) -> None:
    alive = None if at_exit() else cache()
    if alive is not None:
        alive.forget_subject(key)


class _Known:
    """A code for which the C side keeps something, and its caches by scope. `left` means that it runs as plain Python
    until an observer is there. `aside` are caches that `afresh` has put aside."""

    __slots__ = ("aside", "caches", "left", "reference")

    def __init__(self, reference: weakref.ref[CodeType]) -> None:
        self.reference = reference
        self.left = False
        self.caches: dict[CacheScope, CodeCache] = {}
        self.aside: dict[CacheScope, CodeCache] = {}


_known: dict[int, _Known] = {}


def _know(code: CodeType) -> _Known:
    key = id(code)
    known = _known.get(key)
    if known is None:
        # (At exit, the module may be emptied before the code is freed.)
        pop = functools.partial(_known.pop, key, None)
        known = _known[key] = _Known(weakref.ref(code, lambda _: pop()))
    return known


def cache_of(code: CodeType, scope: CacheScope) -> CodeCache:
    """Return the entries for `code` under `scope`."""
    caches = _know(code).caches
    found = caches.get(scope)
    if found is None:
        found = caches[scope] = CodeCache()
    return found


def skip_frames_of(code: CodeType, *, recursive: bool, until_watched: bool = False) -> None:
    """Never call the hook for frames of `code` again, nor, if `recursive`, for frames inside them; with
    `until_watched` call it again when the next observer is installed, which is to see why they are skipped."""
    _know(code).left = until_watched
    c_frame.mark(code, c_frame.SKIP_ALL if recursive else c_frame.SKIP)


@observers.before_observing
def call_hook_again() -> None:
    """Call the hook again for frames that ran as plain Python until an observer is there."""
    for known in list(_known.values()):
        code = known.reference() if known.left else None
        if code is not None:
            known.left = False
            c_frame.mark(code, c_frame.TRACE)


_of_names: dict[Hashable, CacheScope] = {}
_of_backends: weakref.WeakValueDictionary[Hashable, CacheScope] = weakref.WeakValueDictionary()


def scope_of_its_own(owner: Any) -> CacheScope:
    """Return a scope that ends with `owner`, together with all code compiled under it."""
    scope = CacheScope()
    weakref.finalize(owner, _forget_scope, scope).atexit = False
    return scope


def scope_of_backend(backend: Any, how: Hashable) -> CacheScope | None:
    """Return the scope for code compiled with `backend` with the options `how`: always the same, as long as the back
    end lives. None for one that cannot be referenced weakly."""
    if isinstance(backend, str):
        return _of_names.setdefault((backend, how), CacheScope())
    key = (id(backend), how)
    found = _of_backends.get(key)
    if found is None:
        with contextlib.suppress(TypeError):
            found = _of_backends[key] = scope_of_its_own(backend)
    return found


def _forget_scope(scope: CacheScope) -> None:
    """Drop all versions that were compiled under `scope`, which no frame can be under any more."""
    for known in list(_known.values()):
        for caches in (known.caches, known.aside):
            cache = caches.pop(scope, None)
            if cache is not None:
                cache.clear()


@contextlib.contextmanager
def afresh() -> Iterator[None]:
    """Inside the block, compile each code that is called as if it were called for the first time. The versions that
    it had are forgotten; those of codes that are not called are kept."""
    for known in list(_known.values()):
        code = known.reference()
        if code is not None:
            c_frame.forget(code)
            known.aside, known.caches = {**known.aside, **known.caches}, {}
    try:
        yield
    finally:
        for known in list(_known.values()):
            aside, known.aside = known.aside, {}
            for scope, cache in aside.items():
                if scope in known.caches:
                    cache.clear()
                else:
                    known.caches[scope] = cache


def forget_all() -> None:
    """Drop all versions and marks of all codes."""
    for known in list(_known.values()):
        code = known.reference()
        if code is not None:
            c_frame.forget(code)
    _known.clear()

"""The guard that the C side calls for a cached version, and the events of a lookup.

The C side tries a code's versions one after the other, the last one reused first, and then calls the callback. It
does not tell when a lookup starts: that is inferred here, from the first version tried since the last lookup of the
code ended.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

from tracer_core import observer as observers
from tracer_core.frame_eval.cache import Version
from tracer_core.frame_input import Config
from tracer_core.guards import Failure
from tracer_core.host.program_line import warn
from tracer_core.host.signals import handlers_part
from tracer_core.names.code import module_called

Check = Callable[[Mapping[str, Any]], bool]


class _Lookups(threading.local):
    """Codes (by id) being looked up in this thread, each with the numbers of the versions tried so far."""

    def __init__(self) -> None:
        self.tried: dict[int, set[int]] = {}


_lookups = _Lookups()
_watched = observers.ACTIVE
interrupted: dict[int, BaseException] = {}
"""By thread id, the error to raise next: an external one (Ctrl-C, a signal handler of the program) that came while
guards were checked, where nothing can be raised."""


def guard_of(code: CodeType, version: Version) -> Check:
    """Return the check to give to the C side for `version` of `code`."""
    holds = version.guards.holds
    reference = weakref.ref(code)

    def guard(f_locals: Mapping[str, Any]) -> bool:
        if interrupted and threading.get_ident() in interrupted:
            return False
        try:
            return _observed(reference, version, f_locals) if _watched else holds(f_locals)
        except RecursionError:
            return False
        except BaseException as error:  # noqa: BLE001
            interrupted[threading.get_ident()] = error.with_traceback(handlers_part(error))
            return False

    return guard


def take_interruption() -> BaseException | None:
    """Return the error to raise in this thread, if there is one."""
    return interrupted.pop(threading.get_ident(), None) if interrupted else None


def raise_interruption() -> None:
    error = take_interruption()
    if error is not None:
        raise error


def on_miss(code: CodeType, f_locals: Mapping[str, Any], f_globals: dict[str, Any], config: Config) -> None:
    """Note that no version of `code` fits a frame with these locals: its lookup is over."""
    if not _watched:
        return
    watching = observers.current()
    if watching is None:
        return
    if _lookups.tried.pop(id(code), None) is None:
        watching.on_call(code, module_called(code, f_locals, type))
        watching.on_frame_start(code, f_locals, f_globals, config)


def on_late_hit(code: CodeType, version: Version) -> None:
    """Note that a version fits after all."""
    watching = observers.current()
    if watching is not None:
        watching.on_cache_check(code, version.number, None, "")


def _observed(reference: weakref.ref[CodeType], version: Version, f_locals: Mapping[str, Any]) -> bool:
    watching, code = observers.current(), reference()
    if watching is None or code is None:
        return version.guards.holds(f_locals)
    try:
        failures = version.guards.explain_all(f_locals)
    except Exception as error:  # noqa: BLE001
        warn(f"a guard's failure could not be explained: {error!r}", RuntimeWarning)
        return version.guards.holds(f_locals)
    _report(watching, code, f_locals, version.number, failures)
    return not failures


def _report(
    watching: observers.Observer, code: CodeType, f_locals: Mapping[str, Any], number: int, failures: list[Failure]
) -> None:
    tried = _lookups.tried.get(id(code))
    if tried is None or number in tried:
        tried = _lookups.tried[id(code)] = set()
        watching.on_call(code, module_called(code, f_locals, type))
        watching.on_frame_start(code, f_locals, None, None)
    tried.add(number)
    if not failures:
        del _lookups.tried[id(code)]
        watching.on_cache_check(code, number, None, "")
    else:
        watching.on_cache_check(code, number, failures[0].guard, failures[0].now)
        watching.on_failures(code, number, failures)

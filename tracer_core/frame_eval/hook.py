"""Hooks: one per way to compile. Code compiled under one hook is never run under another."""

from __future__ import annotations

import sys
import traceback
import weakref
from types import TracebackType
from typing import Any

from tracer_core.compiling import is_compiling
from tracer_core.errors import FaultWarning
from tracer_core.frame_eval import c_frame, lookup, sweep, threads
from tracer_core.frame_eval.cache import scope_of_its_own
from tracer_core.frame_eval.convert import DELIVERED, convert, prepare, raised_in, stopped_in
from tracer_core.frame_input import CacheScope, Config
from tracer_core.host.program_line import warn
from tracer_core.host.signals import Interrupted, handlers_part, in_context_of, is_external_error
from tracer_core.names.code import code_name


class Hook:
    """The callback for frames that start while it is on, under one `Config`.

    The C side runs only code that came from a callback of the same `_torchdynamo_orig_backend`, which it keeps with
    the code. It takes the callback off while it runs, and while guards run.
    """

    __slots__ = ("__weakref__", "_torchdynamo_orig_backend", "config")

    def __init__(self, config: Config) -> None:
        self.config = config
        if config.scope is None:
            config.scope = scope_of_its_own(config)
        self._torchdynamo_orig_backend = config.scope

    @property
    def scope(self) -> CacheScope:
        return self._torchdynamo_orig_backend

    def __call__(self, frame: Any, cache_entry: Any, states: dict[Any, Any]) -> c_frame.FrameResult:
        waiting = lookup.take_interruption()
        if waiting is not None:
            return stopped_in(frame.f_code, waiting)
        outer = sys.exc_info()[1]
        try:
            _room(_LEVELS)
            return convert(self, frame)
        except RecursionError:
            return _UNTIL_IT_RETURNS
        except Interrupted as interrupted:
            return stopped_in(frame.f_code, interrupted.error)
        except DELIVERED as error:
            return raised_in(frame.f_code, error)
        except BaseException as error:  # noqa: BLE001
            if is_external_error(error):
                return stopped_in(frame.f_code, _without_us(error, outer))
            warn(
                f"tracewalk failed at the start of {code_name(frame.f_code)}, which runs as plain Python. "
                f"The fault is ours: please report it with this text.\n{traceback.format_exc()}",
                FaultWarning,
            )
            return c_frame.run_plainly()


_LEVELS = 24
_UNTIL_IT_RETURNS = c_frame.run_plainly(c_frame.SKIP_ALL)  # no stack space for a call


def _room(levels: int) -> None:
    """Raise RecursionError where the stack has no space for that many more frames."""
    if levels:
        _room(levels - 1)


def _without_us(error: BaseException, outer: BaseException | None) -> BaseException:
    """Return `error`, which is not the engine's fault, without the engine's frames in its traceback."""
    if handlers_part(error) is None:
        in_context_of(error, error.__context__, outer)
    return error.with_traceback(handlers_part(error))


_hooks: weakref.WeakValueDictionary[int, Hook] = weakref.WeakValueDictionary()


def hook_for(config: Config) -> Hook:
    """Return the hook of this very `config` (an equal one has another hook)."""
    hook = _hooks.get(id(config))
    if hook is None:
        hook = _hooks[id(config)] = Hook(config)
    return hook


def after_call() -> None:
    """Actions to run after compiled code has returned and the hook is restored."""
    if sweep.due:
        sweep.sweep()
    if lookup.interrupted:
        lookup.raise_interruption()


class Switch:
    """Set this thread's callback inside a block; the one before is restored after it, also after errors.

    While a frame is being traced it does nothing: our own code is never traced.
    """

    def __init__(self, callback: Hook | None) -> None:
        self._callback = callback
        self._previous: list[Any] = []

    def __enter__(self) -> None:
        if self._callback is not None:
            prepare()
        thread = threads.this.thread
        if is_compiling():
            self._previous.append((_KEEP, thread.depth, thread.region))
            return
        self._previous.append((c_frame.callback(), thread.depth, thread.region))
        try:
            threads.enter(thread.region)
            c_frame.set_callback(self._callback)
        except BaseException:  # Ctrl-C, which comes after a call
            self.__exit__(None, None, None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._previous:  # entering it was interrupted
            return
        # (Where Python calls nothing, Ctrl-C cannot come.)
        previous, depth, region = self._previous[-1]
        del self._previous[-1]
        if previous is not _KEEP:
            try:
                c_frame.set_callback(previous)
            finally:
                thread = threads.this.thread
                thread.depth, thread.region = depth, region
                c_frame.set_region(region)
        after_call()


_KEEP = object()


def enabled(config: Config) -> Switch:
    """Compile, under `config`, the frames that start in this thread inside the block."""
    return Switch(hook_for(config))


def disabled() -> Switch:
    """Turn the hook off in this thread inside the block."""
    return Switch(None)

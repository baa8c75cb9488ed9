"""The interface to torch's C frame hook: the results that it takes, and the few calls into it."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from torch._C._dynamo import eval_frame, guards
from torch._guards import CompileId

from tracer_core.frame_input import CacheScope

Callback = Callable[[Any, Any, dict[Any, Any]], "FrameResult"]

_ACTION = eval_frame._FrameAction
_strategy = eval_frame._FrameExecStrategy

TRACE = _strategy(_ACTION.DEFAULT, _ACTION.DEFAULT)
"""Call the hook for frames of the code, and for the frames it calls."""
SKIP = _strategy(_ACTION.SKIP, _ACTION.DEFAULT)
"""Do not call the hook for frames of the code, but for the frames it calls."""
SKIP_ALL = _strategy(_ACTION.SKIP, _ACTION.SKIP)
"""Do not call the hook for frames of the code, nor for anything that runs inside them."""

_frame_ids = itertools.count(1)


_never_a_local = weakref.ref(CompileId)


@dataclass(eq=False)
class GuardManager:
    """One lambda guard under a root. The C side sets `cache_entry` and `extra_state` while it has the entry, and
    sets them to None when it drops it.

    `code` is the code in whose list the entry is.

    The rest is there for `torch.compile`, which looks through all entries of a code that it compiles too: it takes
    ours for dropped ones, created for another object than the frame's, and does not count them towards its own limit.
    """

    root: Any = field(default_factory=guards.RootGuardManager)
    diff_guard_root: Any = None
    cache_entry: Any = None
    extra_state: Any = None
    id_matched_objs: dict[str, Any] = field(default_factory=lambda: {"": _never_a_local})
    diff_guard_sources: set[str] = field(default_factory=set)
    invalidation_reason: str = "compiled by tracewalk"
    code: weakref.ref[CodeType] | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        module = sys.modules.get("torch._dynamo.guards")
        return getattr(module, "DeletedGuardManagerWrapper", GuardManager)

    def collect_diff_guard_sources(self) -> set[str]:
        return self.diff_guard_sources

    def populate_diff_guard_manager(self) -> None:
        """Do nothing: the one guard cannot be made faster."""

    @staticmethod
    def of(check: Callable[[Mapping[str, Any]], bool], text: str, code: CodeType) -> GuardManager:
        manager = GuardManager(code=weakref.ref(code))
        manager.root.add_lambda_guard(check, [text], None)
        return manager

    def drop(self) -> None:
        """Make the C side forget the code behind this guard."""
        if self.cache_entry is not None and not sys.is_finalizing():
            self.extra_state.invalidate(self.cache_entry, _OF_DEAD_ENTRIES)


_OF_DEAD_ENTRIES = GuardManager()


@dataclass(slots=True)
class GuardedCode:
    """Code to run while the guard holds."""

    code: CodeType
    guard_manager: GuardManager
    compile_id: CompileId = field(default_factory=lambda: CompileId(frame_id=next(_frame_ids), frame_compile_id=0))
    trace_annotation: str = "tracewalk"


@dataclass(slots=True)
class FrameResult:
    """The callback's answer. `frame_exec_strategy` is for this frame, unless `apply_to_code` (and then for all in the
    same region, whatever the code is marked with: so it is never used)."""

    guarded_code: GuardedCode | None
    frame_exec_strategy: Any
    apply_to_code: bool = False


def run_plainly(strategy: Any = TRACE) -> FrameResult:
    """Run this one frame as plain Python; the hook is called again at the next."""
    return FrameResult(None, strategy)


set_callback: Callable[[Callback | None], Callback | None] = eval_frame.set_eval_frame  # type: ignore[assignment]
"""Set this thread's hook; return the one before."""

callback: Callable[[], Callback | None] = eval_frame.get_eval_frame_callback  # type: ignore[assignment]
"""This thread's hook."""


NO_REGION = -1
"""The region that is used where there is no other. Entries kept for it are found in all regions."""

set_region: Callable[[int], int] = eval_frame.set_eval_frame_isolate_recompiles_id
"""Switch to another region: lookups from now on, in any thread, search the region's entries."""


def mark(code: CodeType, strategy: Any) -> None:
    eval_frame.set_code_exec_strategy(code, strategy)


def only_ours(code: CodeType) -> bool:
    """Return whether the C side keeps nothing of `torch.compile` for the code."""
    entries = eval_frame._debug_get_cache_entry_list(code)
    mine = sum(entry.backend is None or type(entry.backend) is CacheScope for entry in entries)
    return mine == eval_frame._get_total_cache_entry_count(code)


def forget(code: CodeType) -> None:
    """Drop everything the C side keeps for the code."""
    eval_frame.reset_code(code)

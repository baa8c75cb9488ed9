"""A frame that starts, and the facts about its code."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.frame_eval import c_frame
from tracer_core.frame_eval.cache import CodeCache, CodeState, Version, cache_of
from tracer_core.frame_eval.compiled_object import note_use
from tracer_core.frame_eval.subject import Subject, subject_of
from tracer_core.frame_eval.threads import current_region

if TYPE_CHECKING:
    from tracer_core.frame_eval.hook import Hook


@dataclass(slots=True, eq=False)
class StartedFrame:
    """`frame` is the C side's. `region` is that of the compiled object in which it runs."""

    hook: Hook
    frame: Any
    code: CodeType
    subject: Subject
    cache: CodeCache
    state: CodeState
    region: int

    @staticmethod
    def of(hook: Hook, frame: Any) -> StartedFrame:
        code = frame.f_code
        subject, cache = subject_of(code, frame.f_locals), cache_of(code, hook.scope)
        return StartedFrame(hook, frame, code, subject, cache, cache.state(subject), current_region())

    def use(self, version: Version, manager: c_frame.GuardManager) -> None:
        """Note that the frame runs `version`, and that the C side is to keep it."""
        version.use(self.region, manager)
        note_use(self.region, self.cache)

"""Record breaks and notices, and the lines of the program where they, and guards, come from."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.recording import schema
from tracer_core.recording.codes import CodeEntry, line_of
from tracer_core.recording.facts import clean
from tracer_core.recording.stepping import Stepping
from tracer_core.recording.work import Work

if TYPE_CHECKING:
    from tracer_core.names.where import Place, Where


class Breaking(Stepping):
    """Record breaks and notices, with their places."""

    def __init__(self) -> None:
        super().__init__()
        self._breaks: list[schema.Break] = []
        self._notices: list[schema.Notice] = []
        self._modules: dict[int, str | None] = {}

    # --- events -------------------------------------------------------------------------------------------

    def on_break(self, unsupported: Unsupported, frame: Any, instruction: Instruction) -> None:
        work = self._work
        if work is None:
            return
        entry = self._entry_of(frame)
        attempt, step, root_step = self._where_broke(work, frame)
        root = work.root.entry.record if work.root is not None else entry.record
        here = entry.record.id, line_of(entry.record.instructions, entry.number(instruction)[0]), None
        code, line, library = self._user_line(unsupported.where, step) or here
        record = schema.Break(
            id=len(self._breaks),
            attempt=attempt,
            reason_id=clean(unsupported.reason_id),
            message=clean(unsupported.message, 1000),
            explanation=clean(unsupported.reason.explanation, 1000),
            hints=[clean(hint, 1000) for hint in unsupported.hints],
            step=step,
            code=code,
            line=line,
            root_code=root.id,
            root_line=self._line_at(root_step) if root_step is not None else None,
            action="",
            resumes=[],
            library=library,
        )
        same = _same_break(work.breaks, record)
        if same is not None:
            same.final_step = record.step if record.attempt != same.attempt else same.final_step
            if same not in work.met:
                work.met.append(same)
            return
        work.met.append(record)
        self._breaks.append(record)
        work.breaks.append(record)

    def on_notice(self, notice: Unsupported) -> None:
        step = self._step_of(notice.where)
        code, line, library = self._user_line(notice.where, step) or (*self._place(), None)
        record = schema.Notice(
            id=len(self._notices),
            attempt=self._attempt_id(),
            reason_id=clean(notice.reason_id),
            message=clean(notice.message, 1000),
            explanation=clean(notice.reason.explanation, 1000),
            hints=[clean(hint, 1000) for hint in notice.hints],
            step=step,
            code=code,
            line=line,
            library=library,
        )
        self._notices.append(record)

    def _settle_breaks(self, work: Work, outcome: str) -> None:
        """Record for each break what ran instead, and where the last attempt stopped for it. Drop breaks that only
        earlier, abandoned attempts met."""
        if len(work.met) < len(work.breaks):
            self._breaks = [broken for broken in self._breaks if broken in work.met or broken not in work.breaks]
            for number, broken in enumerate(self._breaks):
                broken.id = number
            work.breaks = work.met
        for broken in work.breaks:
            names = [self._codes.records[code].qualname for code in broken.resumes]
            broken.action = _action(outcome, names, graph=work.record.graph is not None)
            if work.attempt is not None and broken.attempt != work.attempt.id and broken.final_step is None:
                broken.final_step = work.cut_off

    # --- places -------------------------------------------------------------------------------------------

    def _entry(self, code: CodeType) -> CodeEntry:
        """Return the entry of a code whose last call is being processed."""
        return self._codes.entry(code, module=self._modules.get(id(code)))

    def _where_broke(self, work: Work, frame: Any) -> tuple[int, int | None, int | None]:
        """Return attempt, step and root's step of the break found in `frame`, which may have ended already."""
        past = work.past.get(frame.uid)
        if past is not None:
            return past
        watched = self._watched(frame)
        step = watched.step if watched is not None and watched.step >= 0 else self._step()
        root_step = work.root.step if work.root is not None and work.root.step >= 0 else None
        return self._attempt_id(), step, root_step

    def _user_line(self, where: Where | None, step: int | None) -> tuple[int, int | None, schema.Place | None] | None:
        """Return the program's code and line at `step`, and the library's line below; None where they are unknown."""
        place = None if where is None else self._at(where.place, step)
        if where is None or place is None:
            return None
        return place.code, place.line, None if where.library is None else self._at(where.library, step)

    def _at(self, place: Place | None, step: int | None = None) -> schema.Place | None:
        """Return the place as data, with the code of the step's frame; None for no place, and for one whose code has
        been freed."""
        code = None if place is None else place.code
        if place is None or code is None:
            return None
        if step is None or self._codes.has_only(code, self._modules.get(id(code))):
            return schema.Place(self._entry(code).record.id, place.line)
        number: int | None = self._columns.frame_of(step)
        while number is not None:
            frame = self._frames[number]
            if self._codes.codes[frame.code] is code:
                return schema.Place(frame.code, place.line)
            number = frame.parent
        return schema.Place(self._entry(code).record.id, place.line)

    def _step_of(self, where: Where | None) -> int | None:
        work = self._work
        return self._step() if where is None or work is None or work.cut_short else work.step_number(where.step)

    def _attempt_id(self) -> int:
        attempt = self._attempt()
        return -1 if attempt is None else attempt


def _same_break(known: list[schema.Break], record: schema.Break) -> schema.Break | None:
    """Return an earlier report, from another attempt, of the same break."""
    key = (record.reason_id, record.message, record.root_line)
    return next((one for one in known if (one.reason_id, one.message, one.root_line) == key), None)


def _action(outcome: str, resumes: list[str], *, graph: bool) -> str:
    if outcome == "skipped":
        return "The whole frame runs as plain Python."
    if outcome == "interrupted":
        return "Tracing was interrupted before this was known."
    if outcome != "compiled":
        return "Nothing was compiled; the frame ran as plain Python."
    done = "The graph up to here was compiled" if graph else "There is nothing to compile before this line"
    if not resumes:
        return f"{done}; the rest of the function runs as plain Python."
    names = " or ".join(dict.fromkeys(resumes))
    rest = f"the rest of the function ({names}) is traced separately"
    return f"{done}, this line runs as plain Python, and {rest}."

"""Find steps: each condition becomes a set of instructions or of steps, and one pass keeps the steps in all sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of
from tracer_core.recording.damage import reading
from tracer_core.recording.index import Index
from tracer_core.recording.steps import Step

InstructionTest = Callable[[schema.Code, int], bool]


def find_steps(
    index: Index,
    file: str | None,
    line: int | None,
    function: str | None,
    op: str | None,
    node: str | int | None,
    guard: str | int | None,
    break_: bool | int | None,
    text: str | None,
    attempts: str,
) -> list[Step]:
    """Find steps. See `Trace.find`."""
    if attempts not in ("all", "last"):
        raise ValueError(f'attempts must be "all" or "last", not {attempts!r}.')
    tests = _instruction_tests(file, line, function, op)
    numbers = _step_sets(index, node, guard, break_)
    if not tests and not numbers and text is None:
        raise ValueError("Say what to find: file, line, function, op, node, guard, break_ or text.")
    return _matching(index, tests, numbers, text, attempts)


@reading
def _matching(
    index: Index, tests: list[InstructionTest], numbers: list[set[int]], text: str | None, attempts: str
) -> list[Step]:
    candidates: Iterable[int] = sorted(set.intersection(*numbers)) if numbers else range(index.data.steps)
    if tests:
        candidates = _meeting(index, candidates, tests)
    if text is not None:
        instructions = _meeting(index, candidates, [_text_test(text)])
        said = _text_steps(index, text)
        candidates = sorted({*instructions, *(step for step in candidates if step in said)})
    if attempts == "last":
        candidates = [step for step in candidates if index.attempt(step).outcome != "restarted"]
    return [Step(index, step) for step in candidates]


def _instruction_tests(
    file: str | None, line: int | None, function: str | None, op: str | None
) -> list[InstructionTest]:
    tests: list[InstructionTest] = []
    if file is not None:
        tests.append(lambda code, at: code.filename.endswith(file))
    if line is not None:
        tests.append(lambda code, at: line_of(code.instructions, at) == line)
    if function is not None:
        tests.append(lambda code, at: function in (code.name, code.qualname))
    if op is not None:
        tests.append(lambda code, at: op in (code.instructions[at].op, code.instructions[at].opname))
    return tests


def _text_test(text: str) -> InstructionTest:
    def test(code: schema.Code, at: int) -> bool:
        if text in code.instructions[at].arg:
            return True
        line = line_of(code.instructions, at)
        lines = code.source.splitlines()
        return line is not None and 0 <= line - code.first_line < len(lines) and text in lines[line - code.first_line]

    return test


def _meeting(index: Index, steps: Iterable[int], tests: list[InstructionTest]) -> list[int]:
    """Return those of `steps` whose instruction meets all tests; each instruction is tested once."""
    data, frame_of, instruction_of = index.data, index.steps.frame, index.steps.instruction
    code_of = [frame.code for frame in data.frames]
    known: dict[tuple[int, int], bool] = {}
    found: list[int] = []
    for step in steps:
        place = (code_of[frame_of[step]], instruction_of[step])
        meets = known.get(place)
        if meets is None:
            code = data.codes[place[0]]
            meets = known[place] = all(test(code, place[1]) for test in tests)
        if meets:
            found.append(step)
    return found


def _step_sets(
    index: Index, node: str | int | None, guard: str | int | None, break_: bool | int | None
) -> list[set[int]]:
    data = index.data
    sets: list[set[int]] = []
    if node is not None:
        sets.append({n.step for n in data.nodes if n.step is not None and node in (n.name, n.id)})
    if guard is not None:
        sets.append({g.step for g in data.guards if g.step is not None and _is_guard(g, guard)})
    if break_ is not None and break_ is not False:
        steps = index.breaks
        sets.append({step for step in steps if break_ is True or any(b.id == break_ for b in steps[step])})
    return sets


def _is_guard(guard: schema.Guard, wanted: str | int) -> bool:
    if isinstance(wanted, int):
        return guard.id == wanted
    return wanted in guard.text or wanted in guard.source


def _text_steps(index: Index, text: str) -> set[int]:
    """Return the steps of nodes, guards, breaks and notices whose texts contain `text`."""
    data = index.data
    found = {node.step for node in data.nodes if any(text in one for one in (node.name, node.target, node.args))}
    found |= {guard.step for guard in data.guards if text in guard.text}
    found |= {broken.step for broken in data.breaks if text in broken.message}
    found |= {notice.step for notice in data.notices if text in notice.message}
    found |= {raised.step for raised in data.raised if text in raised.text}
    return {step for step in found if step is not None}

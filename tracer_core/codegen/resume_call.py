"""The call of a resume function: what is handed to it, and how."""

from __future__ import annotations

import sys
from types import CodeType

from tracer_core.bytecode import CallShape, Handler, Instruction, Program, make
from tracer_core.codegen.alive import alive_before
from tracer_core.codegen.boxes import boxed, boxed_locals
from tracer_core.codegen.frame_end import FrameEnd
from tracer_core.codegen.resume import (
    FIRST_ARGUMENT,
    Broken,
    Point,
    Resume,
    TailCall,
    asks_first_argument,
    box,
    go_on,
    leave_block,
    make_resume,
    manager_of,
    resume_of,
    stack_parameter,
)
from tracer_core.codegen.stack_after import stack_after
from tracer_core.interpreter.frame import Frame, decoded
from tracer_core.interpreter.ops_flow import HandledMark
from tracer_core.interpreter.with_blocks import ReenteredMark
from tracer_core.variables.constant import NULL


def call_resume(
    end: FrameEnd, target: Instruction, broken: Instruction, jumped: bool, leave_out: list[Instruction]
) -> tuple[list[Instruction], Resume]:
    """Instructions that hand the stack and the live locals to a resume function and return what it returns. Its
    exceptions go through `leave_out`."""
    root = end.root
    left = stack_after(root.stack, broken, jumped)
    # A result that nobody wants goes here and now: a resume function that was handed it would hold it for long.
    unwanted = target.op == "POP_TOP" and left[-1] is None
    if unwanted:
        target = _following(root, target)
        left.pop()
    depth = len(left)
    handled = tuple(d for d, item in enumerate(left) if isinstance(item, HandledMark))
    again = {d: item.remade for d, item in enumerate(left) if isinstance(item, ReenteredMark)}
    reentered, remade = (tuple(d for d in again if again[d] is each) for each in (False, True))
    held = boxed_locals(root) - set(_stored_by(broken))
    live = alive_before(root, target) | held
    bound = {*root.locals, *_stored_by(broken)} - set(_unbound_by(broken))
    original, program, shift = _original(root)
    at = root.decoded.index[target] - shift
    position = root.decoded.index[broken]
    between = Broken(broken.op, position - shift, root.decoded.line_at(position), jumped)
    names = tuple(name for name in program.varnames if name in live and name in bound)
    empty = tuple(d for d, item in enumerate(left) if item is NULL)
    first = _first_argument(root, original, bound)
    boxed_names = tuple(name for name in names if name in held and name != first)
    boxed_items = tuple(d for d, item in enumerate(left) if d not in (*handled, *again) and boxed(item))
    point = Point(
        at, depth, names, empty, handled, reentered, remade, first, boxed_names, boxed_items, unwanted,
        told_plainly=end.trace.told_plainly, line=between.line,
    )  # fmt: skip
    resume = make_resume(original, program, point, between)
    made: list[Instruction] = [make("POP_TOP")] if unwanted else []
    temporaries = {d: f"___pass{d}" for d in range(depth)}
    for d in reversed(range(depth)):
        made.append(make("STORE_FAST", temporaries[d]))
    for d in reversed(again):
        made.extend(leave_block(temporaries[d], manager_of(d)))
    made.extend(_stop_handling([temporaries[d] for d in handled]))
    # In loops, resume functions hand the next one back rather than call it; whoever called the first goes on.
    through = (TailCall if resume_of(root.code) else go_on) if decoded(original).has_loop else None
    made.append(make("PUSH_NULL"))
    if through is not None:
        made.append(make("LOAD_CONST", through))
    made.extend(_make_function(root, resume.code))
    places = {stack_parameter(d): [make("LOAD_FAST", name)] for d, name in temporaries.items()}
    places |= {box(name): _into_box(name) for name in boxed_names}
    places |= {box(str(d)): _into_box(temporaries[d]) for d in boxed_items}
    if FIRST_ARGUMENT not in root.program.varnames:
        places[FIRST_ARGUMENT] = [make("LOAD_DEREF", original.co_varnames[0] if original.co_varnames else "")]
    parameters = point.parameters()
    for name in parameters:
        made.extend(places.get(name) or [make("LOAD_FAST", name)])
    call = make("CALL", CallShape(len(parameters) + (through is not None)))
    call.handler = Handler(leave_out[0], 0, False)
    made += [call, make("RETURN_VALUE")]
    for instruction in made:
        instruction.span = broken.span
    return made, resume


def _following(root: Frame, instruction: Instruction) -> Instruction:
    decoded = root.decoded
    return decoded.instructions[decoded.index[instruction] + 1]


def _into_box(name: str) -> list[Instruction]:
    """Put the value of a variable into a box and let go of it here."""
    return [make("LOAD_FAST", name), make("BUILD_LIST", 1), make("DELETE_FAST", name)]


def leaving_out_this_frame() -> list[Instruction]:
    """Where the exception of a resume function goes: on its way, but that its traceback does not go through here, so
    that it has one entry for the user's one frame."""
    return [
        make("PUSH_EXC_INFO"),
        make("PUSH_NULL"),
        make("LOAD_CONST", _leave_out_callers),
        make("CALL", CallShape(0)),
        make("POP_TOP"),
        make("SWAP", 2),
        make("POP_EXCEPT"),
        make("RERAISE", 0),
    ]


def _leave_out_callers() -> None:
    """Take the calling frame, and what called the resume function for it, out of the exception's traceback."""
    error = sys.exc_info()[1]
    if error is None or error.__traceback__ is None:
        return
    caller = error.__traceback__.tb_frame.f_code
    inner = error.__traceback__.tb_next
    while inner is not None and inner.tb_frame.f_code is go_on.__code__:
        inner = inner.tb_next
    if inner is not None and _of_one_function(caller, inner.tb_frame.f_code):
        error.__traceback__ = inner


def _of_one_function(a: CodeType, b: CodeType) -> bool:
    return (a.co_filename, a.co_firstlineno, a.co_name) == (b.co_filename, b.co_firstlineno, b.co_name)


def _first_argument(root: Frame, original: CodeType, bound: set[str]) -> str | None:
    """What to hand over as the first argument, if the code may ask for it without naming it."""
    if not asks_first_argument(original):
        return None
    name = original.co_varnames[0]
    if name in original.co_cellvars:
        return FIRST_ARGUMENT
    return name if name in bound else None


def _stop_handling(marks: list[str]) -> list[Instruction]:
    """Leave all `except` blocks: each mark's temporary gets the exception handled there, to be passed on.

    A mark on the stack holds the exception handled before it, so the one handled at a mark is what lies at the next
    mark, and the innermost is the one that Python has at hand.
    """
    if not marks:
        return []
    made = [make("PUSH_NULL"), make("LOAD_CONST", _being_handled), make("CALL", CallShape(0))]
    for name in reversed(marks):
        # The exception handled here stays on the stack until its mark has been used to restore the one before.
        made += [make("LOAD_FAST", name), make("COPY", 1), make("POP_EXCEPT"), make("SWAP", 2)]
        made += [make("STORE_FAST", name)]
    return [*made, make("POP_TOP")]


def _being_handled() -> BaseException | None:
    return sys.exc_info()[1]


def _stored_by(broken: Instruction) -> list[str]:
    return [broken.arg] if broken.op == "STORE_FAST" else []


def _unbound_by(broken: Instruction) -> list[str]:
    return [broken.arg] if broken.op == "DELETE_FAST" else []


def _original(root: Frame) -> tuple[CodeType, Program, int]:
    """The code that the user wrote, if the root is itself a resume function, and how many instructions there are in
    the root's before those of it."""
    known = resume_of(root.code)
    if known is None:
        return root.code, root.program, 0
    return known.original, decoded(known.original).program, known.shift


def _make_function(root: Frame, code: CodeType) -> list[Instruction]:
    cells = [make("LOAD_CLOSURE", name) for name in code.co_freevars]
    if not cells:
        return [make("LOAD_CONST", code), make("MAKE_FUNCTION", 0)]
    return [*cells, make("BUILD_TUPLE", len(cells)), make("LOAD_CONST", code), make("MAKE_FUNCTION", 8)]

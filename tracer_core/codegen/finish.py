"""The new code of a frame: calls the graph, rebuilds what is alive, replays side effects, returns or goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType

from tracer_core.bytecode import Instruction, Program, assemble, copy_program_with_map, is_terminal, make
from tracer_core.codegen.constants import hashable_constants
from tracer_core.codegen.frame_end import FrameEnd
from tracer_core.codegen.graph_call import GraphCall
from tracer_core.codegen.resume import Resume, resume_of
from tracer_core.codegen.resume_call import call_resume, leaving_out_this_frame
from tracer_core.variables.frames import Frame


@dataclass(slots=True)
class NewCode:
    """What codegen made: the code, and the resume functions' codes that it may call."""

    code: CodeType
    resumes: list[Resume] = field(default_factory=list)


def prologue(root: Frame) -> list[Instruction]:
    """The beginning of the original code that makes its cells."""
    made = []
    for instruction in root.decoded.instructions:
        if instruction.op in ("MAKE_CELL", "COPY_FREE_VARS"):
            made.append(make(instruction.op, instruction.arg))
        elif instruction.op not in ("RESUME", "NOP"):
            break
    return [*made, make("RESUME", 0)]


def returning(end: FrameEnd, graph: GraphCall | None) -> NewCode:
    """Code for a frame that was walked to its end."""
    body, _ = _original(end.root)
    recovery = end.call_graph(graph, body.instructions[0])
    end.restore()
    end.emitter.emit("RETURN_VALUE")
    return NewCode(_assemble(end, [*body.instructions, *recovery] if recovery else []))


def breaking(end: FrameEnd, graph: GraphCall | None, position: int) -> NewCode:
    """Code for a frame whose graph ends before the instruction at `position`: that instruction runs in a copy of the
    original code, in its place, so that its exceptions go where they always went; after it, a resume function is
    called.
    """
    root = end.root
    body, moved = _original(root)
    recovery = end.call_graph(graph, body.instructions[0])
    end.restore()
    broken = root.decoded.instructions[position]
    _forget_our_names(end)
    end.emitter.emit("JUMP", target=moved[broken])
    resumes: list[Resume] = []
    if not is_terminal(broken.op) or broken.op == "JUMP":
        _go_on_after(end, body, moved, position, resumes)
    return NewCode(_assemble(end, [*body.instructions, *recovery]), resumes)


def _forget_our_names(end: FrameEnd) -> None:
    """Nobody who looks at the frame from here on, as debuggers and tracebacks do, finds what is not the program's."""
    end.emitter.drop_temporaries()
    resumed = resume_of(end.root.code)
    for name in (*end.kept, *(resumed.point.unseen() if resumed is not None else ())):
        end.emitter.emit("DELETE_FAST", name)


def _original(root: Frame) -> tuple[Program, dict[Instruction, Instruction]]:
    """A copy of the original code to jump into, and where each instruction went. The new code has made its cells.

    LOAD_METHOD decides when it runs whether it leaves an empty slot. Resume functions need to know: here a bound
    method always lies on an empty slot, as it does on the stack of the trace.
    """
    body, moved = copy_program_with_map(root.program)
    instructions = []
    for instruction in body.instructions:
        instructions.append(instruction)
        if instruction.op in ("MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR"):
            instruction.op, instruction.arg = "NOP", None
        elif instruction.op == "LOAD_METHOD":
            instruction.op = "LOAD_ATTR"
            instructions.extend(_empty_slot_below())
    body.instructions = instructions
    return body, moved


def _empty_slot_below() -> list[Instruction]:
    return [make("PUSH_NULL"), make("SWAP", 2)]


def _go_on_after(
    end: FrameEnd, body: Program, moved: dict[Instruction, Instruction], position: int, resumes: list[Resume]
) -> None:
    instructions = end.root.decoded.instructions
    broken = instructions[position]
    copy = moved[broken]
    leave_out = leaving_out_this_frame()
    body.instructions.extend(leave_out)
    if not is_terminal(broken.op):
        stub, resume = call_resume(end, instructions[position + 1], broken, False, leave_out)
        at = body.instructions.index(copy) + 1
        if broken.op == "LOAD_METHOD":
            at += len(_empty_slot_below())
        body.instructions[at:at] = stub
        resumes.append(resume)
    if broken.target is not None:
        stub, resume = call_resume(end, broken.target, broken, True, leave_out)
        body.instructions.extend(stub)
        copy.target = stub[0]
        resumes.append(resume)


def _assemble(end: FrameEnd, body: list[Instruction]) -> CodeType:
    program = end.root.program
    span = next((i.span for i in program.instructions if i.span is not None), None)
    end.emitter.forget_unused(body)
    instructions = [*prologue(end.root), *end.emitter.instructions]
    for instruction in instructions:
        if instruction.span is None:
            instruction.span = span
    made = Program(
        program.template,
        [*instructions, *body],
        list(program.varnames),
        list(program.cellvars),
        list(program.freevars),
    )
    hashable_constants(made)
    return assemble(made)

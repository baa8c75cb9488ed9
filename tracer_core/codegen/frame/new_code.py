"""The new code of a frame: call the graph, rebuild live values, replay side effects, return or resume."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType

from tracer_core.bytecode import Instruction, Program, assemble, bind_methods, body_of, is_terminal, prologue
from tracer_core.codegen.emit.constants import with_hashable_constants
from tracer_core.codegen.frame.end import FrameEnd
from tracer_core.codegen.frame.resume_call import call_resume, reraise_without_this_frame
from tracer_core.codegen.graph_call.graph import GraphCall
from tracer_core.codegen.resume.functions import Resume, resume_of
from tracer_core.frame_input import Written
from tracer_core.variables.functions.frames import Frame


@dataclass(slots=True)
class NewCode:
    """The result of code generation: the code, the instructions it was written with, and the resume functions that it
    may call."""

    code: CodeType
    written: Written
    resumes: list[Resume]


def returning(end: FrameEnd, graph: GraphCall | None) -> NewCode:
    """Generate code for a frame that was traced to its end."""
    body, _ = _original(end.root)
    recovery = end.call_graph(graph, body.instructions[0])
    end.restore()
    end.emitter.emit("RETURN_VALUE")
    made = _program(end, [*body.instructions, *recovery] if recovery else [])
    return _new_code(Written(made, end.emitter.instructions), [])


def breaking(end: FrameEnd, graph: GraphCall | None, position: int) -> NewCode:
    """Generate code for a frame whose graph ends before the instruction at `position`. That instruction runs in
    place, in a copy of the original code, so that its exceptions reach the same handlers; after it, a resume
    function is called."""
    root = end.root
    body, moved = _original(root)
    recovery = end.call_graph(graph, body.instructions[0])
    end.restore()
    broken = root.decoded.instructions[position]
    _forget_our_names(end)
    end.emitter.emit("JUMP", target=moved[broken])
    resumes: list[Resume] = []
    after: dict[bool, list[Instruction]] = {}
    if not is_terminal(broken.op) or broken.op == "JUMP":
        after = _go_on_after(end, body, moved, position, resumes)
    made = _program(end, [*body.instructions, *recovery])
    return _new_code(Written(made, end.emitter.instructions, moved[broken], after), resumes)


def _forget_our_names(end: FrameEnd) -> None:
    """Unbind the engine's own variables, so that debuggers and tracebacks show the program's alone."""
    end.emitter.drop_temporaries()
    resumed = resume_of(end.root.code)
    for name in (*end.kept, *(resumed.point.unseen() if resumed is not None else ())):
        end.emitter.delete_local(name)


def _original(root: Frame) -> tuple[Program, dict[Instruction, Instruction]]:
    """Return a copy of the original code to jump into, and the new position of each instruction. The new code has
    created its cells. Resume functions need to know which stack slots are empty."""
    body, moved = body_of(root.program)
    bind_methods(body)
    return body, moved


def _go_on_after(
    end: FrameEnd, body: Program, moved: dict[Instruction, Instruction], position: int, resumes: list[Resume]
) -> dict[bool, list[Instruction]]:
    """Call resume functions after the instruction at `position`. Return what runs after it, by whether it jumps."""
    instructions = end.root.decoded.instructions
    broken = instructions[position]
    copy = moved[broken]
    leave_out = reraise_without_this_frame()
    body.instructions.extend(leave_out)
    after: dict[bool, list[Instruction]] = {}
    if not is_terminal(broken.op):
        stub, resume = call_resume(end, instructions[position + 1], broken, False, leave_out)
        at = body.instructions.index(moved[instructions[position + 1]])
        body.instructions[at:at] = stub
        after[False] = body.instructions[body.instructions.index(copy) + 1 : at + len(stub)]
        resumes.append(resume)
    if broken.target is not None:
        stub, resume = call_resume(end, broken.target, broken, True, leave_out)
        body.instructions.extend(stub)
        copy.target = stub[0]
        after[True] = stub
        resumes.append(resume)
    return after


def _program(end: FrameEnd, body: list[Instruction]) -> Program:
    program = end.root.program
    span = next((i.span for i in program.instructions if i.span is not None), None)
    end.emitter.forget_unused(body)
    instructions = [*prologue(program.cellvars, program.freevars), *end.emitter.instructions]
    for instruction in instructions:
        if instruction.span is None:
            instruction.span = span
    return Program(
        program.template,
        [*instructions, *body],
        list(program.varnames),
        list(program.cellvars),
        list(program.freevars),
    )


def _new_code(written: Written, resumes: list[Resume]) -> NewCode:
    return NewCode(assemble(with_hashable_constants(written.program)), written, resumes)

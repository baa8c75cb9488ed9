"""The new code of a frame: calls the graph, rebuilds what is alive, replays side effects, returns or goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from tracer_core.bytecode import (
    CallShape,
    Handler,
    Instruction,
    Program,
    assemble,
    copy_program_with_map,
    is_terminal,
    make,
    pops,
)
from tracer_core.codegen import effects
from tracer_core.codegen.emitter import OUTPUTS, Emitter
from tracer_core.codegen.rebuild import rebuild
from tracer_core.codegen.rebuild_needs import needs
from tracer_core.codegen.resume import (
    FIRST_ARGUMENT,
    Point,
    Resume,
    TailCall,
    asks_first_argument,
    go_on,
    make_resume,
    raise_and_catch,
    resume_of,
    stack_parameter,
)
from tracer_core.codegen.stack_after import stack_after
from tracer_core.graph.output import OutputGraph
from tracer_core.interpreter.frame import Frame, decoded
from tracer_core.interpreter.ops_flow import HandledMark
from tracer_core.sources import LocalSource
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.constant import NULL, ConstantVariable
from tracer_core.variables.functions import CellVariable
from tracer_core.variables.lazy import LazyVariable
from tracer_core.variables.tensor import InGraphVariable


@dataclass(slots=True)
class NewCode:
    """What codegen made: the code, and the resume functions' codes that it may call."""

    code: CodeType
    resumes: list[Resume] = field(default_factory=list)


def reachable(roots: Iterable[VariableTracker]) -> list[VariableTracker]:
    """All trackers that rebuilding these loads, each once."""
    seen: dict[VariableTracker, None] = {}
    waiting = list(roots)[::-1]
    while waiting:
        tracker = waiting.pop()
        if tracker in seen:
            continue
        seen[tracker] = None
        waiting.extend(reversed(needs(tracker)))
    return list(seen)


class FrameEnd:
    """The state in which the root frame leaves the graph, ready for code to be made of it.

    Args:
        stack: what the new code must push; the values it returns, or what stands on the stack at the break.
        locals: names and values of the locals to set (only those not as they were).
    """

    def __init__(
        self, output: OutputGraph, root: Frame, stack: list[VariableTracker], locals: dict[str, VariableTracker]
    ) -> None:
        self.output = output
        self.root = root
        self.stack = stack
        self.locals = locals
        self.emitter = Emitter(root, {}, rebuild)
        cells = [cell.contents for cell in self._own_new_cells().values() if cell.contents is not None]
        handled = [item.exception for item in stack if isinstance(item, HandledMark)]
        roots = [*stack, *handled, *locals.values(), *cells, *effects.needs(output.side_effects, self.emitter)]
        alive = reachable(roots)
        self.alive = alive
        outputs = [tracker for tracker in alive if isinstance(tracker, InGraphVariable) and tracker.source is None]
        by_node: dict[torch.fx.Node, int] = {}
        for tracker in outputs:
            self.emitter.outputs[tracker] = by_node.setdefault(tracker.node, len(by_node))
        self.output_nodes = list(by_node)

    def _own_new_cells(self) -> dict[str, CellVariable]:
        """Cells that the root frame itself made."""
        return {name: cell for name, cell in self.root.cells.items() if cell.source is None}

    def call_graph(self, function: Any | None, otherwise: Instruction) -> list[Instruction]:
        """Call the compiled graph, if there is one, and put the torch settings as the trace left them.

        Returns:
            Instructions to stand at the end of the code. They go on at `otherwise`, the beginning of the original
            code, when the graph raises: then plain Python raises the same at its place, where it may be caught.
        """
        emitter = self.emitter
        recovery: list[Instruction] = []
        if function is not None:
            emitter.emit("PUSH_NULL")
            emitter.const(function)
            for argument in self.output.inputs:
                emitter.load_source(argument.source)
            call = emitter.emit("CALL", CallShape(len(self.output.inputs)))
            if can_run_again(self.output):
                recovery = _recovery(otherwise, self.output.grad_mode_at_start)
                call.handler = Handler(recovery[0], 0, False)
            emitter.emit("STORE_FAST", OUTPUTS)
        if torch.is_grad_enabled() != self.output.grad_mode_at_start:
            emitter.call_const(torch._C._set_grad_enabled, lambda: emitter.const(torch.is_grad_enabled()))
            emitter.emit("POP_TOP")
        return recovery

    def restore(self) -> None:
        """Write back side effects, set cells, push the stack, set locals."""
        emitter = self.emitter
        effects_log = self.output.side_effects
        cells = {name: cell for name, cell in self._own_new_cells().items() if _is_set(name, cell)}
        if effects_log.changed or effects_log.globals_ or effects_log.calls or cells:
            self._load_before_changes()
        effects.write_back(self.output.side_effects, emitter)
        for name, cell in cells.items():
            assert cell.contents is not None
            emitter.load(cell.contents)
            emitter.emit("STORE_DEREF", name)
        for depth, item in enumerate(self.stack):
            self._push(depth, item)
        for value in self.locals.values():
            emitter.load(value)
        for name in reversed(self.locals):
            emitter.emit("STORE_FAST", name)

    def _load_before_changes(self) -> None:
        """Keep what is found through places that the side effects may change."""
        emitter = self.emitter
        for tracker in self.alive:
            source = tracker.source
            if source is None or isinstance(tracker, (ConstantVariable, CellVariable)) or tracker in emitter.where:
                continue
            if isinstance(source, LocalSource) and not source.free:
                continue
            if isinstance(tracker, LazyVariable) and tracker.realized is not None:
                continue
            emitter.load(tracker)
            emitter.where[tracker] = emitter.store_new()

    def _push(self, depth: int, item: VariableTracker) -> None:
        if isinstance(item, HandledMark):
            self.emitter.load(item.exception)
            self.emitter.instructions.extend(raise_and_catch(depth))
        else:
            self.emitter.load(item)


def _is_set(name: str, cell: CellVariable) -> bool:
    """Whether a cell of the frame holds something else than the argument it was made with."""
    return cell.contents is not None and not _as_it_came(name, cell.contents)


def _as_it_came(name: str, value: VariableTracker) -> bool:
    """Whether a variable of the frame still holds the argument of its name."""
    return isinstance(value.source, LocalSource) and value.source.local == name


def prologue(root: Frame) -> list[Instruction]:
    """The beginning of the original code that makes its cells."""
    made = []
    for instruction in root.decoded.instructions:
        if instruction.op in ("MAKE_CELL", "COPY_FREE_VARS"):
            made.append(make(instruction.op, instruction.arg))
        elif instruction.op not in ("RESUME", "NOP"):
            break
    return [*made, make("RESUME", 0)]


def returning(end: FrameEnd, graph: Any | None) -> NewCode:
    """Code for a frame that was walked to its end."""
    body, _ = _original(end.root)
    recovery = end.call_graph(graph, body.instructions[0])
    end.restore()
    end.emitter.emit("RETURN_VALUE")
    return NewCode(_assemble(end, [*body.instructions, *recovery] if recovery else []))


def breaking(end: FrameEnd, graph: Any | None, position: int) -> NewCode:
    """Code for a frame whose graph ends before the instruction at `position`: that instruction runs in a copy of the
    original code, in its place, so that its exceptions go where they always went; after it, a resume function is
    called.
    """
    root = end.root
    body, moved = _original(root)
    recovery = end.call_graph(graph, body.instructions[0])
    end.restore()
    broken = root.decoded.instructions[position]
    if _looks_at_namespace(root.code):
        end.emitter.drop_temporaries()
    end.emitter.emit("JUMP", target=moved[broken])
    resumes: list[Resume] = []
    if not is_terminal(broken.op) or broken.op == "JUMP":
        _go_on_after(end, body, moved, position, resumes)
    return NewCode(_assemble(end, [*body.instructions, *recovery]), resumes)


def _original(root: Frame) -> tuple[Program, dict[Instruction, Instruction]]:
    """A copy of the original code to jump into, and where each instruction went. The new code has made its cells."""
    body, moved = copy_program_with_map(root.program)
    for instruction in body.instructions:
        if instruction.op in ("MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR"):
            instruction.op, instruction.arg = "NOP", None
    return body, moved


_DRAWS = (
    "rand",
    "dropout",
    "bernoulli",
    "multinomial",
    "normal",
    "uniform",
    "sample",
    "exponential",
    "poisson",
    "cauchy",
)


def can_run_again(output: OutputGraph) -> bool:
    """Whether a graph that failed halfway has left no trace: it changes no input and draws no random numbers."""
    if any(tracked.mutated for tracked in output.fakes.tracked):
        return False
    names = (str(getattr(node.target, "__name__", node.target)) for node in output.graph.nodes)
    return not any(word in name for name in names for word in _DRAWS)


def _recovery(otherwise: Instruction, grad_mode: bool) -> list[Instruction]:
    """Where the graph's exception goes: an ordinary one is dropped and plain Python runs instead."""
    again = make("RERAISE", 0)
    return [
        make("LOAD_CONST", Exception),
        make("CHECK_EXC_MATCH"),
        make("POP_JUMP_IF_FALSE", target=again),
        make("POP_TOP"),
        make("PUSH_NULL"),
        make("LOAD_CONST", torch._C._set_grad_enabled),
        make("LOAD_CONST", grad_mode),
        make("CALL", CallShape(1)),
        make("POP_TOP"),
        make("JUMP", target=otherwise),
        again,
    ]


def _go_on_after(
    end: FrameEnd, body: Program, moved: dict[Instruction, Instruction], position: int, resumes: list[Resume]
) -> None:
    instructions = end.root.decoded.instructions
    broken = instructions[position]
    copy = moved[broken]
    if not is_terminal(broken.op):
        stub, resume = _stub(end, instructions[position + 1], broken, jumped=False)
        at = body.instructions.index(copy) + 1
        if broken.op == "LOAD_METHOD":
            # Whether it leaves an empty slot is decided when it runs; reading the attribute always does.
            copy.op = "LOAD_ATTR"
            stub = [make("PUSH_NULL"), make("SWAP", 2), *stub]
        body.instructions[at:at] = stub
        resumes.append(resume)
    if broken.target is not None:
        stub, resume = _stub(end, broken.target, broken, jumped=True)
        body.instructions.extend(stub)
        copy.target = stub[0]
        resumes.append(resume)


def _stub(end: FrameEnd, target: Instruction, broken: Instruction, jumped: bool) -> tuple[list[Instruction], Resume]:
    """Instructions that hand the stack and the live locals to a resume function and return what it returns."""
    root = end.root
    left = stack_after(root.stack, broken, jumped)
    depth = len(left)
    handled = tuple(d for d, item in enumerate(left) if isinstance(item, HandledMark))
    live = alive_before(root, target)
    bound = {*root.locals, *_stored_by(broken)}
    original, program, at = _in_original(root, target)
    names = tuple(name for name in program.varnames if name in live and name in bound)
    empty = tuple(d for d, item in enumerate(left) if item is NULL)
    point = Point(at, depth, names, empty, handled, _first_argument(root, original, bound))
    resume = make_resume(original, program, point)
    made: list[Instruction] = []
    temporaries = {d: f"___pass{d}" for d in range(depth)}
    for d in reversed(range(depth)):
        made.append(make("STORE_FAST", temporaries[d]))
    made.extend(_stop_handling([temporaries[d] for d in handled]))
    # In loops, resume functions hand the next one back rather than call it; whoever called the first goes on.
    through = (TailCall if resume_of(root.code) else go_on) if decoded(original).has_loop else None
    made.append(make("PUSH_NULL"))
    if through is not None:
        made.append(make("LOAD_CONST", through))
    made.extend(_make_function(root, resume.code))
    places = {stack_parameter(d): make("LOAD_FAST", name) for d, name in temporaries.items()}
    if FIRST_ARGUMENT not in root.program.varnames:
        places[FIRST_ARGUMENT] = make("LOAD_DEREF", original.co_varnames[0] if original.co_varnames else "")
    parameters = point.parameters()
    made.extend(places.get(name) or make("LOAD_FAST", name) for name in parameters)
    made.append(make("CALL", CallShape(len(parameters) + (through is not None))))
    made.append(make("RETURN_VALUE"))
    for instruction in made:
        instruction.span = broken.span
    return made, resume


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


def _in_original(root: Frame, target: Instruction) -> tuple[CodeType, Program, int]:
    """Where `target` is in the code the user wrote, if the root is itself a resume function."""
    at = root.decoded.index[target]
    known = resume_of(root.code)
    if known is None:
        return root.code, root.program, at
    return known.original, decoded(known.original).program, at - known.shift


def _make_function(root: Frame, code: CodeType) -> list[Instruction]:
    cells = [make("LOAD_CLOSURE", name) for name in code.co_freevars]
    if not cells:
        return [make("LOAD_CONST", code), make("MAKE_FUNCTION", 0)]
    return [*cells, make("BUILD_TUPLE", len(cells)), make("LOAD_CONST", code), make("MAKE_FUNCTION", 8)]


def _assemble(end: FrameEnd, body: list[Instruction]) -> CodeType:
    program = end.root.program
    span = next((i.span for i in program.instructions if i.span is not None), None)
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
    return assemble(made)


def stack_for_break(root: Frame, position: int) -> list[VariableTracker]:
    """The stack as it must stand before the broken instruction. Empty slots below what it uses become None: nothing
    looks at them any more, and only there can they be handed on."""
    used = len(root.stack) - pops(root.decoded.instructions[position])
    return [ConstantVariable(None) if item is NULL and d < used else item for d, item in enumerate(root.stack)]


def changed_locals(root: Frame, alive: frozenset[str]) -> dict[str, VariableTracker]:
    """The locals that differ from what they were when the frame started."""
    return {name: value for name, value in root.locals.items() if name in alive and not _as_it_came(name, value)}


def alive_at(root: Frame, position: int) -> frozenset[str]:
    """The locals that may still be read from the instruction at `position` on."""
    alive = alive_before(root, root.decoded.instructions[position])
    return alive | {root.code.co_varnames[0]} if asks_first_argument(root.code) else alive


_LOOKS_AT_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})


def _looks_at_namespace(code: CodeType) -> bool:
    return not _LOOKS_AT_LOCALS.isdisjoint(code.co_names)


def alive_before(root: Frame, instruction: Instruction) -> frozenset[str]:
    """The locals that may still be read when `instruction` is about to run: all, where the code looks at its
    namespace as a whole."""
    if _looks_at_namespace(root.code):
        return frozenset(root.program.varnames)
    return root.decoded.live.get(instruction, frozenset())

"""Resume functions: code that continues a function from an instruction in its middle.

A resume function is the original code with another beginning: its parameters are the stack items and locals that are
alive there; it pushes the items and jumps. Its cells arrive as free variables. Since the whole original code is in
it, loops, `try` and `with` blocks around the point work as they stand.
"""

from __future__ import annotations

import weakref
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from inspect import CO_NEWLOCALS, CO_OPTIMIZED, CO_VARARGS, CO_VARKEYWORDS
from types import CodeType
from typing import NamedTuple

from tracer_core.bytecode import (
    CodeBuilder,
    Instruction,
    Program,
    argument_count,
    assemble,
    body_of,
    prologue,
    stack_labels,
)
from tracer_core.codegen.emit.names import FIRST_ARGUMENT, stack_parameter
from tracer_core.codegen.resume.blocks import enter_block, make_and_enter_block, raise_and_catch
from tracer_core.names.code import Label, forget_code, name_rest
from tracer_core.names.sentences import ordinal
from tracer_core.runtime.tracebacks import drop_outermost
from tracer_core.variables.iterators.dropping import BOX


@dataclass(frozen=True, slots=True)
class Point:
    """Where to resume, and with which state: `at` is the index of the instruction in the original program; `empty`
    the depths of empty stack slots (NULL); `handled` those of the marks that PUSH_EXC_INFO puts for an exception
    being handled (the argument there is that exception), and `first` the name of the argument that must come before
    all others, as `super()` without arguments reads a frame's first one. `reentered` are the depths where the exit
    of a `with` block belongs (the argument there is the manager, to be entered), `remade` the same where the argument
    creates the manager when it is called. `boxed` names the locals that come in boxes, and `boxed_items` is the
    depths of such items. `dropped` means that the POP_TOP before `at` has been done. `reports_eager` says that
    `is_compiling()` returned False before `at`, so that it does after it. `line` is that of the
    break: breaks of two lines that lead to one point have two resume functions, so that each is named by its line."""

    at: int
    stack: int
    locals: tuple[str, ...]
    empty: tuple[int, ...] = ()
    handled: tuple[int, ...] = ()
    reentered: tuple[int, ...] = ()
    remade: tuple[int, ...] = ()
    first: str | None = None
    boxed: tuple[str, ...] = ()
    boxed_items: tuple[int, ...] = ()
    dropped: bool = False
    reports_eager: bool = False
    line: int = 0

    def parameters(self) -> list[str]:
        """Return the names of the resume function's arguments in order."""
        first = [] if self.first is None else [self.first]
        rest = [box(name) if name in self.boxed else name for name in self.locals if name != self.first]
        return [*first, *map(self.item, self.passed()), *rest]

    def item(self, depth: int) -> str:
        """Return the name of the argument for the stack item at `depth`."""
        return box(str(depth)) if depth in self.boxed_items else stack_parameter(depth)

    def unseen(self) -> list[str]:
        """Return the arguments whose names the original function does not have."""
        return [*map(self.item, self.passed()), *map(box, self.boxed)]

    def passed(self) -> list[int]:
        """The depths of the stack items that are passed as arguments."""
        return [depth for depth in range(self.stack) if depth not in self.empty]


@dataclass(frozen=True, slots=True)
class Broken:
    """The instruction that runs between two graphs: `at` is its index in the original program, `line` the line where
    the break is reported, and `jumped` says whether it jumped, if it can."""

    op: str
    at: int
    line: int
    jumped: bool

    @property
    def way(self) -> Way | None:
        """Return the branch that the instruction took, if there are several."""
        ways = _WAYS.get(self.op)
        return None if ways is None else ways[self.jumped]


class Way(NamedTuple):
    """One of the successors of an instruction: a phrase, and a suffix of names."""

    words: str
    suffix: str


_TRUE, _FALSE = Way("if the condition is true", "true"), Way("if the condition is false", "false")
_NONE, _NOT_NONE = Way("if the value is None", "none"), Way("if the value is not None", "not_none")
_WAYS = {
    **dict.fromkeys(("POP_JUMP_IF_FALSE", "JUMP_IF_FALSE_OR_POP"), (_TRUE, _FALSE)),
    **dict.fromkeys(("POP_JUMP_IF_TRUE", "JUMP_IF_TRUE_OR_POP"), (_FALSE, _TRUE)),
    "POP_JUMP_IF_NONE": (_NOT_NONE, _NONE),
    "POP_JUMP_IF_NOT_NONE": (_NONE, _NOT_NONE),
    "FOR_ITER": (Way("with the next item", "item"), Way("when the loop is over", "over")),
}
"""By operation: the branch where it does not jump, and the one where it does."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A resume function's code. Tracebacks show it as the function that it resumes, listings by `name`. `shift` is
    how many instructions it has before those of the original."""

    name: str
    broken: Broken
    code: CodeType
    _original: weakref.ref[CodeType]
    point: Point
    offset: int
    shift: int

    @property
    def original(self) -> CodeType:
        """The code that it resumes, which lives while one of its frames does."""
        original = self._original()
        assert original is not None, "a resume function runs without the function that it resumes"
        return original


_made: dict[int, dict[Point, Resume]] = {}
_by_code: dict[int, Resume] = {}


def origin_of(code: CodeType) -> tuple[CodeType, int] | None:
    """Return the original code that a resume function's code resumes, and the offset in it; None for other
    codes."""
    resume = _by_code.get(id(code))
    original = None if resume is None else resume._original()
    return None if resume is None or original is None else (original, resume.offset)


def name_of(code: CodeType) -> str:
    """Return the code's name in listings; a resume function's says where it resumes."""
    resume = _by_code.get(id(code))
    return code.co_name if resume is None else resume.name


def resume_of(code: CodeType) -> Resume | None:
    return _by_code.get(id(code))


def starts_at(code: CodeType) -> int:
    """Return the position of the first instruction that the user wrote."""
    resume = _by_code.get(id(code))
    return 0 if resume is None else resume.shift


def forget() -> None:
    """Forget all resume functions (their code goes when nothing else holds it)."""
    for resume in _by_code.values():
        forget_code(resume.code)
    _made.clear()
    _by_code.clear()


def make_resume(original: CodeType, program: Program, point: Point, broken: Broken) -> Resume:
    """Return the resume function of `original` (decoded: `program`) at `point`, after `broken`; the same function for
    the same arguments."""
    known = _made.get(id(original))
    if known is None:
        known = _made[id(original)] = {}
        weakref.finalize(original, _original_died, id(original), known).atexit = False
    resume = known.get(point)
    if resume is None:
        after, said, name = _names(original, broken, list(known.values()))
        resume = known[point] = _build(original, program, point, broken, name)
        _by_code[id(resume.code)] = resume
        labels = _labels(original, program, point)
        name_rest(resume.code, original, after, said, labels, _unchanged_parameters(program))
    return resume


def _names(original: CodeType, broken: Broken, others: list[Resume]) -> tuple[str, str, str]:
    """Return a description of the instruction before the resume function after `broken`, a phrase for the break, and
    the resume function's name in listings. Description and name differ from those of `others`, the same function's
    other resume functions."""
    words, name = f"line {broken.line}", f"resume_in_{original.co_name}_at_{broken.line}"
    of_line = dict.fromkeys(other.broken.at for other in others if other.broken.line == broken.line)
    number = 1 + list({**of_line, broken.at: None}).index(broken.at)
    said = f"the break at {words}"
    if number > 1:
        words, name = f"the {ordinal(number)} break of {words}", f"{name}_break_{number}"
        said = words
    if broken.way is not None:
        words, name = f"{words} {broken.way.words}", f"{name}_{broken.way.suffix}"
    # With other variables, or other items on the stack, it is another function.
    alike = sum((other.broken.at, other.broken.way) == (broken.at, broken.way) for other in others)
    return (f"{words} ({alike + 1})", said, f"{name}_{alike + 1}") if alike else (words, said, name)


def _unchanged_parameters(program: Program) -> frozenset[str]:
    """Return the parameters that always have what the function was called with."""
    written = {each.arg for each in program.instructions if each.op in ("STORE_FAST", "STORE_DEREF")}
    return frozenset(program.varnames[: argument_count(program)]) - written


def _original_died(key: int, known: dict[Point, Resume]) -> None:
    if _made.get(key) is known:
        del _made[key]
    for resume in known.values():
        if _by_code.get(id(resume.code)) is resume:
            del _by_code[id(resume.code)]
            forget_code(resume.code)


def needs_first_argument(code: CodeType) -> bool:
    """Return whether the code may call `super()` without arguments."""
    return "__class__" in code.co_freevars and "super" in code.co_names and code.co_argcount > 0


_LOOKS_AT_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})


def looks_at_namespace(code: CodeType) -> bool:
    """Return whether the code may read its variables as a whole."""
    return not _LOOKS_AT_LOCALS.isdisjoint(code.co_names)


def box(name: str) -> str:
    """Return the parameter that is a box for the value later called `name`."""
    return f"{BOX}_{name}"


def _open(code: CodeBuilder, name: str) -> None:
    """Empty a box and push its content."""
    code.call_method(lambda: code.load_local(box(name)), "pop")


def _build(original: CodeType, program: Program, point: Point, broken: Broken, name: str) -> Resume:
    body, moved = body_of(program)
    target_old = program.instructions[point.at]
    cells = (*program.freevars, *program.cellvars)
    beginning = _beginning(point, moved[target_old], cells)
    parameters = point.parameters()
    others = [name for name in program.varnames if name not in parameters and name not in cells]
    template = original.replace(
        co_argcount=len(parameters),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=(original.co_flags & ~(CO_VARARGS | CO_VARKEYWORDS)) | CO_OPTIMIZED | CO_NEWLOCALS,
        co_firstlineno=original.co_firstlineno,
        co_varnames=tuple(parameters),
        co_nlocals=len(parameters),
        co_cellvars=(),
        co_freevars=cells,
    )
    made = Program(template, [*beginning, *body.instructions], [*parameters, *others], [], list(cells))
    offset = target_old.origin.offset if target_old.origin is not None else 0
    return Resume(name, broken, assemble(made), weakref.ref(original), point, offset, len(beginning))


def _labels(original: CodeType, program: Program, point: Point) -> dict[str, Label]:
    """Return readable names for the arguments that the original function does not have."""
    items = stack_labels(program, original.co_filename, program.instructions[point.at])
    labels = {box(name): Label(f"`{name}`", box=True) for name in point.boxed}
    if point.first == FIRST_ARGUMENT:
        labels[FIRST_ARGUMENT] = Label(f"`{original.co_varnames[0]}`")
    known: Counter[Label] = Counter()
    for depth in point.passed():
        label = items[depth] if depth < len(items) else Label("a value")
        known[label] += 1
        given = label.given if known[label] == 1 else f"{label.given} ({known[label]})"
        labels[point.item(depth)] = replace(label, given=given, box=depth in point.boxed_items)
    return labels


def _beginning(point: Point, target: Instruction, cells: tuple[str, ...]) -> list[Instruction]:
    code = CodeBuilder()
    for name in point.boxed:
        _open(code, name)
        code.store_local(name)
    for depth in range(point.stack):
        parameter = stack_parameter(depth)
        if depth in point.boxed_items:
            _open(code, str(depth))
        elif depth in point.empty:
            code.null()
        elif depth in point.handled:
            code.load_local(parameter)
            raise_and_catch(code, depth)
            # The traceback has no entry for raising it again.
            code.run_const(drop_outermost, partial(code.load_local, parameter))
        elif depth in point.reentered:
            enter_block(code, parameter)
        elif depth in point.remade:
            make_and_enter_block(code, parameter)
        else:
            code.load_local(parameter)
    # Code that inspects its frame must not find variables that the original never has.
    for name in point.unseen():
        code.delete_local(name)
    code.emit("JUMP", target=target)
    made = [*prologue(free=cells), *code.instructions]
    for instruction in made:
        instruction.span = target.span
    return made

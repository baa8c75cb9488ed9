"""Code objects as data: their instructions, names and source text, each recorded once."""

from __future__ import annotations

import linecache
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType
from typing import Any, Concatenate, ParamSpec, TypeVar

from tracer_core import bytecode
from tracer_core.bytecode import CallShape, Instruction, Origin, Program
from tracer_core.names.code import Label, argument_labels, code_name, code_text
from tracer_core.names.files import shown_file
from tracer_core.names.owners import owner_of
from tracer_core.recording import schema
from tracer_core.recording.facts import clean, clean_lines

P = ParamSpec("P")
T = TypeVar("T")
NO_SPAN = (None, None, None, None)
_WHOLE_STACK = 1 << 32


Known = tuple[int, int, tuple[str, ...]]
"""What the recorder needs of an instruction at each step: its number in the code, how many items from the top of the
stack it may change, and the names that it may bind."""


class CodeEntry:
    """A recorded code: its record, and the numbers of its instructions and slots."""

    def __init__(self, code: CodeType, record: schema.Code, labels: Mapping[str, Label]) -> None:
        self.code = code
        self.record = record
        self._positions: dict[Instruction, int] = {}
        self.known: dict[Instruction, Known] = {}
        self.program: Program | None = None
        self._labels = labels
        self.local_slots = Slots(code.co_varnames, record.locals, 0)
        self.cell_slots = Slots((*code.co_cellvars, *code.co_freevars), record.cells, 1)

    def number(self, instruction: Instruction) -> Known:
        """Return what is known of the instruction; append an instruction that the engine synthesized to the code."""
        known = self.known.get(instruction)
        if known is None:
            index = self._positions.get(instruction)
            if index is None:
                index = len(self.record.instructions)
                self.record.instructions.append(instr(instruction, {}, self._labels))
            known = self.known[instruction] = _known(instruction, index, self.record.instructions[index])
        return known

    def use(self, program: Program) -> None:
        """Number instructions by their order in `program`, which may have been decoded again."""
        if program is self.program:
            return
        positions = _positions(program)
        if not self.record.instructions:
            self.record.instructions = [*_instructions(self.code, positions, self._labels)]
        self._positions.update(positions)
        self.program = program

    def decode(self) -> None:
        """Record the instructions even if the code is never stepped through."""
        if not self.record.instructions:
            positions = _positions(bytecode.decode(self.code))
            self.record.instructions = [*_instructions(self.code, positions, self._labels)]


def _once(function: Callable[Concatenate[CodeType, P], T]) -> Callable[Concatenate[CodeType, P], T]:
    """Keep what `function` returns for a code as long as the code: it is the same in all recordings."""
    kept: dict[int, tuple[weakref.ref[CodeType], T]] = {}

    def look(code: CodeType, /, *args: P.args, **kwargs: P.kwargs) -> T:
        found = kept.get(id(code))
        if found is None:
            key, result = id(code), function(code, *args, **kwargs)
            found = kept[key] = weakref.ref(code, lambda _: kept.pop(key, None)), result
        return found[1]

    return look


@_once
def _instructions(
    code: CodeType, positions: dict[Instruction, int], labels: Mapping[str, Label]
) -> list[schema.Instr]:
    """Return the instructions of a code as data."""
    return [instr(instruction, positions, labels) for instruction in positions]


def _positions(program: Program) -> dict[Instruction, int]:
    return {instruction: i for i, instruction in enumerate(program.instructions)}


def _known(instruction: Instruction, index: int, record: schema.Instr) -> Known:
    info = bytecode.OPS.get(instruction.op)
    # `POP_EXCEPT` also replaces the copies of what it pops, wherever on the stack they are.
    takes = _WHOLE_STACK if info is None or info.name == "POP_EXCEPT" else record.takes
    return index, takes, (instruction.arg,) if info is not None and info.binds else ()


def _own_variables(code: CodeType) -> dict[str, Label]:
    """Return labels for the internal variables of generated code."""
    return {name: Label(name.removeprefix("___")) for name in code.co_varnames if name.startswith("___")}


class CodeTable:
    """All codes of a recording, by identity: two equal functions on one line are two codes."""

    def __init__(self) -> None:
        self.records: list[schema.Code] = []
        self.codes: list[CodeType] = []
        self._entries: dict[tuple[int, str | None], tuple[CodeType, CodeEntry]] = {}
        self._modules: dict[int, tuple[str | None, ...]] = {}
        """Those of the entries of a code, by its address."""

    def entry(self, code: CodeType, kind: str = "user", module: str | None = None) -> CodeEntry:
        """Return the entry of `code`, created on first use: one for each class whose name is `module`."""
        known = self._entries.get((id(code), module))
        if known is not None:
            return known[1]
        labels = {**_own_variables(code), **argument_labels(code)}
        record = schema.Code(
            id=len(self.records),
            name=clean(code.co_name),
            qualname=clean(code_name(code, module)),
            filename=clean(shown_file(code.co_filename), 1000),
            first_line=code.co_firstlineno,
            source="",
            locals=[clean(labels[name].text if name in labels else name) for name in code.co_varnames],
            cells=[clean(name) for name in (*code.co_cellvars, *code.co_freevars)],
            instructions=[],
            kind=kind,
            owner=owner_of(code.co_filename).name.lower(),
        )
        self.records.append(record)
        self.codes.append(code)
        entry = CodeEntry(code, record, labels)
        self._entries[id(code), module] = (code, entry)
        others = self._modules.get(id(code), ())
        self._modules[id(code)] = (*others, module)
        try:
            record.first_line, record.source = source_text(code)
            self._link_resume(code, record, module)
        except BaseException:
            # The next caller gets a complete record; this one is not used.
            del self._entries[id(code), module]
            self._modules[id(code)] = others
            raise
        return entry

    def has_only(self, code: CodeType, module: str | None) -> bool:
        """Return whether `code` has an entry for `module` and no other one."""
        return self._modules.get(id(code)) == (module,)

    def knows(self, code: CodeType, module: str | None) -> bool:
        """Return whether `entry` has been called for the code."""
        return (id(code), module) in self._entries

    def _link_resume(self, code: CodeType, record: schema.Code, module: str | None) -> None:
        """Mark `code` if it is a resume function, with the code that it resumes and the instruction."""
        resumes: Any = sys.modules.get("tracer_core.codegen.resume")
        origin = getattr(resumes, "origin_of", lambda code: None)(code)
        if origin is None:
            return
        original, offset = origin
        entry = self.entry(original, module=module)
        entry.decode()
        target = entry.record
        record.kind, record.name, record.resumes = "resume", record.qualname, target.id
        record.resumes_at = next((i for i, one in enumerate(target.instructions) if one.offset >= offset), None)


class Slots(dict[str, int]):
    """The slots of a code's names. Names that the code itself does not list (as in a notebook cell) are added when
    they are read, also to `listed`, the names as recorded."""

    def __init__(self, names: Iterable[str], listed: list[str], parity: int) -> None:
        super().__init__((name, 2 * i + parity) for i, name in enumerate(names))
        self._listed = listed
        self._parity = parity

    def __missing__(self, name: str) -> int:
        slot = self[name] = 2 * len(self._listed) + self._parity
        self._listed.append(clean(name))
        return slot


def instr(instruction: Instruction, positions: dict[Instruction, int], labels: Mapping[str, Label]) -> schema.Instr:
    """Return an instruction as data. `positions` numbers its jump targets; `labels` names arguments for people."""
    origin, arg, target = instruction.origin, instruction.arg, instruction.target
    line, end_line, column, end_column = instruction.span or NO_SPAN
    info = bytecode.OPS.get(instruction.op)
    text = clean(_arg_text(origin, arg, labels))
    return schema.Instr(
        offset=origin.offset if origin is not None else -1,
        opname=origin.opname if origin is not None else instruction.op,
        op=instruction.op,
        arg=text + _keywords(arg) if type(arg) is CallShape else text,
        line=line,
        end_line=end_line,
        column=column,
        end_column=end_column,
        target=None if target is None else positions.get(target),
        takes=0 if info is None else info.takes(arg),
        leaves=0 if info is None else info.leaves(arg),
    )


def _arg_text(origin: Origin | None, arg: Any, labels: Mapping[str, Label]) -> str:
    if type(arg) is str:
        if arg in labels:
            return labels[arg].text
        if arg.startswith("___"):
            return repr(arg.removeprefix("___"))
    elif type(arg) is CodeType:
        return code_text(arg)
    if origin is not None:
        return origin.argrepr
    if arg is None:
        return ""
    plain = (int, float, complex, bool, bytes)
    return arg if type(arg) is str else repr(arg) if type(arg) in plain else f"<{type(arg).__name__}>"


def _keywords(call: CallShape) -> str:
    """Return the names of a call's keyword arguments, which `dis` shows at the instruction before it."""
    return f", {clean(repr(call.keywords))}" if call.keywords else ""


def source_text(code: CodeType) -> tuple[int, str]:
    """Return the first line's number and the text from there to the end of the code ("" if it is not available)."""
    lines = linecache.getlines(code.co_filename)
    if code.co_name == "<module>":
        return 1, clean_lines("".join(lines))
    first = code.co_firstlineno
    return first, clean_lines("".join(lines[first - 1 : _last_line(code)]))


@_once
def _last_line(code: CodeType) -> int:
    """Return the last source line of the code and of the codes inside it."""
    own = [end or line for line, end, _, _ in set(code.co_positions()) if line is not None]
    inner = [_last_line(constant) for constant in code.co_consts if type(constant) is CodeType]
    return max([*own, *inner], default=code.co_firstlineno)


def line_of(instructions: Sequence[schema.Instr], index: int) -> int | None:
    """Return the line of an instruction, or of the nearest earlier instruction that has one."""
    while index >= 0:
        line = instructions[index].line
        if line is not None:
            return line
        index -= 1
    return None


def span_text(code: schema.Code, instruction: schema.Instr, longest: int = 60) -> str:
    """Return the source text of an instruction in one line; empty where it is not known."""
    first, last, start, end = instruction.line, instruction.end_line, instruction.column, instruction.end_column
    if first is None or last is None or start is None or end is None:
        return ""
    lines = [line.encode() for line in code.source.split("\n")[max(first - code.first_line, 0) :][: last - first + 1]]
    if first < code.first_line or len(lines) != last - first + 1:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = " ".join(b"".join(lines).decode("utf-8", "replace").split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def line_text(code: schema.Code, line: int | None) -> str:
    """Return the text of a line of a code's source, without indentation; empty where it is not known."""
    lines = code.source.split("\n")  # as Python counts them: a form feed ends none
    at = -1 if line is None else line - code.first_line
    return lines[at].strip() if 0 <= at < len(lines) else ""

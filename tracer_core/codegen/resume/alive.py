"""Find out which variables and stack slots of a frame may still be read, and which of them have changed."""

from __future__ import annotations

from collections.abc import Sequence
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

from tracer_core.bytecode import Instruction, call_items, pops, stack_after
from tracer_core.codegen.resume.functions import looks_at_namespace, needs_first_argument
from tracer_core.interpreter.ops.exceptions import HandledMark
from tracer_core.sources import LocalSource
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NULL, ConstantVariable
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.frames import Frame


def as_it_came(name: str, value: VariableTracker) -> bool:
    """Return whether a variable of the frame still holds the argument of its name."""
    return isinstance(value.source, LocalSource) and value.source.local == name


def stack_for_break(root: Frame, position: int) -> list[VariableTracker]:
    """Return the stack as it must be before the broken instruction. Empty slots below the items that it uses become
    None: nothing reads them any more, and only there can they be passed to a resume function."""
    used = len(root.stack) - pops(root.decoded.instructions[position])
    return [ConstantVariable(None) if item is NULL and d < used else item for d, item in enumerate(root.stack)]


# Whether LOAD_METHOD leaves an empty slot is decided when it runs; the generated code sees to it that it does.
_CALLABLE = call_items(None, NULL)
_EMPTY_SLOTS: dict[str, Sequence[VariableTracker | None]] = {
    "PUSH_NULL": [NULL],
    "LOAD_METHOD": _CALLABLE,
    "LOAD_GLOBAL_NULL": _CALLABLE,
}


def stack_after_break(
    stack: Sequence[VariableTracker | None], broken: Instruction, jumped: bool
) -> list[VariableTracker | None]:
    """Return the items on the stack after the broken instruction has run; None for those of which nothing is known,
    since it creates them."""

    def created(place: int) -> VariableTracker | None:
        if broken.op == "PUSH_EXC_INFO":
            exception = stack[-1]
            assert isinstance(exception, ExceptionVariable)
            return HandledMark(exception)
        return _EMPTY_SLOTS[broken.op][place] if broken.op in _EMPTY_SLOTS else None

    after: list[VariableTracker | None] = stack_after(broken, stack, jumped, created)
    # The mark of an exception that is handled no longer is the exception before it.
    return [None if item is stack[-1] else item for item in after] if broken.op == "POP_EXCEPT" else after


def changed_locals(root: Frame, alive: frozenset[str]) -> dict[str, VariableTracker]:
    """Return the locals that differ from what they were when the frame started."""
    return {name: value for name, value in root.locals.items() if name in alive and not as_it_came(name, value)}


def alive_at(root: Frame, position: int) -> frozenset[str]:
    """Return the locals that may still be read from the instruction at `position` on."""
    alive = alive_before(root, root.decoded.instructions[position])
    return alive | {root.code.co_varnames[0]} if needs_first_argument(root.code) else alive


_LOOKS_AT_STACK = frozenset({"_getframe", "currentframe", "extract_stack", "getouterframes", "stacklevel"})


def looks_at_stack(code: CodeType) -> bool:
    """Return whether the code may inspect the frames above its own."""
    keywords = (names for names in code.co_consts if type(names) is tuple)
    return any(not _LOOKS_AT_STACK.isdisjoint(map(str, names)) for names in (code.co_names, *keywords))


# (An object under a memory view cannot be resized while the view exists.)
_WATCHES_LIFETIMES = frozenset(
    {"weakref", "__subclasses__", "getrefcount", "get_objects", "get_referrers", "get_referents", "memoryview"}
)


def watches_lifetimes(code: CodeType, globals_: dict[str, Any]) -> bool:
    """Return whether the code may observe when an object is freed: it names functions of weak references, or
    functions that count living objects.

    Only the code itself is inspected: functions it calls have frames of their own, which drop their values
    when they return. Where the graph breaks inside the library's weak containers, that shows it, too.
    """
    if not _WATCHES_LIFETIMES.isdisjoint(code.co_names):
        return True
    if any(watches_lifetimes(inner, globals_) for inner in code.co_consts if isinstance(inner, CodeType)):
        return True
    named = (globals_.get(name) for name in code.co_names)
    return any(_module_of(value) in ("weakref", "_weakref") for value in named)


def _module_of(value: Any) -> Any:
    """Return the module of a function, a class or the class of an object, without running code of the program."""
    if type(value) in (FunctionType, BuiltinFunctionType):
        return value.__module__
    cls = value if issubclass(type(value), type) else type(value)
    return type.__getattribute__(cls, "__module__")


def alive_before(root: Frame, instruction: Instruction) -> frozenset[str]:
    """Return the locals that may still be read when `instruction` is about to run: all, if the code reads its
    namespace as a whole."""
    if looks_at_namespace(root.code):
        return frozenset(root.program.varnames)
    return root.decoded.live.get(instruction, frozenset())

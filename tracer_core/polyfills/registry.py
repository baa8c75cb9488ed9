"""`@polyfills`: register Python code of ours that replaces a library function or class."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar

P = TypeVar("P", bound=Callable[..., Any])

# Codes of wrappers that only guard against recursion: calls are forwarded to the wrapped function, which the named
# variable holds.
TRANSPARENT: dict[CodeType, str] = {}

# The same for wrappers in modules that are not imported for this: their names, and the variable that holds the
# wrapped function. The first only records, for torch's own compiler, that a module was created.
_WRAPPED_IN_CELL = {("torch._dynamo.mutation_guard", "install_generation_tagging_init.<locals>.patched_init"): "init"}

_stand_ins: dict[Any, Any] = {}


def polyfills(*originals: Any) -> Callable[[P], P]:
    """Register a Python function (or iterator class) that is inlined where the program calls one of `originals`.

    A class stands in for an iterator type. Its method `real()`, run by generated code, gives the real iterator in the
    same state, for where one is alive when the graph ends; without it the frame runs as plain Python there.
    """

    def register(stand_in: P) -> P:
        for original in originals:
            _stand_ins[original] = stand_in
        return stand_in

    return register


def stand_in_for(original: Any) -> Any | None:
    """Our Python for `original`, or None."""
    try:
        return _stand_ins.get(original)
    except TypeError:  # unhashable callable
        return None


def wrapped_in_cell(function: FunctionType) -> tuple[int, FunctionType] | None:
    """Return the real function of one that a trace sees through, and which of its cells holds that; None: itself."""
    name = TRANSPARENT.get(function.__code__)
    if name is None:
        name = _WRAPPED_IN_CELL.get((function.__module__, function.__qualname__))
    if name is None or function.__closure__ is None:
        return None
    index = function.__code__.co_freevars.index(name)
    return index, function.__closure__[index].cell_contents


def inner_code(function: Any, *names: str) -> CodeType:
    """Return the code of the function that `names` leads to, through functions defined inside `function`."""
    code: CodeType = function.__code__
    for name in names:
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return code

"""Name code, and the values in its frames, as users know them.

A resume function is named after the user's function and the line of the break before it, its arguments after
what they are in that function. Code of `torch.nn.Module` around `forward` is named after the module's class.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from tracer_core.names.files import place, shown_file


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a value that no variable of the program holds: `given` is the expression in the program, or a
    phrase, that produced it, `at` its place (`model.py:12`); a call has it as its `result`. An `iterator` iterates
    over that value; a `box` is a list that holds it alone; a bound method has a `receiver`."""

    given: str
    at: str = ""
    result: bool = False
    iterator: bool = False
    box: bool = False
    receiver: Label | None = None

    @property
    def origin(self) -> str:
        return f"{self.given}, {self.at}" if self.at else self.given

    @property
    def text(self) -> str:
        what = "the iterator over " if self.iterator else "the result of " if self.result else ""
        return f"{what}{self.origin}"


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of a function after a break, as a code of its own: `after` says which ("line 12"), and `broken` is a
    phrase for the break. `arguments` names those that the engine introduced, and `unchanged` are the variables that
    the function was called with."""

    function: str
    after: str
    broken: str
    of_module_call: bool
    arguments: Mapping[str, Label]
    unchanged: frozenset[str]


_rests: dict[int, Rest] = {}
_NOTHING: Mapping[str, Label] = {}


def name_rest(
    code: CodeType,
    original: CodeType,
    after: str,
    broken: str,
    arguments: Mapping[str, Label],
    unchanged: frozenset[str],
) -> None:
    """Name `code` as the rest of `original` after a break, until `forget_code`."""
    _rests[id(code)] = Rest(code_name(original), after, broken, is_module_call(original), arguments, unchanged)


def forget_code(code: CodeType) -> None:
    _rests.pop(id(code), None)


def argument_labels(code: CodeType) -> Mapping[str, Label]:
    """Return the names of those arguments of a code that the engine introduced."""
    rest = _rests.get(id(code))
    return _NOTHING if rest is None else rest.arguments


def passed_by(code: CodeType, argument: str) -> str:
    """Return a phrase for the break by which a code gets an argument that its function computed; empty for what the
    function was called with, and its attributes."""
    rest = _rests.get(id(code))
    if rest is None:
        return ""
    label = rest.arguments.get(argument)
    if label is not None and (label.result or label.iterator):
        return rest.broken
    first, *parts = (argument if label is None else label.given.strip("`")).split(".")
    return "" if first in rest.unchanged and all(part.isidentifier() for part in parts) else rest.broken


def code_name(code: CodeType, module: str | None = None) -> str:
    """Return the code as people know it: a function's qualified name, or "`f`, after line 12". `module` is what
    `module_called` returns for its frame."""
    rest = _rests.get(id(code))
    if rest is not None:
        called = f"{module}.__call__" if module is not None and rest.of_module_call else rest.function
        return f"`{called}`, after {rest.after}"
    return f"{module or 'Module'}.__call__" if is_module_call(code) else code.co_qualname


def short(function: str) -> str:
    """Return a function's name without the functions that it is defined in."""
    return function.rpartition("<locals>.")[2]


def frame_name(code: CodeType, arguments: Mapping[str, Any]) -> str:
    """Return the code of a frame with these arguments, as people know it."""
    return code_name(code, module_called(code, arguments, type))


def code_text(code: CodeType) -> str:
    """Return the code as an object: `code f (model.py:12)`."""
    name = code_name(code) if id(code) in _rests else code.co_name
    return f"code {name} ({place(shown_file(code.co_filename), code.co_firstlineno)})"


def function_name(function: Any) -> str | None:
    """Return the qualified name of any callable, as people know it; None if it has none."""
    code = getattr(function, "__code__", None)
    if type(code) is CodeType and is_module_call(code):
        return code_name(code)
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        return None
    return name.rpartition(".")[2] if name.startswith(_OF_PYBIND11) else name


_OF_PYBIND11 = "pybind11_detail_"
"""Prefixes of the qualified names of C++ functions that the library that created them adds."""


def class_name(cls: type, attribute: str = "__qualname__") -> str:
    """Return the name of a class, as people know it."""
    name: str = getattr(cls, attribute)
    return _CLASSES_OF_PYBIND11.get(name, name)


_CLASSES_OF_PYBIND11 = {"pybind11_type": "class of C++ classes", "pybind11_object": "C++ object"}


def object_name(value: Any) -> str:
    """Return a name for any object; if it has none, its class. Runs no `__repr__` of the program's."""
    if type(value) is CodeType:
        return code_text(value)
    plain = value is None or type(value) in (bool, int, float, str, bytes)
    return repr(value) if plain else function_name(value) or f"<{class_name(type(value))} object>"


# --- calls of modules -----------------------------------------------------------------------------------------

_MODULE_CALLS = ("_wrapped_call_impl", "_call_impl")


def module_called(code: CodeType, arguments: Mapping[str, Any], class_of: Callable[[Any], type]) -> str | None:
    """Return the name of the class of the module that a frame calls, if all modules share the frame's code."""
    rest = _rests.get(id(code))
    if "self" not in arguments or not (is_module_call(code) if rest is None else rest.of_module_call):
        return None
    return class_of(arguments["self"]).__qualname__


def is_module_call(code: CodeType) -> bool:
    """Return whether the code is that by which `torch.nn.Module` calls `forward`."""
    return code.co_name in _MODULE_CALLS and any(code is each for each in module_calls())


def module_calls() -> list[CodeType]:
    """Return the codes between a call of any module and its `forward`; none if torch is not imported. (Copies of them
    are equal to them.)"""
    module = getattr(sys.modules.get("torch.nn.modules.module"), "Module", None)
    methods = (vars(module).get(name) for name in _MODULE_CALLS) if isinstance(module, type) else ()
    return [method.__code__ for method in methods if isinstance(method, FunctionType)]

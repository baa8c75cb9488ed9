"""`Subject`: the part of the program that a frame belongs to where many share one code: the class of its module, and
the functions that it wraps. Facts about one subject do not hold for the others."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch

from tracer_core.names.code import module_calls
from tracer_core.names.files import place, shown_file


@dataclass(frozen=True, slots=True)
class Subject:
    """`cls` is the class of the module whose method runs, `wrapped` the code of the functions that a wrapper holds
    in its closure."""

    code: CodeType
    cls: type | None
    wrapped: tuple[CodeType, ...]

    @property
    def key(self) -> Hashable:
        """Return a key that is equal for equal subjects, as long as these live."""
        return tuple(map(id, self.parts))

    @property
    def parts(self) -> tuple[Any, ...]:
        return (*(() if self.cls is None else (self.cls,)), *self.wrapped)

    def __str__(self) -> str:
        """Return the function as it is written, with its place, and the module's class where that differs."""
        if self.cls is not None:
            forward: CodeType | None = self.code
            if forward in module_calls():  # or a copy
                forward = getattr(getattr(self.cls, "forward", None), "__code__", None)
            if forward is None:
                return f"The module {self.cls.__qualname__}"
            return f"The module {self.cls.__qualname__}, in {_written(forward)}"
        if self.wrapped:
            inside = " and ".join(map(_written, self.wrapped))
            return f"{inside}, wrapped by {self.code.co_qualname}"
        return _written(self.code)


def subject_of(code: CodeType, f_locals: Mapping[str, Any]) -> Subject:
    """Return the subject of a frame of `code` with these arguments and free variables."""
    original = _original(code)
    first = f_locals.get(original.co_varnames[0]) if original.co_varnames else None
    cls = type(first) if _is_of_module(original, type(first)) else None
    held = (_plain(f_locals.get(name)) for name in original.co_freevars)
    wrapped = (value.__code__ for value in held if type(value) is FunctionType)
    return Subject(original, cls, tuple(each for each in wrapped if each is not original))


def _is_of_module(code: CodeType, cls: type) -> bool:
    """Return whether `cls` is a class of modules, and `code` belongs to one of its methods."""
    if not issubclass(cls, torch.nn.Module):
        return False
    written = (vars(each).get(code.co_name) for each in cls.__mro__)
    return any(type(each) is FunctionType and each.__code__ == code for each in written)


def _plain(value: Any) -> Any:
    return value.__func__ if type(value) is MethodType else value


def _original(code: CodeType) -> CodeType:
    """Return the code that a resume function resumes; other codes unchanged."""
    resume = sys.modules.get("tracer_core.codegen.resume")
    resumed = None if resume is None else resume.origin_of(code)
    return code if resumed is None else resumed[0]


def _written(code: CodeType) -> str:
    return f"{code.co_qualname} ({place(shown_file(code.co_filename), code.co_firstlineno)})"

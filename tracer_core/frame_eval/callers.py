"""Find the line of the program that the starting frame was called from."""

from __future__ import annotations

import weakref
from importlib import import_module
from types import CodeType

from tracer_core.frame_eval.origins import outer_caller
from tracer_core.host.program_line import program_frame
from tracer_core.names.owners import Owner, owner_of

_replaced: dict[int, tuple[weakref.ref[CodeType], weakref.ref[CodeType]]] = {}
"""By the ids of the codes that run instead of others: the code that runs, and the original."""


def note_replacement(new: CodeType, code: CodeType) -> None:
    """Register `new` as running in the place of `code`."""
    key = id(new)
    _replaced[key] = weakref.ref(new, lambda gone: _forget(key, gone)), weakref.ref(code)


def _forget(key: int, gone: weakref.ref[CodeType]) -> None:
    known = _replaced.get(key)
    if known is not None and known[0] is gone:
        del _replaced[key]


def is_called_by_compiled_code() -> bool:
    """Return whether the frame that starts is called by code that runs in the place of the program's."""
    caller = outer_caller()
    return caller is not None and id(caller.f_code) in _replaced


def called_from(code: CodeType) -> tuple[tuple[CodeType, int], ...]:
    """Return the innermost line of the program among the running calls if `code`, whose frame starts, is a library's;
    nothing if it is the program's own, or if no code of the program is running."""
    if owner_of(code.co_filename) is Owner.USER:
        return ()
    frame = program_frame()
    return () if frame is None else ((_written(frame.f_code), frame.f_lineno),)


def _written(code: CodeType) -> CodeType:
    """Return the program's code for a code that runs in its place or resumes it."""
    known = _replaced.get(id(code))
    replaced = None if known is None else known[1]()
    code = code if replaced is None else replaced
    origin = import_module("tracer_core.codegen.resume").origin_of(code)
    return code if origin is None else origin[0]

"""Continue a function after a break: call its resume functions, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any


class TailCall:
    """The result of a resume function that does not call the next one itself, because the function has loops.

    Each round of a loop with a break would else lie on the stack until the last one is done.
    """

    __slots__ = ("args", "function")

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.function = function
        self.args = args


def go_on(function: Callable[..., Any], *args: Any) -> Any:
    """Call resume functions one after the other, until one returns what the function returns."""
    result = function(*args)
    while type(result) is TailCall:
        result = result.function(*result.args)
    return result


def leave_out_callers() -> None:
    """Remove the calling frame, and its callers up to the resume function's, from the exception's traceback."""
    error = sys.exc_info()[1]
    if error is None or error.__traceback__ is None:
        return
    caller = error.__traceback__.tb_frame.f_code
    inner = error.__traceback__.tb_next
    while inner is not None and inner.tb_frame.f_code is go_on.__code__:
        inner = inner.tb_next
    if inner is not None and _of_one_function(caller, inner.tb_frame.f_code):
        error.__traceback__ = inner


def _of_one_function(a: CodeType, b: CodeType) -> bool:
    return (a.co_filename, a.co_firstlineno, a.co_name) == (b.co_filename, b.co_firstlineno, b.co_name)


def being_handled() -> BaseException | None:
    """Return the exception that is being handled where this is called."""
    return sys.exc_info()[1]

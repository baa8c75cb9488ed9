"""Values known while tracing: tensors of one element that come from constants, and reads of what is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    is_fake,
    unset_fake_temporarily,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._pytree import tree_leaves, tree_map_only

from tracer_core.errors import TracewalkError
from tracer_core.names.files import shown_file
from tracer_core.names.owners import Owner, is_ours, owner_of

NUMEL_LIMIT = 1
"""Larger tensors are not computed while tracing."""


class DataDependentError(TracewalkError, RuntimeError):
    """The traced function needs a value that only running it can tell."""

    def __init__(self, operation: str, hint: str, detail: str = "") -> None:
        self.operation, self.hint, self.detail, self.line = operation, hint, detail, ""
        Exception.__init__(self, self._text())  # not that of torch's class, which a class below is too

    def _text(self) -> str:
        place = f"\n{self.line}" if self.line else ""
        detail = f"\n{self.detail}" if self.detail else ""
        return (
            f"The function needs the value of a tensor while it is traced: {self.operation} is data-dependent."
            f"{place}{detail}\n  Try: {self.hint}"
        )

    def place(self, traceback: TracebackType | None) -> DataDependentError:
        """Name the line of the program that needs the value."""
        if not self.line:
            self.line = _users_line(traceback)
            self.args = (self._text(),)
        return self


class DataDependentBranch(DataDependentError, GuardOnDataDependentSymNode):
    """A condition on such a value decides what the function does. Also an error of torch's kind, as those below."""

    def __init__(self, error: GuardOnDataDependentSymNode) -> None:
        super().__init__(f"the condition `{error.cond}`", _BRANCH, str(error).partition("\n")[0])
        self.cond = error.cond


class DataDependentShape(DataDependentError, DynamicOutputShapeException):
    """The shape of a result depends on such a value."""

    def __init__(self, error: DynamicOutputShapeException) -> None:
        super().__init__(f"the shape of the result of `{error.func}`", _SHAPES)
        self.func = error.func


class DataDependentNumber(DataDependentError, DataDependentOutputException):
    """The function reads such a value as a number."""

    def __init__(self, error: DataDependentOutputException) -> None:
        super().__init__(f"`{error.func}`", _NUMBERS)
        self.func = error.func


def _users_line(traceback: TracebackType | None) -> str:
    """Return the innermost line that is the user's; if there is none, of a package's; else nothing."""
    best, line = Owner.LANGUAGE, ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        owner = Owner.LANGUAGE if is_ours(traceback.tb_frame.f_globals) else owner_of(code.co_filename)
        if owner > Owner.LANGUAGE and owner >= best:
            best = owner
            line = f'File "{shown_file(code.co_filename)}", line {traceback.tb_lineno}, in {code.co_qualname}'
        traceback = traceback.tb_next
    return line


_BRANCH = (
    "use `torch.cond` or `torch.where` instead of a Python branch, or state what always holds with `torch._check`."
)
_REAL = "`tracing_mode='symbolic'`, where a read number becomes a symbol, or operators such as `torch.where` and "
_REAL += "`torch.cond` instead of Python numbers and branches."
_NUMBERS = "compute with tensors instead of Python numbers, for instance with `torch.where` or `torch.cond`."
_SHAPES = "an operator whose result has a fixed size, for instance `torch.where(condition, x, y)` instead of a mask."


_TOLD: dict[type[Exception], Callable[[Any], DataDependentError]] = {
    GuardOnDataDependentSymNode: DataDependentBranch,
    DynamicOutputShapeException: DataDependentShape,
    DataDependentOutputException: DataDependentNumber,
}
"""How an error of torch is told, by its kind."""


def read_of_real(func: Any) -> DataDependentError:
    """Return the error for a read from a real tensor: its value now may not be what the graph will compute."""
    return DataDependentError(f"`{func}`", _REAL)


def explained(error: BaseException) -> BaseException:
    """Return the error that tells the user of a data-dependent read; other errors as they are."""
    if isinstance(error, DataDependentError):
        return error.place(error.__traceback__)
    for kind, told in _TOLD.items():
        if isinstance(error, kind):
            return told(error).place(error.__traceback__)
    return error


def all_known(slots: Sequence[Any]) -> bool:
    """Is the value of each tensor with a slot known?"""
    return all(slot.constant is not None for slot in slots)


def compute_known(func: Callable[..., Any], args: Any, kwargs: Any, tracker: Any) -> Any:
    """Return `func` of the known values, computed on real tensors."""

    def known(tensor: Tensor) -> Tensor:
        slot = tracker.get(tensor)
        value: Tensor = tensor if slot is None else slot.constant
        return value

    with unset_fake_temporarily():
        args, kwargs = tree_map_only(Tensor, known, (args, kwargs))
        return func(*args, **kwargs)


def known_result(facts: Any, args: Any, kwargs: Any, tracker: Any, slots: Sequence[Any], result: Any) -> Any:
    """Return the value of an operator's result where it is known while tracing, else None.

    It is known of a fresh constant, and of what is computed from such, if it has one element at most. Factory
    functions do not count: what they create may be large.
    """
    if facts.func is torch.ops.aten.lift_fresh_copy.default:
        if result.numel() > NUMEL_LIMIT:
            return None
        with unset_fake_temporarily():
            return args[0].clone()
    if not slots or facts.random or not all_known(slots) or not _small(result):
        return None
    return compute_known(facts.func, args, kwargs, tracker)


def _small(result: Any) -> bool:
    return all(leaf.numel() <= NUMEL_LIMIT for leaf in tree_leaves(result) if isinstance(leaf, Tensor))


def reads_real_tensors(tensors: Sequence[Tensor]) -> bool:
    """Are all tensors real, so that a value read from them would be that of this run alone?"""
    return not any(is_fake(tensor) for tensor in tensors)

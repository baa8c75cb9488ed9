"""Reads of values that are not known while tracing: the errors that tell of them."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import sympy
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, is_fake
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from tracer_core.errors import TracewalkError
from tracer_core.names.files import shown_file
from tracer_core.names.owners import Owner, is_ours, owner_of
from tracer_core.names.symbols import explained as with_meanings


class DataDependentError(TracewalkError, RuntimeError):
    """The traced function needs a value that only running it can tell."""

    def __init__(self, operation: str, hint: str) -> None:
        self.operation, self.hint, self.line = operation, hint, ""
        Exception.__init__(self, self._text())  # not that of torch's class, which a class below is too

    def _text(self) -> str:
        place = f"\n{self.line}" if self.line else ""
        return (
            f"The function needs the value of a tensor while it is traced: {self.operation} is data-dependent."
            f"{place}\n  Try: {self.hint}"
        )

    def place(self, traceback: TracebackType | None) -> DataDependentError:
        """Name the line of the program that needs the value."""
        if not self.line:
            self.line = _users_line(traceback)
            self.args = (self._text(),)
        return self


class DataDependentBranch(DataDependentError, GuardOnDataDependentSymNode):
    """A condition on such a value decides what the function does, or it needs the value as a number of Python's. Also
    an error of torch's kind, as those below."""

    def __init__(self, error: GuardOnDataDependentSymNode, meanings: Mapping[str, str]) -> None:
        self.cond = error.cond
        decides = isinstance(self.cond, sympy.logic.boolalg.Boolean) and not self.cond.is_Symbol
        what, hint = ("condition", _BRANCH) if decides else ("number", _PLAIN_NUMBER)
        super().__init__(with_meanings(f"the {what} `{self.cond}`", meanings), hint)


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


_BRANCH = (
    "use `torch.cond` or `torch.where` instead of a Python branch, or state what always holds with `torch._check`."
)
_PLAIN_NUMBER = (
    "keep it a tensor (`x.index_select(0, i)` instead of `x[i]`), or convert the tensor before it is read "
    "(`x.int().item()` instead of `int(x)`, `x.item()` instead of `float(x)`)."
)
_REAL = (
    "operators such as `torch.where` and `torch.cond` instead of Python numbers and branches; or "
    "`tracing_mode='symbolic'`, where a number that is read, and not branched on, becomes a symbol."
)
_NUMBERS = "compute with tensors instead of Python numbers, for instance with `torch.where` or `torch.cond`."
_SHAPES = "an operator whose result has a fixed size, for instance `torch.where(condition, x, y)` instead of a mask."


def read_of_real(func: Any) -> DataDependentError:
    """Return the error for a read from a real tensor: its value now may not be what the graph will compute."""
    becomes_symbol = func is torch.ops.aten._local_scalar_dense.default
    return DataDependentError(f"`{func}`", _REAL if becomes_symbol else _NUMBERS)


def explained(error: BaseException, graph: torch.fx.Graph | None) -> BaseException:
    """Return the error that tells the user of a data-dependent read in the trace of `graph`; other errors as they
    are."""
    told: DataDependentError
    if isinstance(error, DataDependentError):
        told = error
    elif isinstance(error, GuardOnDataDependentSymNode):
        told = DataDependentBranch(error, {} if graph is None else _meanings(graph))
    elif isinstance(error, DynamicOutputShapeException):
        told = DataDependentShape(error)
    elif isinstance(error, DataDependentOutputException):
        told = DataDependentNumber(error)
    else:
        return error
    return told.place(error.__traceback__)


def _meanings(graph: torch.fx.Graph) -> dict[str, str]:
    """Describe the symbols that operators of the graph introduce."""
    return {
        str(symbol): f"{'a size of ' if isinstance(node.meta['val'], Tensor) else ''}the result of `{node.target}`"
        for node in graph.nodes
        for symbol in node.meta.get("unbacked_bindings", ())
    }


def _users_line(traceback: TracebackType | None) -> str:
    """Return the innermost line that is the user's; if there is none, of a package's; else nothing."""
    best, line = Owner.LANGUAGE, ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        owner = Owner.LANGUAGE if is_ours(traceback.tb_frame.f_globals) else owner_of(code.co_filename)
        if owner > Owner.LANGUAGE and owner >= best:
            best = owner
            line = f'File "{shown_file(code.co_filename)}", line {traceback.tb_lineno}, in {code.co_qualname}'
            source = linecache.getline(code.co_filename, traceback.tb_lineno).strip()
            line += f"\n    {source}" if source else ""
        traceback = traceback.tb_next
    return line


def reads_real_tensors(tensors: Sequence[Tensor]) -> bool:
    """Are all tensors real, so that a value read from them would be that of this run alone?"""
    return not any(is_fake(tensor) for tensor in tensors)

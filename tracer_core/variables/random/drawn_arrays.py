"""Arrays and numbers that exist before the graph runs: draws of a random generator, and their arguments.

The generated code reads single numbers of a drawn array where it draws, so that they are numbers drawn like others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.numpy_calls import DTYPES
from tracer_core.runtime.arrays import known_array, scalar_tensor, tensor_of
from tracer_core.sources import ById, ConvertedSource, DrawnSource, GetItemSource, Source
from tracer_core.variables.builders.results import wrap_tensor
from tracer_core.variables.containers.sequences import ListVariable
from tracer_core.variables.core.base import VariableTracker, all_constant
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tensors import SymNodeVariable, specialized
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.numpy.arrays import (
    NumpyNdarrayVariable,
    NumpyScalarVariable,
    NumpyVariable,
    flat_parts,
    on_shadows,
)
from tracer_core.variables.random.python_streams import DrawnObjectVariable, drawn, drawn_number

_MAX_NUMBERS = 64


def drawn_value(tx: Tracing, source: Source, example: Any) -> VariableTracker | None:
    """Return the number, scalar or array that is at `source` once the generated code has drawn it, with the type and
    layout of `example`. None if it cannot become a tensor."""
    if type(example) in (int, float):
        return drawn_number(tx, source, type(example))
    if not isinstance(example, (np.ndarray, np.generic)) or example.dtype not in DTYPES:
        return None
    is_array = isinstance(example, np.ndarray)
    if is_array and not (example.flags.c_contiguous and example.flags.writeable):
        return None
    at = ConvertedSource(source, ById(tensor_of if is_array else scalar_tensor), "torch.from_numpy")
    with tx.output.fakes.mode:
        fake = torch.empty(example.shape, dtype=DTYPES[example.dtype], device="cpu")
    tensor = wrap_tensor(tx, tx.output.root.add_input(at, f"drawn_{len(tx.trace.draws)}", fake), fake, at)
    if is_array:
        return NumpyNdarrayVariable(tensor, np.zeros(example.shape, example.dtype))
    return NumpyScalarVariable(tensor, example.dtype.type(0), source)


# --- arguments of draws ---------------------------------------------------------------------------------------


def before_the_graph(tx: Tracing, tracker: VariableTracker) -> tuple[VariableTracker, Any] | None:
    """Return `tracker` as a value that the generated code has before it calls the graph, and an example of it: a
    constant, or an unchanged array. None if it is neither."""
    tracker = specialized(tx, tracker)
    if tracker.is_constant():
        return tracker, tracker.value()
    if not isinstance(tracker, NumpyNdarrayVariable) or tx.output.fakes.written_since(tracker.tensor.fake, 0):
        return None
    source = _drawn_source(tracker)
    if tracker.known is not None:
        parts = [ConstantVariable(part) for part in flat_parts(tracker.known)]
        source = drawn(tx, None, "array", list(parts), {}, known_array)
        return DrawnObjectVariable(np.ndarray, source), tracker.known
    if source is not None:
        return DrawnObjectVariable(np.ndarray, source), tracker.shadow
    if tracker.source is None:
        return None
    for size in tracker.tensor.fake.shape:
        int(size)
    return tracker, tracker.shadow


def _drawn_source(array: NumpyNdarrayVariable) -> Source | None:
    """Return the source of an array that the generated code drew."""
    at = array.tensor.source
    return at.of if isinstance(at, ConvertedSource) and isinstance(at.of, DrawnSource) else None


# --- numbers of drawn arrays ----------------------------------------------------------------------------------


def _read(
    tx: Tracing, array: NumpyNdarrayVariable, name: str, function: Callable[..., Any], args: list[VariableTracker]
) -> tuple[Source, Any] | None:
    """Call `function(array, *args)` where the array is drawn: return its source and an example. None if the array is
    not drawn, or was changed."""
    source = _drawn_source(array)
    args = [specialized(tx, arg) if not _is_drawn(arg.realize()) else arg.realize() for arg in args]
    if source is None or not all_constant(args) or tx.output.fakes.written_since(array.tensor.fake, 0):
        return None
    example = on_shadows(name, function, [array.shadow, *(arg.value() for arg in args)], {})
    whole = DrawnObjectVariable(np.ndarray, source)
    return drawn(tx, None, name, [whole, *args], {}, function), example


def _is_drawn(tracker: VariableTracker) -> bool:
    return isinstance(tracker, SymNodeVariable) and isinstance(tracker.source, DrawnSource)


@handles(operator.getitem, NumpyNdarrayVariable, ConstantVariable)
def one_of(tx: Tracing, self: NumpyNdarrayVariable, index: ConstantVariable) -> VariableTracker | None:
    if type(index.value()) is not int or self.shadow.ndim != 1:
        return None
    found = _read(tx, self, "getitem", operator.getitem, [index])
    return None if found is None else drawn_value(tx, *found)


@method(NumpyNdarrayVariable, "item")
def item(tx: Tracing, self: NumpyNdarrayVariable, *index: VariableTracker) -> VariableTracker:
    found = _read(tx, self, "item", np.ndarray.item, list(index))
    number = None if found is None else drawn_value(tx, *found)
    if number is None:
        raise Unsupported("numpy-data", what=self.describe(), name="items")
    return number


@method(NumpyVariable, "tolist")
def to_list(tx: Tracing, self: NumpyVariable) -> VariableTracker:
    small = isinstance(self, NumpyNdarrayVariable) and self.shadow.ndim == 1 and self.shadow.size <= _MAX_NUMBERS
    found = _read(tx, self, "tolist", np.ndarray.tolist, []) if small else None  # type: ignore[arg-type]
    if found is None or self.shadow.dtype.kind not in "if":
        raise Unsupported("numpy-data", what=self.describe(), name="items")
    source, example = found
    return ListVariable([drawn_number(tx, GetItemSource(source, i), type(n)) for i, n in enumerate(example)])

"""How arrays and NumPy scalars are made again from the tensors that the graph gives."""

from __future__ import annotations

from tracer_core.codegen.emitter import Emitter
from tracer_core.codegen.rebuild_registry import rebuilds
from tracer_core.graph.numpy_calls import array_of, scalar_of
from tracer_core.variables.arrays import ArrayVariable, NumpyScalarVariable


@rebuilds(ArrayVariable)
def _array(emitter: Emitter, tracker: ArrayVariable) -> None:
    emitter.call_const(array_of, lambda: emitter.load(tracker.tensor))
    emitter.keep(tracker)


@rebuilds(NumpyScalarVariable)
def _scalar(emitter: Emitter, tracker: NumpyScalarVariable) -> None:
    emitter.call_const(scalar_of, lambda: emitter.load(tracker.tensor))
    emitter.keep(tracker)

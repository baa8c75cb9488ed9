"""Reasons about NumPy arrays and functions."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "numpy-array",
    "{source} is a NumPy value that cannot become a tensor: {why}.",
    "Graphs hold tensors, which have fewer dtypes and layouts than NumPy's arrays.",
    "Pass an ordinary array of bools, integers, float32 or float64, or convert it before the compiled function.",
)
reason(
    "numpy-data",
    "The code needs the {name} of a NumPy value ({what}).",
    "It depends on the data, which exists only when the graph runs.",
    "Compute with whole arrays, or read values outside the compiled function.",
)
reason(
    "numpy-differs",
    "NumPy returns {what} from {name}, and the graph would return something else.",
    "NumPy's operations become operations of torch, whose rules for dtypes, scalars and memory differ here.",
    "Write the operation so that both agree (pass the dtype, use arrays of one dtype), or keep it out of the "
    "compiled function.",
)
reason(
    "numpy-function",
    "The code uses {name} on these NumPy values, which is not traced.",
    "Only operations that give the same values in torch as in NumPy become part of a graph.",
    "Use other operations, or call it outside the compiled function.",
)

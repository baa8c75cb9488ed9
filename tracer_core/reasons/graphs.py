"""Reasons about operations that cannot be nodes of a graph, and about what a graph and its back end can hold."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "operation-fails",
    "{what} raises an error for these arguments: {error}",
    "The shapes and dtypes of the arguments are enough to make the operation fail. It runs as plain Python, so that "
    "you see plain Python's error.",
    "Check the shapes and dtypes of the arguments at this line.",
)
reason(
    "fake-tensors",
    "{what} cannot be traced on fake tensors.",
    "Tracing runs operations on fake tensors, which have shapes, dtypes and devices but no data. This operation "
    "needs the data, or torch does not know the shape of its result. It runs as plain Python, between two graphs.",
    "Call it outside the compiled function.",
    "If the operation is yours, register a fake implementation (torch.library.register_fake).",
)
reason(
    "graph-argument",
    "An argument of {what} cannot be part of a graph: {argument}.",
    "A graph holds tensors, numbers, strings, dtypes (except quantized ones), devices, and lists, tuples and dicts "
    "of these.",
    "Pass the tensors inside the object one by one.",
    "Call it outside the compiled function.",
)
reason(
    "graph-result",
    "{what} returned a {type}, which a graph cannot hold.",
    "The result of an operation in a graph is a tensor, a number, or a tuple or list of these.",
    "Call it outside the compiled function.",
)
reason(
    "shared-history",
    "The code writes in place to a tensor that another argument is a view of, and the write needs gradients.",
    "After such a write both tensors require gradients, but autograd sees the inputs of a graph as independent "
    "tensors.",
    "Pass one of the two and create the view inside the compiled function, or write under torch.no_grad().",
)
reason(
    "torch-check",
    "The condition of a torch._check does not hold, or depends on data.",
    "Only when the graph runs is it known whether a condition on data holds.",
    "Check shapes rather than data inside the compiled function.",
)
reason(
    "needs-constant",
    "The code needs a value known while tracing, but has {what}.",
    "The next steps depend on the value itself, not only on its type or shape.",
    "Compute it from shapes or plain Python numbers, or outside the compiled function.",
)
reason(
    "huge-constant",
    "The code creates {what}.",
    "Tracing does not compute values of this size; plain Python does, between two graphs.",
    "Create it once, outside the compiled function.",
)
reason(
    "cannot-rebuild",
    "The graph ends while {what} is in use, and compiled code cannot create it again, so the function runs as plain "
    "Python.",
    "After a graph break, the rest of the function needs every value that is still in use.",
    "Use the value up before the break: for example, turn a generator into a list.",
)

"""Reasons about compiled versions and the back end that compiles graphs."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "cache-limit",
    "{function} was compiled {limit} times already, so a call that fits none of its versions runs as plain Python. "
    "The last version does not fit this call: {failure}.",
    "Each call checks the guards of the versions one after the other, so more versions would cost more time than "
    "they save.",
    "See in the failed guards what differs between calls, and pass it as a tensor or keep it the same.",
    "Compile with dynamic=True if sizes vary.",
    "Raise the limit with options={'cache_size_limit': n}.",
)
reason(
    "marked-size-fixed",
    "{source} is marked with mark_dynamic, but the code specializes it to {size}.",
    "The graph does not break here, but it is for this size only, and a call with another size compiles again. A "
    "size is specialized where the code compares it with a number, uses it where a plain number is needed, or "
    "combines the tensor with one of a fixed size.",
    "Change the line so that it works for any size.",
    "Mark the size with torch._dynamo.maybe_mark_dynamic, or do not mark it, if it may be specialized.",
    "Compile with options={'strict_mark_dynamic': True} to get an error, as torch.compile raises.",
)
reason(
    "back-end-raises",
    "The back end {backend!r} compiled a graph of {function}, and the compiled graph raises {error}. The graph "
    "itself does not, so the call runs as plain Python.",
    "The results are those of plain Python, but each such call costs more than without a compiler, because it tries "
    "the compiled graph first. A warning is given once for each function.",
    "Compile with backend='eager', which runs graphs as they are.",
    "If the back end is yours, call the function that it returns with the inputs of the graph, to see it fail.",
)
reason(
    "lost-by-back-ends",
    "Most back ends would lose {what}.",
    "Back ends rewrite the graph, and the new graph keeps neither changes to the memory behind a tensor nor leaf "
    "tensors created inside.",
    "Move it out of the compiled function.",
    "Use backend='eager', or, with a back end of yours that runs the graph's operations unchanged, "
    "options={'graph_runs_as_it_is': True}.",
)

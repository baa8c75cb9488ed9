"""Reasons about exceptions and `with` blocks."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "exception-leaves",
    "The function raises an exception that it does not catch: {what}.",
    "Plain Python raises it, so that the exception and its traceback are the usual ones.",
    "Nothing to do if you expect the exception.",
)
reason(
    "except-star",
    "An except* clause matches an exception.",
    "CPython splits exception groups by their tracebacks, so the whole function runs as plain Python.",
    "Move the computation into a separate function, and put the try statement with except* around its call.",
)
reason(
    "context-manager",
    "The code enters a {type} as a context manager.",
    "Its __enter__ and __exit__ are implemented in C, so what they do is not known while tracing.",
    "Enter it outside the compiled function.",
)
reason(
    "left-elsewhere",
    "The code leaves a {type} that is not the last one entered since the graph began.",
    "Leaving restores the state from before the block, which only the real object knows.",
    "Enter and leave it by a with block.",
)
reason(
    "left-open",
    "The graph ends inside a block of {type}, which cannot be entered again after a break.",
    "One graph cannot enter such a block and another leave it, so it is entered between two graphs.",
    "Move the code that breaks the graph out of the block.",
    "Enter torch's own context managers by a with statement in the function where the graph ends.",
)

"""Every reason to end a graph: an id, a sentence about the user's code, why it is so, and what to try."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """`sentence` is a format string over the details given where the reason is raised."""

    id: str
    sentence: str
    explanation: str
    hints: tuple[str, ...]


REASONS: dict[str, Reason] = {}


def _reason(id: str, sentence: str, explanation: str, *hints: str) -> None:
    REASONS[id] = Reason(id, sentence, explanation, hints)


_reason(
    "tensor-branch",
    "The code branches on the value of a tensor ({what}).",
    "The value is known only when the graph has run, so which branch to trace cannot be decided.",
    "Use torch.where or torch.cond to keep both outcomes in the graph.",
    "Compute the condition from shapes or plain Python numbers, if that is what is meant.",
)

_reason(
    "cache-limit",
    "{function} was compiled {limit} times already; calls that none of its versions fits run as plain Python. "
    "This call does not fit the last of them: {failure}.",
    "Each version is tried at each call, so an endless number of them would cost more than it gains.",
    "See in the failed guards what varies from call to call, and pass it as a tensor or keep it the same.",
    "Compile with dynamic=True if sizes vary.",
    "Raise the limit with options={'cache_size_limit': n}.",
)
_reason(
    "frame-library",
    "{function} belongs to Python or to an installed library ({file}), whose functions are not traced on their own.",
    "Only your own code, and torch's modules, can be where a graph starts.",
    "Call it from a function of yours: there it may be part of the graph.",
)
_reason(
    "frame-generator",
    "{function} is a generator, which is not traced on its own.",
    "A generator's frame stops and goes on at each item, while compiled code runs from start to end.",
    "Collect the items in a list, and compile the function that uses them.",
)
_reason(
    "frame-async",
    "{function} is a coroutine, which is not traced.",
    "A coroutine's frame stops at each await, while compiled code runs from start to end.",
    "Move the tensor code into an ordinary function, and compile that.",
)
_reason(
    "frame-not-function",
    "{function} is the code of a module or a class body, not of a function.",
    "Such code runs once, so that compiling it gains nothing.",
    "Move the tensor code into a function.",
)
_reason(
    "fault",
    "tracewalk failed on {function}, which runs as plain Python.",
    "The fault is in tracewalk, not in your code.",
    "Please report it, with the text of the warning.",
)

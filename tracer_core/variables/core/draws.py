"""Calls of random generators that the generated code makes, in the program's order, before it calls the graph.

They may come before all that the graph does, as neither can see the other: a draw takes constants, and numbers that
stand where they stood when the frame started or were drawn before; torch's own generator is moved by the graph alone;
and a call deferred until after the graph (a print) is never followed by a draw. So the generators return what they
return in plain Python, and end in the same state. Tracing itself draws nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracer_core.variables.core.base import VariableTracker


@dataclass(slots=True)
class Draw:
    """`stream.method(*args, **kwargs)`, or, with `function`, `function(stream, *args, **kwargs)`. All trackers are
    constants, or have a source that needs no graph. Without a stream `function` creates one: `function(*args)`."""

    stream: VariableTracker | None
    method: str
    args: list[VariableTracker]
    kwargs: dict[str, VariableTracker] = field(default_factory=dict)
    function: Any = None

    @property
    def label(self) -> str:
        shown = [arg.describe() for arg in self.args]
        shown += [f"{name}={arg.describe()}" for name, arg in self.kwargs.items()]
        return f"{self.method}({', '.join(shown)})"

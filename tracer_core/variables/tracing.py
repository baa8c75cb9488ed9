"""`Tracing`: all that trackers and handlers need of the interpreter that traces a frame.

It consists of small protocols, one an idea. The interpreter has no other door: what is not here is its own business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    from tracer_core.bytecode import Instruction
    from tracer_core.graph.output import OutputGraph
    from tracer_core.guards import Guard
    from tracer_core.sources import Source
    from tracer_core.variables.base import VariableTracker
    from tracer_core.variables.exceptions import ExceptionVariable, ObservedException
    from tracer_core.variables.frames import Frame


class Building(Protocol):
    """How values become trackers, and what the trace assumes of them."""

    def guard(self, guard: Guard) -> None:
        """The compiled code is for values of which this holds."""

    def build(self, value: Any, source: Source) -> VariableTracker:
        """The tracker of a value found at `source`."""

    def lazy(self, value: Any, source: Source) -> VariableTracker:
        """A tracker that is built, and guarded, when it is first looked at."""

    def constant(self, value: Any) -> VariableTracker:
        """The tracker of a value that is the same at each call: it has no source and needs no guard."""


class Calling(Protocol):
    """How trackers are called."""

    def call(
        self,
        function: VariableTracker,
        args: Sequence[VariableTracker],
        kwargs: dict[str, VariableTracker] | None = None,
    ) -> VariableTracker:
        """`function(*args, **kwargs)`: inlined if it has Python code, else by its handler."""

    def call_python(self, function: Any, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        """Inline a Python function of ours."""


class Raising(Protocol):
    """Exceptions of the traced program."""

    def raise_(self, cls: type[BaseException], *args: Any) -> NoReturn:
        """Raise `cls(*args)`; arguments may be trackers."""

    def raise_tracker(self, exception: ExceptionVariable) -> NoReturn:
        """Raise it in the context of what is being handled."""

    def handled(self) -> ExceptionVariable | None:
        """The exception that is being handled, here or in a caller."""


class Frames(Protocol):
    """The frames that are running."""

    @property
    def frame(self) -> Frame:
        """The one whose instruction is being traced."""

    @property
    def root_step(self) -> int:
        """The number of the root frame's instruction that is being traced, counted from 0 as they run."""

    @property
    def line(self) -> int | None:
        """The line of the instruction that is being traced."""

    def run_frame(self, frame: Frame) -> VariableTracker:
        """Run `frame` until it returns or yields, then come back to the present one."""

    def unwind(self, frame: Frame, instruction: Instruction, raised: ObservedException) -> None:
        """Have `frame` go on at its handler of an exception raised at `instruction`; raise it where there is none."""


class Tracing(Building, Calling, Raising, Frames, Protocol):
    """One attempt to trace a frame."""

    output: OutputGraph

"""`Tracing`: everything that trackers and handlers need of the interpreter that traces a frame.

It consists of small protocols, one per idea. Trackers use nothing else of the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from tracer_core.bytecode import Instruction
from tracer_core.graph.output import OutputGraph
from tracer_core.guards import Guard
from tracer_core.sources import Source

if TYPE_CHECKING:
    from tracer_core.names.where import Where
    from tracer_core.variables.core.base import Args, Kwargs, VariableTracker
    from tracer_core.variables.core.trace_state import TraceState
    from tracer_core.variables.exceptions.exceptions import ExceptionVariable
    from tracer_core.variables.functions.frames import Frame


class Building(Protocol):
    """Build trackers, and add guards."""

    def guard(self, guard: Guard) -> None:
        """Add a guard: the compiled code is reused only while it holds."""

    def build(self, value: Any, source: Source) -> VariableTracker:
        """Return the tracker of a value found at `source`."""

    def lazy(self, value: Any, source: Source) -> VariableTracker:
        """Return a tracker that is built, and guarded, when an operation first needs it."""

    def constant(self, value: Any) -> VariableTracker:
        """Return the tracker of a value that is the same at each call: it has no source and needs no guard."""


class Calling(Protocol):
    """Call trackers."""

    def call(
        self,
        function: VariableTracker,
        args: Sequence[VariableTracker],
        kwargs: dict[str, VariableTracker] | None = None,
    ) -> VariableTracker:
        """`function(*args, **kwargs)`: inlined if it has Python code, else by its handler."""

    def call_through(
        self, between: Sequence[tuple[FunctionType, int]], function: VariableTracker, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        """`function(*args, **kwargs)`, called from the last of the functions `between`, each of which stands at the
        instruction of that position, where it calls the next one. They have nothing else to do."""

    def call_python(self, function: Any, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        """Inline a Python function of the engine's own."""

    def call_method(self, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs, /) -> VariableTracker:
        """`obj.name(*args, **kwargs)` for a method of a builtin type."""


class Attributes(Protocol):
    """Read and write attributes of any tracker, in Python's order of lookup."""

    def get_attr(self, obj: VariableTracker, name: str, /) -> VariableTracker:
        """`obj.name`."""

    def find_attr(self, obj: VariableTracker, name: str, /) -> VariableTracker | None:
        """`obj.name`, or None where Python raises AttributeError."""

    def set_attr(self, obj: VariableTracker, name: str, value: VariableTracker, /) -> None:
        """`obj.name = value`."""

    def del_attr(self, obj: VariableTracker, name: str, /) -> None:
        """`del obj.name`."""


class Operators(Protocol):
    """Apply operators and conversions to any trackers, by their kinds or by the special methods of their classes."""

    def truth(self, tracker: VariableTracker, /) -> bool:
        """`bool(tracker)`."""

    def text_of(self, obj: VariableTracker, special: str, /) -> VariableTracker | None:
        """Return `str(obj)` or `repr(obj)`, by the name of the method; None if constant folding computes it."""

    def same(self, a: VariableTracker, b: VariableTracker, /) -> bool:
        """`a is b`."""

    def compare(self, symbol: str, a: VariableTracker, b: VariableTracker, /) -> VariableTracker:
        """`a symbol b` for the six comparisons."""

    def equal_items(self, a: VariableTracker, b: VariableTracker, /) -> bool:
        """Return whether containers treat the two as equal: they are one object, or equal."""

    def binary(self, symbol: str, a: VariableTracker, b: VariableTracker, /) -> VariableTracker:
        """`a symbol b`; `symbol` may be an in-place one (`+=`)."""

    def unary(self, op: str, a: VariableTracker, /) -> VariableTracker:
        """`-a`, `+a`, `~a`, by the name of the instruction."""

    def negation(self, a: VariableTracker, /) -> VariableTracker:
        """`not a`."""


class Containers(Protocol):
    """Read and write the items of any tracker, and iterate over them."""

    def length(self, tracker: VariableTracker, /) -> VariableTracker:
        """`len(tracker)`."""

    def get_item(self, container: VariableTracker, key: VariableTracker, /) -> VariableTracker:
        """`container[key]`."""

    def set_item(self, container: VariableTracker, key: VariableTracker, value: VariableTracker, /) -> None:
        """`container[key] = value`."""

    def del_item(self, container: VariableTracker, key: VariableTracker, /) -> None:
        """`del container[key]`."""

    def contains(self, container: VariableTracker, item: VariableTracker, /) -> bool:
        """`item in container`."""

    def iterate(self, tracker: VariableTracker, /) -> VariableTracker:
        """`iter(tracker)`."""

    def next_item(self, iterator: VariableTracker, /) -> VariableTracker | None:
        """Return the next item of an iterator, or None at its end."""

    def unpack(self, tracker: VariableTracker, /) -> list[VariableTracker]:
        """Return all items of an iterable."""

    def remaining_items(self, iterator: VariableTracker, /) -> list[VariableTracker]:
        """Return all items that an iterator has not returned yet."""


class Raising(Protocol):
    """Raise exceptions in the traced program."""

    def raise_(self, cls: type[BaseException], *args: Any) -> NoReturn:
        """Raise `cls(*args)`; arguments may be trackers."""

    def raise_tracker(self, exception: ExceptionVariable) -> NoReturn:
        """Raise the exception of the tracker, in the context of the one being handled."""

    def handled(self) -> ExceptionVariable | None:
        """Return the exception that is being handled, here or in a caller."""


class ObservedException(Exception):
    """The traced program raised the exception of `tracker`. Travels through the interpreter's own frames."""

    def __init__(self, tracker: ExceptionVariable) -> None:
        super().__init__(tracker.describe())
        self.tracker = tracker


class Frames(Protocol):
    """The frames that are running."""

    @property
    def frame(self) -> Frame:
        """Return the frame whose instruction is being traced."""

    @property
    def root_step(self) -> int:
        """Return the number of the root frame's instruction that is being traced, counted from 0 in execution
        order."""

    @property
    def line(self) -> int | None:
        """Return the line of the instruction that is being traced."""

    returned: Frame | None

    def where_returned(self) -> Where:
        """Return the line of the last `return`, if the user's code has returned since `returned` was set to None;
        else the line that is running."""

    def where_raised(self, exception: ExceptionVariable) -> Where:
        """Return the line at which the program raised an exception."""

    def run_frame(self, frame: Frame) -> VariableTracker:
        """Run `frame` until it returns or yields, then return to the present one."""

    def unwind(self, frame: Frame, instruction: Instruction, raised: ObservedException) -> None:
        """Let `frame` continue at its handler of an exception raised at `instruction`; raise it if there is none."""


class Tracing(Building, Calling, Attributes, Operators, Containers, Raising, Frames, Protocol):
    """One attempt to trace a frame."""

    output: OutputGraph
    trace: TraceState

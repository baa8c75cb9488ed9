"""The input of tracing, as frame evaluation passes it, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CellType, CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.names.code import frame_name

if TYPE_CHECKING:
    from tracer_core.bytecode import Instruction, Program
    from tracer_core.guards import Guard


class CacheScope:
    """Code is reused only under the scope it was compiled under: one for each way to compile. It refers to nothing,
    so that what is cached keeps no back end alive."""

    __slots__ = ("__weakref__",)


@dataclass(slots=True, weakref_slot=True)
class Config:
    """The options of a compilation. `backend(gm, example_inputs)` returns a callable; `dynamic` is None for
    automatic. Configs with the same `scope` share code; without one, a config has a scope of its own."""

    backend: Callable[..., Callable[..., Any]]
    dynamic: bool | None = None
    fullgraph: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    scope: CacheScope | None = None

    def is_on(self, option: str) -> bool:
        """Return whether an option that is off by default was switched on."""
        return bool(self.options.get(option, False))


@dataclass(slots=True)
class FrameInput:
    """A Python frame about to start. `locals` has arguments and free variables by name. `history` belongs to the
    code: the trace notes there what sizes each source had, so that sizes that vary become symbols next time.
    `callers` has the program's line that called it, if the code is a library's."""

    code: CodeType
    locals: Mapping[str, Any]
    globals: dict[str, Any]
    builtins: dict[str, Any]
    closure: tuple[CellType, ...]
    version: int
    history: dict[str, Any]
    config: Config
    callers: tuple[tuple[CodeType, int], ...] = ()

    @property
    def name(self) -> str:
        """Return the name that users know the frame by."""
        return frame_name(self.code, self.locals)


@dataclass(slots=True)
class Written:
    """The instructions of new code, as codegen recorded them while it wrote.

    Attributes:
        program: the code that they are part of.
        first: what runs from the start: the call of the graph, rebuilt values, side effects.
        broken: the copy of the user's instruction before which the graph ends; None if the frame was traced to its
            end.
        after: what runs after `broken`, by whether it jumps: the call of a resume function.
    """

    program: Program
    first: list[Instruction]
    broken: Instruction | None = None
    after: dict[bool, list[Instruction]] = field(default_factory=dict)


@dataclass(slots=True)
class CompiledFrame:
    """Code to run instead, as long as all `guards` hold (checked in the given order). `resumes` are the codes of the
    resume functions that it may call, and `written` the instructions it was assembled from, to be shown to people."""

    code: CodeType
    guards: list[Guard]
    resumes: list[CodeType] = field(default_factory=list)
    written: Written | None = None


@dataclass(slots=True)
class SkippedFrame:
    """The frame runs as plain Python. Frames it calls are still traced unless `recursive`. `forever` says whether
    that holds for later frames of the same code; `idle`, that this one would have an empty graph."""

    reason_id: str
    message: str
    recursive: bool = False
    forever: bool = True
    idle: bool = False

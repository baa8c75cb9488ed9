"""Where a value came from: a tree of `Source` nodes, each able to name, find and rebuild it.

Comes in: roots (a frame's local, global, cell) and steps from a value to a part of it. Goes out: a name people read
(`L['x'].weight`), the value itself (`find`), an expression over variables (`expr`, for compiled guards), and the
instructions that load it again (`rebuild`). Sources compare by value, so that one place is one node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tracer_core.bytecode import Instruction


@dataclass(frozen=True, slots=True)
class Scope:
    """What the roots are looked up in: a frame's locals and free variables by name, its globals, its cells."""

    locals: Mapping[str, Any]
    globals: Mapping[str, Any]
    builtins: Mapping[str, Any]


@dataclass(frozen=True, eq=True)
class Source:
    """A place a value can be found again. `base` is the source it hangs from, None for roots."""

    @property
    def base(self) -> Source | None:
        return None

    @property
    def name(self) -> str:
        """Its text in guards and listings, e.g. `L['x'].size(0)`."""
        raise NotImplementedError

    def step(self, base: Any, scope: Scope) -> Any:
        """The value here, given the value at `base` (None for roots). Raises what the access raises."""
        raise NotImplementedError

    def expr(self, base: str, const: Callable[[Any], str]) -> str:
        """A Python expression for the value, given the expression of `base`. `const(obj)` gives a name for an
        object the expression needs. Roots use the names `L` and, through `const`, a globals dict."""
        raise NotImplementedError

    def rebuild(self, load: Callable[[Source], list[Instruction]]) -> list[Instruction]:
        """Instructions that push the value; `load(source)` gives those that push another source's."""
        raise NotImplementedError

    def find(self, scope: Scope) -> Any:
        """The value now. Raises what the accesses raise (AttributeError, KeyError, ...)."""
        return self.step(self.base.find(scope) if self.base is not None else None, scope)

    def path(self) -> list[Source]:
        """From the root to this source."""
        chain: list[Source] = []
        at: Source | None = self
        while at is not None:
            chain.append(at)
            at = at.base
        return chain[::-1]

    @property
    def root(self) -> Source:
        return self.path()[0]

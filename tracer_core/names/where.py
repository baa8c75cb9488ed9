"""`Where`: the place in the program that needed something: the line a person can change, and the library's line below
it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType

from tracer_core.names.code import code_name, is_module_call
from tracer_core.names.files import shown_file
from tracer_core.names.owners import Owner, owner_of


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a code, which is held weakly: versions hold guards, and codes hold their versions."""

    _code: weakref.ref[CodeType]
    line: int

    @property
    def code(self) -> CodeType | None:
        return self._code()

    @property
    def text(self) -> str:
        """Return `File "model.py", line 12, in forward`, as tracebacks write it."""
        code = self.code
        if code is None:
            return f"line {self.line} of code that is gone"
        function = code_name(code) if is_module_call(code) else code.co_qualname
        return f'File "{shown_file(code.co_filename)}", line {self.line}, in {function}'


@dataclass(frozen=True, slots=True)
class Where:
    """`step` numbers an instruction of the attempt. `place` is the program's line that was running there, `library`
    the innermost line of its callees, if that is a library's."""

    step: int
    place: Place
    library: Place | None = None

    @staticmethod
    def of(step: int, calls: Iterable[tuple[CodeType, int]]) -> Where:
        """Return the place to show for the running calls, the innermost first (there is at least one)."""
        best: tuple[CodeType, int] | None = None
        innermost: tuple[CodeType, int] | None = None
        owner = -1
        for call in calls:
            innermost = innermost or call
            of_call = owner_of(call[0].co_filename)
            if of_call > owner:
                best, owner = call, of_call
                if owner == Owner.USER:
                    break
        assert best is not None and innermost is not None
        return Where(step, _place(best), None if best is innermost else _place(innermost))

    @property
    def text(self) -> str:
        """Return the lines that a message ends with."""
        below = "" if self.library is None else f"\n    which runs, in a library: {self.library.text}"
        return f"  {self.place.text}{below}"


def _place(call: tuple[CodeType, int]) -> Place:
    return Place(weakref.ref(call[0]), call[1])

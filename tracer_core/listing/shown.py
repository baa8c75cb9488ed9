"""Write values as Python text: expressions with their precedence, and readable names for objects in code."""

from __future__ import annotations

import functools
import itertools
import keyword
import sys
import types
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch.nn.attention import SDPBackend

from tracer_core.codegen.resume.functions import name_of as resume_name_of
from tracer_core.operator_table import COMPARISON_BINDS, NOT_BINDS, UNARY_BINDS

ATOM, POSTFIX, UNARY = 100, 90, UNARY_BINDS
COMPARISON, NOT, TERNARY, LOOSE = COMPARISON_BINDS, NOT_BINDS, 10, 0

MAX_TEXT, MAX_ITEMS = 80, 12
"""Longer constant texts are cut to this many characters, longer constant tuples to this many items."""


@dataclass(slots=True, eq=False)
class Shown:
    """An expression on the stack.

    Attributes:
        binds: how tightly its outermost operator binds; a looser one is put in brackets.
        names: the variables it reads; None if it must be evaluated where it stands, for it has effects, or gives
            another result later.
        open: for the display of a container that is still being filled: its brackets, and the items.
    """

    text: str
    binds: int = ATOM
    names: frozenset[str] | None = frozenset()
    open: tuple[str, str, list[str]] | None = field(default=None)

    def within(self, binds: int) -> str:
        """Return the text as part of an expression of this precedence."""
        return self.text if self.binds >= binds else f"({self.text})"


def name_of(name: str) -> Shown:
    return Shown(name, ATOM, frozenset([name]))


def computed(text: str, binds: int = POSTFIX) -> Shown:
    """Return an expression that has to be evaluated in its place."""
    return Shown(text, binds, None)


def display(brackets: str, items: Iterable[Shown]) -> Shown:
    """Return a container that is created here, of these items."""
    texts = [item.within(TERNARY) for item in items]
    return Shown(_in_brackets(brackets, texts), ATOM, None, (brackets[0], brackets[1], texts))


def added(to: Shown, item: str) -> bool:
    """Return whether `item` could be written into the display itself; else it has to be added by a statement."""
    if to.open is None:
        return False
    left, right, items = to.open
    items.append(item)
    to.text = _in_brackets(left + right, items)
    return True


def _in_brackets(brackets: str, items: list[str]) -> str:
    if brackets == "()" and len(items) == 1:
        return f"({items[0]},)"
    if brackets == "{}" and not items:
        return "set()"
    return f"{brackets[0]}{', '.join(items)}{brackets[1]}"


# --- constants ----------------------------------------------------------------------------------------------

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
_NAMED_BY_QUALNAME = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)


def constant(value: Any) -> Shown:
    """Return an object in the code, under the name that a reader knows. Runs no code of the user's."""
    kind = type(value)
    if kind in _PLAIN:
        return Shown(_plain(value), UNARY if kind in (int, float, complex) and _plain(value)[0] == "-" else ATOM)
    write = _CONSTANTS.get(kind)
    if write is not None:
        return Shown(write(value))
    if issubclass(kind, _NAMED_BY_QUALNAME):
        return Shown(_qualname(value))
    return Shown(f"<{_qualname(kind)} object>")


def _plain(value: Any) -> str:
    if type(value) in (str, bytes) and len(value) > MAX_TEXT:
        return repr(value[: MAX_TEXT - 3] + ("..." if type(value) is str else b"..."))
    try:
        return repr(value)
    except ValueError:  # an int with more digits than sys.set_int_max_str_digits allows
        return hex(value)


def code_name(code: CodeType) -> str:
    """Return the function's name, where it is an identifier (`<lambda>` is not)."""
    name = resume_name_of(code).strip("<>")
    return f"{name}_" if keyword.iskeyword(name) else name


def _qualname(value: Any) -> str:
    own = type.__dict__["__qualname__"].__get__(value) if isinstance(value, type) else value.__qualname__
    return str(own)


def _sequence(brackets: str, value: Collection[Any]) -> str:
    items = [constant(item) for item in itertools.islice(value, MAX_ITEMS)]
    if len(value) > MAX_ITEMS:
        items.append(Shown("..."))
    return display(brackets, items).text


def _frozenset(value: frozenset[Any]) -> str:
    return f"frozenset({_sequence('{}', value)})" if value else "frozenset()"


def _slice(value: slice) -> str:
    return f"slice({', '.join(constant(part).text for part in (value.start, value.stop, value.step))})"


def _dict(value: dict[Any, Any]) -> str:
    name = dict.get(value, "__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return f"vars({name})" if module is not None and module.__dict__ is value else "<dict object>"


def slice_text(value: Any) -> str | None:
    """Return `start:stop:step` of a constant slice of plain values, as in a subscript; None for other objects."""
    if type(value) is not slice:
        return None
    start, stop, step = (
        "" if part is None else constant(part).text for part in (value.start, value.stop, value.step)
    )
    return f"{start}:{stop}" + (f":{step}" if step else "")


_CONSTANTS: dict[type, Callable[[Any], str]] = {
    CodeType: lambda code: code_name(code),
    types.ModuleType: lambda module: str(types.ModuleType.__getattribute__(module, "__dict__").get("__name__")),
    type(...): lambda value: "...",
    tuple: functools.partial(_sequence, "()"),
    frozenset: _frozenset,
    slice: _slice,
    dict: _dict,
    **dict.fromkeys((torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme), repr),
    SDPBackend: lambda backend: f"SDPBackend.{backend.name}",
}

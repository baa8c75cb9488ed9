"""Write operands as `dis` prints them, without running code of the user's (a constant may be any object)."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from tracer_core.bytecode.ops import OPS, Operand
from tracer_core.names.code import object_name

_LEAF_TYPES = frozenset({type(None), bool, int, float, complex, str, bytes, type(...)})
_CONTAINER_TYPES = frozenset({tuple, frozenset})
_CONVERSIONS = ("", "str", "repr", "ascii")
_FUNCTION_PARTS = ("defaults", "kwdefaults", "annotations", "closure")


def constant_text(value: Any) -> str:
    """Return the `repr` of a constant that Python's compiler itself stores; only the type's name for anything
    else."""
    if type(value) is not CodeType and not _is_plain(value):
        return object_name(value)
    try:
        return repr(value)
    except ValueError:  # an int with more digits than sys.set_int_max_str_digits allows
        return hex(value) if type(value) is int else f"<{type(value).__qualname__} with a huge int>"


def operand_text(op: str) -> Callable[[Any, int], str]:
    """Return the function that gives an operand's text from its decoded value and its number in the bytecode. `dis`
    leaves a plain count to its number column; here it is the text."""
    if op in _BY_OP:
        describe_flags = _BY_OP[op]
        return lambda arg, number: describe_flags(arg) or str(number)
    describe = _BY_OPERAND.get(OPS[op].operand)
    if describe is None:
        return lambda arg, number: str(number)
    return lambda arg, number: describe(arg)


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return kind in _LEAF_TYPES or (kind in _CONTAINER_TYPES and all(map(_is_plain, value)))


def _format_value_text(flags: int) -> str:
    parts = [_CONVERSIONS[flags & 3], "with format" if flags & 4 else ""]
    return ", ".join(filter(None, parts))


def _make_function_text(flags: int) -> str:
    return ", ".join(part for bit, part in enumerate(_FUNCTION_PARTS) if flags & 1 << bit)


_BY_OP: dict[str, Callable[[Any], str]] = {
    "FORMAT_VALUE": _format_value_text,
    "MAKE_FUNCTION": _make_function_text,
    "LOAD_GLOBAL_NULL": lambda name: f"NULL + {name}",
}

_BY_OPERAND: dict[Operand, Callable[[Any], str]] = {
    Operand.NAME: str,
    Operand.CONSTANT: constant_text,
    Operand.LOCAL: str,
    Operand.CELL: str,
    Operand.COMPARISON: str,
    Operand.BINARY: str,
}

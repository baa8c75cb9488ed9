"""Expressions as syntax trees: templates to fill in, and readable names for the objects that code holds."""

from __future__ import annotations

import ast
import itertools
import keyword
import sys
import types
from collections.abc import Callable, Collection, Sequence
from types import CodeType
from typing import Any, TypeGuard

import torch
from torch.nn.attention import SDPBackend

from tracer_core.codegen.resume.functions import name_of as resume_name_of

MAX_TEXT, MAX_ITEMS = 80, 12
"""Longer constant texts are cut to this many characters, longer constant tuples to this many items."""


class _Verbatim(str):
    """The value of a constant that is shown by this text, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def verbatim(text: str) -> ast.expr:
    """Return an expression of which no part is a variable."""
    return ast.Constant(_Verbatim(text))


# --- templates ----------------------------------------------------------------------------------------------


def filled(template: str, *operands: ast.expr) -> ast.stmt:
    """Return the template's statement, with the operands for `_0`, `_1`, ..."""
    (statement,) = ast.parse(template).body
    result: ast.stmt = _Filling(operands).visit(statement)
    return result


def expression(template: str, *operands: ast.expr) -> ast.expr:
    """Return the template's expression, with the operands for `_0`, `_1`, ..."""
    statement = filled(template, *operands)
    assert isinstance(statement, ast.Expr)
    return statement.value


class _Filling(ast.NodeTransformer):
    def __init__(self, operands: Sequence[ast.expr]) -> None:
        self._operands = {f"_{number}": operand for number, operand in enumerate(operands)}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._operands.get(node.id, node)


def variables_of(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


# --- constants ----------------------------------------------------------------------------------------------

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, type(...)})
_NAMED_BY_QUALNAME = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)


def constant(value: Any) -> ast.expr:
    """Return an object in the code, under the name that a reader knows. Runs no code of the user's."""
    kind = type(value)
    if kind in _PLAIN:
        return _plain(value)
    write = _CONSTANTS.get(kind)
    if write is not None:
        return write(value)
    return verbatim(_qualname(value) if issubclass(kind, _NAMED_BY_QUALNAME) else f"<{_qualname(kind)} object>")


def _plain(value: Any) -> ast.expr:
    if type(value) in (str, bytes) and len(value) > MAX_TEXT:
        return ast.Constant(value[: MAX_TEXT - 3] + ("..." if type(value) is str else b"..."))
    try:
        text = repr(value)
    except ValueError:  # an int with more digits than sys.set_int_max_str_digits allows
        text = hex(value)
    if type(value) in (int, float) and text.startswith("-"):
        return ast.UnaryOp(ast.USub(), verbatim(text[1:]))
    return verbatim(text) if type(value) is float or text.startswith("0x") else ast.Constant(value)


def code_name(code: CodeType) -> str:
    """Return the function's name, where it is an identifier (`<lambda>` is not)."""
    name = resume_name_of(code).strip("<>")
    return f"{name}_" if keyword.iskeyword(name) else name


def _qualname(value: Any) -> str:
    own = type.__dict__["__qualname__"].__get__(value) if isinstance(value, type) else value.__qualname__
    return str(own)


def _items(value: Collection[Any]) -> list[ast.expr]:
    items = [constant(item) for item in itertools.islice(value, MAX_ITEMS)]
    return items if len(value) <= MAX_ITEMS else [*items, ast.Constant(...)]


def _frozenset(value: frozenset[Any]) -> str:
    return f"frozenset({ast.unparse(ast.Set(_items(value)))})" if value else "frozenset()"


def slice_of(parts: Sequence[ast.expr]) -> ast.Call:
    return ast.Call(_SLICE, list(parts), [])


def is_slice(expression: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(expression, ast.Call) and expression.func is _SLICE


def in_brackets(index: ast.expr) -> ast.expr:
    """Return the expression as an index: a slice is written with colons there."""
    if isinstance(index, ast.Tuple) and index.elts:
        return ast.Tuple([in_brackets(each) for each in index.elts])
    if is_slice(index):
        return ast.Slice(
            *(None if isinstance(part, ast.Constant) and part.value is None else part for part in index.args)
        )
    return index


_SLICE = verbatim("slice")


def _dict(value: dict[Any, Any]) -> str:
    name = dict.get(value, "__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return f"vars({name})" if module is not None and module.__dict__ is value else "<dict object>"


def module_of(text: str) -> str | None:
    """Return the module of which a constant's text is the namespace."""
    is_namespace = isinstance(text, _Verbatim) and text.startswith("vars(")
    return text.removeprefix("vars(").removesuffix(")") if is_namespace else None


def _by(text: Callable[[Any], object]) -> Callable[[Any], ast.expr]:
    return lambda value: verbatim(str(text(value)))


_CONSTANTS: dict[type, Callable[[Any], ast.expr]] = {
    CodeType: _by(code_name),
    types.ModuleType: _by(lambda module: types.ModuleType.__getattribute__(module, "__dict__").get("__name__")),
    tuple: lambda value: ast.Tuple(_items(value)),
    frozenset: _by(_frozenset),
    slice: lambda value: slice_of([constant(part) for part in (value.start, value.stop, value.step)]),
    dict: _by(_dict),
    **dict.fromkeys((torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme), _by(repr)),
    SDPBackend: _by(lambda backend: f"SDPBackend.{backend.name}"),
}

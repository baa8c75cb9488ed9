"""Turn a notebook cell into a function, so that the engine can trace the cell's own lines.

The cell's statements become the body of a function whose assigned names are all global, so that it assigns the
notebook's variables. Statements keep their lines and columns, so that source and tracebacks are the cell's.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

FUNCTION = "cell"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class CellError(Exception):
    """The cell is valid Python, but cannot be traced as a whole; the message says what to do instead."""


@dataclass(frozen=True)
class Cell:
    """A cell ready to be traced. `function()` runs it; it returns the last expression's value where `shows` is true,
    else None."""

    function: FunctionType
    shows: bool


def compile_cell(text: str, filename: str, namespace: dict[str, Any]) -> Cell:
    """Return a cell as a function.

    Args:
        text: the cell's Python, all IPython syntax already translated.
        filename: the name under which the source is known to `linecache`.
        namespace: the notebook's names, used as the function's globals.

    Raises:
        SyntaxError: where the cell is not Python.
        CellError: a module can contain the cell's statements, but a function cannot.
    """
    module = ast.parse(text, filename)
    _check(module, text, filename)
    flags = _take_future_imports(module)
    if not module.body:
        raise CellError("The cell is empty, so there is nothing to trace.")
    _Annotations().visit(module)
    body = module.body
    last = body[-1]
    shows = isinstance(last, ast.Expr)
    if isinstance(last, ast.Expr):
        body[-1] = ast.copy_location(ast.Return(last.value), last)
    names = _assigned(_compile(body, filename, flags))
    if names:
        declared: ast.stmt = ast.Global(names)
        body = [ast.copy_location(declared, body[0]), *body]
    return Cell(FunctionType(_compile(body, filename, flags), namespace, FUNCTION), shows)


def _take_future_imports(module: ast.Module) -> int:
    """Remove `from __future__ import ...`, which only a module may contain, and return its compiler flags."""
    flags = 0
    kept: list[ast.stmt] = []
    for statement in module.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for name in statement.names:
                flags |= getattr(__future__, name.name).compiler_flag
        else:
            kept.append(statement)
    module.body = kept
    return flags


def _check(module: ast.Module, text: str, filename: str) -> None:
    """Raise CellError for statements that a module may contain and a function may not; SyntaxError comes first."""
    try:
        compile(text, filename, "exec", dont_inherit=True)
    except SyntaxError:
        if _compiles_with_await(text, filename):
            raise CellError(
                "The cell awaits at its top level, which cannot be traced: move the `await` to a cell of its own, "
                "and trace what it awaits."
            ) from None
        raise
    for statement in _statements(module.body):
        if isinstance(statement, ast.ImportFrom) and any(name.name == "*" for name in statement.names):
            raise CellError(
                f"Line {statement.lineno}: `from {statement.module or '.'} import *` cannot be traced, because it "
                "does not say which names it assigns. Put it in a cell of its own above this one."
            )


def _compiles_with_await(text: str, filename: str) -> bool:
    try:
        compile(text, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of the cell, also in its loops and branches, but not in its functions and classes."""
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, _SCOPES):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


class _Annotations(ast.NodeTransformer):
    """Turn `x: int = 1` into `x = 1`: a function may not annotate what it declares global."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node


def _compile(body: list[ast.stmt], filename: str, flags: int) -> CodeType:
    """Return the code of a function with this body."""
    no_arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.FunctionDef(FUNCTION, no_arguments, body, decorator_list=[], returns=None)
    ast.copy_location(function, body[0])
    function.end_lineno = body[-1].end_lineno
    module = ast.fix_missing_locations(ast.Module([function], type_ignores=[]))
    code = compile(module, filename, "exec", flags=flags, dont_inherit=True)
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _assigned(code: CodeType) -> list[str]:
    """Return the local variables of a function with this code."""
    return sorted({*code.co_varnames, *code.co_cellvars})

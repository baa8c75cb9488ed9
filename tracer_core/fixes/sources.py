"""Rewrite one statement of a function into a new code object, with the lines of the original."""

from __future__ import annotations
import __future__

import ast
import copy
import linecache
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


@dataclass(frozen=True)
class Written:
    """A function as it is written: its file, parsed, and its node there."""

    code: CodeType
    lines: list[str]
    tree: ast.Module
    function: ast.FunctionDef

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """Yield each list of statements of the function."""
        for node in ast.walk(self.function):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block

    def statements_at(self, line: int | None) -> list[tuple[list[ast.stmt], int]]:
        """Return the innermost statements on a line, in order, each as its block and its position there."""
        on_line = [
            (block, at)
            for block in self.blocks()
            for at, one in enumerate(block)
            if line is not None and one.lineno <= line <= (one.end_lineno or one.lineno)
        ]
        last = max((block[at].lineno for block, at in on_line), default=0)
        return [(block, at) for block, at in on_line if block[at].lineno == last]


def written(code: CodeType) -> Written | None:
    """Return a function's source; None if it is not a `def` in a known file that still has this text."""
    lines = linecache.getlines(code.co_filename)
    try:
        tree = ast.parse("".join(lines))
        now = _inner(_compiled(tree, code), code)
    except (SyntaxError, ValueError):
        return None
    functions = [
        one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and _first_line(one) == code.co_firstlineno
    ]
    if now is None or now.co_code != code.co_code or len(functions) != 1:
        return None
    return Written(code, lines, tree, functions[0])


def rewritten(
    source: Written, line: int | None, change: Callable[[list[ast.stmt], int], int | None]
) -> tuple[CodeType, str] | None:
    """Return the code in which `change` has rewritten the statement of a line, and the diff.

    `change` gets a block and a position in it. It returns how many statements its one new statement there replaces,
    or None if it does not apply.
    """
    for number, (old_block, _) in enumerate(source.statements_at(line)):
        before = list(old_block)
        tree = copy.deepcopy(source.tree)
        twin = written_in(tree, source)
        if twin is None:
            return None
        block, at = twin.statements_at(line)[number]
        count = change(block, at)
        if count is None:
            continue
        ast.fix_missing_locations(tree)
        new = _inner(_compiled(tree, source.code), source.code)
        if new is None or new.co_freevars != source.code.co_freevars:
            return None
        return new, _diff(source, before[at : at + count], block[at])
    return None


def written_in(tree: ast.Module, source: Written) -> Written | None:
    """Return the same function in a copy of its file's tree."""
    same = (
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and _first_line(one) == source.code.co_firstlineno
    )
    function = next(same, None)
    return None if function is None else Written(source.code, source.lines, tree, function)


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


def _compiled(tree: ast.Module, code: CodeType) -> CodeType:
    flags = code.co_flags & _FUTURE
    compiled: CodeType = compile(tree, code.co_filename, "exec", flags=flags, dont_inherit=True)
    return compiled


def _inner(outer: CodeType, wanted: CodeType) -> CodeType | None:
    """Return the code inside `outer` that has the name and first line of `wanted`."""
    pending: list[Any] = [outer]
    while pending:
        code = pending.pop()
        if code.co_name == wanted.co_name and code.co_firstlineno == wanted.co_firstlineno and code is not outer:
            return code  # type: ignore[no-any-return]
        pending += [part for part in code.co_consts if isinstance(part, CodeType)]
    return None


def _diff(source: Written, old: list[ast.stmt], new: ast.stmt) -> str:
    """Return the lines before and after, without their common indentation. What else is on the first and the last
    line stays."""
    first, last = old[0], old[-1]
    lines = [line.encode() for line in source.lines[first.lineno - 1 : last.end_lineno]]
    head, tail = lines[0][: first.col_offset], lines[-1][last.end_col_offset :]
    text, indent = ast.unparse(new), len(head) - len(head.lstrip())
    if lines[0][first.col_offset :].startswith(b"elif"):
        text = "else:\n" + textwrap.indent(text, "    ")
    after = head.decode() + text.replace("\n", "\n" + " " * indent) + tail.decode()
    before, after = (textwrap.dedent(each) for each in (b"".join(lines).decode(), after))
    return "\n".join([*(f"- {line}" for line in before.splitlines()), *(f"+ {line}" for line in after.splitlines())])

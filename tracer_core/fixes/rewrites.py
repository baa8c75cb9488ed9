"""Candidates that rewrite a line of the program, in a copy.

`torch.where` or `torch.cond` replaces a branch, a tensor its number, and a constant what is computed of nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import torch

from tracer_core.fixes.candidates import Candidate, Problem, Recorded, candidate
from tracer_core.fixes.kept import functions_with
from tracer_core.fixes.repeating import Change, evaluated
from tracer_core.fixes.sources import Written, rewritten, written
from tracer_core.reasons import REASONS
from tracer_core.recording import schema

Branches = tuple[ast.expr, ast.expr, ast.expr]
"""A condition, and the values if it is true and if it is false."""
Merge = Callable[[str, Branches], ast.expr]
"""Builds one expression of the branches, given the name of torch."""


def _code_of(recorded: Recorded, problem: schema.Break) -> CodeType | None:
    number = recorded.trace.function_of(problem.code).id
    return recorded.kept.codes[number] if number < len(recorded.kept.codes) else None


def _globals_of(recorded: Recorded, code: CodeType) -> dict[str, Any]:
    for call in recorded.kept.calls:
        if call.code is code:
            return call.globals
    found = functions_with(code)
    return found[0].__globals__ if found else {}


def _source(recorded: Recorded, problem: schema.Break) -> tuple[Written, dict[str, Any]] | None:
    code = _code_of(recorded, problem)
    source = None if code is None else written(code)
    return None if code is None or source is None else (source, _globals_of(recorded, code))


def _unreadable(recorded: Recorded, problem: schema.Break) -> str:
    name = recorded.trace.function_of(problem.code).qualname
    return f"No file has the source of `{name}` as a `def`, so its line cannot be rewritten."


@candidate(breaks=["tensor-branch"])
def branches(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Compute both branches and choose (`torch.where`), or let the graph branch (`torch.cond`)."""
    if not isinstance(problem, schema.Break):
        return
    either = "torch.where or torch.cond for the branch"
    found = _source(recorded, problem)
    if found is None:
        yield Candidate(either, why_not=_unreadable(recorded, problem))
        return
    source, scope = found
    name = next((name for name, value in scope.items() if value is torch), None)
    if name is None:
        yield Candidate(either, why_not="The function's module does not import torch under a name of its own.")
        return
    rewrites = {
        title: rewritten(source, problem.line, _merging(name, merge))
        for title, merge in (("torch.where", _where), ("torch.cond", _cond))
    }
    where = rewrites["torch.where"]
    both = None if where is None else Change(codes={source.code: where[0]})
    for title, done in rewrites.items():
        if done is not None:
            change = Change(codes={source.code: done[0]})
            yield Candidate(f"{title} for the branch", done[1], change, rehearsal=both)
    if not any(rewrites.values()):
        yield Candidate(either, why_not=_NO_MERGE)


_NO_MERGE = (
    "Only a conditional expression can be rewritten, and an `if` whose branches assign one variable each, the same "
    "one, or return a value each."
)


def _where(name: str, parts: Branches) -> ast.expr:
    return ast.Call(_torch(name, "where"), list(parts), [])


def _cond(name: str, parts: Branches) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    condition, *branches = parts
    lambdas = [ast.Lambda(nothing, _not_an_alias(branch)) for branch in branches]
    return ast.Call(_torch(name, "cond"), [condition, *lambdas], [])


def _not_an_alias(value: ast.expr) -> ast.expr:
    """Return a copy of a variable, since a branch of torch.cond may not return what it was given."""
    return ast.Call(ast.Attribute(value, "clone", ast.Load()), [], []) if isinstance(value, ast.Name) else value


def _torch(name: str, function: str) -> ast.expr:
    return ast.Attribute(ast.Name(name, ast.Load()), function, ast.Load())


def _merging(name: str, merge: Merge) -> Callable[[list[ast.stmt], int], int | None]:
    def change(block: list[ast.stmt], at: int) -> int | None:
        statement = block[at]
        if isinstance(statement, ast.If):
            return _merge_statement(block, at, statement, name, merge)
        return _merge_expression(statement, name, merge)

    return change


def _merge_statement(block: list[ast.stmt], at: int, statement: ast.If, name: str, merge: Merge) -> int | None:
    """Merge an `if` whose branches each assign one variable, or each return a value."""
    yes = _only(statement.body)
    following = block[at + 1] if at + 1 < len(block) else None
    no = _only(statement.orelse) if statement.orelse else following
    count = 1
    new: ast.stmt | None = None
    if isinstance(yes, ast.Return) and isinstance(no, ast.Return) and yes.value and no.value:
        new = ast.Return(merge(name, (statement.test, yes.value, no.value)))
        count = 1 if statement.orelse else 2
    elif (target := _target(yes)) is not None:
        kept = ast.Name(target, ast.Load())
        other = _value(no) if statement.orelse else kept
        if other is not None and (not statement.orelse or _target(no) == target):
            value = _value(yes)
            assert value is not None
            new = ast.Assign([ast.Name(target, ast.Store())], merge(name, (statement.test, value, other)))
    if new is None:
        return None
    block[at : at + count] = [ast.copy_location(new, statement)]
    return count


def _only(body: list[ast.stmt]) -> ast.stmt | None:
    return body[0] if len(body) == 1 else None


def _target(statement: ast.stmt | None) -> str | None:
    """Return the variable that a statement assigns, if it does only that."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) else None


def _value(statement: ast.stmt | None) -> ast.expr | None:
    if isinstance(statement, ast.Assign):
        return statement.value
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return ast.BinOp(ast.Name(statement.target.id, ast.Load()), statement.op, statement.value)
    return None


def _merge_expression(statement: ast.stmt, name: str, merge: Merge) -> int | None:
    found = next((node for node in ast.walk(statement) if isinstance(node, ast.IfExp)), None)
    if found is None:
        return None
    _Replace(found, merge(name, (found.test, found.body, found.orelse))).visit(statement)
    return 1


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return ast.copy_location(self._new, node) if node is self._old else super().generic_visit(node)


@candidate(breaks=["tensor-data", "data-dependent-number"])
def scalar_as_tensor(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Keep a number in the graph as the tensor that it comes from: `x` for `x.item()`, `float(x)`, `int(x)`."""
    if not isinstance(problem, schema.Break):
        return
    name, found = "the tensor instead of its number", _source(recorded, problem)
    if found is None:
        yield Candidate(name, why_not=_unreadable(recorded, problem))
        return
    done = rewritten(found[0], problem.line, _without_item)
    if done is not None:
        yield Candidate(name, done[1], Change(codes={found[0].code: done[0]}))
    else:
        yield Candidate(
            name, why_not="The line has no call of `.item()`, `float()`, `int()` or `bool()` to leave out."
        )


def _without_item(block: list[ast.stmt], at: int) -> int | None:
    for node in ast.walk(block[at]):
        if isinstance(node, ast.Call):
            tensor = _read_by(node)
            if tensor is not None:
                _Replace(node, tensor).visit(block[at])
                return 1
    return None


def _read_by(call: ast.Call) -> ast.expr | None:
    """Return the tensor whose number a call reads."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr == "item" and not call.args:
        return function.value
    if isinstance(function, ast.Name) and function.id in ("float", "int", "bool") and len(call.args) == 1:
        inner = call.args[0]
        return (_read_by(inner) if isinstance(inner, ast.Call) else None) or inner
    return None


_NOT_MOVED = ("print", "tensor-branch", "breakpoint", "random-number", "random-choice", "random-state")


@candidate(breaks=[reason for reason in REASONS if reason not in _NOT_MOVED])
def moved_out(recorded: Recorded, problem: Problem) -> Iterator[Candidate]:
    """Compute before the call what depends on no variable of the function."""
    if not isinstance(problem, schema.Break) or (found := _source(recorded, problem)) is None:
        return
    source, scope = found
    statements = (block[at] for block, at in source.statements_at(problem.line))
    parts = (_constant_part(statement, source.code, scope) for statement in statements)
    moved = next((part for part in parts if part is not None), None)
    if moved is None:
        return
    try:
        value = evaluated(recorded.kept, compile(ast.Expression(moved), "<constant>", "eval"), scope)
    except Exception:  # noqa: BLE001  then it is no constant
        return
    if not isinstance(value, bool | int | float | str | None):
        return
    text, name = ast.unparse(moved), "constant"
    while name in (*scope, *source.code.co_varnames):
        name += "_"

    def put(new: ast.expr) -> Callable[[list[ast.stmt], int], int | None]:
        def change(block: list[ast.stmt], at: int) -> int | None:
            calls = (node for part in _own_parts(block[at]) for node in ast.walk(part) if isinstance(node, ast.Call))
            same = next((node for node in calls if ast.unparse(node) == text), None)
            if same is None:
                return None
            _Replace(same, new).visit(block[at])
            return 1

        return change

    done = rewritten(source, problem.line, put(ast.Constant(value)))
    shown = rewritten(source, problem.line, put(ast.Name(name, ast.Load())))
    if done is not None and shown is not None:
        diff = f"+ {name} = {text}  # {value!r}; once, outside the function\n{shown[1]}"
        yield Candidate("the constant moved out", diff, Change(codes={source.code: done[0]}))


def _own_parts(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement but the statements inside it; none if it drops a value that it computes."""
    if isinstance(statement, ast.Expr):
        return []
    return [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt | ast.excepthandler)]


def _constant_part(statement: ast.stmt, code: CodeType, scope: dict[str, Any]) -> ast.expr | None:
    """Return the outermost call in a statement that uses no variable of the function."""
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for node in (node for part in _own_parts(statement) for node in ast.walk(part)):
        if isinstance(node, ast.Call):
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            if names and not names & own and all(name in scope or hasattr(builtins, name) for name in names):
                return node
    return None

"""`eval` of a text that is known: its expression is walked as a function of the variables it names."""

from __future__ import annotations

import ast
import warnings

from tracer_core.errors import Unsupported
from tracer_core.variables.base import Kwargs, Tracing, VariableTracker
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.nested_functions import NestedFunctionVariable
from tracer_core.variables.registry import handles

_NAMESPACES = frozenset({"locals", "globals", "vars", "dir", "eval", "exec", "super", "__class__"})
# A scope of its own does not see the locals in an evaluated text, but would in a function; the others store or wait.
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_UNLIKE_A_FUNCTION = (*_SCOPES, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


@handles(eval)
def evaluate(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    names = _names(args, kwargs)
    if names is None:
        raise Unsupported("exec")
    frame = tx.frame
    local = {name: frame.locals[name] for name in names if name in frame.locals}
    local |= {n: c.contents for n, c in frame.cells.items() if n in names and c.contents is not None}
    text = args[0].value().strip()
    function = eval(f"lambda {', '.join(local)}: ({text}\n)", frame.globals)
    walked = NestedFunctionVariable(function.__code__, frame.globals, [], None, None, None)
    result: VariableTracker = tx.call(walked, list(local.values()))
    return result


def _names(args: tuple[VariableTracker, ...], kwargs: Kwargs) -> set[str] | None:
    """The names in the text to evaluate; None if it must be left to Python."""
    if len(args) != 1 or kwargs or not isinstance(args[0], ConstantVariable) or not isinstance(args[0].value(), str):
        return None
    tree = _compiled_quietly(args[0].value().strip(" \t"))
    if tree is None:
        return None
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if names & _NAMESPACES or any(isinstance(node, _UNLIKE_A_FUNCTION) for node in nodes):
        return None
    return names


def _compiled_quietly(text: str) -> ast.Expression | None:
    """The text's tree; None where Python would refuse it or warn of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            tree = ast.parse(text, mode="eval")
            compile(tree, "<string>", "eval")
        except (SyntaxError, ValueError):
            return None
    return tree

"""The journal hears of every write of a field of a tracker that exists already, before it happens.

Read from the source: where a function assigns to a field or an item of it, or calls what changes it in place, it must
first have called `save` or `changes` with the tracker, or created it. For private functions, those that call them may
do so instead.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import tracer_core.higher_order
import tracer_core.interpreter
import tracer_core.variables
from tracer_core.variables.core.base import VariableTracker

MODULES = {
    found.name: importlib.import_module(found.name)  # all, for all kinds of tracker
    for package in (tracer_core.interpreter, tracer_core.higher_order, tracer_core.variables)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
}

ANNOUNCE = ("save", "changes", "_about_to_change", "_about_to_move")
# What returns a tracker that it has created, besides the classes.
CREATE = {"cls", "copied", "having", "in_graph"}
CHANGE_IN_PLACE = frozenset(
    "add append appendleft clear discard extend extendleft insert move_to_end pop popitem popleft remove reverse "
    "rotate setdefault sort update".split()
)

# Writes that the journal need not hear of, and why.
EXCEPTIONS = {
    "interpreter.classes.library.make_by_library: namespace.real": "no tracker: the namespace of a class statement",
    "interpreter.machine.breaks: unsupported.frame": "no tracker: an exception of the engine",
    "higher_order.speculate._of_body: found.frame": "no tracker: the same",
    "higher_order.speculate._again: found.frame": "no tracker: the same",
    "variables.builtins.text.plain_exception: made.args": "no tracker: a real exception",
    "variables.core.lazy.realize: self.realized": "the trace has a list of those to undo",
    "variables.builders.builder._look_at: self.tx.trace.realized": "no tracker: that list",
    "variables.core.tensors.move_to: self._node": "`same_results` saves the tracker before it calls this",
    "variables.core.trace_state.roll_back: lazy.realized": "the undoing itself",
    "variables.core.journal.save: mark.saved": "no tracker: the journal's own",
    "variables.core.journal.keep: outer.saved": "no tracker: the journal's own",
    "variables.builtins.set_methods.set_pop: self.real": "refused where it would have to be put back",
    "variables.objects.builtin_parts.with_part: part.whole": "the part was created for this object",
}


def kinds(base: type) -> Iterator[type]:
    yield base
    for kind in base.__subclasses__():
        yield from kinds(kind)


TRACKERS = {kind.__name__ for kind in kinds(VariableTracker)}
FIELDS = {name for kind in kinds(VariableTracker) for name in vars(kind).get("__slots__", ())}


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method, with those inside it."""

    owner: str | None
    node: ast.FunctionDef

    @property
    def parameters(self) -> list[str]:
        return [arg.arg for arg in (*self.node.args.posonlyargs, *self.node.args.args)]

    def calls(self) -> Iterator[ast.Call]:
        return (node for node in ast.walk(self.node) if isinstance(node, ast.Call))

    def vouched(self) -> Iterator[tuple[int, str]]:
        """Line and text of each tracker that is announced or created."""
        for call in self.calls():
            if name_called(call) in ANNOUNCE:
                yield from ((call.lineno, text) for text in given(call))
        for node in ast.walk(self.node):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                if name_called(node.value) in TRACKERS | CREATE:
                    yield from ((node.lineno, ast.unparse(target)) for target in node.targets)

    def writes(self) -> Iterator[tuple[int, str, str]]:
        """Line, tracker and field of each write."""
        for node in ast.walk(self.node):
            written = written_by(node)
            if isinstance(written, ast.Attribute) and written.attr in FIELDS:
                yield written.lineno, ast.unparse(written.value), written.attr


def written_by(node: ast.AST) -> ast.expr | None:
    """Return what an expression writes to, or what holds it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGE_IN_PLACE:
        # (A tracker's own method is given `tx`, and announces what it does.)
        return None if "tx" in given(node) else node.func.value
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return node.value if isinstance(node, ast.Subscript) else node
    return None


def name_called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def given(call: ast.Call) -> list[str]:
    """What is called with: the object of a method first."""
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    texts = (ast.unparse(each) for each in (*receiver, *call.args))
    return ["self" if text == "super()" else text for text in texts]


def functions(tree: ast.Module) -> Iterator[Function]:
    for node in tree.body:
        owner = node.name if isinstance(node, ast.ClassDef) else None
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef) and each.name not in ("__init__", "__new__"):
                yield Function(owner, each)


def unannounced(source: str) -> set[str]:
    """The writes in a module of which the journal does not hear."""
    found = list(functions(ast.parse(source)))
    todo = [
        (each, line, holder, f"{each.node.name}: {holder}.{field}")
        for each in found
        for line, holder, field in each.writes()
        if holder != "self" or each.owner is None or each.owner in TRACKERS
    ]
    left = set()
    for each, line, holder, write in todo:  # (It grows.)
        if any(before <= line and text == holder for before, text in each.vouched()):
            continue
        callers = list(callers_of(each, holder, found))
        todo += [entry for caller, at, text in callers if (entry := (caller, at, text, write)) not in todo]
        if not callers:
            left.add(write)
    return left


def callers_of(function: Function, parameter: str, found: list[Function]) -> Iterator[tuple[Function, int, str]]:
    """Where the functions of its module call a private function: the caller, the line, and what it gives."""
    if function.node.name.startswith("_") and parameter in function.parameters:
        place = function.parameters.index(parameter)
        for caller in found:
            for call in caller.calls():
                if name_called(call) == function.node.name and caller is not function:
                    yield caller, call.lineno, given(call)[place]


def test_the_journal_hears_of_every_write() -> None:
    writes = {
        f"{name.removeprefix('tracer_core.')}.{write}"
        for name, module in MODULES.items()
        for write in unannounced(inspect.getsource(module))
    }
    assert writes == set(EXCEPTIONS)


def test_all_of_a_tracker_is_in_its_slots() -> None:
    """The journal saves nothing else."""
    assert [kind for kind in kinds(VariableTracker) if "__dict__" in dir(kind)] == []


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("a.items = []", {"f: a.items"}),
        ("a.items[0] = b", {"f: a.items"}),
        ("del a.items[0]", {"f: a.items"}),
        ("a.items += [b]", {"f: a.items"}),
        ("a.items.append(b)", {"f: a.items"}),
        ("tx.trace.journal.save(b)\n a.items = []", {"f: a.items"}),
        ("a.items = []\n tx.trace.journal.save(a)", {"f: a.items"}),
        ("_g(a)\ndef _g(b):\n b.items = []", {"_g: b.items"}),
        ("tx.trace.journal.save(a)\n a.items = []", set()),
        ("a.changes(tx, 'why')\n a.items = []", set()),
        ("tx.trace.journal.save(a)\n _g(a)\ndef _g(b):\n b.items = []", set()),
        ("a = ListVariable([])\n a.items = [b]", set()),
        ("a.items.append(tx, b)", set()),
        ("a.of_no_tracker = b", set()),
        ("return a.items[0]", set()),
    ],
)
def test_writes_are_read_from_the_source(body: str, left: set[str]) -> None:
    assert unannounced(f"def f(tx, a, b):\n {body}") == left

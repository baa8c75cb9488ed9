"""Generate the text of one function from a list of guards, through a tree of their sources.

Each source is fetched once. In the conditions' texts, `\\x00<number>\\x00` stands for the value of a node; the last
pass puts there the expression that fetches it, or, where the value is used more than once, a variable that the first
use assigns. The function is one chain of `and`s, so that nothing is evaluated after the first guard that fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from tracer_core.guards.batch import IN_STATE_GUARD, batchable, state_check, tensor_check
from tracer_core.guards.guard import Guard, Relation
from tracer_core.guards.kinds.relations import EXPRESSION_NAMES
from tracer_core.host.signals import is_external_error
from tracer_core.sources import Source

_TOKEN = re.compile("\x00([0-9]+)\x00")
_EARLY = re.compile("\x01([0-9]+)\x01")
"""A condition that only ensures that the node's variable, if it has one, is assigned."""


@dataclass(slots=True, eq=False)
class _Node:
    """A source, its guards, and the sources based on it. `rank` is that of the most expensive guard in the
    subtree."""

    number: int
    source: Source
    parent: _Node | None
    guards: list[Guard] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)
    text: str = ""
    rank: int = -1

    @property
    def token(self) -> str:
        return f"\x00{self.number}\x00"

    def take(self, guard: Guard) -> None:
        self.guards.append(guard)
        at: _Node | None = self
        while at is not None and at.rank < guard.rule.rank:
            at.rank = guard.rule.rank
            at = at.parent


class _Names:
    """Objects that the text refers to, by name."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {
            "__builtins__": __builtins__,
            "is_external_error": is_external_error,
            **EXPRESSION_NAMES,
        }
        self._names: dict[int, str] = {}

    def __call__(self, value: Any) -> str:
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"c{len(self._names)}"
            self.namespace[name] = value
        return name


class _Tree:
    def __init__(self) -> None:
        self.nodes: dict[Source, _Node] = {}
        self.roots: list[_Node] = []
        self.const = _Names()

    def node(self, source: Source) -> _Node:
        found = self.nodes.get(source)
        if found is None:
            base = source.base
            parent = None if base is None else self.node(base)
            found = self.nodes[source] = _Node(len(self.nodes), source, parent)
            found.text = source.expr("" if parent is None else parent.token, self.const)
            (self.roots if parent is None else parent.children).append(found)
        return found

    def numbered(self) -> dict[int, _Node]:
        return {node.number: node for node in self.nodes.values()}


_by_rank = attrgetter("rank")


class _ConditionWriter:
    """Write the tree's guards as conditions, in the order they are checked."""

    def __init__(self, tree: _Tree) -> None:
        self.tree = tree
        self.ordered: list[Guard] = []
        self.conditions: list[str] = []
        self.batch: list[tuple[_Node, Guard]] = []
        self._examples: set[int] = set()

    def check_state(self, guards: list[Guard]) -> None:
        """Check all guards on settings by one call that implies them; only if it fails are they checked one by
        one."""
        if not guards:
            return
        self.ordered += guards
        each = " and ".join(self._condition(guard) for guard in guards)
        together = state_check(guards)
        self.conditions.append(each if together is None else f"({self.tree.const(together)}() or {each})")

    def visit(self, node: _Node) -> None:
        for guard in sorted(node.guards, key=lambda guard: guard.rule.rank):
            self.ordered.append(guard)
            if guard.kind == "TENSOR" and self._take_into_batch(node, guard):
                if node.children:
                    self.conditions.append(guard.expected.cls.condition(f"type({node.token})", self.tree.const))
            else:
                self.conditions.append(self._condition(guard))
        for child in sorted(node.children, key=_by_rank):
            self.visit(child)

    def check_batch(self) -> None:
        if self.batch:
            check = self.tree.const(tensor_check([guard for _, guard in self.batch]))
            self.conditions.append(f"{check}({', '.join(node.token for node, _ in self.batch)})")

    def check_relations(self, guards: list[Guard]) -> None:
        in_batch = {node.source for node, _ in self.batch}
        for guard in sorted(guards, key=lambda guard: guard.rule.rank):
            self.ordered.append(guard)
            if guard.kind == "NOT_DUPLICATE" and in_batch.issuperset(guard.sources):
                continue
            rule = guard.rule
            assert isinstance(rule, Relation)
            for source in guard.sources:
                self.conditions += (f"\x01{self.tree.node(part).number}\x01" for part in source.path())
            tokens = [self.tree.node(source).token for source in guard.sources]
            self.conditions.append(rule.relation(tokens, guard.expected, self.tree.const))

    def _condition(self, guard: Guard) -> str:
        return guard.rule.condition(self.tree.node(guard.source).token, guard.expected, self.tree.const)

    def _take_into_batch(self, node: _Node, guard: Guard) -> bool:
        if not batchable(guard):
            return False
        example = id(guard.expected.example())
        if example in self._examples:
            return False
        self._examples.add(example)
        self.batch.append((node, guard))
        return True


def _expand(conditions: list[str], nodes: dict[int, _Node]) -> Iterator[str]:
    """Return the conditions with every node's value filled in, in the order they are evaluated."""
    uses = Counter(_TOKEN.findall("\n".join([*conditions, *(node.text for node in nodes.values())])))
    assigned: set[str] = set()

    def value(match: re.Match[str]) -> str:
        number = match[1]
        if number in assigned:
            return f"v{number}"
        text = _TOKEN.sub(value, nodes[int(number)].text)
        if uses[number] == 1:
            return text
        assigned.add(number)
        return f"(v{number} := {text})"

    for condition in conditions:
        early = _EARLY.fullmatch(condition)
        if early is None:
            yield _TOKEN.sub(value, condition)
        elif uses[early[1]] > 1 and early[1] not in assigned:
            yield f"({value(early)},)"


@dataclass(frozen=True, slots=True)
class Generated:
    """The guards in the order they are checked, the text of `guards_hold(L)`, and the values of its names: all except
    `G` and `B`, the frame's globals (if it `reads_globals`) and builtins."""

    guards: list[Guard]
    text: str
    namespace: dict[str, Any]
    reads_globals: bool


def generate(guards: list[Guard]) -> Generated:
    """Return the function that checks `guards`, which are all different."""
    tree = _Tree()
    relations: list[Guard] = []
    settings: list[Guard] = []
    for guard in guards:
        if isinstance(guard.rule, Relation):
            relations.append(guard)
            for source in guard.sources:
                tree.node(source)
        elif guard.kind == "GLOBAL_STATE" and guard.expected[0] in IN_STATE_GUARD:
            settings.append(guard)
        else:
            tree.node(guard.source).take(guard)
    writer = _ConditionWriter(tree)
    writer.check_state(settings)
    for root in sorted(tree.roots, key=_by_rank):
        writer.visit(root)
    writer.check_batch()
    writer.check_relations(relations)
    conditions = list(_expand(writer.conditions, tree.numbered()))
    text = _TEMPLATE.format("\n            and ".join(conditions) or "True")
    reads_globals = any(root.source.of_frame_globals for root in tree.roots)
    return Generated(writer.ordered, text, tree.const.namespace, reads_globals)


_TEMPLATE = """\
def guards_hold(L):
    try:
        return (
            {}
        )
    except Exception as error:
        if is_external_error(error):
            raise
        return False
"""

"""Methods of deques."""

from __future__ import annotations

from tracer_core.variables.containers.sequences import DequeVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import getter, method, only_keeps
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.indices import index_value


def _trim(self: DequeVariable, from_left: bool) -> None:
    while self.maxlen is not None and len(self.items) > self.maxlen:
        self.items.pop(0 if from_left else -1)


@method(DequeVariable, "append")
@only_keeps
def deque_append(tx: Tracing, self: DequeVariable, item: VariableTracker) -> VariableTracker:
    self.changes(tx, "an item is appended")
    self.items.append(item)
    _trim(self, from_left=True)
    return NONE


@method(DequeVariable, "appendleft")
@only_keeps
def deque_appendleft(tx: Tracing, self: DequeVariable, item: VariableTracker) -> VariableTracker:
    self.changes(tx, "an item is put in front")
    self.items.insert(0, item)
    _trim(self, from_left=False)
    return NONE


@method(DequeVariable, "extend")
def deque_extend(tx: Tracing, self: DequeVariable, items: VariableTracker) -> VariableTracker:
    for item in tx.unpack(items):
        deque_append(tx, self, item)
    return NONE


@method(DequeVariable, "extendleft")
def deque_extendleft(tx: Tracing, self: DequeVariable, items: VariableTracker) -> VariableTracker:
    for item in tx.unpack(items):
        deque_appendleft(tx, self, item)
    return NONE


@method(DequeVariable, "pop")
def deque_pop(tx: Tracing, self: DequeVariable) -> VariableTracker:
    if not self.items:
        tx.raise_(IndexError, "pop from an empty deque")
    self.changes(tx, "the last item is taken out")
    return self.items.pop()


@method(DequeVariable, "popleft")
def deque_popleft(tx: Tracing, self: DequeVariable) -> VariableTracker:
    if not self.items:
        tx.raise_(IndexError, "pop from an empty deque")
    self.changes(tx, "the first item is taken out")
    return self.items.pop(0)


@method(DequeVariable, "insert")
def deque_insert(tx: Tracing, self: DequeVariable, index: VariableTracker, item: VariableTracker) -> VariableTracker:
    at = index_value(tx, index, f"{index.type_name_in_errors()!r} object cannot be interpreted as an integer")
    if len(self.items) == self.maxlen:
        tx.raise_(IndexError, "deque already at its maximum size")
    self.changes(tx, "an item is inserted")
    self.items.insert(at, item)
    return NONE


@method(DequeVariable, "rotate")
def deque_rotate(tx: Tracing, self: DequeVariable, n: VariableTracker = ConstantVariable(1)) -> VariableTracker:
    count = index_value(tx, n, f"{n.type_name_in_errors()!r} object cannot be interpreted as an integer")
    if self.items:
        steps = count % len(self.items)
        self.changes(tx, "it is rotated")
        self.items = self.items[-steps:] + self.items[:-steps] if steps else self.items
    return NONE


@method(DequeVariable, "copy")
def deque_copy(tx: Tracing, self: DequeVariable) -> VariableTracker:
    return DequeVariable(list(self.items), self.maxlen)


@getter(DequeVariable, "maxlen")
def deque_maxlen(tx: Tracing, self: DequeVariable) -> VariableTracker:
    return ConstantVariable(self.maxlen)

"""Replay mutations of objects that outlive the trace: one rule per kind of mutation, under `@writes_back`."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tracer_core.bytecode import Span
from tracer_core.codegen.emit.emitter import CannotRebuild, Emitter
from tracer_core.codegen.rebuild.containers import dict_of, list_of
from tracer_core.codegen.rebuild.keys import check_keys
from tracer_core.codegen.rebuild.objects import set_attributes, write_exception
from tracer_core.runtime.containers import remove_keys, set_entries, set_items
from tracer_core.runtime.generators import end_generator
from tracer_core.runtime.iterators import advance
from tracer_core.runtime.objects import delete_class_attribute
from tracer_core.variables.containers.dicts import ConstDictVariable, SetVariable
from tracer_core.variables.containers.sequences import DequeVariable, ListVariable, SequenceVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.side_effects import ReplayedCall, SideEffects
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.iterators.external import ExternalIterator
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable
from tracer_core.variables.objects.class_writes import ClassWrites
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

Rule = Callable[[Emitter, Any], None]
R = TypeVar("R", bound=Rule)
_rules: dict[str, Rule] = {}


def writes_back(kind: str) -> Callable[[R], R]:
    """Register `rule(emitter, tracker)` for changes of this kind."""

    def register(rule: R) -> R:
        _rules[kind] = rule
        return rule

    return register


def needs(effects: SideEffects, emitter: Emitter) -> list[VariableTracker]:
    """Return the trackers whose values writing back will load."""
    found: list[VariableTracker] = []
    for tracker in effects.changed:
        found.append(tracker)
        found.extend(_new_parts(tracker))
    found.extend(value for _, value in effects.globals_.values() if value is not None)
    found.extend(value for call in effects.calls for value in (*call.args, *call.kwargs.values()))
    return [tracker for tracker in found if not (isinstance(tracker, CellVariable) and emitter.is_own_cell(tracker))]


def _new_parts(tracker: VariableTracker) -> list[VariableTracker]:
    if isinstance(tracker, SequenceVariable):
        return tracker.items
    if isinstance(tracker, ConstDictVariable):
        _, removed, entries = tracker.difference()
        return [*removed, *(part for entry in entries for part in entry)]
    if isinstance(tracker, SetVariable):
        return [item for items in tracker.difference() for item in items]
    if isinstance(tracker, CellVariable):
        return [] if tracker.contents is None else [tracker.contents]
    attributes = getattr(tracker, "attributes", {})
    if isinstance(tracker, ExceptionVariable) and tracker.args_set:
        return [*tracker.args, *attributes.values()]
    if isinstance(tracker, UserDefinedObjectVariable) and tracker.given_dict is not None:
        return [*tracker.left_behind.values(), tracker.given_dict, *attributes.values()]
    return [value for value in attributes.values() if value is not DELETED]


# Items were taken from iterators before the containers that they iterate over changed. Generators end last: until
# then their variables are found in them.
_ORDER = {"iterator": -1, "generator": 1}


def write_back(effects: SideEffects, emitter: Emitter) -> None:
    """Emit code that replays deferred calls, in order, and all mutations, in the order they first happened."""
    for call in effects.calls:
        _replay(emitter, call)
    for tracker, kind in sorted(effects.changed.items(), key=lambda change: _ORDER.get(change[1], 0)):
        rule = _rules.get(kind)
        if rule is None:
            raise CannotRebuild(tracker)
        rule(emitter, tracker)
    for (_, name), (globals_, value) in effects.globals_.items():
        _write_global(emitter, globals_, name, value)


def _replay(emitter: Emitter, call: ReplayedCall) -> None:
    before = len(emitter.instructions)
    arguments = emitter.loading((*call.args, *call.kwargs.values()))
    emitter.call(lambda: emitter.const(call.function), arguments, call.kwargs)
    if call.result is None:
        emitter.pop()
    else:
        emitter.where[call.result] = emitter.store_new()
    if call.line is not None:
        for instruction in emitter.instructions[before:]:
            instruction.span = Span(call.line, call.line, None, None)


def _write_global(emitter: Emitter, globals_: dict[str, Any], name: str, value: VariableTracker | None) -> None:
    if value is None:
        # The trace may have created it and deleted it again.
        pushes = [lambda v=value: emitter.const(v) for value in (name, None)]
        emitter.run_const(dict.pop, lambda: emitter.globals_of(globals_), *pushes)
    elif globals_ is emitter.root.globals:
        emitter.load(value)
        emitter.emit("STORE_GLOBAL", name)
    else:
        emitter.set_item(
            lambda: emitter.const(globals_), lambda: emitter.const(name), functools.partial(emitter.load, value)
        )


@writes_back("list")
def _list(emitter: Emitter, tracker: SequenceVariable) -> None:
    if type(tracker) is ListVariable:
        emitter.set_item(
            lambda: emitter.load(tracker),
            lambda: emitter.const(slice(None)),
            lambda: list_of(emitter, tracker.items),
        )
    else:
        _refill(emitter, tracker, list, "extend", lambda: list_of(emitter, tracker.items))


def _refill(emitter: Emitter, tracker: VariableTracker, cls: type, method: str, push: Callable[[], None]) -> None:
    """Empty the container and fill it again, bypassing methods that a subclass overrides."""
    emitter.run_const(getattr(cls, "clear"), lambda: emitter.load(tracker))  # noqa: B009
    emitter.run_const(getattr(cls, method), lambda: emitter.load(tracker), push)


@writes_back("deque")
def _deque(emitter: Emitter, tracker: DequeVariable) -> None:
    if tracker.moved:
        _refill(emitter, tracker, tracker.python_type(), "extend", lambda: list_of(emitter, tracker.items))
        return
    # External iterators over it keep their positions.
    emitter.run_const(set_items, lambda: emitter.load(tracker), lambda: list_of(emitter, tracker.items))


@writes_back("dict")
def _dict(emitter: Emitter, tracker: ConstDictVariable) -> None:
    check_keys(tracker.by_key)
    emptied, removed, entries = tracker.difference()
    if emptied:
        clear = collections.OrderedDict.clear if tracker.cls is collections.OrderedDict else dict.clear
        emitter.run_const(clear, lambda: emitter.load(tracker))
    # What is not written is not read either: something else may have removed it, as a dict of weak references does.
    # And where no key comes or goes, external iterators over the dict keep their positions.
    if removed:
        emitter.run_const(remove_keys, lambda: emitter.load(tracker), lambda: list_of(emitter, removed))
    if entries:
        update = set_entries if tracker.cls is collections.OrderedDict else dict.update
        emitter.run_const(update, lambda: emitter.load(tracker), lambda: dict_of(emitter, entries))


@writes_back("set")
def _set(emitter: Emitter, tracker: SetVariable) -> None:
    check_keys(tracker.by_key)
    for method, items in zip((set.difference_update, set.update), tracker.difference(), strict=True):
        if items:
            emitter.run_const(method, lambda: emitter.load(tracker), functools.partial(list_of, emitter, items))


@writes_back("iterator")
def _iterator(emitter: Emitter, tracker: ExternalIterator) -> None:
    taken, ended = (functools.partial(emitter.const, value) for value in (tracker.taken, tracker.ended))
    emitter.run_const(advance, lambda: emitter.load(tracker), taken, ended)


@writes_back("cell")
def _cell(emitter: Emitter, tracker: CellVariable) -> None:
    own = emitter.is_own_cell(tracker)
    if tracker.contents is None:
        if own is not None:
            # The trace may have filled and emptied a cell that the new code has never filled.
            emitter.const(None)
            emitter.emit("STORE_DEREF", own)
            emitter.emit("DELETE_DEREF", own)
        else:
            emitter.load(tracker)
            emitter.emit("DELETE_ATTR", "cell_contents")
        return
    if own is not None:
        emitter.load(tracker.contents)
        emitter.emit("STORE_DEREF", own)
    else:
        emitter.set_attributes_of(tracker, {"cell_contents": tracker.contents})


writes_back("attributes")(set_attributes)
writes_back("exception")(write_exception)


@writes_back("class")
def _class(emitter: Emitter, tracker: ClassWrites) -> None:
    for name, value in tracker.attributes.items():
        push_name = functools.partial(emitter.const, name)
        if value is DELETED:
            emitter.run_const(delete_class_attribute, lambda: emitter.load(tracker), push_name)
        else:
            push_value = functools.partial(emitter.load, value)
            emitter.run_const(type.__setattr__, lambda: emitter.load(tracker), push_name, push_value)


@writes_back("generator")
def _generator(emitter: Emitter, tracker: LocalGeneratorObjectVariable) -> None:
    """End the generator: the trace has run it to its end."""
    emitter.run_const(end_generator, lambda: emitter.load(tracker))

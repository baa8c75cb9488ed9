"""Tables by identity, in which `copy.deepcopy` records its copies. A lookup is one step, whatever their size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tracer_core.guards import make
from tracer_core.polyfills.identity_table import IdentityTable, found_in, new_table, note_in
from tracer_core.sources import Source
from tracer_core.variables.containers.dicts import SetVariable
from tracer_core.variables.containers.sequences import SequenceVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.objects.classes import KnownVariable

_UNCHANGING = (SequenceVariable, SetVariable)


class IdentityTableVariable(VariableTracker):
    """A table keyed by identity: the entries for objects, by their trackers.

    An object that may change has one tracker. Tuples and frozensets created before the trace may have several: these
    are found by the real object, all others by comparison.

    A lookup that finds nothing is right only while the object is none of those in the table. So the sources of
    lookups are kept: `absent` are those of objects that were not noted afterwards.
    """

    __slots__ = ("absent", "by_object", "noted")
    kind = "table"
    mutable = True

    def __init__(self) -> None:
        super().__init__()
        self.noted: dict[VariableTracker, VariableTracker] = {}
        self.by_object: dict[int, tuple[Any, VariableTracker]] = {}
        self.absent: dict[Source, VariableTracker] = {}

    def python_type(self) -> type:
        return IdentityTable

    def find(self, tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
        original = obj if obj in self.noted else self._other_tracker(tx, obj)
        if original is not None:
            return self.noted[original]
        if obj.source is not None and _is_identified_by_source(obj):
            tx.trace.journal.save(self)
            self.absent[obj.source] = obj
        return None

    def note(self, tx: Tracing, obj: VariableTracker, what: VariableTracker) -> None:
        tx.trace.journal.save(self)
        self.noted[obj] = what
        if obj.source is None:
            return
        self.absent.pop(obj.source, None)
        if not obj.mutable and isinstance(obj, _UNCHANGING):
            real = tx.trace.real_value(obj)
            self.by_object[id(real)] = real, obj

    def _other_tracker(self, tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
        """Return the tracker in the table for the same object as `obj`."""
        if not _is_identified_by_source(obj):
            return next((each for each in self.noted if _same_type(each, obj) and tx.same(each, obj)), None)
        if obj.mutable or obj.source is None:
            return None
        _, original = self.by_object.get(id(tx.trace.real_value(obj)), (None, None))
        if original is None or not _same_type(original, obj):
            return None
        assert original.source is not None
        tx.guard(make.duplicate(obj.source, original.source))
        tx.trace.journal.save(self)
        self.absent.pop(obj.source, None)
        return original

    def distinct_sources(self) -> Iterator[list[Source]]:
        """Return the sources of objects that must be distinct in the next call, for the lookups to give the same."""
        by_type: dict[type, list[Source]] = defaultdict(list)
        for obj in self.noted:
            if obj.source is not None and _is_identified_by_source(obj):
                by_type[obj.python_type()].append(obj.source)
        yield from by_type.values()
        for source, obj in self.absent.items():
            yield from ([source, noted] for noted in by_type[obj.python_type()])


def _is_identified_by_source(obj: VariableTracker) -> bool:
    """Return whether two trackers of this kind are for one object only if their sources lead to it."""
    return isinstance(obj, _UNCHANGING) or (
        obj.mutable and not isinstance(obj, (KnownVariable, BaseUserFunctionVariable))
    )


def _same_type(a: VariableTracker, b: VariableTracker) -> bool:
    return a.python_type() is b.python_type()


@handles(new_table)
def new(tx: Tracing) -> VariableTracker:
    table = IdentityTableVariable()
    tx.trace.identity_tables.append((table, tx.output.where()))
    return table


@handles(found_in, IdentityTableVariable, VariableTracker)
def find(tx: Tracing, table: IdentityTableVariable, obj: VariableTracker) -> VariableTracker:
    found = table.find(tx, obj)
    return TupleVariable([] if found is None else [found])


@handles(note_in, IdentityTableVariable, VariableTracker, VariableTracker)
def note(tx: Tracing, table: IdentityTableVariable, obj: VariableTracker, what: VariableTracker) -> VariableTracker:
    table.note(tx, obj, what)
    return NONE

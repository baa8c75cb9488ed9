"""Keys for dicts and sets of trackers, which hash and compare as the values do."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any, NoReturn

from tracer_core.errors import Unsupported
from tracer_core.guards.kinds.libraries import note_lookup
from tracer_core.variables.core.base import ByIdentity, ByParts, NotConstant, VariableTracker
from tracer_core.variables.core.tracing import ObservedException, Tracing

_numbers = itertools.count()


def key_of(tx: Tracing | None, tracker: VariableTracker) -> Any:
    """Return a key that hashes and compares as the value does; raises TypeError in the program where it has no hash.

    Raises:
        Unsupported: the value hashes by code of the program, which cannot run without `tx`.
        NotConstant: the value has no hash, and there is no `tx` to raise that in.
    """
    tracker = tracker.realize()
    note_lookup(tracker.python_type(), "__hash__")
    if tracker.python_type().__hash__ is None:
        if tx is None:
            raise NotConstant(tracker.describe())
        tx.raise_(TypeError, f"unhashable type: '{tracker.type_name_in_errors()}'")
    return tracker.key(tx)


def identity_key(tracker: VariableTracker) -> Any:
    """Return the key of the object itself, whatever it equals.

    Raises:
        Unsupported: it is a plain value, of which there may be several.
    """
    tracker = tracker.realize()
    if tracker.mutable or not tracker.is_constant():
        return ByIdentity(tracker)
    value = tracker.value()
    if type(value).__hash__ is not object.__hash__:
        raise Unsupported("hash-user-object", cls=tracker.python_type_name())
    return value


def external_key(tx: Tracing, tracker: VariableTracker) -> Any:
    """Return the key of a value that is already a key of an external dict: its hash is inlined for the guards it
    needs.

    Raises:
        Unsupported: the program would see that (it raises, or changes something).
    """
    before = tx.trace.side_effects.count
    with contextlib.suppress(ObservedException):
        key = key_of(tx, tracker)
        if tx.trace.side_effects.count == before:
            return key
    raise Unsupported("hash-user-object", cls=tracker.python_type_name())


def raise_key(tx: Tracing, key: VariableTracker) -> NoReturn:
    """Raise KeyError for `key` in the traced program."""
    tx.raise_(KeyError, key.realize())


class KeyWithCode:
    """A key that hashes and compares by the methods of its class, inlined where a real dict would call them.

    `needed_at` is the root frame's instruction, by number, that needed the hash.
    """

    __slots__ = ("_answers", "_hash", "needed_at", "number", "of", "tx")

    def __init__(self, tx: Tracing, of: VariableTracker) -> None:
        self.tx = tx
        self.of = of
        self.needed_at: int = tx.root_step
        self.number = next(_numbers)
        self._answers: dict[int, bool] = {}
        self._hash: int = tx.call(tx.constant(hash), [of]).value()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare once for each key that is looked up, as a dict in C does, in however many steps it is done here."""
        mate = other.of if isinstance(other, (KeyWithCode, ByIdentity, ByParts)) else self.tx.constant(other)
        if self.of is mate:
            return True
        if not isinstance(other, KeyWithCode):
            return self._equals(mate)
        newer, older = (self, other) if self.number > other.number else (other, self)
        known = newer._answers.get(older.number)
        if known is None:
            self.tx.trace.journal.save(newer)
            known = newer._answers[older.number] = self._equals(mate)
        return known

    def _equals(self, mate: VariableTracker) -> bool:
        return self.tx.truth(self.tx.compare("==", self.of, mate))


def keys_with_code(key: Any) -> list[KeyWithCode]:
    """Return the keys in `key` (one, or a tuple or frozenset of such) whose hash is code of the program."""
    if isinstance(key, KeyWithCode):
        return [key]
    if isinstance(key, ByParts):
        return keys_with_code(key.parts)
    return [each for part in key for each in keys_with_code(part)] if isinstance(key, (tuple, frozenset)) else []


def hash_is_known(key: Any) -> bool:
    """Return whether `hash(key)` equals the value's own hash."""
    if isinstance(key, (tuple, frozenset)):
        return all(hash_is_known(part) for part in key)
    return not isinstance(key, (ByIdentity, ByParts))

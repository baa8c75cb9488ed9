"""What dicts and sets of trackers are looked up by: keys that hash and compare as the values do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracer_core.errors import Unsupported
from tracer_core.variables.base import ByIdentity, NotConstant, Tracing, VariableTracker

if TYPE_CHECKING:
    from tracer_core.variables.user_objects import UserObjectVariable


def key_of(tx: Tracing | None, tracker: VariableTracker) -> Any:
    """Something that hashes and compares as the value does; raises TypeError in the program where it has no hash.

    Raises:
        Unsupported: the value decides by code of its own, which cannot run without `tx`.
        NotConstant: the value has no hash, and there is no `tx` to say so to.
    """
    tracker = tracker.realize()
    if tracker.python_type().__hash__ is None:
        if tx is None:
            raise NotConstant(tracker.describe())
        tx.raise_(TypeError, f"unhashable type: '{tracker.type_name_in_errors()}'")
    return tracker.key(tx)


def raise_key(tx: Tracing, key: VariableTracker) -> Any:
    """Raise KeyError for `key` in the traced program."""
    return tx.raise_(KeyError, key.realize())


class AskedKey:
    """A key that hashes and compares by the methods of its class, walked where a real dict would call them."""

    __slots__ = ("_hash", "of", "tx")

    def __init__(self, tx: Tracing, of: UserObjectVariable) -> None:
        self.tx = tx
        self.of = of
        hashed = tx.call(tx.constant(hash), [of])
        self._hash = hash(hashed.value())

    @staticmethod
    def of_object(tx: Tracing | None, of: UserObjectVariable) -> AskedKey:
        """The key of `of`; without `tx`, with the hash it had when it was last a key, as copies of dicts use it."""
        if tx is not None:
            of.asked_key = AskedKey(tx, of)
        if not isinstance(of.asked_key, AskedKey):
            raise Unsupported("hash-user-object", cls=of.python_type_name())
        return of.asked_key

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        from tracer_core.variables.operators import compare
        from tracer_core.variables.truth_and_length import truth

        mate = other.of if isinstance(other, (AskedKey, ByIdentity)) else self.tx.constant(other)
        return self.of is mate or truth(self.tx, compare(self.tx, "==", self.of, mate))

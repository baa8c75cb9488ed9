"""Guards on what libraries are like, checked by what CPython counts anyway.

CPython 3.11 gives a dict a new version at each change, and registering with an abstract class changes one token. As
long as these are the same, nothing can have changed. Where one differs, the guards are looked at one by one, and if
they hold, the new versions are the ones to compare with from then on.
"""

from __future__ import annotations

import gc
from abc import get_cache_token
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from torch._C._dynamo.guards import dict_version

from tracer_core.guards.guard import Const, Guard
from tracer_core.guards.kinds.libraries import ABSENT
from tracer_core.sources import Scope

KINDS = frozenset(("NAMES", "BASES", "SUBCLASS"))
"""The kinds of guards that are checked here."""

FEW = 4
"""So many names are looked up in the time of asking for a dict's version."""

_NOWHERE = Scope({}, {}, {})


def _dict_of(owner: Any) -> Any:
    """The dict itself (a class shows only a view of its own)."""
    if isinstance(owner, type):
        return gc.get_referents(owner.__dict__)[0]
    return owner.__dict__ if isinstance(owner, ModuleType) else owner


def conditions(guards: Sequence[Guard], const: Const, namespace: dict[str, Any]) -> Iterator[str]:
    """Expressions that check `guards`, all of the kinds in `KINDS`. The versions to compare with are kept in
    `namespace`, where the expressions find all their names."""
    owners = [(guard, guard.source.find(_NOWHERE)) for guard in guards]
    many = [
        (guard, _dict_of(owner)) for guard, owner in owners if guard.kind == "NAMES" and len(guard.expected) > FEW
    ]
    derived = [guard for guard in guards if guard.kind == "SUBCLASS"]
    for guard, owner in owners:
        if guard.kind == "BASES":
            mro = const(guard.expected)
            yield f"({const(owner)}.__mro__ is {mro} or {const(owner)}.__mro__ == {mro})"
        elif guard.kind == "NAMES" and len(guard.expected) <= FEW:
            yield from _each_name(const(_dict_of(owner)), guard.expected, const)
    if many:
        readings = [(f"{const(dict_version)}({const(names)})", partial(dict_version, names)) for _, names in many]
        yield _counted([guard for guard, _ in many], readings, const, namespace)
    if derived:
        yield _counted(derived, [(f"{const(get_cache_token)}()", get_cache_token)], const, namespace)


def _each_name(names: str, expected: dict[str, Any], const: Const) -> Iterator[str]:
    for name, value in expected.items():
        yield f"{name!r} not in {names}" if value is ABSENT else f"{names}[{name!r}] is {const(value)}"


Reading = tuple[str, Callable[[], object]]


def _counted(guards: Sequence[Guard], readings: Sequence[Reading], const: Const, namespace: dict[str, Any]) -> str:
    """One expression for all of `guards`, which hold as long as each of `readings` gives what it gave: each is an
    expression, and a function that gives the same."""
    names = [f"{const(guards)}_{index}" for index in range(len(readings))]

    def looked_at() -> bool:
        now = [read() for _, read in readings]
        if not all(guard.holds(_NOWHERE) for guard in guards):
            return False
        namespace.update(zip(names, now, strict=True))
        return True

    namespace.update(dict.fromkeys(names))
    looked_at()
    same = " and ".join(f"{text} == {name}" for (text, _), name in zip(readings, names, strict=True))
    return f"({same} or {const(looked_at)}())"

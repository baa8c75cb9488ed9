"""Guards on what libraries are like, checked by what CPython counts anyway.

CPython 3.11 gives a dict a new version at each change, and registering with an abstract class changes one token. As
long as these are the same, nothing can have changed. Where one differs, its guards are looked at one by one, and if
they hold, the new version is the one to compare with from then on.
"""

from __future__ import annotations

import gc
from abc import get_cache_token
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from torch._C._dynamo.guards import dict_version

from tracer_core.guards.guard import Const, Guard
from tracer_core.guards.held import Held
from tracer_core.guards.kinds.libraries import ABSENT, OfType, code_of
from tracer_core.sources import ById, ConstSource, FoundById, Scope, known_expr

KINDS = frozenset(("NAMES", "BASES", "SUBCLASS", "LIBRARY_CODES"))
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
    counted = []
    for guard in guards:
        assert isinstance(guard.source, ConstSource)
        known = guard.source.value
        owner = known_expr(known, const)
        if guard.kind == "BASES":
            yield _same_bases(owner, known.value.__mro__, guard.expected, const)
        elif guard.kind == "LIBRARY_CODES":
            yield f"(*{const(map)}({const(code_of)}, {owner}),) == {const(guard.expected)}"
        elif guard.kind == "NAMES":
            mortal = isinstance(known, FoundById)
            if len(guard.expected) <= FEW:
                yield from _each_name(f"{owner}.__dict__" if mortal else const(_dict_of(known.value)), guard, const)
            elif mortal:
                names = f"{const(gc.get_referents)}({owner}.__dict__)[0]"
                counted.append(_Counted(f"{const(dict_version)}({names})", partial(_version, known), [guard]))
            else:
                read = partial(dict_version, _dict_of(known.value))
                counted.append(_Counted(f"{const(dict_version)}({const(read.args[0])})", read, [guard]))
    derived = [guard for guard in guards if guard.kind == "SUBCLASS"]
    if derived:
        counted.append(_Counted(f"{const(get_cache_token)}()", get_cache_token, derived))
    if counted:
        yield _counted(counted, const, namespace)


def _version(owner: ById) -> int:
    return dict_version(_dict_of(owner.value))


def _same_bases(owner: str, mro: tuple[type, ...], expected: tuple[Held, ...], const: Const) -> str:
    if all(held.ref is None for held in expected):
        return f"({owner}.__mro__ is {const(mro)} or {owner}.__mro__ == {const(mro)})"
    # None of them has died: then the guards would be gone.
    return f"(*{const(map)}({const(id)}, {owner}.__mro__),) == {tuple(map(id, mro))}"


def _each_name(names: str, guard: Guard, const: Const) -> Iterator[str]:
    for name, value in guard.expected.items():
        if value is ABSENT:
            yield f"{name!r} not in {names}"
        elif isinstance(value, OfType):
            yield value.cls.condition(f"type({names}.get({name!r}, {const(ABSENT)}))", const)
        else:
            yield f"{names}[{name!r}] is {const(value)}"


@dataclass(slots=True)
class _Counted:
    """Guards that hold as long as `read()`, which the expression `text` gives too, gives what it gave."""

    text: str
    read: Callable[[], object]
    guards: Sequence[Guard]


def _counted(groups: Sequence[_Counted], const: Const, namespace: dict[str, Any]) -> str:
    """One expression for all of `groups`."""
    names = [f"{const(groups)}_{index}" for index in range(len(groups))]

    def looked_at() -> bool:
        for name, group in zip(names, groups, strict=True):
            now = group.read()
            if now == namespace[name]:
                continue
            if not all(guard.holds(_NOWHERE) for guard in group.guards):
                return False
            namespace[name] = now
        return True

    namespace.update(dict.fromkeys(names))
    looked_at()
    same = " and ".join(f"{group.text} == {name}" for group, name in zip(groups, names, strict=True))
    return f"({same} or {const(looked_at)}())"

"""Every kind of guard that can fail says at least one thing that helps."""

from __future__ import annotations

import builtins
import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from tests.guards.static import static_tensor
from tests.guards.test_kinds import ONE_VALUE
from tracer_core.guards import KINDS, Failure, Guard, compile_guards, make
from tracer_core.guards.kinds.libraries import LibraryReads
from tracer_core.sources import LocalSource, SizeSource

x, y = LocalSource("x"), LocalSource("y")
one, other = object(), object()
items = [1, 2]
Failing = Callable[[], contextlib.AbstractContextManager[tuple[Guard, dict[str, Any]]]]


def failing(guard: Guard, **values: Any) -> Failing:
    return lambda: contextlib.nullcontext((guard, values))


@contextlib.contextmanager
def without_grad() -> Iterator[tuple[Guard, dict[str, Any]]]:
    guard = make.global_state("grad_mode")
    with torch.no_grad():
        yield guard, {}


@contextlib.contextmanager
def patched_library() -> Iterator[tuple[Guard, dict[str, Any]]]:
    library, reads = types.ModuleType("library"), LibraryReads()
    library.f = 1  # type: ignore[attr-defined]
    reads.name(vars(library), "f")
    guard = make.libraries(reads.as_read())
    library.f = 2  # type: ignore[attr-defined]
    yield guard, {}


FAILING: dict[str, Failing] = {
    **{guard.kind: failing(guard, x=bad[0]) for guard, _, bad in ONE_VALUE if guard.kind != "UPCOMING"},
    "UPCOMING": failing(make.upcoming(x, 1, True), x=iter([1])),
    "TENSOR": failing(static_tensor(x, torch.ones(2)), x=torch.ones(2).double()),
    "SHAPE": failing(make.shape("{0} == 2", [SizeSource(x, 0)]), x=torch.ones(3)),
    "DUPLICATE": failing(make.duplicate(x, y), x=one, y=other),
    "NOT_DUPLICATE": failing(make.not_duplicate([x, y]), x=one, y=one),
    "APART": failing(make.apart(x, [y]), x=iter(items), y=items),
    "GLOBAL_STATE": without_grad,
    "LIBRARIES": patched_library,
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_has_a_remedy(kind: str) -> None:
    """A new kind needs an example of a failure here."""
    with FAILING[kind]() as (guard, values):
        failure = _failure(guard, values)
    assert failure is not None and failure.guard.kind == kind
    assert failure.remedies
    for remedy in failure.remedies:
        assert remedy[0].islower() and remedy[-1] not in ". ", "it goes on from `To avoid this, `"


def _failure(guard: Guard, values: dict[str, Any]) -> Failure | None:
    return compile_guards([guard], globals(), vars(builtins)).explain(values)

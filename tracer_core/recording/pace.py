"""Let long work over a recording say how far it is, to whoever shows that, or stops it by an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Listener = Callable[[int, int], None]
"""Is told how many of how many parts of the work are done. Long work tells of several rounds, one after another."""
EVERY = 1024
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard(listener: Listener) -> Iterator[None]:
    """Have work inside the block say to `listener` how far it is."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def tell(done: int, total: int) -> None:
    """Say how far the work is. Called often, but not for each step."""
    listener = _listener.get()
    if listener is not None:
        listener(done, total)


def paced(items: Iterable[T], total: int) -> Iterator[T]:
    """Yield the items of long work, and say now and then how far it is."""
    for done, item in enumerate(items):
        if done % EVERY == 0:
            tell(done, total)
        yield item

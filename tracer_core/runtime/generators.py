"""Rebuild generators at the point where the trace left them."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from types import CodeType
from typing import Any


def create_generator(
    code: CodeType,
    globals_: dict[str, Any],
    closure: tuple[Any, ...],
    args: tuple[Any, ...],
    names: tuple[str | None, str | None],
) -> Any:
    function = types.FunctionType(code, globals_, code.co_name, None, closure)
    function.__name__, function.__qualname__ = names[0] or code.co_name, names[1] or code.co_qualname
    return function(*args)


def start_generator(
    code: CodeType,
    globals_: dict[str, Any],
    closure: tuple[Any, ...],
    args: tuple[Any, ...],
    names: tuple[str | None, str | None],
) -> Any:
    generator = create_generator(code, globals_, closure, (*args, closure), names)
    next(generator)
    return generator


END = object()


def end_generator(generator: Any) -> None:
    """Make a generator that is suspended at a generated `yield` return, whatever blocks it is in."""
    with contextlib.suppress(StopIteration):
        generator.send(END)


def exhausted_generator(code: CodeType, names: tuple[str | None, str | None]) -> Iterator[None]:
    def empty() -> Iterator[None]:
        yield

    generator: Any = empty()
    generator.close()
    generator.__name__, generator.__qualname__ = names[0] or code.co_name, names[1] or code.co_qualname
    return generator  # type: ignore[no-any-return]

"""Check what people pass to the public functions of recordings, so that a wrong kind is told in one sentence, with
what to pass instead."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from tracer_core.recording.kinds import type_name
from tracer_core.recording.schema import Node

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """What an argument must be, in words, what to do about another one, and the check."""

    what: str
    advice: str
    accepts: Callable[[Any], bool]


def takes(**kinds: Kind) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Check the named arguments of a function. A default is always accepted."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        called = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        defaults = {name: signature.parameters[name].default for name in kinds}

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            __tracebackhide__ = True
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:
                given = {}  # The call below says what is missing.
            for name, kind in kinds.items():
                if name in given and given[name] is not defaults[name] and not kind.accepts(given[name]):
                    raise wrong(f"{called}: `{name}`", kind, given[name])
            return function(*args, **kwargs)

        return checked

    return decorate


def wrong(subject: str, kind: Kind, given: object) -> TypeError:
    """Return the error that says what the subject must be, and what was given."""
    return TypeError(f"{subject} must be {kind.what}, not {_said(given)}. {kind.advice}")


def _said(value: object) -> str:
    """Return what a value is, without its `repr`, which may be long or fail."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type_name(value)
    return "a function" if name in ("function", "method", "builtin_function_or_method") else f"of type {name}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return hasattr(type(value), "__index__") and not isinstance(value, bool)


PATH = Kind(
    "the path of a file",
    'Pass a text such as "run.trace", or a pathlib.Path.',
    lambda value: isinstance(value, (str, os.PathLike)),
)
TEXT = Kind("a text", "Write it in quotes.", lambda value: isinstance(value, str))
LABEL = Kind(
    "a text",
    'Write tracewalk.record("a name") for a block, or tracewalk.trace(fn, ...) to trace a function.',
    TEXT.accepts,
)
INTEGER = Kind("a whole number", "Numbers of steps, lines and records count as the explorer shows them.", _is_integer)
PIXELS = Kind("a whole number", "Pass the height of the explorer in pixels, such as 800.", _is_integer)
SECONDS = Kind("a number of seconds", "Pass a number such as 60.0.", _is_number)
TEXT_OR_ID = Kind(
    "a text or a number",
    "Pass a part of its text or name, or its id.",
    lambda value: isinstance(value, str) or _is_integer(value),
)
BREAK = Kind(
    "True or the number of a break",
    "Pass True for all breaks, or the id of one of trace.breaks.",
    lambda value: isinstance(value, bool) or _is_integer(value),
)
NUMBER_OR_SLICE = Kind(
    "the number of a step, or a slice",
    "Write steps[3] or steps[3:9]; steps.where(...) finds steps by what they do.",
    lambda value: isinstance(value, slice) or _is_integer(value),
)
NAMES = Kind(
    "a list of texts",
    'Pass a list such as ["timm", "my_package.layers"].',
    lambda value: (
        isinstance(value, Sequence)
        and not isinstance(value, (str, bytes))
        and all(isinstance(one, str) for one in value)
    ),
)
NODE = Kind(
    "a node",
    "Pass one of trace.nodes, or of the nodes of a graph in trace.graphs.",
    lambda value: isinstance(value, Node),
)
CALLABLE = Kind(
    "a function, a method or a module",
    "Pass what is to be called, and its arguments after it: tracewalk.trace(fn, x), not tracewalk.trace(fn(x)).",
    callable,
)

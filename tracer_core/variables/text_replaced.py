"""`re.sub` and `re.subn` with a function that says what to put: it is walked for each match."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.base import Tracing, VariableTracker, all_constant, constant_or
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.registry import handles, method
from tracer_core.variables.sequences import tuple_of

_ZERO = ConstantVariable(0)


def _substituted(
    tx: Tracing, pattern: Any, function: VariableTracker, text: Any, count: int
) -> tuple[ConstantVariable, ConstantVariable]:
    """The text with what the function gives for each match (all of them, where `count` is 0), and their number."""
    pieces, done, number = [], 0, 0
    for match in pattern.finditer(text):
        if count and number == count:
            break
        put = constant_or(tx.call(function, [ConstantVariable(match)]).realize(), None)
        if type(put) is not type(text):
            raise Unsupported("call", what="re.sub with a function whose result is no text known while tracing")
        pieces += [text[done : match.start()], put]
        done, number = match.end(), number + 1
    return ConstantVariable(text[:0].join([*pieces, text[done:]])), ConstantVariable(number)


def _replacing(given: Callable[[ConstantVariable, ConstantVariable], VariableTracker]) -> Callable[..., Any]:
    """A handler of `re.sub` or `re.subn`: what is `given` back of the text and the number."""

    def handler(
        tx: Tracing,
        pattern: VariableTracker,
        repl: VariableTracker,
        string: VariableTracker,
        count: VariableTracker = _ZERO,
        flags: VariableTracker = _ZERO,
    ) -> VariableTracker | None:
        """None where the replacement is a text, or something is not known."""
        known = (pattern.realize(), string.realize(), count.realize(), flags.realize())
        if repl.python_type() in (str, bytes) or not all_constant(known):
            return None
        of, text, most, how = (each.value() for each in known)
        if not isinstance(of, (str, bytes, re.Pattern)) or not isinstance(text, (str, bytes)):
            return None
        try:
            compiled = re.compile(of, how)
        except (re.error, ValueError):
            return None
        fits = isinstance(text, type(compiled.pattern))
        return given(*_substituted(tx, compiled, repl, text, most)) if fits else None

    return handler


for _function, _given in ((re.sub, lambda text, number: text), (re.subn, tuple_of)):
    handles(_function)(method(ConstantVariable, _function.__name__)(_replacing(_given)))

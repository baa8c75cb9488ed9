"""Keys that `options=` may hold besides the back end's own options."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tracer_core.frame_input import Config


@dataclass(frozen=True, slots=True)
class Option:
    """`kind` is the type its values have, `default` holds where it is not given."""

    kind: type
    default: Any
    text: str


OPTIONS: dict[str, Option] = {
    "cache_size_limit": Option(
        int, 8, "How many versions of a function are kept before other calls run as plain Python."
    ),
    "raise_internal_faults": Option(bool, False, "Raise InternalError when the engine fails, instead of a warning."),
    "suppress_backend_errors": Option(bool, False, "Run the graph as it is where the back end fails."),
    "verify_correctness": Option(
        bool, False, "Compare the first results of what the back end compiled with those of the graph itself."
    ),
    "inline_depth_limit": Option(int, 200, "How deep calls are inlined before the graph breaks."),
    "replay_prints": Option(bool, False, "Print after the graph ran, in order, instead of breaking the graph."),
    "graph_runs_as_it_is": Option(
        bool,
        False,
        "The back end runs the graph's operations unchanged, as 'eager' always does: keep in the graph what other "
        "back ends lose, writes of tensor.data and leaves created with requires_grad=True.",
    ),
    "strict_mark_dynamic": Option(
        bool, False, "Raise Unsupported, as torch does, where the program fixes a size marked with mark_dynamic."
    ),
    "only_allow_pt2_compliant_ops": Option(
        bool, False, "Break the graph at operators without torch's tag for those that work with compilers."
    ),
    "numpy_rounding": Option(
        bool, False, "Trace NumPy's sqrt, exp, sin and the like, which torch rounds otherwise in the last place."
    ),
}


def option(config: Config, name: str) -> Any:
    """Return the value of an option of ours under `config`."""
    return config.options.get(name, OPTIONS[name].default)


def checked(name: str, value: Any) -> Any:
    """Return `value`, if the option `name` may have it.

    Raises:
        TypeError: for a value of another type.
        ValueError: for a number below 1.
    """
    known = OPTIONS[name]
    if type(value) is not known.kind:
        raise TypeError(f"option {name!r} must be {known.kind.__name__}, not {type(value).__name__}: {known.text}")
    if isinstance(value, int) and known.kind is int and value < 1:
        raise ValueError(f"option {name!r} must be at least 1, not {value}: {known.text}")
    return value


def nearest(name: str, names: Iterable[str], shown: Iterable[str] | None = None) -> str:
    """Return a sentence with the names spelled much like `name`; if there are none, with all of them, or with those
    to be `shown`."""
    known = sorted(names)
    close = difflib.get_close_matches(name, known, n=2, cutoff=_MUCH_LIKE)
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    if shown is None:
        return f"There are: {', '.join(known)}." if known else ""
    named = sorted(shown)
    return f"There are: {', '.join(named)}, and {len(known) - len(named)} of the back end."


_MUCH_LIKE = 0.7
"""The least ratio of two names, as difflib computes it, at which one may be meant for the other."""

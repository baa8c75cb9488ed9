"""Compare what a body returns for its next call with what it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.higher_order.metadata import difference
from tracer_core.higher_order.speculate import Body
from tracer_core.variables.core.base import VariableTracker


def check_carried(
    operator: str, body: Body, given: Sequence[VariableTracker], returned: Sequence[VariableTracker]
) -> None:
    """Check that what a body returns for its next call is as what it was given."""

    def differ(what: str, one: Any, other: Any) -> Unsupported:
        details = {"operator": operator, "function": body.function, "what": what, "one": one, "other": other}
        return Unsupported("carried-differs", **details).at(body.returned)

    if len(given) != len(returned):
        raise differ("numbers of values", len(given), len(returned))
    for a, b in zip(given, returned, strict=True):
        differing = difference(a, b, ("dtype", "device", "layout", "shape", "stride"))
        if differing is not None:
            raise differ(*differing)

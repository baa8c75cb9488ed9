"""Say why code for any size does not cover the sizes 0 and 1, and what helps where they occur."""

from __future__ import annotations

from tracer_core.sources import Source

SPECIAL_SIZES = (0, 1)
SPECIAL = "0 and 1 are always compiled on their own"
"""Why code for any size does not cover these sizes."""


def special_remedies(source: Source) -> list[str]:
    """Return ways to avoid recompilations for a size of the tensor at `source` that is 0 or 1 at some calls."""
    name = source.given.quoted
    mark = f"mark the dimension of {name} with `torch._dynamo.decorators.mark_unbacked`, if no branch depends on it"
    return [
        f"keep this size of {name} at 2 or more: pad it, or leave out a last batch of 1",
        *([mark] if source.given is source and not source.passed_by else ()),
        "accept one more compilation each for 0 and 1, which are always specialized, also with `dynamic=True`",
    ]

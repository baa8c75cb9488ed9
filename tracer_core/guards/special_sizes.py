"""Say why code for any size does not cover the sizes 0 and 1, and what helps where they occur."""

from __future__ import annotations

SPECIAL_SIZES = (0, 1)
SPECIAL = "0 and 1 are always compiled on their own"
"""Why code for any size does not cover these sizes."""


def special_remedies(name: str) -> list[str]:
    """Return ways to avoid that a size of the tensor `name`, which is 0 or 1 at some calls, is compiled again."""
    return [
        f"keep this size of {name} at 2 or more: pad it, or leave out a last batch of 1",
        f"mark the dimension of {name} with torch._dynamo.decorators.mark_unbacked, if no branch depends on its size",
        "accept one more compilation each for 0 and 1, which are always specialized, also with dynamic=True",
    ]

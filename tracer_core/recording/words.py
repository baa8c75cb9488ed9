"""Write numbers, times and lists for people."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str) -> str:
    """Return `1 step`, `2 steps`, `3 branches`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith(('s', 'ch')) else 's'}"


def listed(texts: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b, and c`."""
    if len(texts) < 3:
        return " and ".join(texts)
    return f"{', '.join(texts[:-1])}, and {texts[-1]}"


def quoted(name: str) -> str:
    """Return a name in quotes; a phrase has quotes of its own."""
    return name if "`" in name else f"`{name}`"


def seconds(number: float) -> str:
    """Return `12 s`, `1.2 s`, `0.12 s`, `3 ms`, or `0.3 ms`."""
    if number >= 1:
        return f"{number:.0f} s" if number >= 10 else f"{number:.1f} s"
    return f"{number:.2f} s" if number >= 0.1 else f"{1000 * number:.{0 if number >= 0.001 else 1}f} ms"

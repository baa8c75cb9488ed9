"""Arguments of inlined calls, against real Python calls: random signatures and calls, Python's own error texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tracer_core.observer import Observer, observing

NAMES = ("a", "b", "c", "d", "e")


@dataclass(frozen=True)
class Signature:
    """Parameters in order. Positional ones have defaults from number `first_default` on, keyword-only ones say so."""

    positional_only: tuple[str, ...]
    either: tuple[str, ...]
    first_default: int
    star: bool
    keyword_only: tuple[tuple[str, bool], ...]
    double_star: bool

    def text(self) -> str:
        positional = [*self.positional_only, *self.either]
        parts = [f"{n}={i * 10}" if i >= self.first_default else n for i, n in enumerate(positional)]
        if self.positional_only:
            parts.insert(len(self.positional_only), "/")
        if self.star:
            parts.append("*rest")
        elif self.keyword_only:
            parts.append("*")
        parts += [f"{name}='default'" if has else name for name, has in self.keyword_only]
        if self.double_star:
            parts.append("**more")
        return ", ".join(parts)

    def names(self) -> list[str]:
        named = [*self.positional_only, *self.either, *(name for name, _ in self.keyword_only)]
        return named + ["rest"] * self.star + ["more"] * self.double_star


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    names = draw(st.permutations(NAMES).map(lambda each: each[: draw(st.integers(0, 5))]))
    first, second = sorted((draw(st.integers(0, len(names))), draw(st.integers(0, len(names)))))
    only = tuple((name, draw(st.booleans())) for name in names[second:])
    return Signature(
        tuple(names[:first]),
        tuple(names[first:second]),
        draw(st.integers(0, second)),
        draw(st.booleans()),
        only,
        draw(st.booleans()),
    )


calls = st.tuples(
    st.lists(st.integers(1, 9).map(str), max_size=4),
    st.dictionaries(st.sampled_from([*NAMES, "f"]), st.integers(100, 109).map(str), max_size=3),
    st.booleans(),
)
"""Positional arguments, keywords, and whether they are written out or given by `*` and `**`."""


class Breaks(Observer):
    def __init__(self) -> None:
        self.found: list[str] = []

    def on_break(self, unsupported: Any, frame: Any, instruction: Any) -> None:
        self.found.append(unsupported.message)


def _program(signature: Signature, positional: list[str], keywords: dict[str, str], unpacked: bool) -> Any:
    if unpacked:
        pairs = ", ".join(f"{name!r}: {value}" for name, value in keywords.items())
        given_as = f"*({''.join(each + ',' for each in positional)}), **{{{pairs}}}"
    else:
        given_as = ", ".join([*positional, *(f"{name}={value}" for name, value in keywords.items())])
    text = f"""
def called({signature.text()}):
    return [{", ".join(signature.names())}]

def program(x):
    try:
        bound = called({given_as})
    except TypeError as error:
        bound = error.args
    return x + 1, bound
"""
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, __file__, "exec", dont_inherit=True), namespace)
    return namespace["program"]


@pytest.mark.row("I9", "F1")
@settings(max_examples=60)
@given(signatures(), calls)
def test_binds_and_refuses_as_python(signature: Signature, call: tuple[list[str], dict[str, str], bool]) -> None:
    program = _program(signature, *call)
    x = torch.ones(2)
    breaks = Breaks()
    tracer_core.reset()
    with observing(breaks):
        _, bound = tracer_core.compile(program, backend="eager", options={"raise_internal_faults": True})(x)
    assert bound == program(x)[1]
    assert breaks.found == []


@pytest.mark.row("I9")
def test_a_call_that_goes_too_deep_says_so() -> None:
    def down(x, n):
        return x if n == 0 else down(x + 1, n - 1)

    breaks = Breaks()
    with observing(breaks):
        options = {"inline_depth_limit": 4}
        result = tracer_core.compile(down, backend="eager", options=options)(torch.zeros(1), 9)
    assert result.item() == 9
    assert breaks.found[0].startswith("Calls are nested more than 4 deep"), breaks.found[0]

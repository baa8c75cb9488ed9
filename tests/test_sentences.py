"""Sentences are English, whatever they are filled with."""

from __future__ import annotations

import re

import pytest

from tracer_core.names.sentences import filled, ordinal
from tracer_core.reasons import REASONS


@pytest.mark.parametrize(
    "phrase",
    [
        "an int", "a lock", "an UntypedStorage", "a UserDict", "an Encoder", "a one-element list", "an OrderedDict",
        "an RNN", "an SGD", "a ReLU", "a Linear", "a Module", "a uint8", "a union", "an Unpickler", "a UUID",
        "an LSTM", "a Size", "a function", "a `Foo`", "an MLP", "an Object", "a union_type",
        "an ndarray", "an nn.Module", "a node", "a namedtuple",
    ],
)  # fmt: skip
def test_articles(phrase: str) -> None:
    article, _, noun = phrase.partition(" ")
    assert filled("The code enters a {type}.", {"type": noun}) == f"The code enters {phrase}."
    assert filled("A {type} is entered.", {"type": noun}) == f"A{article[1:]} {noun} is entered."


def test_a_value_named_by_text_and_line_is_set_off_by_commas() -> None:
    assert filled("{source} is a {type}.", {"source": "`y.grad_fn`, line 3", "type": "Node"}) == (
        "`y.grad_fn`, line 3, is a Node."
    )
    assert filled("It is {source}.", {"source": "`y`, line 3"}) == "It is `y`, line 3."
    rest = "`f`, after line 3"
    assert filled("{name} does nothing.", {"name": rest}) == f"{rest} does nothing."


def test_braces_in_what_is_filled_in_stay() -> None:
    assert filled("a {what} of {other}", {"what": "{x}", "other": "{0}"}) == "a {x} of {0}"


def test_ordinals() -> None:
    assert [ordinal(n) for n in (1, 2, 10, 11, 12, 21, 22, 101, 113)] == (
        "first second tenth 11th 12th 21st 22nd 101st 113th".split()
    )


def test_no_reason_speaks_of_the_tracer_or_in_riddles() -> None:
    riddles = re.compile(r"\b(?:[Tt]he tracer|hangs? on|no rule here|pybind11|getset_descriptor)\b")
    for reason in REASONS.values():
        for text in (reason.sentence, reason.explanation, *reason.hints):
            assert not riddles.search(text), f"{reason.id}: {text}"

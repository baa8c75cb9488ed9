"""Write parts of English sentences: articles, commas, ordinals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def filled(sentence: str, details: Mapping[str, Any]) -> str:
    """Return the format string filled with the details, with the articles and commas that these call for."""

    def with_article(match: re.Match[str]) -> str:
        article = f"{match[1]}n" if _begins_with_vowel(str(details[match[2]])) else match[1]
        return f"{article} {{{match[2]}}}"

    text = with_commas(_ARTICLE.sub(with_article, sentence).format(**details))
    return text[0].upper() + text[1:] if _WORDS.match(text) else text


def with_commas(sentence: str) -> str:
    """Return the sentence with a comma after each value named by its text and place, where the sentence goes on."""
    return _AFTER_LINE.sub(r"\1,", sentence)


def a(noun: str) -> str:
    """Return the noun with its article."""
    return f"an {noun}" if _begins_with_vowel(noun) else f"a {noun}"


def counted(number: int, noun: str) -> str:
    """Return the number and the noun, in the plural if there is not one of it."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


_ARTICLE = re.compile(r"\b([Aa]) \{(\w+)\}")
_WORDS = re.compile(r"(?:the|indexing|assigning|deleting|what) ")
"""Details that are English words and are capitalized at the beginning of a sentence; names keep their small
letters."""

_AFTER_LINE = re.compile(
    r"(?<=[`)])(, (?:[^ `]+:|(?:Cell [^ ]+, )?line )\d+)"
    r"(?= (?:is|was|has|takes|gives|cannot|changed|did|varies|be|iterate|that|to|as|outside|at each|before the|once|"
    r"the same|in a tensor|a tensor|from one)\b)"
)
"""A value named by its text and place, where the sentence goes on: `y.grad_fn`, model.py:3, is ..."""


def _begins_with_vowel(text: str) -> bool:
    return bool(_VOWEL.match(text) or _SPELT.match(text))


_VOWEL = re.compile(r"[aeiAEI]|[oO](?!ne\b|ne[A-Z_-]|nce)|[uU](?!int|n[iI]|se|sa|su|uid|UID|tf|func|fun|til)")
_SPELT = re.compile(r"[FHLMNRSX](?![a-z])|n[dn]")
"""Letters whose names begin with a vowel, at the beginning of an abbreviation: an RNN, an SGD, an ndarray."""


def ordinal(number: int) -> str:
    """Return `second`, `third`, ..., `11th`."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()

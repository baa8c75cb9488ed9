"""Name symbols of sizes and numbers by the values that they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping

SYMBOL = re.compile(r"(?<![\w.'])(?:s|u|zf|zuf|zub)\d+\b(?![\['])")
"""Torch's names for symbols. (`u8[3]` is a tensor.) Compiled once: the program may look into the cache of `re`."""


def symbols_in(text: str, meanings: Mapping[str, str]) -> list[str]:
    """Return the names of those symbols that occur in the text, in order."""
    return list(dict.fromkeys(name for name in SYMBOL.findall(text) if name in meanings)) if meanings else []


def said(names: list[str], meanings: Mapping[str, str]) -> str:
    """Return `s86 = L['x'].size(0), s3 = L['n']`."""
    return ", ".join(f"{name} = {meanings[name]}" for name in names)


def explained(text: str, meanings: Mapping[str, str]) -> str:
    """Return the text, followed by what the symbols in it stand for."""
    names = symbols_in(text, meanings)
    if not names:
        return text
    stop = "." if text.endswith(".") else ""
    return f"{text.removesuffix('.')} ({said(names, meanings)}){stop}"


def of_node(name: str) -> str:
    """Describe the node of the graph whose result a symbol is."""
    return f"what node `{name}` computes"

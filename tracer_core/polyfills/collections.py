"""Functions of `collections` that are written in C, in Python."""

from __future__ import annotations

import collections
from collections.abc import Iterable, MutableMapping
from typing import Any

from tracer_core.polyfills.registry import polyfills


@polyfills(collections._count_elements)  # type: ignore[attr-defined]
def count_elements(mapping: MutableMapping[Any, int], iterable: Iterable[Any], /) -> None:
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1

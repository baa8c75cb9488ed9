"""Find where two copied values differ, and say it: "`y` is a tensor f32[2], and a tensor f32[3] in plain Python"."""

from __future__ import annotations

import types
from typing import Any

import torch

from tracer_core.fixes.copies import Copied, World, is_constant
from tracer_core.guards.describe import dtype_text, sizes_text
from tracer_core.names.code import class_name
from tracer_core.names.sentences import a, counted

_Seen = set[tuple[int, int]]
_TABLES = ("_parameters", "_buffers", "_modules")
"""The dicts in which a module keeps its members: they are named as its attributes."""


def alike(plain: Copied, other: Copied) -> bool:
    """Return whether two values have the same types and contents all the way down."""
    return difference("it", plain, other) is None


def difference(name: str, plain: Copied, other: Copied, seen: _Seen | None = None) -> str | None:
    """Return in a clause how `other`, which is called `name`, differs from the value of plain Python; None if it does
    not."""
    seen = set() if seen is None else seen
    if (id(plain), id(other)) in seen:
        return None
    seen.add((id(plain), id(other)))
    if plain.form != other.form or (plain.cls is not other.cls and plain.cls.__qualname__ != other.cls.__qualname__):
        return _are(name, _said(other), _said(plain))
    if plain.form == "same":
        same = not is_constant(plain.about) or _same_constant(plain.about, other.about)
        return None if same else _are(name, _said(other), _said(plain))
    if plain.form == "tensor":
        found = _tensors_differ(name, plain, other)
        if found is not None:
            return found
    if plain.form == "array" and not _same_arrays(plain.about, other.about):
        return f"{name} has other numbers than in plain Python"
    if plain.form == "bytes" and plain.about != other.about:
        return f"{name} has other contents than in plain Python"
    if len(plain.parts) != len(other.parts):
        noun = _PARTS.get(plain.form, "part")
        return f"{name} has {counted(len(other.parts), noun)}, and {len(plain.parts)} in plain Python"
    for at, (one, two) in enumerate(zip(plain.parts, other.parts, strict=True)):
        found = _parts_differ(name, plain.form, at, one, two, seen)
        if found is not None:
            return found
    return None


_PARTS = {"items": "item", "pairs": "key", "object": "attribute"}


def _are(name: str, now: str, was: str) -> str:
    return f"{name} is {now}, and {was} in plain Python"


def _parts_differ(name: str, form: str, at: int, one: Any, two: Any, seen: _Seen) -> str | None:
    if isinstance(one, Copied):
        return difference(f"item {at} of {name}" if form == "items" else f"a part of {name}", one, two, seen)
    if isinstance(one[0], str):
        if one[0] != two[0]:
            return f"{name} has other attributes than in plain Python"
        return difference(name if one[0] in _TABLES else f"`{one[0]}` of {name}", one[1], two[1], seen)
    key = one[0].about
    found = difference(f"a key of {name}", one[0], two[0], seen)
    inside = f"{key!r}" if one[0].form == "same" and isinstance(key, str | int) else "a value"
    return found or difference(f"{inside} of {name}", one[1], two[1], seen)


def _said(copied: Copied) -> str:
    """Return a short description of a value."""
    if copied.form == "tensor":
        return f"a tensor {dtype_text(copied.about.dtype)}{sizes_text(copied.about.size)}"
    if copied.form == "same" and isinstance(copied.about, bool | int | float | complex | str | bytes | None):
        text = repr(copied.about)
        return text if len(text) <= 60 else f"{text[:60]}..."
    return a(class_name(copied.cls))


def _tensors_differ(name: str, plain: Copied, other: Copied) -> str | None:
    one, two = plain.about, other.about
    if one.dtype != two.dtype or one.size != two.size:
        return _are(name, _said(other), _said(plain))
    if one.device != two.device:
        return f"{name} is on {two.device}, and on {one.device} in plain Python"
    if one.requires_grad != two.requires_grad:
        return f"{name} has requires_grad={two.requires_grad}, and {one.requires_grad} in plain Python"
    return _numbers_differ(name, World().fresh(one), World().fresh(two))


@torch.no_grad()
def _numbers_differ(name: str, one: torch.Tensor, two: torch.Tensor) -> str | None:
    """Say by how much two tensors differ, where NaN equals NaN."""
    wrong = ~((one == two) | (one.isnan() & two.isnan()))
    count = int(wrong.sum())
    if not count:
        return None
    if one.numel() == 1:
        return _are(name, str(two.item()), str(one.item()))
    by = ""
    if one.dtype != torch.bool:
        by = f", by up to {(one - two)[wrong].abs().max().item():.3g}"
    return f"{count} of the {counted(one.numel(), 'number')} in {name} differ from plain Python{by}"


def _same_arrays(one: Any, two: Any) -> bool:
    """Return whether two NumPy arrays are equal, where NaN equals NaN."""
    same = one == two
    return one.shape == two.shape and one.dtype == two.dtype and bool((same | ((one != one) & (two != two))).all())


def _same_constant(one: Any, other: Any) -> bool:
    if isinstance(one, types.FunctionType | type):
        return bool(one.__qualname__ == other.__qualname__)
    return one is other or bool(one == other) or bool(one != one and other != other)

"""Annotations of what a program does, which are for tools that read its graph."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch.fx import traceback

from tracer_core.polyfills.registry import polyfills


def enter_annotations(annotations: dict[str, Any]) -> None:
    """Annotate the nodes that follow. A trace handles it, and the next function, as one step."""


def leave_annotations() -> None:
    """End what `enter_annotations` began."""


@polyfills(traceback.annotate)
@contextlib.contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    enter_annotations(annotation_dict)
    try:
        yield
    finally:
        leave_annotations()

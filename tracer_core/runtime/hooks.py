"""Handles of hooks."""

from __future__ import annotations

from collections import OrderedDict

from torch.utils.hooks import RemovableHandle


def removed_handle() -> RemovableHandle:
    """Return the handle of a hook that was removed: it does nothing any more."""
    return RemovableHandle(OrderedDict[int, object]())

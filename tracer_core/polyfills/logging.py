"""Checks of loggers before they create a record: by their levels, which are guarded like any attribute.

A method of a logger that is not enabled does nothing; one that is enabled runs as plain Python.
"""

from __future__ import annotations

import logging
from typing import Any

from tracer_core.polyfills.registry import polyfills


@polyfills(logging.Logger.isEnabledFor)
def is_enabled_for(self: Any, level: Any) -> bool:
    """Compare levels, without the cache that the logger empties when a level changes."""
    if self.disabled or self.manager.disable >= level:
        return False
    return level >= self.getEffectiveLevel()  # type: ignore[no-any-return]

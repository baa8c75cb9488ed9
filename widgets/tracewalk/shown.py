"""Provide the recording as a notebook shows it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracer_core import recording

if TYPE_CHECKING:
    from tracewalk.explorer import Explorer


class Trace(recording.Trace):
    """A recording that displays itself: as a cell's last value, by `show()`, or as a page by `to_html(path)`."""

    def show(self, position: int = 0, *, height: int = 760, failed_attempts: bool = False) -> Explorer:
        """Return the explorer of this recording, at step `position`; a notebook displays it as the cell's value.

        Raises:
            TraitError: there is no such step.
        """
        from tracewalk.explorer import Explorer

        return Explorer(self, position=position, height=height, failed_attempts=failed_attempts)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with this recording and its explorer, which opens without a kernel and without a network.

        Raises:
            OSError: the file cannot be written there.
        """
        from tracewalk.export import to_html

        return to_html(self, path)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the explorer for a notebook, else the summary."""
        return self.show()._repr_mimebundle_(**kwargs)

"""Find the folders of Python's own library and of installed packages."""

from __future__ import annotations

import os
import sysconfig


def _folders(*keys: str) -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({os.path.join(os.path.realpath(paths[key]), "") for key in keys})


SITE_FOLDERS = _folders("purelib", "platlib")
"""The folders in which packages are installed."""
LIBRARY_FOLDERS = _folders("stdlib", "platstdlib")
"""The folders of Python's own library; packages may be installed inside them."""

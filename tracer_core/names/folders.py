"""Where Python's own library and installed packages lie."""

from __future__ import annotations

import os
import sysconfig


def _folders(*keys: str) -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({os.path.join(os.path.realpath(paths[key]), "") for key in keys})


SITE_FOLDERS = _folders("purelib", "platlib")
"""Where packages are installed."""
LIBRARY_FOLDERS = _folders("stdlib", "platstdlib")
"""Where Python's own library lies; packages may be installed below."""

"""Tell which program shows the notebook, where that makes a difference to what an explorer's output contains."""

from __future__ import annotations

import os
import sys
from typing import Any

_SIGNS = ("DATABRICKS_RUNTIME_VERSION", "DEEPNOTE_PROJECT_ID", "PYCHARM_HOSTED", "VSCODE_PID")
"""Variables in the environment of kernels whose hosts know a widget only once its view is shown."""


def needs_view(shell: Any) -> bool:
    """Return whether the host starts a widget when its view is shown, and not as soon as the kernel creates it.
    JupyterLab, Notebook and those made from them start it at once."""
    if "google.colab" in sys.modules:
        return True
    if "__vsc_ipynb_file__" in getattr(shell, "user_ns", {}):
        return True
    return "JPY_SESSION_NAME" not in os.environ and any(name in os.environ for name in _SIGNS)

"""Keep `torch.compile` from measuring how long its guards take.

Each time it compiles a frame, it empties the processor's caches, runs the guards once, and logs the time: about a
third of what compiling a small program takes. No test looks at that time.
"""

from __future__ import annotations

import sys


def leave_guards_untimed() -> None:
    """Replace the measurement, once torch's compiler is imported."""
    guards = sys.modules.get("torch._dynamo.guards")
    if guards is not None:
        guards.profile_guard_manager = lambda *_: 0.0  # type: ignore[attr-defined]

"""Try what a recording suggests: run the recorded calls again with one change at a time, and see what it removes.
Also, compare the engine with the installed `torch.compile` on these calls.

In: a recording, and the calls kept with it (`KeepingRecorder`). Out: `Fixes`, with what each candidate did to graphs,
breaks and compilations, checked against plain Python. The program's source and state stay as they are. A new kind of
change is a function under `@candidate` in `options.py` or `rewrites.py`.
"""

from tracer_core.fixes.beside import beside_torch, comparing_with_torch
from tracer_core.fixes.kept import KeepingDispatchRecorder, KeepingRecorder, KeptCalls
from tracer_core.fixes.trying import try_fixes, trying

__all__ = [
    "KeepingDispatchRecorder",
    "KeepingRecorder",
    "KeptCalls",
    "beside_torch",
    "comparing_with_torch",
    "try_fixes",
    "trying",
]

"""The code that replaces a frame: graph call, rebuilt values, side effects, resume functions.

In: a frame that starts (`FrameInput`). Out: a code object and the guards under which it may run
(`compile_frame.trace_frame`). From the top down, each importing only what comes after it:

- `compile_frame`: attempts, one after the other; `attempts/`: one of them.
- `frame/`: the code of a whole frame.
- `effects`: mutations of objects that outlive the trace, replayed.
- `graph_call/`: the call of the graph, random draws before it, and recovery if it raises.
- `resume/`: the rest of a function after a break.
- `rebuild/`: values that are still alive, rebuilt.
- `emit/`: the builder that all of them write with.

Generated code calls `tracer_core.runtime` while it runs; `tracer_core.listing` shows it as Python text.
"""

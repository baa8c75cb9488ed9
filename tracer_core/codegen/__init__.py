"""The code that replaces a frame: graph call, rebuilt values, side effects, resume functions.

In: a frame that starts (`FrameInput`). Out: a code object and the guards under which it may run
(`compile_frame.trace_frame`). From the top down, each importing only what comes after it:

- `compile_frame`: attempts, one after the other; `attempts/`: one of them.
- `frame/`: the code of a whole frame.
- `effects`: changes to what outlives the trace, written back.
- `graph_call/`: the call of the graph, random draws before it, and what happens should it raise.
- `resume/`: the rest of a function after a break.
- `rebuild/`: values that are still alive, built again.
- `emit/`: the builder that all of them write with.

What this code calls while it runs is in `tracer_core.runtime`; how people read it, in `tracer_core.listing`.
"""

"""The code that replaces a frame: graph call, rebuilt values, side effects, resume functions.

In: the interpreter's state where the frame returned or its graph ended. Out: a code object and the guards under which
it may run (`compile_frame.trace_frame`).
"""

"""The CPython frame hook, the cache of compiled versions of each code object, and the back ends.

In: Python frames that start while a `Hook` is on. Out: the code that runs instead, from the cache while its guards
hold, else from tracing (`tracer_core.codegen.compile_frame.trace_frame`), or the choice to run the frame as plain
Python.
"""

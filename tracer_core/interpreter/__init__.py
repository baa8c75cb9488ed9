"""Symbolic frames and the handlers of their instructions.

In: a frame's code and the trackers of its arguments. Out: the tracker it returns, with the nodes, guards and side
effects that its steps added. `@op(name)` registers a handler; `Interpreter` traces, inlines, unwinds.
"""

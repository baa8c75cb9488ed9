"""Symbolic frames and the handlers of their instructions.

In: a frame's code and the trackers of its arguments. Out: the tracker it returns, and all that its steps did to the
graph, the guards and the side effects. `@op(name)` registers a handler; `Interpreter` walks, inlines, unwinds.
"""

"""Tracing a frame, in as many attempts as it takes.

In: a frame that starts, and why the last attempt ended. Out: its new code and guards, the choice to leave it to
Python, or where the next attempt is to stop (`attempt.Attempt`). `surroundings` and `unseen` keep the work from
being noticed; `distinct` and `marks` ask for guards and notices that belong to a frame as a whole.
"""

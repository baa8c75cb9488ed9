"""Trace a frame, in as many attempts as it takes.

In: a frame that starts, and why the last attempt ended. Out: its new code and guards, the choice to run it as
plain Python, or where the next attempt is to stop (`attempt.Attempt`). `surroundings` and `hidden_fakes` keep the
work from being noticed; `distinct` and `marks` add guards and notices that belong to a frame as a whole.
"""

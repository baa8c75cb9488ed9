"""The code of a whole frame, assembled from the parts that the other folders write.

In: the state in which a frame left its graph (`end.FrameEnd`), and the graph. Out: the code to run in its place, and
the resume functions that it calls (`new_code.returning`, `new_code.breaking`; `resume_call` writes their calls).
"""

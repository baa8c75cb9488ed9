"""One handler for each canonical instruction, in one module per subject.

In: `Tracing`, the frame, the instruction. Out: the frame changed, and the tracker that it returns or yields, if any.
`table` has the decorator under which they register.
"""

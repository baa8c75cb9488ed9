"""One handler for each canonical instruction, in a module a subject.

In: `Tracing`, the frame, the instruction. Out: the frame changed, and the tracker that it returns or yields, if any.
`table` has the decorator under which they register.
"""

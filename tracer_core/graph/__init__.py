"""The graphs being captured, one inside the other: nodes, inputs, fake tensors, symbolic shapes, torch's settings.

In: torch functions with the nodes and fake values of their arguments. Out: nodes with example values, the guards the
shapes need, and what codegen must pass to and take from the finished graph. `OutputGraph` is the stack of
`SubgraphTracer`s, each of which builds one graph. What the trace knows of the program stands above this folder: no
tracker is known here.
"""

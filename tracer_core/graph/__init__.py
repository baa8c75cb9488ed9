"""The graphs being captured, one inside the other: nodes, inputs, fake tensors, symbolic shapes, torch's settings.

In: torch functions with the nodes and fake values of their arguments. Out: nodes with example values, the guards the
shapes need, and the inputs and outputs of the finished graph. `OutputGraph` is the stack of
`SubgraphTracer`s, each of which builds one graph. The state of the traced program is above this folder: nothing
here imports a tracker.
"""

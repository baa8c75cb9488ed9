"""The graph being captured: nodes, fake tensors, symbolic shapes, graph inputs, side effects.

In: torch functions with the nodes and fake values of their arguments. Out: nodes with example values, the guards the
shapes need, and what codegen must pass to and take from the finished graph.
"""

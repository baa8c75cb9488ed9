"""NumPy arrays: tensors of the graph, each beside a shadow on which NumPy itself computes types, layout and memory.

`rules` lists the calls whose values torch computes the same.
"""

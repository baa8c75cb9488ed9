"""Random generators of Python and NumPy: their draws become calls in the generated code, before the graph.

In: generators with their sources. Out: sources of the drawn values.
"""

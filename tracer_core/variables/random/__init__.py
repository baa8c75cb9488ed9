"""Random generators of Python and NumPy: their draws become calls that the generated code makes before the graph.

In: generators with their sources. Out: sources of what is drawn.
"""

"""Functions and other callables: methods, partials, functions created in the trace, cells, and symbolic frames.

In: code objects and closures. Out: what the interpreter inlines, or why it does not.
"""

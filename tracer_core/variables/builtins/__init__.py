"""Python's builtin functions and the methods of builtin types, each under a decorator, by subject.

In: calls found by table. Out: trackers.
"""

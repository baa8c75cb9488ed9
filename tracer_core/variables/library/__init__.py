"""The standard library: signatures, weak references, `functools` caches, compiled patterns, identity tables of
`copy`.

In: calls found by table. Out: trackers.
"""

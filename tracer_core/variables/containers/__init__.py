"""Sequences, dicts, sets and the `__dict__` of objects: the trackers, each with the items it holds.

Their methods are in `builtins`.
"""

"""Iterators, generators that the trace started, those suspended before it, and values whose dropping can be observed.

In: the iterable. Out: items, one at a time.
"""

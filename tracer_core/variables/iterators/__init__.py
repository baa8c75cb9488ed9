"""Iterators, generators that the trace started, those that were alive before it, and values whose dropping can be
observed.

In: the iterable. Out: items, one at a time.
"""

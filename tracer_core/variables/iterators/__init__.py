"""Iterators, generators that the trace started, those that were alive before it, and values whose dropping is seen.

In: what is iterated over. Out: items, one at a time.
"""

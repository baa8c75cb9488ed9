"""Exceptions of the traced program: those it creates and raises, and those raised again when a frame resumes.

In: classes and arguments. Out: trackers that handlers raise and `except` clauses catch.
"""

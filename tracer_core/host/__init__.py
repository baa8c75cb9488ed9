"""The process around a trace: signals, warnings, torch's modes and settings, and the restoration of whatever tracing
changes.

In: the state of Python and torch as the program left it. Out: the same, however a trace ends.
"""

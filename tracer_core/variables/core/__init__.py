"""The base of every tracker: the base class, the registries of handlers, constants, tensors and symbolic
numbers, lazy trackers.

Also the state of a trace (`trace_state`), its side effects, and `Tracing`, the protocol by which trackers call the
interpreter. In: nothing from the other folders. Out: the names that all of them import.
"""

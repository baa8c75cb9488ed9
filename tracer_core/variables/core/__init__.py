"""What every tracker is built on: the base class, the registries of handlers, constants, tensors and symbolic
numbers, values not looked at yet.

Also the state of a trace (`trace_state`), its side effects, and `Tracing`, the protocol by which trackers call the
interpreter. In: nothing of the other rooms. Out: what all of them import.
"""

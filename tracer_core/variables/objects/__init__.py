"""Instances and classes: user objects, `nn.Module`, enums, descriptors, objects with a builtin part, class
attributes that the trace has written, and the creation of instances.

In: real objects with their sources, or a class that is called. Out: trackers found by Python's order of lookup.
"""

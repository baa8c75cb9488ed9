"""Torch's functions that are more than a node: methods of tensors, tensors created from numbers, context managers,
settings, devices, transforms, calls of autograd, optimizers.

In: calls that `operations` dispatches by table. Out: nodes, constants, or a break by name.
"""

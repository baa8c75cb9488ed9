"""Torch's functions that are more than a node: methods of tensors, tensors made of numbers, context managers,
settings, devices, transforms, calls of autograd, optimizers.

In: calls that `operations` hands on by table. Out: nodes, constants, or a break by name.
"""

"""What stands in code that is in no package, and classes that a graph's code cannot name."""

import torch

from tests.conformance.program import program, t

__package__ = None


@program("I13")
def relative_import_without_a_package(x):
    try:
        from . import sibling
    except ImportError:
        return x + 1
    return sibling


@program("F10", lambda: [t(2)], differs="fewer_breaks", why="it breaks at as_subclass(torch.Tensor)")
def tensor_as_a_class(x):
    return x.as_subclass(torch.Tensor) + 1


@program("F10", lambda: [t(2)])
def number_types_as_dtypes(x):
    return x.to(int), torch.zeros(2, dtype=float) + x, x.to(dtype=bool)

"""Numbers that the graph computes, where Python asks a value of its class for something that only C code does: used
as an index, a length, the operand of `in`. A program that catches TypeError must not catch one that Python never
raises."""

import operator
import random
from collections import deque

import numpy as np
import torch

from tests.conformance.program import program, t

STRICT = "graphs keep to what NumPy gives in dtype, memory and order"
TORCH_WRONG = "torch raises in the trace where plain Python does not, or the other way round"


def tried(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - what is caught is what is compared
        return type(error).__name__


class Sized:
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


def changed(items, change):
    change(items)
    return items


def items_at(k):
    items = ["a", "b", "c"]
    reads = (
        lambda: items[k],
        lambda: tuple(items)[k],
        lambda: "abc"[k],
        lambda: range(9)[k],
        lambda: deque(items)[k],
        lambda: operator.itemgetter(k)(items),
    )
    return [tried(read) for read in reads]


def parts_from(k):
    items = ["a", "b", "c"]
    reads = (
        lambda: items[k:],
        lambda: items[:k],
        lambda: items[::k],
        lambda: items.index("c", k),
        lambda: torch.ones(3, 4, 5).shape[k],
        lambda: torch.ones(3, 4, 5).size(k),
    )
    return [tried(read) for read in reads]


def counts_of(k):
    counted = (
        lambda: list(range(k)),
        lambda: list(enumerate("ab", k)),
        lambda: slice(None).indices(k),
        lambda: len(Sized(k)),
        lambda: ["a", "b"].__getitem__(k),
    )
    return [tried(count) for count in counted]


def uses(k):
    """Each use of `k` as an index, in lists so short that no code is compiled too often."""
    return items_at(k), parts_from(k), counts_of(k)


def writes(k):
    """Each use of `k` as the place of a write."""
    items = [1, 2, 3]
    return [
        tried(lambda change=change: changed([*items], change))
        for change in (
            lambda of: of.pop(k),
            lambda of: of.insert(k, 0),
            lambda of: of.__setitem__(k, 0),
            lambda of: of.__delitem__(k),
            lambda of: operator.setitem(of, k, 0),
        )
    ]


@program("B6", lambda: [t(3)], differs="stricter", why=STRICT)
def label_of_the_greatest(x):
    names = ["cat", "dog", "cow"]
    scores = x.softmax(-1).numpy()
    try:
        return names[scores.argmax()]
    except Exception:  # noqa: BLE001 - as programs do that label images
        return "unknown"


@program("B6", differs="stricter", why=STRICT)
def shuffled_by_an_order_that_is_drawn(x):
    items, found = ["a", "b", "c"], []
    for i in np.random.RandomState(1).permutation(3):
        try:
            found.append(items[i])
        except TypeError:
            found.append(None)
    return x + 1, found


@program("B6", differs="torch_differs", why=TORCH_WRONG)
def scalars_as_indices(x):
    return x + 1, uses(x.numpy().argmax()), writes(x.numpy().argmax())


@program("B6", differs="torch_differs", why=TORCH_WRONG)
def products_as_indices(x):
    k = np.prod(x.shape[:1])
    return x + 1, uses(k), writes(k)


@program("B6", differs="torch_differs", why=TORCH_WRONG)
def arrays_and_floats_as_indices(x):
    scores = x.numpy()
    return x + 1, uses(np.asarray(scores.argmax())), uses(scores.max()), uses(scores)


@program("B6", differs="torch_differs", why=TORCH_WRONG)
def tensors_as_indices(x):
    k = x.argmax()
    return x + 1, uses(k), writes(k)


@program("I2", differs="torch_differs", why=TORCH_WRONG)
def operations_that_tensors_lack(x):
    """Tensors have methods of these names, which the builtin functions do not call."""
    return x + 1, tried(lambda: round(x)), tried(lambda: divmod(x, 2)), tried(lambda: divmod(5, x))


@program("I2", differs="stricter", why="torch has the comparison in a graph and breaks where its truth is read")
def number_in_a_tensor_without_dimensions(x):
    return x + 1, tried(lambda: 1 in x.sum()), tried(lambda: 1 in x)


@program("O9", differs="torch_differs", why=TORCH_WRONG)
def generator_seeded_with_what_it_refuses(x):
    return x + 1, tried(lambda: random.Random(np.random.RandomState(1).permutation(3)[0]).random())

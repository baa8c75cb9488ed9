"""Operators between sequences and tensors: repeated as often as the data say, or refused in Python's words."""

import collections

import torch

from tests.conformance.program import program, t

SEQUENCES = [[1, 2], (1, 2), torch.Size([1, 2]), "ab", b"ab", bytearray(b"ab"), collections.deque([1])]
COUNTS = [(torch.tensor(n),) for n in (2, 3, True)] + [(torch.tensor([2]),), (torch.tensor(2.0),), (t(2),)]


class Items(list):
    pass


class Twice:
    def __index__(self):
        return 2


def attempt(run):
    try:
        return run()
    except TypeError as error:
        return str(error), repr(error.__context__)


@program("I11 I5", lambda: COUNTS, differs="torch_differs", why="torch.compile refuses to repeat by a tensor")
def repeated_as_often_as_a_tensor_says(x):
    x = x + 1
    found = []
    for sequence in SEQUENCES:
        found.append(attempt(lambda s=sequence: s * x))
        found.append(attempt(lambda s=sequence: x * s))
    return found, x


@program("I11 I5", lambda: COUNTS, differs="torch_differs", why="torch.compile refuses to repeat by a tensor")
def repeated_in_a_block(x):
    with torch.no_grad():
        made = [1, 2]
        kept = made
        made *= x
        return made, made is kept, x.shape * x.sum()


@program("I11 I5", lambda: [(t(2),)], differs="torch_differs", why="torch.compile has words of its own")
def refused_in_pythons_words(x):
    found = []
    for sequence in (*SEQUENCES, Items([1]), {1: 2}, {1}, None, Twice()):
        found.append(attempt(lambda s=sequence: s + x))
        found.append(attempt(lambda s=sequence: x - s))
        found.append(attempt(lambda s=sequence: s % [x] if s != "ab" and s != b"ab" else 0))
        found.append(attempt(lambda s=sequence: s + {"a": x}))
        found.append(attempt(lambda s=sequence: s ** [x]))
        found.append(attempt(lambda s=sequence: Items([x]) + s))
    return found, x * 2


@program("I11 I5")
def repeated_by_an_object(x):
    made = [x]
    kept = made
    made *= Twice()
    return made, kept is made, [x, 1] * Twice(), Twice() * (x,)

"""Masks as speech models draw them: arrays broadcast, stacked, and written at places that other arrays name."""

import numpy as np
import torch

from tests.conformance.program import program

OTHERWISE = "torch.compile gives arrays with other memory, types or errors than NumPy"
MORE = "torch.compile breaks, compiles once more, or takes more operations"
OUTSIDE = "arrays of constants are outside the graph: other operations are in it"


def a(*shape, start=0):
    return (np.arange(float(np.prod(shape))) + start).reshape(shape)


def laid_out(result):
    return [(x.strides, x.flags.writeable, x.tolist()) if isinstance(x, np.ndarray) else x for x in result]


def places(*rows):
    return np.array(rows)


@program(
    "B6",
    lambda: [(a(2, 5), places([0, 2], [1, 4])), (a(2, 5), places([3, 3], [0, 1]))],
    differs="stricter",
    why=OUTSIDE,
)
def spans_of_a_mask(x, starts):
    """The mask of Wav2Vec2 and its kin, from the starts of its spans."""
    mask = np.zeros(x.shape, dtype=bool)
    spans = np.broadcast_to(starts[:, :, None], (2, 2, 2)).reshape(2, 4)
    offsets = np.broadcast_to(np.arange(2)[None, None, :], (2, 2, 2)).reshape(2, 4)
    spans = spans + offsets
    if spans.max() > x.shape[1] - 1:
        spans[spans > x.shape[1] - 1] = x.shape[1] - 1
    np.put_along_axis(mask, spans, 1, -1)
    return torch.tensor(mask, device="cpu", dtype=torch.bool), mask


@program("B6", lambda: [a(3), a(3, start=2)], then=laid_out, differs="torch_differs", why=OTHERWISE)
def broadcast(x):
    y = np.broadcast_to(x, (2, 3))
    return y, y + 1, y[1:], y.T, y.sum(), np.broadcast_to(x[:1], (4,)), y.copy()


@program("B6 I5", lambda: [a(3)], differs="torch_differs", why=OTHERWISE)
def broadcast_is_not_written_to(x):
    y = np.broadcast_to(x + 1, (2, 3))
    try:
        y[0] = 5
    except ValueError as error:
        return str(error), y.tolist()


@program("B6 O7", lambda: [a(3)])
def what_is_broadcast_is_written_to(x):
    y = np.broadcast_to(x, (2, 3))
    x[0] = 9
    z = y * 2
    x[1] = 7
    return z, y


def broadcast_outside():
    return np.broadcast_to(a(3), (2, 3))


def locked():
    array = a(2, 3)
    array.flags.writeable = False
    return array


@program(
    "B6",
    lambda: [broadcast_outside(), locked(), locked().T, a(2, 3)],
    then=laid_out,
    differs="torch_differs",
    why=OTHERWISE,
)
def given_what_may_not_be_written_to(x):
    return x + 1, x[1:] * 2, x.T, x.sum(axis=0)


def window():
    array = a(6)
    seen = array[1:4]
    seen.flags.writeable = False
    return array, seen


@program("B6 O7", lambda: [window(), window()], then=laid_out, differs="stricter", why="the two arrays share memory")
def locked_view_of_what_is_written_to(x, seen):
    before = seen * 1
    x[2] = 50
    return before, seen * 1


@program("B6", lambda: [a(3, 2), a(3, 2, start=1)], then=laid_out, differs="fewer_breaks", why=MORE)
def stacked_by_array(x):
    rows = [x[0], x[1]]
    return (
        np.array(rows),
        np.array([rows, rows]),
        np.array([x[0, 0], x[1, 1]]),
        np.array([x[0, 0], 2]),
        np.array(rows, dtype=np.float32),
        np.asarray([x[0].astype(np.int64), x[1]]),
    )


@program("B6 I5", lambda: [a(3, 2)], differs="torch_differs", why=OTHERWISE)
def stacked_of_other_lengths(x):
    try:
        return np.array([x[0], x[0, :1]])
    except ValueError as error:
        return str(error)


@program(
    "B6 O7",
    lambda: [(a(2, 4), places([1], [-1]), 5.0), (a(2, 4), places([9], [0]), 5.0)],
    differs="torch_differs",
    why=OTHERWISE,
)
def put_along_an_axis(x, where, value):
    y = x * 1
    np.put_along_axis(y, where, 7, 1)
    np.put_along_axis(y, where[:1], 8, axis=-1)
    np.put_along_axis(y, where, value, 1)
    return y, np.take_along_axis(y, where, axis=1)


@program("B6", lambda: [a(3, 2)], differs="fewer_breaks", why=MORE)
def tensors_of_arrays(x):
    return (
        torch.tensor(x, device="cpu"),
        torch.tensor(x > 2, dtype=torch.float32),
        torch.tensor(x, device=torch.device("cpu"), dtype=torch.int64),
        torch.tensor(x, dtype=None),
    )

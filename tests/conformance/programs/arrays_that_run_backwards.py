"""Arrays with negative strides, as images and signals are turned around."""

import numpy as np
import torch

from tests.conformance.program import program, t

OTHERWISE = "torch.compile gives copies where NumPy gives views, or arrays that own no memory"
MORE = "torch.compile breaks, or compiles once more"


def a(*shape):
    return np.arange(float(np.prod(shape))).reshape(shape).copy()


def laid_out(result):
    return [(x.strides, x.flags.owndata, x.base is None, x.tolist()) for x in result]


@program("B6", lambda: [a(6), a(7)], then=laid_out, differs="torch_differs", why=OTHERWISE)
def slices(x):
    y = x[::-1]
    return y, y * 2, x[::-2], x[4:1:-1], y[1:3], y[::-1], x[:0:-1]


@program("B6", lambda: [a(3, 4), a(5, 4)], then=laid_out, differs="torch_differs", why=OTHERWISE)
def flips(x):
    y, z = np.flip(x), np.fliplr(x)
    return y, z, np.flipud(x), y.T, y[0], y.reshape(-1), z.ravel(), np.flip(x, axis=-1)[1:], y[None], y.copy(), y + x


@program("B6 O7", lambda: [a(6), a(6)], then=laid_out, differs="torch_differs", why=OTHERWISE)
def written_through_both(x):
    y = x[::-1]
    before = y * 1
    x[0] = 9
    between = y * 1
    y[0] = 7
    y[1:3] += 1
    y *= 2
    y[y > 16] = 0
    x[2:] = y[2:]
    return x, y, before, between


@program("B6", lambda: [a(6)[::-1], a(12)[::-2]], then=laid_out, differs="fewer_breaks", why=MORE)
def given(x):
    return x, x + 1, x[::-1], x[1:], x.reshape(2, 3)


@program("B6", lambda: [a(4, 3, 3).astype(np.uint8)], differs="fewer_breaks", why=MORE)
def image(x):
    """From blue, green and red in the last dimension to red, green and blue in the first, mirrored."""
    y = np.ascontiguousarray(x[:, ::-1, ::-1].transpose(2, 0, 1))
    return torch.from_numpy(y).float() / 255, torch.from_numpy(np.flip(x, axis=1).copy())


@program("B6 I5", lambda: [a(3)], differs="torch_differs", why="torch.compile makes tensors of them")
def refused_by_torch(x):
    try:
        return torch.from_numpy(x[::-1])
    except ValueError as error:
        return str(error)[:40]


@program("B6 O7", lambda: [t(2, 3)], then=lambda r: laid_out(r[:1]), differs="torch_differs", why=OTHERWISE)
def of_a_tensor(x):
    y = x.numpy()[::-1]
    y[0] = 5
    return y, x + 1


@program("B6", lambda: [a(3, 4)], then=laid_out, differs="torch_differs", why=OTHERWISE)
def of_an_array_nobody_has(x):
    y = (x * 2)[::-1, 1:]
    return y, y.base


@program(
    "B6",
    lambda: [a(3, 4)],
    then=lambda r: [r[0].resize((2, 2)), *laid_out(r)],
    differs="torch_differs",
    why=OTHERWISE,
)
def copied_and_resized(x):
    return (np.flip(x).copy(),)


@program("B6", lambda: [a(3, 4)], differs="torch_differs", why=OTHERWISE)
def rows(x):
    return [row * 2 for row in x[::-1]], [row.base is x for row in np.flip(x)]


@program("B6", lambda: [a(3)], then=laid_out, differs="torch_differs", why=OTHERWISE)
def dimensions_of_one_item(x):
    y = x * 2
    return y[None], y[:, None], y[None].T, y[::-1][:1], y[None, ::-1]


@program("B6 O7", lambda: [a(6), a(6)], differs="torch_differs", why=OTHERWISE)
def written_where_it_was_read(x):
    x[1:] = x[:-1]
    x[:] = x[::-1]
    x[2:4] += x[3:5]
    x[:3] *= x[2::-1]
    return x.copy()

"""What depends on memory, storage or ownership: who owns an array, whose view it is, what a tensor's memory is."""

import numpy as np
import torch

from tests.conformance.program import program, t

OWNED = "arrays that leave torch.compile own no memory and are nobody's view"
MORE = "torch.compile breaks, or compiles once more"


def a(*shape):
    return np.arange(float(np.prod(shape))).reshape(shape).copy()


def of_memory(result):
    """Whose memory each of the arrays looks at, with their values and layouts."""
    return [(x.base is None, x.flags.owndata, x.strides, x.tolist()) for x in result]


@program("B6", lambda: [t(3)])
def has_memory(x):
    return x.const_data_ptr() != 0, x.data_ptr() == x.const_data_ptr(), (x + 1).const_data_ptr() != 0


def kept():
    x = t(3, grad=True) * 2
    x.retain_grad()
    return x


@program("B5", lambda: [t(3, grad=True) * 2, kept()], differs="torch_differs", why="torch.compile says no")
def keeps_its_gradient(x):
    return x.retains_grad, (x + 1).retains_grad


@program("B6", lambda: [a(3, 4), a(3, 4)], differs="torch_differs", why=OWNED)
def view_of_an_argument(x):
    y, z = x[1:], x[:, 1:].T
    return y.base is x, z.base is x, z[1].base is x, y[1:].base is x, x[1:].base is y


@program("B6", lambda: [np.arange(40.0)[4:16].reshape(3, 4)], differs="fewer_breaks", why=MORE)
def view_of_a_view(x):
    y = x[1:]
    return y.base is x.base, y.base.tolist()


@program("B6", lambda: [np.asfortranarray(a(3, 4))], differs="fewer_breaks", why=MORE)
def view_of_an_argument_by_columns(x):
    return x[1:].base is x, x.T[2:].base is x, x[:, 1].base is x


@program("B6", lambda: [a(3, 4), np.asfortranarray(a(3, 4))], then=of_memory, differs="torch_differs", why=OWNED)
def arrays_that_leave(x):
    y = x * 2
    return y, y[1:], y.T, x + y[0], y.reshape(-1), np.stack([x, y]), y.copy(), x.astype(np.float32)


@program("B6", lambda: [a(3, 4), np.asfortranarray(a(3, 4))], differs="torch_differs", why=OWNED)
def views_that_leave_without_their_owner(x):
    y, z = (x * 2)[1:], (x + 1).T
    return y, z, y.base.tolist(), z.base.base is None, y.flags.owndata


@program(
    "B6",
    lambda: [np.asfortranarray(a(3, 4))],
    then=lambda r: r[1].base is r[0].base,
    differs="torch_differs",
    why=OWNED,
)
def views_of_a_copy_nobody_has(x):
    y = x.reshape(-1)
    return y, y[1:]


@program("B6 O7", lambda: [a(3, 4)], differs="torch_differs", why=OWNED)
def views_are_written_through(x):
    y = x * 2
    z = y.T[1:]
    z.setflags(write=True)
    z[0] = 5
    return y, z, np.shares_memory(y, z), np.shares_memory(x, y)


@program("B6", lambda: [a(3, 4)], then=lambda r: [r.resize((2, 2)), r], differs="torch_differs", why=OWNED)
def resized_afterwards(x):
    return x * 2


@program("B6", lambda: [a(3, 4)], differs="stricter", why="whether NumPy resizes depends on who refers to the array")
def resized_inside(x):
    y = x * 2
    y.resize((2, 2))
    return y + 1


@program("B6 I5", lambda: [a(3, 4)], differs="torch_differs", why=OWNED)
def view_resized_inside(x):
    y = (x * 2)[1:]
    try:
        y.resize((4, 4))
    except ValueError as error:
        return str(error)


def locked(array):
    array.setflags(write=False)
    return array


@program(
    "B6",
    lambda: [locked(np.asfortranarray(a(3, 4)))],
    then=lambda y: (y, y.strides),
)
def locked_by_columns(x):
    return x + 1


@program("B6", lambda: [t(3, 4)], differs="fewer_breaks", why=MORE)
def array_of_a_tensor(x):
    y = x.numpy()
    return type(y.base), y[1:].base is y, y.flags.owndata


@program("B6", lambda: [a(3, 4)])
def tensor_over_an_array(x):
    y = x * 2
    z = torch.from_numpy(y)
    z += 1
    return y, z, z.data_ptr() == y.ctypes.data


@program(
    "B6",
    lambda: [a(3, 4)],
    then=lambda rows: [next(rows), type(rows)],
    differs="torch_differs",
    why="torch.compile gives another iterator",
)
def iterator_over_rows(x):
    return (x + 1).__iter__()

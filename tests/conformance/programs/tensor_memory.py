"""`tensor.data = value`: a tensor that looks at other memory, past autograd."""

import torch
from torch import nn

from tests.conformance.program import program, t


@program("F10", lambda: [(t(2, 3),), (t(2, 3),), (t(4, 3),)])
def data_replaced(x):
    x.data = x.data + 1
    return x * 2


@program("F10", lambda: [(t(2, 3, grad=True),), (t(2, 3, grad=True),)])
def data_replaced_of_a_leaf(x):
    x.data = x.data + 1
    return x * 2


@program("F10 O7", lambda: [(t(2, 3), t(2, 3, start=4))])
def data_shared_with_an_argument(x, y):
    x.data = y
    y.add_(1)
    return x * 2


SHAPE_STAYS = "torch.compile goes on with the shape that the tensor had"


@program("F10", lambda: [(t(2, 3), t(4, start=4))], differs="torch_differs", why=SHAPE_STAYS)
def data_of_another_shape(x, y):
    x.data = y * 2
    return x.shape, x + 1


@program("F10", lambda: [(t(2, 3), t(2, 3, dtype=torch.float64))], differs="torch_differs", why=SHAPE_STAYS)
def data_of_another_dtype(x, y):
    x.data = y * 2
    return x.dtype, x + 1


SET_WHERE_IT_STANDS = "torch.compile ends the graph where the tensor comes from the graph itself"


@program("F10", lambda: [(t(2, 3),)], differs="fewer_breaks", why=SET_WHERE_IT_STANDS)
def data_of_a_view(x):
    v = x[0]
    v.data = v + 1
    return x * 2, v


@program("F10", lambda: [(t(2, 3),)], differs="fewer_breaks", why=SET_WHERE_IT_STANDS)
def data_of_what_was_computed(x):
    y = x * 2
    z = y.view(3, 2)
    y.data = torch.zeros(4)
    return y + 1, z


@program(
    "F10 O6",
    lambda: [(t(2, 3), torch.tensor([1])), (t(2, 3), torch.tensor([5]))],
    differs="torch_differs",
    why="the exception of torch.compile's graph leaves past the handler",
)
def data_replaced_before_an_index_fails(x, i):
    x.data = x.data + 1
    try:
        return x[i]
    except IndexError as error:
        return str(error), x + 1


@program("F10 I5", differs="torch_differs", why="torch.compile has an AttributeError where Python has a TypeError")
def data_replaced_by_nothing(x):
    try:
        x.data = None
    except TypeError as error:
        return str(error), x + 1
    return x + 2


@program("F10", lambda: [(t(2, 3, grad=True),)])
def data_replaced_of_what_backward_needs(x):
    y = x.pow(2)
    x.data = x.data * 3
    return y


@program("B11", lambda: [(nn.Linear(3, 2), t(2, 3)), (nn.Linear(3, 2), t(4, 3))])
def module_moved(m, x):
    return m.to(torch.float32)(x), m.float()(x), m.to(x)(x)


@program("B11", lambda: [(nn.Linear(3, 2), nn.Linear(3, 2), t(2, 3)), (nn.Linear(3, 2), nn.Linear(3, 2), t(4, 3))])
def weights_averaged(m, averaged, x):
    for p, q in zip(m.parameters(), averaged.parameters(), strict=True):
        q.data = q.data * 0.9 + p.data * 0.1
    return averaged(x)

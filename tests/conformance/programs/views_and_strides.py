"""Views that autograd lets one change, views that it does not, and what strides tensors without elements have."""

import torch

from tests.conformance.program import program, t


def base(grad=True):
    return t(3, 2).requires_grad_(grad) * 1


def without_gradients(value):
    with torch.no_grad():
        return value[0]


def views():
    kinds = [
        lambda v: v[0],
        lambda v: v.unbind()[0],
        lambda v: v.split(1)[0].view(2),
        lambda v: v.t().chunk(2)[0][0],
        without_gradients,
        lambda v: v[1],
    ]
    return [view(base(grad)) for view in kinds for grad in (True, False)]


@program("B5 O7 I5", views, differs="torch_differs", why="torch.compile changes what autograd refuses to")
def view_given_is_changed(x):
    try:
        x.add_(1)
    except RuntimeError as error:
        return x.detach() * 2, str(error).partition(" is being")[0]
    return x.detach() * 2


@program(
    "O7 I5",
    lambda: [(base(False),), (base(),), (base(),)],
    differs="torch_differs",
    why="torch.compile raises its own error",
)
def view_made_is_changed(x):
    first, *others = x.unbind()
    y = first + 1
    try:
        first.mul_(2)
    except RuntimeError as error:
        return y, str(error).partition(" is being")[0]
    return y, first


def empties():
    full = t(4, 3)
    return [full[:0], full[:, :0], full.t()[:0], full.t()[:, :0], torch.empty(0, 3), torch.empty(0, 3).t(), full]


@program("F10 B5", empties, differs="torch_differs", why="torch.compile gives the strides of fakes")
def strides_without_elements(x):
    y = x + 1
    z = torch.cat([y, y])
    return y.stride(), x.stride(), x.transpose(0, 1).contiguous().stride(), z.stride(0), y.is_contiguous(), y.shape

"""Operators that write."""

import torch

from tests.proxy_tensor.cases import Built, builder, floats, function


@function(floats(3))
def in_place_on_an_input(x):
    x.add_(1)
    return x.mul_(2)


@function(floats(3))
def in_place_without_use(x):
    y = x.clone()
    x.sub_(y)
    return y


@function(floats(4, 4))
def in_place_through_a_view(x):
    x[0].fill_(3)
    x.view(-1)[5:7].zero_()
    return x.sum()


@function(floats(4), floats(4))
def copies_in_a_row(x, y):
    x.copy_(y)
    x.copy_(y + 1)
    return x


@function(floats(4), floats(4))
def out_argument(x, y):
    out = torch.empty(4)
    torch.add(x, y, out=out)
    return torch.mul(x, out, out=y), out


@function(floats(5), lambda: torch.tensor([0, 2, 2]))
def indexed_writes(x, index):
    x[index] = 1.5
    x.index_add_(0, index, torch.ones(3))
    x.scatter_(0, index, torch.zeros(3))
    x[x > 1] = 0
    return x


@function(floats(2, 3))
def metadata_changed_in_place(x):
    y = x.clone()
    y.t_()
    y.unsqueeze_(0)
    return y, x.clone().resize_(3)


@builder()
def captured_tensor_written() -> Built:
    state = torch.zeros(3)

    def count(x):
        state.add_(x)
        return state * 2

    return count, (torch.ones(3),)


@function(floats(3), floats(2))
def list_of_tensors_written(x, y):
    torch._foreach_add_([x, y], 1.0)
    return torch._foreach_mul([x, y], [x, y])


@function(floats(3))
def augmented_assignment(x):
    y = x + 1
    y += x
    y *= 2
    y[0] -= 1
    return y


@function(floats(3))
def data_attribute_written(x):
    y = x + 1
    y.data = x * 2
    y.data.mul_(3)
    return y

"""Sizes and numbers that depend on data."""

import torch

from tests.proxy_tensor.cases import floats, function


def three():
    return torch.tensor(3)


@function(three)
def item_as_a_number(n):
    k = n.item()
    return n * k, k + 1


@function(three)
def item_as_a_size(n):
    k = n.item()
    torch._check(k >= 0)
    torch._check(k <= 10)
    return torch.ones(k), torch.zeros(k * 2)


@function(floats(5))
def nonzero_and_its_size(x):
    y = x.nonzero()
    return y, y.shape[0] * 2, torch.ones(y.shape[0])


@function(floats(5))
def masked_values(x):
    return x[x > 0] * 2, torch.masked_select(x, x < 0)


@function(floats(5))
def unique_values(x):
    return torch.unique((x > 0).long())


@function(floats(5))
def branch_on_data(x):
    return x + 1 if x.sum() > 0 else x - 1


@function(floats(5))
def tensor_as_a_list(x):
    return (x > 0).tolist()


@function(floats(5), _error_on_data_dependent_ops=False)
def branch_on_data_allowed(x):
    return x + 1 if x.sum() > 0 else x - 1


@function(floats(5))
def float_of_data(x):
    return x * float(x.sum()), x.max().item()


@function(floats(5))
def unused_item(x):
    x.sum().item()
    return x + 1


@function(lambda: torch.tensor([1, 2, 2]), lambda: torch.tensor([2, 3]))
def sizes_from_two_tensors(lengths, others):
    a, b = others.tolist()
    return torch.repeat_interleave(lengths), torch.ones(a, b), torch.ones(a + b)


@function(floats(5))
def assert_on_data(x):
    torch._assert_async(x.isfinite().all())
    torch._check(x.shape[0] > 1)
    return x.sqrt()

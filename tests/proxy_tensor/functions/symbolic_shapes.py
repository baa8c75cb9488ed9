"""Sizes in arithmetic, in branches and in results. In symbolic mode they are symbols."""

import torch

from tests.proxy_tensor.cases import floats, function, numbers, value


@function(floats(3, 4))
def arithmetic_of_sizes(x):
    n, m = x.shape
    return torch.ones(n * m + 1), torch.zeros(n + m, m - 1), x.view(n * m), x.new_empty(n // 2, m % 3).fill_(1)


@function(floats(3, 4))
def sizes_returned(x):
    return x.size(0), x.shape[1] * 2, x.numel(), x.stride(), x.storage_offset(), x.shape


@function(floats(3, 4))
def branch_on_a_size(x):
    return x.relu() if x.shape[0] > 2 and x.shape[1] != 7 else x


@function(floats(3, 4), floats(4, 3))
def equal_sizes(x, y):
    return x.t() + y, torch.cat([x.t(), y]), x @ y


@function(floats(3), value(5), value(2))
def symbolic_arguments(x, n, m):
    return x.expand(n, 3) * m, torch.arange(n + m), n * m - 1


@function(floats(3, 4))
def loop_over_a_size(x):
    total = x[0]
    for i in range(1, x.shape[0]):
        total = total + x[i] * i
    return total


@function(floats(4, 6))
def real_numbers_of_sizes(x):
    scale = x.shape[-1] ** -0.5
    return x * scale, x / (x.shape[0] / 2), x.mean(0) * float(x.shape[0]), torch.sym_sqrt(x.shape[0])


@function(floats(4, 6))
def functions_of_sizes(x):
    n, m = x.shape
    return x[: min(n, m)], x[:, : max(n, 2)], torch.sym_max(n, m), torch.sym_not(n == m), torch.sym_ite(n > m, n, m)


@function(floats(4, 6))
def multiplication_by_one(x):
    n = x.shape[0]
    return torch.ones(n * 1, 1 * n), torch.zeros(n + 0), x.view(1 * n, -1)


@function(floats(4, 1))
def sizes_of_one_and_zero(x):
    return x.expand(4, 5), x.squeeze(1), torch.empty(0, x.shape[0]).sum(0), x[4:]


@function(floats(2, 3, 4))
def sizes_of_results_used_again(x):
    y = torch.cat([x, x], 1)
    return y.view(y.shape[0], -1), y.reshape(y.shape[1] * y.shape[2], y.shape[0]), torch.ones(y.numel())


@function(floats(5), numbers(5))
def embedding_and_gather(x, n):
    return x.gather(0, n % 5), torch.nn.functional.one_hot(n, 10), torch.nn.functional.embedding(n, torch.ones(10, 2))

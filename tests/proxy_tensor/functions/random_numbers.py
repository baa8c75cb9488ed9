"""Random numbers, which are drawn again when the graph runs."""

import torch
import torch.nn.functional as F

from tests.proxy_tensor.cases import floats, function


@function(floats(3, 4))
def drawn_numbers(x):
    return torch.rand(3) + torch.randn_like(x)[:, 0], torch.randint(0, 5, (2,)), torch.randperm(4)


@function(floats(3, 4))
def dropout(x):
    return F.dropout(x, 0.5), F.dropout(x, 0.5, training=False), F.alpha_dropout(x, 0.2, training=True)


@function(floats(3, 4))
def drawn_in_place(x):
    return x.clone().normal_(), torch.empty(4).uniform_(1, 2), x.bernoulli(0.3)


@function(floats(4))
def drawn_from_a_distribution(x):
    probabilities = x.softmax(0)
    return torch.multinomial(probabilities, 2), torch.bernoulli(probabilities), torch.normal(x, x.abs())


@function(floats(4))
def seeded_inside(x):
    torch.manual_seed(3)
    return x + torch.rand(4)

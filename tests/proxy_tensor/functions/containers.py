"""Nested arguments and results, keyword arguments, constants."""

from collections import OrderedDict, namedtuple

import torch

from tests.proxy_tensor.cases import Built, builder, floats, function, value

Pair = namedtuple("Pair", ["first", "second"])


@function(lambda: {"a": torch.ones(2), "b": [torch.zeros(2), (torch.ones(2),)]})
def dict_of_lists(tree):
    return {"sum": tree["a"] + tree["b"][0], "rest": [tree["b"][1][0], None, 3]}


@function(lambda: Pair(torch.ones(2), torch.zeros(3)), lambda: OrderedDict(x=torch.ones(2)))
def named_tuple_and_ordered_dict(pair, ordered):
    return Pair(pair.first + ordered["x"], pair.second), OrderedDict(z=pair.second)


@function(floats(2), value(3), value(2.5), value(True), value(None), value("text"))
def plain_values(x, number, factor, flag, nothing, text):
    return x * number + factor if flag and nothing is None and text == "text" else x


@function(floats(2), lambda: {"scale": torch.ones(2), "shift": 1})
def keyword_arguments(x, keywords):
    def affine(x, *, scale, shift):
        return x * scale + shift

    return affine(x, **keywords)


@function(floats(2), floats(2))
def default_and_unused_arguments(x, y, z=3):
    return x * z


@builder()
def variadic_arguments() -> Built:
    def add_all(*tensors):
        return sum(tensors)

    return add_all, (torch.ones(2), torch.ones(2), torch.ones(2))


@function(floats(2))
def same_tensor_twice(x):
    y = x + 1
    return y, [y, y], x


@builder()
def one_tensor_in_two_arguments() -> Built:
    x = torch.ones(2)
    return (lambda a, b: a.add_(1) + b), (x, x)


@function(floats(2))
def nothing_returned(x):
    x + 1


@function(floats(2))
def numbers_returned(x):
    return x.shape[0], 1.5, "text", x.dtype, x.sum()


@builder()
def captured_tensors() -> Built:
    weights = [torch.randn(2), torch.nn.Parameter(torch.randn(2))]

    def use(x):
        return x * weights[0] + weights[1] - weights[0]

    return use, (torch.ones(2),)


@function(floats(2))
def literal_tensors(x):
    scale = torch.tensor([1.0, 2.0])
    scale.add_(1)
    return x * scale, torch.tensor(3), torch.ones(2), torch.full((2,), 7.0), torch.arange(3)


@function(floats(2))
def one_element_constants(x):
    n = torch.tensor(2) + torch.tensor(3)
    return x * n.item(), x + int(torch.tensor([4])), [1, 2, 3][torch.tensor(1)]


@function(floats(2))
def branch_on_a_constant(x):
    return x + 1 if torch.tensor(5) > 3 and bool(torch.tensor(True)) else x - 1


@builder(_allow_non_fake_inputs=True)
def captured_tensor_beside_fake_arguments() -> Built:
    weight = torch.randn(3)
    return (lambda x: x + weight), (torch.ones(3),)

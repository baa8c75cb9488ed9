"""Operators that take functions."""

import torch
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.map import map as map_operator
from torch.nn.attention.flex_attention import flex_attention

from tests.proxy_tensor.cases import Built, builder, floats, function


@function(floats(3))
def cond(x):
    return torch.cond(x.sum() > 0, lambda y: y.sin() + 1, lambda y: y.cos(), (x,))


@function(floats(3), floats(3))
def cond_in_a_cond(x, y):
    def inner(a):
        return torch.cond(a.mean() > 1, lambda b: b + y, lambda b: b - y, (a,))

    return torch.cond(x.sum() > 0, inner, lambda a: a * 2, (x,))


@function(floats(4))
def cond_on_a_size(x):
    return torch.cond(x.shape[0] > 3, lambda a: a + 1, lambda a: a - 1, (x,))


@function(lambda: torch.tensor(0), floats(3))
def loop(i, x):
    return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (i, x))


@function(floats(4, 3), floats(3))
def mapped(xs, y):
    return map_operator(lambda x, y: x.sin() + y, xs, y)


@function(floats(5, 3))
def scanned(xs):
    return scan(lambda carry, x: (carry + x, carry * x), torch.zeros(3), xs)


@function(floats(5, 3))
def associatively_scanned(xs):
    return associative_scan(lambda a, b: a + b, xs, 0, combine_mode="generic")


@function(floats(3))
def wrapped(x):
    from torch._higher_order_ops.wrap import wrap

    return wrap(lambda a: a.sin() + 1, x)


@function(floats(1, 2, 16, 8))
def flexible_attention(q):
    def score(score, b, h, i, j):
        return score + (i - j)

    return flex_attention(q, q, q, score_mod=score)


@builder()
def invoked_subgraph() -> Built:
    from torch._higher_order_ops.invoke_subgraph import invoke_subgraph

    graph = torch.fx.symbolic_trace(lambda x: (x.sin() + 1,))
    return (lambda x: invoke_subgraph(graph, "body", x)), (torch.randn(3),)


@function(floats(3))
def cond_with_captured_weights(x):
    weight = torch.ones(3)
    return torch.cond(x.sum() > 0, lambda a: a * weight, lambda a: a + weight, (x,))

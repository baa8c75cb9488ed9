"""Views, and what is computed through them."""

import torch
import torch.nn.functional as F

from tests.proxy_tensor.cases import floats, function


@function(floats(4, 6))
def transposed_and_reshaped(x):
    return x.t().reshape(3, -1), x.view(2, 2, 6).permute(2, 0, 1).flatten(1)


@function(floats(4, 6))
def slices_and_indices(x):
    return x[1:3, ::2], x[..., -1], x[None, 0], x[[0, 2]], x[:, torch.tensor([1, 1])]


@function(floats(6, 4))
def split_and_unbound(x):
    a, b = x.chunk(2)
    first, *rest = x.unbind(1)
    return a + b, first, rest, torch.split(x, [1, 2, 3]), torch.tensor_split(x, 4)


@function(floats(3, 1), floats(1, 4))
def expanded_and_broadcast(x, y):
    return x.expand(3, 4) * y.expand(-1, 4).repeat(3, 1), torch.broadcast_tensors(x, y), x.expand_as(x + y)


@function(floats(3, 4))
def as_strided_and_diagonal(x):
    return x.as_strided((2, 2), (1, 4), 1), x.diagonal(1), x.unfold(1, 2, 1), torch.movedim(x, 0, 1)


@function(floats(2, 3, 4))
def results_that_are_inputs(x):
    return x, x.view_as(x), x.contiguous(), x.to(torch.float32), x.detach()


@function(floats(2, 3))
def view_of_another_dtype(x):
    return x.view(torch.int32), torch.view_as_complex(x[:, :2].contiguous()).real, x.to(torch.complex64).conj().imag


@function(floats(2, 3), floats(3, 5))
def einsum_and_matmul(x, y):
    return torch.einsum("ij,jk->ki", x, y), x @ y, (x.unsqueeze(0) @ y).squeeze(0), torch.linalg.norm(x @ y)


@function(floats(2, 5, 8))
def attention(x):
    q = k = v = x.view(2, 5, 2, 4).transpose(1, 2)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 5, 8)


@function(floats(2, 3, 8, 8))
def images(x):
    y = F.interpolate(x, scale_factor=2.0, mode="bilinear")
    return F.avg_pool2d(F.pad(y, (1, 1, 1, 1), mode="reflect"), 3), F.pixel_shuffle(x.repeat(1, 4, 1, 1), 2)

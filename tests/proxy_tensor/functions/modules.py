"""Modules: parameters, buffers, which module called an operator."""

import torch
from torch import nn

from tests.proxy_tensor.cases import Built, builder


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.register_buffer("scale", torch.full((4,), 2.0))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.norm(x) * self.scale


@builder(_allow_non_fake_inputs=True)
def module() -> Built:
    return Block(), (torch.randn(3, 4),)


@builder()
def module_without_gradients() -> Built:
    block = Block().eval().requires_grad_(False)
    return (lambda x: block(x)), (torch.randn(3, 4),)


@builder(_allow_non_fake_inputs=True)
def two_calls_of_one_module() -> Built:
    layer = nn.Linear(4, 4)
    return (lambda x: layer(layer(x))), (torch.randn(3, 4),)


class Original(nn.Module):
    def __init__(self, module):
        super().__init__()
        self._orig_mod = module

    def forward(self, *args):
        return self._orig_mod(*args)


@builder(_allow_non_fake_inputs=True, record_module_stack=True, pre_dispatch=True)
def module_stack() -> Built:
    return Original(Block()), (torch.randn(3, 4),)


@builder(_allow_non_fake_inputs=True, record_module_stack=True)
def module_stack_of_a_convolution() -> Built:
    return Original(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten())), (torch.randn(2, 1, 5, 5),)


@builder(_allow_non_fake_inputs=True, record_stack_traces=True)
def stack_traces() -> Built:
    return Block(), (torch.randn(3, 4),)


@builder(_allow_non_fake_inputs=True)
def recurrent_network() -> Built:
    return nn.GRU(3, 4, batch_first=True), (torch.randn(2, 5, 3),)


@builder(_allow_non_fake_inputs=True)
def transformer_layer() -> Built:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return layer, (torch.randn(2, 5, 8),)


@builder(_allow_non_fake_inputs=True)
def optimizer_step() -> Built:
    parameter = nn.Parameter(torch.randn(3))

    def step(gradient):
        parameter.grad = gradient
        torch.optim.SGD([parameter], lr=0.1, foreach=False).step()
        return parameter * 1

    return step, (torch.randn(3),)


@builder(_allow_non_fake_inputs=True, proxy_module_inputs=True)
def module_as_an_argument() -> Built:
    return (lambda layer, x: x + layer.weight), (nn.Linear(4, 4), torch.randn(4, 4))

"""Subclasses of tensors, modes of the user, and operators of libraries."""

import torch
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.proxy_tensor.cases import Built, builder, floats, function


def two():
    return TwoTensor(torch.randn(3), torch.randn(3))


@function(two)
def two_tensors_in_one(x):
    return x.sin() + x, x * 2


@function(floats(3), floats(3))
def two_tensors_built_inside(x, y):
    z = TwoTensor(x, y) * 2
    return z.a + z.b


@builder(_allow_non_fake_inputs=True)
def two_tensors_captured() -> Built:
    weight = two()
    return (lambda x: weight * 2 + 1), (torch.randn(3),)


class Doubling(TorchDispatchMode):
    """Every product is doubled."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result + result if func is torch.ops.aten.mul.Tensor else result


@function(floats(3))
def mode_of_the_user_inside(x):
    with Doubling():
        y = x * x
    return y * x


class Named(torch.Tensor):
    """A subclass without a `__torch_dispatch__` of its own. In real mode no tracer takes it for a plain tensor."""


@function(lambda: torch.randn(3).as_subclass(Named))
def plain_subclass(x):
    return x * 2 + 1


@function(lambda: torch.nn.Parameter(torch.randn(3)))
def parameter_as_an_argument(x):
    return x * 2, x.detach()


@torch.library.custom_op("tracewalk_tests::shifted", mutates_args=())
def shifted(x: torch.Tensor, by: float) -> torch.Tensor:
    return x + by


@shifted.register_fake
def _(x: torch.Tensor, by: float) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("tracewalk_tests::count_up", mutates_args={"x"})
def count_up(x: torch.Tensor) -> None:
    x += 1


@function(floats(3))
def operators_of_a_library(x):
    y = shifted(x, 2.0)
    count_up(y)
    return y, torch.ops.tracewalk_tests.shifted.default(y, by=1.0)


@function(lambda: torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8))
def quantized(x):
    return x.dequantize() + 1

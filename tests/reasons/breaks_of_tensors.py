"""Breaks at tensors, their data and derivatives, at random numbers and at NumPy."""

from __future__ import annotations

import random

import numpy as np
import torch
from torch._ops import HigherOrderOperator

import tracer_core
from tests.reasons.table import given_by, given_when

TANH = torch.nn.Tanh()
SIN = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Tanh()))


def leaf() -> list[tuple[torch.Tensor]]:
    return [(torch.ones(3, requires_grad=True),)]


class Unmaterialized(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, grad, other):
        (x,) = ctx.saved_tensors
        return grad * 2 + x * 0


class Apply(HigherOrderOperator):
    """An operator of the program's own, for which there is no handler."""

    def __init__(self) -> None:
        super().__init__("reasons_apply")

    def __call__(self, function, x):
        return function(x)


APPLY = Apply()

LIBRARY = torch.library.Library("reasons_to_break", "FRAGMENT")
LIBRARY.define("untagged(Tensor x) -> Tensor")
LIBRARY.impl("untagged", torch.sin, "CompositeExplicitAutograd")


@given_by("operator-not-tagged", options={"only_allow_pt2_compliant_ops": True})
def calls_an_operator_without_the_tag(x):
    return torch.ops.reasons_to_break.untagged(x) + 1


@given_by("tensor-branch")
def branches(x):
    return x + 1 if x.sum() > 0 else x - 1


@given_by("tensor-data")
def reads_data(x):
    return x * len(x.tolist())


@given_by("tensor-memory")
def asks_for_memory(x):
    return x + 1, x.data_ptr() > 0


@given_by("free-strides", lambda: [(torch.ones(1, 3),)])
def asks_for_a_free_stride(x):
    return (x + 1).stride()


@given_by("tensor-metadata")
def changes_a_shape(x):
    x.resize_(2)
    return x + 1


@given_by("shared-history", lambda: [((base := torch.ones(4))[:2], base[2:], torch.ones(2, requires_grad=True))])
def writes_a_history(x, y, weight):
    x.mul_(weight)
    return x + 1, y + 1


@given_by("tensor-index", lambda: [(torch.ones(3), torch.tensor(2))])
def repeats(x, n):
    return x + 1, [1, 2, 3][n]


def with_gradient():
    x = torch.nn.Parameter(torch.ones(3))
    x.grad = torch.ones(3)
    return x


@given_by("data-dependent-number", lambda: [(torch.optim.RAdam([with_gradient()]),)])
def steps(optimizer):
    optimizer.step()


@given_by("data-dependent-op")
def selects(x):
    return x[x > 0]


@given_by("default-dtype", lambda: [(torch.arange(3),)])
def divides_under_another_dtype(x):
    torch.set_default_dtype(torch.float64)
    try:
        return x / 2
    finally:
        torch.set_default_dtype(torch.float32)


@given_by("operation-fails")
def adds_what_does_not_fit(x):
    return x + x[:2]


@given_by("graph-argument")
def adds_an_object(x):
    return torch.add(x, object())


@given_by("graph-result")
def asks_for_an_object(x):
    return (x + 1).const_data_ptr()


class Dispatching(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@given_by("tensor-subclass", lambda: [(torch.Tensor._make_subclass(Dispatching, torch.ones(3)),)])
def takes_a_subclass(x):
    return x + 1


@given_by("tensor-layout", lambda: [(torch.ones(2, 2).to_sparse(),)])
def takes_a_sparse_tensor(x):
    return x + x


@given_by("tensor-quantized", lambda: [(torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),)])
def takes_a_quantized_tensor(x):
    return x.dequantize()


@given_when("functorch-tensor")
def takes_a_tensor_of_a_transform():
    import tracer_core

    kept = []
    torch.func.vmap(lambda x: kept.append(x) or x)(torch.ones(3))
    tracer_core.compile(lambda y: torch.add(y, 1), backend="eager")(kept[0])


@given_by("lost-by-back-ends", backend="aot_eager")
def writes_data(x):
    x.data = x + 1
    return x * 2


@given_by("tensor-created")
def creates_a_tensor(x):
    return torch.nn.Parameter(x) + 1


@given_by("autograd-function", leaf)
def applies_a_function_that_may_get_no_gradient(x):
    return Unmaterialized.apply(x)[0] + 1


@given_by("autograd-attribute", leaf)
def reads_how_it_was_computed(x):
    return str((x * 2).grad_fn)


@given_when("autograd-context")
def reads_what_was_saved():
    import tracer_core

    def differentiates(x):
        Unmaterialized.apply(x)[0].sum().backward()
        return x.grad

    tracer_core.compile(differentiates, backend="eager")(torch.ones(3, requires_grad=True))


@given_by("autograd-flag")
def asks_for_gradients(x):
    return x.detach().requires_grad_() * 2


@given_by("autograd-call", leaf)
def differentiates(x):
    (x * x).sum().backward()
    return x + 1


@given_when("backward-hooks")
def calls_a_module_with_backward_hooks():
    import tracer_core

    module = torch.nn.Linear(3, 3)
    module.register_full_backward_hook(lambda *given: None)
    tracer_core.compile(lambda x: module(x) + 1, backend="eager")(torch.ones(3))


@given_by("saved-tensors-hooks", leaf)
def has_saved_tensors_packed(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        return x * x


@given_by("hook-registered", leaf)
def registers_a_hook(x):
    TANH.register_forward_hook(lambda module, given, result: result)
    return x * 2


@given_when("transform-called")
def is_called_as_plain_python():
    transformed = torch.func.vmap(torch.sin)
    tracer_core.compile(transformed, backend="eager")(torch.ones(3))


@given_by("function-transform")
def functionalizes(x):
    return torch.func.functionalize(torch.sin)(x)


@given_by("control-flow-operator")
def scans_by_the_operator(x):
    return torch.ops.higher_order.scan(lambda c, r: (c + r, c * 2), [x[0] * 1], [x], ())


@given_by("higher-order-operator")
def calls_a_higher_order_operator(x):
    return APPLY(torch.sin, x)


@given_by("operator-of-compilers")
def calls_an_operator_that_compilers_add(x):
    return torch.ops.higher_order.run_const_graph(SIN, (x,))


@given_by("torch-check")
def checks(x):
    torch._check(x.shape[0] == 4)
    return x + 1


@given_by("random-state")
def chooses_a_letter(x):
    return x + 1, random.choice("ab")


@given_by("random-number")
def branches_on_a_drawn_number(x):
    return x + 1 if random.random() > 0.5 else x - 1


@given_by("random-choice")
def chooses(x):
    return x + 1, random.choice(["a", "b"])


@given_by("numpy-array", lambda: [(torch.ones(3), np.array(["a", "b"]))])
def takes_an_array_of_texts(x, texts):
    return x + 1, texts[0]


@given_by("numpy-data", lambda: [(torch.ones(3), np.ones(3))])
def branches_on_an_array(x, array):
    return x + 1 if array.sum() > 1 else x


@given_by("numpy-differs", lambda: [(torch.ones(3), np.ones(3), np.arange(3))])
def writes_floats_into_integers(x, floats, integers):
    integers[:] = floats
    return x + 1


@given_by("numpy-function", lambda: [(torch.ones(3), np.ones(3))])
def interpolates(x, array):
    return x + 1, np.cumsum(array.reshape(1, 3), axis=0)


@given_by("gives-warning", lambda: [(torch.ones(3, requires_grad=True) * 2,), *leaf()])
def reads_the_gradient_of_a_result(x):
    return x.grad is None, x * 2


@torch.library.custom_op("tracewalk_reasons::without_a_fake", mutates_args=())
def without_a_fake(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@given_by("fake-tensors")
def calls_an_operator_without_a_fake(x):
    return without_a_fake(x) + 1

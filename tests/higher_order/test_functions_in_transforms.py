"""`torch.autograd.Function.apply` inside transforms of `torch.func`.

`torch.compile` ignores backward there, or fails: so graphs are compared with plain Python alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import Function
from torch.func import functional_call, grad, jacrev, jvp, vjp, vmap

import tracer_core
from tests.higher_order.autograd_programs import WEIGHT, Arguments, captured, leaf, one
from tests.higher_order.three_ways import agree, outcome, refused

pytestmark = pytest.mark.row("F12", "H14")


class Power(Function):
    """Its backward is not what forward's own derivative would be."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, factor=2):
        return x**3 * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * 3.5 * x**2 * ctx.factor + y * g, None


class Project(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        return x @ w, x.argmax()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g, _):
        x, w = ctx.saved_tensors
        to_x = g @ w.t() if ctx.needs_input_grad[0] else None
        return to_x, torch.outer(x, g) if ctx.needs_input_grad[1] else None


class Absent(Function):
    """Has no gradient where its result has none, and zeros for the result that is not differentiable are not made."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**2, x.sign()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        if g is None:
            return None
        return g * 3 * x if h is None else g


class InContainers(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * 2, [x.sin(), {"a": x.cos()}]

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g, nothing):
        assert nothing is None
        return g * 3


def parts(x: torch.Tensor) -> torch.Tensor:
    y, (a, more) = InContainers.apply(x)
    return (y * a + more["a"]).sum()


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(leaf(3, 2).detach())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Project.apply(x, self.weight)[0].tanh()


LAYER = Layer()


def per_sample_gradients(x: torch.Tensor) -> Any:
    loss = lambda parameters, row: (functional_call(LAYER, parameters, (row,)) ** 2).sum()
    parameters = {name: each.detach() for name, each in LAYER.named_parameters()}
    return vmap(grad(loss), in_dims=(None, 0))(parameters, x)


def inner_loop(x: torch.Tensor) -> torch.Tensor:
    loss = lambda w: (Power.apply(x * w) ** 2).mean()
    w = WEIGHT
    for _ in range(2):
        w = w - 0.1 * grad(loss)(w)
    return loss(w)


def data() -> tuple[torch.Tensor]:
    return (leaf(2, 3).detach(),)


PROGRAMS: dict[str, tuple[Callable[..., Any], Arguments]] = {
    "grad": (lambda x: grad(lambda a: Power.apply(a, 3).sum())(x), data),
    "grad_twice": (lambda x: grad(lambda b: grad(lambda a: Power.apply(a).sum())(b).sum())(x), data),
    "grad_of_a_tensor_that_is_differentiated_too": (lambda x: grad(lambda a: Power.apply(a * x).sum())(x), one),
    "vjp": (lambda x: vjp(lambda a: Power.apply(a), x)[1](x * 2)[0], data),
    "jacrev": (lambda x: jacrev(lambda a: Power.apply(a.sin()))(x), data),
    "vmap_of_a_tensor_that_is_differentiated": (lambda x: vmap(lambda row: Power.apply(row) * 2)(x), one),
    "vmap_of_grad": (lambda x: vmap(grad(lambda row: Power.apply(row).sum()))(x), data),
    "per_sample_gradients": (per_sample_gradients, data),
    "inner_loop": (inner_loop, data),
    "containers": (lambda x: (grad(parts)(x), vmap(parts)(x)), data),
    "containers_mapped": (lambda x: vmap(grad(parts))(x), data),
    "absent_gradients": (lambda x: grad(lambda a: Absent.apply(a)[0].sum())(x), data),
    "absent_gradients_mapped": (lambda x: vmap(grad(lambda row: Absent.apply(row)[0].sum()))(x), data),
    "absent_gradients_unused": (lambda x: grad(lambda a: (Absent.apply(a)[1] * a).sum())(x), data),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dynamic", [None, True])
def test_gradients_are_those_that_backward_computes(name: str, dynamic: bool | None) -> None:
    function, arguments = PROGRAMS[name]
    captured(function, arguments, as_torch=False, dynamic=dynamic)


def test_where_nothing_is_differentiated_forward_is_mapped() -> None:
    captured(lambda x: vmap(lambda row: Power.apply(row))(x * 2), data, as_torch=False)
    captured(lambda x: Power.apply(vmap(torch.sin)(x)), one, as_torch=False)


class MapsItself(Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def vmap(info, in_dims, x):
        return MapsItself.apply(x) + 1, in_dims[0]


class HasJvp(MapsItself):
    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2


class Weighted(Function):
    """Its vmap gives other values than mapping forward would, so that it shows which of the two was used."""

    @staticmethod
    def forward(x, w, k):
        return x * w * k, x.sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.k = inputs[2]

    @staticmethod
    def backward(ctx, g, h):
        x, w = ctx.saved_tensors
        return g * w * ctx.k + h + 1, (g * x * ctx.k).sum_to_size(w.shape), None

    @staticmethod
    def vmap(info, in_dims, x, w, k):
        x = x.movedim(in_dims[0], 0)
        w = w if in_dims[1] is None else w.movedim(in_dims[1], 0)
        assert in_dims[2] is None and info.randomness == "error"
        product, total = Weighted.apply(x, w, k)
        return (product + info.batch_size, total), (0, None)


class ReturnsAnInput(Function):
    @staticmethod
    def forward(parts):
        return parts["a"] * parts["b"][0], parts["n"]

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, parts):
        dims = in_dims[0]
        return {"same": parts["a"], "sum": [parts["a"] + parts["b"][0]], "dims": dims["a"]}, {
            "same": dims["a"], "sum": [dims["a"]], "dims": None,
        }  # fmt: skip


MAPPED: dict[str, tuple[Callable[..., Any], Arguments]] = {
    "alone": (lambda x: vmap(MapsItself.apply)(x), one),
    "along_another_dimension": (lambda x: vmap(MapsItself.apply, in_dims=1, out_dims=1)(x), one),
    "in_one_around": (lambda x: vmap(vmap(MapsItself.apply))(x), one),
    "several_arguments": (lambda x: vmap(lambda a: Weighted.apply(a, WEIGHT, 3))(x), one),
    "each_mapped": (lambda x: vmap(lambda a, w: Weighted.apply(a, w, 2.0), in_dims=(0, 1))(x, x.t()), one),
    "not_mapped": (lambda x: vmap(lambda a: a + MapsItself.apply(WEIGHT))(x), one),
    "differentiated": (lambda x: grad(lambda a: vmap(MapsItself.apply)(a).sum())(x), data),
    "differentiated_with_arguments": (
        lambda x: grad(lambda a: vmap(lambda row: Weighted.apply(row, WEIGHT, 3)[0])(a).sum())(x),
        data,
    ),
    "before_another": (lambda x: Power.apply(vmap(MapsItself.apply)(x)).sin(), one),
    "containers": (
        lambda x: vmap(lambda a: ReturnsAnInput.apply({"a": a, "b": [a * 2], "n": 3})["sum"][0])(x),
        lambda: (leaf(2, 3).detach(),),
    ),
}


@pytest.mark.parametrize("name", MAPPED)
@pytest.mark.parametrize("dynamic", [None, True])
def test_a_function_is_mapped_by_its_own_vmap(name: str, dynamic: bool | None) -> None:
    function, arguments = MAPPED[name]
    captured(function, arguments, as_torch=False, dynamic=dynamic)


class BreaksInVmap(MapsItself):
    @staticmethod
    def vmap(info, in_dims, x):
        print(end="")
        return x + 1, in_dims[0]


class RaisesInVmap(MapsItself):
    @staticmethod
    def vmap(info, in_dims, x):
        raise ValueError("no rule")


class ReturnsNoDimensions(MapsItself):
    @staticmethod
    def vmap(info, in_dims, x):
        return x + 1


def test_what_its_vmap_raises_is_caught_outside() -> None:
    def program(x: torch.Tensor) -> Any:
        try:
            return vmap(RaisesInVmap.apply)(x)
        except ValueError as error:
            return vmap(MapsItself.apply)(x), str(error)

    captured(program, data, as_torch=False)


@pytest.mark.parametrize("cls", [BreaksInVmap, ReturnsNoDimensions])
def test_what_its_vmap_cannot_do_in_a_graph_runs_as_plain_python(cls: type[MapsItself]) -> None:
    def program(x: torch.Tensor) -> Any:
        try:
            y = vmap(cls.apply)(x * 2)
        except RuntimeError as error:
            return x + 1, str(error)
        return y + 1

    said = str(refused(program, data))
    assert f'File "{__file__}", line ' in said
    agree(outcome(tracer_core.compile(program, backend="eager"), data), outcome(program, data))
    assert not torch._C._functorch.get_interpreter_stack()


class Computes(Power):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0].cos())

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


class Writes(Power):
    @staticmethod
    def forward(x):
        return x.mul_(2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Keeps(Power):
    kept: list[torch.Tensor] = []

    @staticmethod
    def forward(x):
        y = x.sin()
        Keeps.kept.append(y)
        return y * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 3


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda x: vmap(grad(lambda row: MapsItself.apply(row).sum()))(x), "maps it by a vmap of its own, or not at all"),
    (lambda x: jvp(HasJvp.apply, (x,), (x,))[1], "torch.func.jvp"),
    (lambda x: grad(lambda a: HasJvp.apply(a).sum())(x), "a jvp of its own"),
    (lambda x: grad(lambda a: Computes.apply(a).sum())(x), "backward may use only what forward is passed"),
    (lambda x: grad(lambda a: Writes.apply(a * 1).sum())(x), "may not mark arguments as dirty"),
    (lambda x: grad(lambda a: Keeps.apply(a).sum())(x), "may not keep tensors elsewhere"),
]


@pytest.mark.parametrize(("function", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_others_break_by_name_and_give_what_plain_python_gives(function: Callable[..., Any], why: str) -> None:
    error = refused(function, data)
    assert error.reason_id == "autograd-function"
    assert why in str(error)
    agree(outcome(tracer_core.compile(function, backend="eager"), data), outcome(function, data))

"""Hooks on tensors and modules, and calls of autograd, in traced code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.backends.debugging import aot_eager
from torch._dynamo.testing import CompileCounter
from torch.utils.hooks import RemovableHandle

import tracer_core
from tests.higher_order.inputs import leaf
from tests.higher_order.three_ways import agree, outcome, refused, same_three_ways, torch_refuses
from tracewalk import record

pytestmark = pytest.mark.row("F12")

SCALE = torch.arange(1.0, 4)
SEEN: list[tuple[int, ...]] = []


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.linspace(1, 2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * self.scale
        y.register_hook(lambda grad: grad * self.scale)
        return y.sin()


def times_ten(grad: torch.Tensor) -> torch.Tensor:
    return grad * 10


def note(grad: torch.Tensor) -> None:
    SEEN.append(tuple(grad.shape))


def on(tensor: torch.Tensor, *hooks: Callable[..., Any]) -> torch.Tensor:
    for hook in hooks:
        tensor.register_hook(hook)
    return tensor


def after_a_use(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    z = y.sin()
    y.register_hook(times_ten)
    return z + y


def with_what_it_captures(x: torch.Tensor) -> torch.Tensor:
    y, z = x * 2, x.cos()
    factor = 3.0
    y.register_hook(lambda grad: grad * z * factor + SCALE)
    return y * z


def that_captures_its_tensor(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y.register_hook(lambda grad: grad * y)
    return y.sin()


def in_a_loop(x: torch.Tensor) -> torch.Tensor:
    for i in range(3):
        x = on(x.sin(), lambda grad, i=i: grad * (i + 1))
    return x


def in_a_checkpoint(x: torch.Tensor) -> Any:
    return torch.utils.checkpoint.checkpoint(lambda a: on(a * 2, times_ten).sin(), x, use_reentrant=False)


ON_INTERMEDIATES = {
    "once": lambda x: on(x * 2, times_ten).sin(),
    "twice": lambda x: on(x * 2, times_ten, lambda grad: grad + 1).sin(),
    "returns_none": lambda x: on(x * 2, lambda grad: None).sin(),
    "of_a_size": lambda x: on(x * 2, lambda grad: grad * x.size(0)).sin(),
    "after_a_use": after_a_use,
    "captures": with_what_it_captures,
    "captures_itself": that_captures_its_tensor,
    "in_a_loop": in_a_loop,
    "in_a_checkpoint": in_a_checkpoint,
    "in_a_module": Scaled(),
}


@pytest.mark.row("H17")
@pytest.mark.parametrize("name", ON_INTERMEDIATES)
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_hook_on_what_the_graph_computes_is_a_body(name: str, dynamic: bool) -> None:
    # For a symbolic size alone, torch passes the whole tensor that it is of.
    same_three_ways(ON_INTERMEDIATES[name], leaf, dynamic=dynamic, graphs=not dynamic or name != "of_a_size")


@pytest.mark.row("H17")
@pytest.mark.parametrize("name", ON_INTERMEDIATES)
def test_back_ends_differentiate_it(name: str) -> None:
    function = ON_INTERMEDIATES[name]
    compiled = tracer_core.compile(function, backend=aot_eager, fullgraph=True)
    agree(outcome(compiled, leaf), outcome(function, leaf))


def hooked(x: torch.Tensor) -> torch.Tensor:
    x.register_hook(times_ten)
    return x * 2


def hooked_twice(x: torch.Tensor) -> torch.Tensor:
    x.register_hook(times_ten)
    y = x.sin()
    x.register_hook(lambda grad: grad + y)
    return y


def hooked_and_removed(x: torch.Tensor) -> torch.Tensor:
    first, second = x.register_hook(times_ten), x.register_hook(lambda grad: grad + 1)
    first.remove()
    first.remove()
    return x * 2


def hooked_in_a_block(x: torch.Tensor) -> torch.Tensor:
    with x.register_hook(times_ten):
        y = x * 2
    return y.sin()


def hooked_with_a_side_effect(x: torch.Tensor) -> torch.Tensor:
    x.register_hook(note)
    return x.cos()


ON_INPUTS = (hooked, hooked_twice, hooked_and_removed, hooked_with_a_side_effect)


@pytest.mark.parametrize("function", ON_INPUTS)
@pytest.mark.parametrize("of_history", [False, True])
def test_a_hook_on_an_input_is_registered_after_the_graph(function: Callable[..., Any], of_history: bool) -> None:
    def arguments() -> tuple[torch.Tensor]:
        (x,) = leaf()
        return (x * 1 if of_history else x,)

    def kept(compiled: Callable[..., Any]) -> Any:
        SEEN.clear()
        (x,) = arguments()
        x.retain_grad()
        compiled(x).sum().backward()
        return x.grad, list(SEEN)

    graphs = same_three_ways(function, leaf)
    assert not any("hook" in str(node.target) for graph in graphs for node in graph.graph.nodes)
    tracer_core.reset()
    compiled = tracer_core.compile(function, backend=aot_eager, fullgraph=True)
    for _ in range(2):
        agree(kept(compiled), kept(function))


def test_a_handle_is_returned_and_removes_the_hook() -> None:
    def program(x: torch.Tensor) -> tuple[torch.Tensor, list[RemovableHandle]]:
        handles = [x.register_hook(times_ten)]
        y = x * 2
        handles.append(x.register_hook(lambda grad: grad + y))
        gone = x.register_hook(times_ten)
        gone.remove()
        return y, [*handles, gone]

    for function in (program, tracer_core.compile(program, backend="eager", fullgraph=True)):
        (x,) = leaf()
        y, handles = function(x)
        assert [type(handle) for handle in handles] == [RemovableHandle] * 3
        handles[0].remove()
        handles[2].remove()
        y.sum().backward()
        assert x.grad is not None and x.grad.equal((1 + y) * 2) is False
        assert x.grad.equal(2 + y)
        assert handles[0].hooks_dict_ref() is x._backward_hooks


def test_a_handle_is_kept_across_a_break_and_in_objects() -> None:
    class Keeper:
        handle: Any = None

    def program(keeper: Keeper, x: torch.Tensor) -> torch.Tensor:
        keeper.handle = x.register_hook(times_ten)
        handle = x.register_hook(lambda grad: grad + 1)
        y = x * 2
        torch._dynamo.graph_break()
        handle.remove()
        return y * 3

    results = []
    for function in (program, tracer_core.compile(program, backend="eager")):
        (x,), keeper = leaf(), Keeper()
        function(keeper, x).sum().backward(retain_graph=True)
        results.append(x.grad)
        assert x._backward_hooks is not None and list(x._backward_hooks) == [keeper.handle.id]
    agree(results[0], results[1])


@pytest.mark.parametrize("of_parameters", [False, True])
def test_what_runs_after_a_gradient_is_accumulated(of_parameters: bool) -> None:
    model = torch.nn.Linear(3, 3)

    def halve(tensor: torch.Tensor) -> None:
        SEEN.append(tuple(tensor.shape))
        assert tensor.grad is not None
        tensor.grad.div_(2)

    def program(x: torch.Tensor) -> Any:
        hooked = list(model.parameters()) if of_parameters else [x]
        handles = [each.register_post_accumulate_grad_hook(halve) for each in hooked]
        return model(x), handles

    results = []
    counter = CompileCounter()
    ways = (
        program,
        tracer_core.compile(program, backend="eager", fullgraph=True),
        torch.compile(program, backend=counter, fullgraph=True),
    )
    for function in ways:
        SEEN.clear()
        model.zero_grad()
        (x,) = leaf()
        y, handles = function(x)
        y.sum().backward()
        results.append(([x.grad, *(p.grad for p in model.parameters())], list(SEEN)))
        for handle in handles:
            handle.remove()
    assert counter.frame_count == 1
    agree(results[0], results[1])
    agree(results[0], results[2])


def test_a_tensor_written_to_after_its_hook_was_registered() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        x.register_hook(times_ten)
        x.mul_(3)
        return x * y

    results = []
    for function in (program, tracer_core.compile(program, backend="eager")):
        (start,) = leaf()
        function(start * 1).sum().backward()
        results.append(start.grad)
    agree(results[0], results[1])


def test_leaves_and_others_have_code_of_their_own() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        x.register_hook(times_ten)
        return x * 2

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    for history in (False, True, False):
        gradients = []
        for function in (program, compiled):
            (start,) = leaf()
            function(start * 1 if history else start).sum().backward()
            gradients.append(start.grad)
        agree(gradients[0], gradients[1])

    def after_accumulation(x: torch.Tensor) -> Any:
        try:
            x.register_post_accumulate_grad_hook(times_ten)
        except RuntimeError:
            return x * 3
        return x * 2

    compiled = tracer_core.compile(after_accumulation, backend="eager", fullgraph=True)
    (start,) = leaf()
    assert compiled(start).equal(start * 2)
    assert compiled(start * 1).equal(start * 3)


def test_hooks_of_tensors_that_need_no_gradient_raise() -> None:
    def program(x: torch.Tensor) -> Any:
        errors = []
        try:
            x.detach().register_hook(times_ten)
        except RuntimeError as error:
            errors.append(str(error))
        try:
            (x * 2).register_post_accumulate_grad_hook(print)
        except RuntimeError as error:
            errors.append(str(error))
        return x * 2, errors

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    agree(outcome(compiled, leaf), outcome(program, leaf))


# --- what is refused ------------------------------------------------------------------------------------------


def appends(x: torch.Tensor) -> torch.Tensor:
    return on(x * 2, note) + 1


def prints(x: torch.Tensor) -> torch.Tensor:
    return on(x * 2, lambda grad: print(end="")) + 1


def reads_strides(x: torch.Tensor) -> torch.Tensor:
    return on(x * 2, lambda grad: grad * 2 if grad.is_contiguous() else grad) + 1


def reads_values(x: torch.Tensor) -> torch.Tensor:
    return on(x * 2, lambda grad: grad * 2 if grad.sum() > 0 else grad) + 1


def removes(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y.register_hook(times_ten).remove()
    return y + 1


def returns_the_handle(x: torch.Tensor) -> Any:
    y = x * 2
    return y + 1, y.register_hook(times_ten)


def keeps_the_gradient(x: torch.Tensor) -> Any:
    y = x * 2
    y.retain_grad()
    return y + 1


def goes_backward(x: torch.Tensor) -> Any:
    y = (x * 2).sum()
    y.backward(retain_graph=True)
    return y + 1


def asks_for_gradients(x: torch.Tensor) -> Any:
    y = (x * 2).sum()
    torch.autograd.grad(y, x, retain_graph=True)
    return y + 1


def hooks_several(x: torch.Tensor) -> Any:
    y, z = x * 2, x.sin()
    torch.autograd.graph.register_multi_grad_hook([y, z], lambda grads: None)
    return y + z


REFUSED = {
    appends: ("body-breaks", "changes `SEEN`"),
    prints: ("body-breaks", "calls `print()`"),
    reads_strides: ("body-breaks", "the strides of a gradient"),
    reads_values: ("body-breaks", ""),
    hooked_in_a_block: ("context-manager", "RemovableHandle"),
    removes: ("hook-handle", ""),
    returns_the_handle: ("hook-handle", ""),
    keeps_the_gradient: ("autograd-flag", "retain_grad"),
    goes_backward: ("autograd-call", "backward"),
    asks_for_gradients: ("autograd-call", "torch.autograd.grad"),
    hooks_several: ("autograd-call", "register_multi_grad_hook"),
}


@pytest.mark.parametrize("function", REFUSED)
def test_what_torch_refuses_breaks_by_name_and_gives_what_python_gives(function: Callable[..., Any]) -> None:
    reason_id, says = REFUSED[function]
    torch_refuses(function, leaf)
    error = refused(function, leaf)
    assert error.reason_id == reason_id
    assert says in error.message
    compiled = tracer_core.compile(function, backend="eager")
    first = lambda way: lambda x: result[0] if isinstance(result := way(x), tuple) else result  # type: ignore[attr-defined]
    SEEN.clear()
    agree(outcome(first(compiled), leaf), outcome(first(function), leaf))
    assert len(SEEN) in (0, 2)


def writes_the_gradient(x: torch.Tensor) -> torch.Tensor:
    return on(x * 2, lambda grad: grad.mul_(3)) * x


def sets_the_mode(x: torch.Tensor) -> torch.Tensor:
    def hook(grad: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return grad * 3

    return on(x * 2, hook) * x


def registers_in_a_body(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return torch.utils.checkpoint.checkpoint(lambda a: on(y, times_ten) * a, x, use_reentrant=False)


@pytest.mark.parametrize("function", [writes_the_gradient, sets_the_mode, registers_in_a_body])
def test_what_depends_on_how_the_backward_pass_runs_breaks_by_name(function: Callable[..., Any]) -> None:
    assert refused(function, leaf).reason_id in ("body-breaks", "body-changes")
    agree(outcome(tracer_core.compile(function, backend="eager"), leaf), outcome(function, leaf))


# --- modules --------------------------------------------------------------------------------------------------


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.calls = 0

    def count(self, *given: Any) -> None:
        self.calls += 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(x)))


def test_forward_hooks_registered_before_are_traced() -> None:
    def built() -> Layers:
        torch.manual_seed(0)
        model = Layers()
        model.first.register_forward_pre_hook(lambda module, given: (given[0] * 2,))
        model.first.register_forward_hook(model.count)
        model.second.register_forward_hook(lambda module, given, kwargs, result: result + 1, with_kwargs=True)
        model.register_forward_pre_hook(model.count)
        return model

    counter = CompileCounter()
    (x,) = leaf()
    expected, by_torch = built(), built()
    result = expected(x)
    assert torch.compile(by_torch, backend=counter, fullgraph=True)(x).equal(result)
    model = built()
    with record() as trace:
        assert tracer_core.compile(model, backend="eager", fullgraph=True)(x).equal(result)
    assert len(trace.graphs) == counter.frame_count
    assert model.calls == expected.calls == by_torch.calls == 2


def test_forward_hooks_registered_inside_break_where_torch_breaks() -> None:
    model = torch.nn.Linear(3, 3)

    def program(x: torch.Tensor) -> torch.Tensor:
        handle = model.register_forward_hook(lambda module, given, result: result * 3)
        y = model(x)
        handle.remove()
        return model(y)

    torch_refuses(program, leaf)
    assert refused(program, leaf).reason_id == "hook-registered"
    agree(outcome(tracer_core.compile(program, backend="eager"), leaf), outcome(program, leaf))

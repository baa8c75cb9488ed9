"""Higher-order operators and transforms break the graph by their own names, at the user's line, once a call."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch._higher_order_ops as higher_order_ops
from torch.autograd.graph import register_multi_grad_hook

import tracer_core
from tests.higher_order.table import registered
from tracer_core import Unsupported
from tracer_core.higher_order_table import _FUNCTIONS, higher_order
from tracer_core.reasons import REASONS
from tracer_core.variables.core.registry import handlers_for
from tracewalk import record

X = torch.arange(6.0).reshape(2, 3) / 4


class Double(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Hooked(torch.nn.Module):
    def __init__(self, register: str) -> None:
        super().__init__()
        getattr(self, register)(lambda *given: None)

    def forward(self, x):
        return x * 2


class Holder(torch.nn.Module):
    """Uses a transform in its forward, below other calls."""

    def forward(self, x):
        return self.rows(x)

    def rows(self, x):
        return torch.func.functionalize(self.one)(x)  # here

    def one(self, row):
        return row * 2


FULL, OLD, PRE = (
    Hooked("register_full_backward_hook"),
    Hooked("register_backward_hook"),
    Hooked("register_forward_hook"),
)
PRE.register_full_backward_pre_hook(lambda *given: None)
HOLDER = Holder()
OUTSIDE = torch.func.jacrev(torch.sin)
SEQUENCE = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())


def square(x):
    return x * x


def total(x):
    return (x * x).sum()


class Case:
    """A call of `use` between two operations; `name` is what the break says, `graphs` how many there are then."""

    def __init__(self, name: str, reason_id: str, use: Callable[[Any], Any], graphs: int = 2) -> None:
        self.name, self.reason_id, self.use, self.graphs = name, reason_id, use, graphs


T = "function-transform"
A, H = "autograd-call", "higher-order-operator"
CASES = [
    Case("torch.func.functionalize", T, lambda y: torch.func.functionalize(square)(y)),
    Case("torch.func.linearize", T, lambda y: torch.func.linearize(square, y)[0]),
    Case("torch.autograd.functional.jacobian", T, lambda y: torch.autograd.functional.jacobian(square, y)),
    Case("torch.autograd.functional.vhp", T, lambda y: torch.autograd.functional.vhp(total, y, v=y)),
    Case("torch.autograd.grad", A, lambda y: torch.autograd.grad(total(y), y), 3),
    Case("torch.autograd.backward", A, lambda y: torch.autograd.backward(total(y), retain_graph=True), 3),
    Case("the method backward of a tensor", A, lambda y: total(y).backward(), 3),
    Case("torch.autograd.graph.register_multi_grad_hook", A,
         lambda y: register_multi_grad_hook([y], print)),
    Case("a Hooked module that has backward hooks", "backward-hooks", lambda y: FULL(y), 3),
    Case("a Hooked module that has backward hooks", "backward-hooks", lambda y: OLD(y), 3),
    Case("a Hooked module that has backward hooks", "backward-hooks", lambda y: PRE(y), 3),
]  # fmt: skip


def between(use: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def program(x):
        y = x + 1
        z = use(y)
        return y * 2, z

    return program


def leaf() -> torch.Tensor:
    return X.clone().requires_grad_()


def line_of(function: Any, mark: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if mark in line)


@pytest.mark.row("F12", "H2", "H3", "H4", "H5", "H6", "H7", "H9", "H13", "H14", "H17")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_break_by_its_own_name_between_two_graphs(case: Case) -> None:
    program = between(case.use)
    expected = program(leaf())
    x, compiled = leaf(), tracer_core.compile(program, backend="eager", options={"raise_internal_faults": True})
    tracer_core.reset()
    with record() as trace:
        result = compiled(x)
    assert str(result).split("grad_fn")[0] == str(expected).split("grad_fn")[0]
    assert trace.breaks
    for broken in trace.breaks:
        assert broken.reason_id == case.reason_id
        assert case.name in broken.message
        assert "pybind11" not in broken.message
    assert len(trace.graphs) == case.graphs
    users = [broken for broken in trace.breaks if trace.codes[broken.root_code].qualname == program.__qualname__]
    assert [broken.root_line for broken in users] == [line_of(program, "use(y)")]


@pytest.mark.row("F12", "H17")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_full_graph_is_refused_by_that_name_at_the_users_line(case: Case) -> None:
    program = between(case.use)
    with pytest.raises(Unsupported) as error:
        tracer_core.compile(program, backend="eager", fullgraph=True)(leaf())
    said = str(error.value)
    assert case.name in said.splitlines()[0]
    assert error.value.reason_id == case.reason_id
    assert all(f"Try: {hint}" in said for hint in REASONS[case.reason_id].hints)
    if case.reason_id != "backward-hooks":  # which torch's own code asks for
        assert f'{__file__}", line {case.use.__code__.co_firstlineno}' in said


@pytest.mark.row("F12")
def test_the_line_is_that_of_the_call_below_other_calls() -> None:
    with pytest.raises(Unsupported) as error:
        tracer_core.compile(HOLDER, backend="eager", fullgraph=True)(X)
    assert "torch.func.functionalize" in str(error.value)
    assert f'{__file__}", line {line_of(Holder.rows, "# here")}, in Holder.rows' in str(error.value)


@pytest.mark.row("F12")
def test_what_a_transform_returned_beside_a_result_has_a_name() -> None:
    said = {
        "vjp": r"returned.* was created inside a torch.func transform that has ended",
        "linearize": "calls the function returned by torch.func.linearize, which",
    }
    for transform, match in said.items():
        _, returned = getattr(torch.func, transform)(square, X)

        def program(x, returned=returned):
            return returned(x + 1)

        with pytest.raises(Unsupported, match=match):
            tracer_core.compile(program, backend="eager", fullgraph=True)(X)


@pytest.mark.row("F12")
def test_blocks_that_hook_what_autograd_saves_break_where_they_are_entered_and_left() -> None:
    class Keep(torch.autograd.graph.saved_tensors_hooks):
        def __init__(self) -> None:
            super().__init__(lambda v: v, lambda v: v)

    for manager, name in (
        (torch.autograd.graph.save_on_cpu, "torch.autograd.graph.save_on_cpu"),
        (Keep, Keep.__qualname__),
    ):

        def program(x, manager=manager):
            y = x + 1
            with manager():
                z = y * y
            return z * 2

        tracer_core.reset()
        with record() as trace:
            result = tracer_core.compile(program, backend="eager")(X)
        assert result.equal(program(X))
        assert [broken.message.partition(",")[0] for broken in trace.breaks] == [
            f"The code enters a with block of {name}",
            f"The code leaves a with block of {name}",
        ]
        assert len(trace.graphs) == 3


@pytest.mark.row("F12", "B11")
def test_registering_a_hook_breaks_by_the_function_that_does() -> None:
    def program(module, x):
        y = module(x + 1)
        handle = module.register_forward_hook(lambda module, args, result: result * 3)
        y = module(y)
        handle.remove()
        return module(y) * 2

    expected = program(torch.nn.ReLU(), X)
    with record() as trace:
        assert tracer_core.compile(program, backend="eager")(torch.nn.ReLU(), X).equal(expected)
    assert any("(Module.register_forward_hook)" in broken.message for broken in trace.breaks)
    assert all(broken.reason_id == "hook-registered" for broken in trace.breaks)


# --- the table ------------------------------------------------------------------------------------------------


@pytest.mark.row("H17")
@pytest.mark.parametrize("name", sorted(registered()))
def test_each_registered_operator_is_captured_or_breaks_by_its_own_name(name: str) -> None:
    operator = registered()[name]
    assert higher_order(operator) is not None

    def program(x):
        return operator(x + 1, square)

    with pytest.raises(Unsupported) as error:
        tracer_core.compile(program, backend="eager", fullgraph=True)(X)
    first, place = str(error.value).splitlines()[:2]
    if not handlers_for(operator):
        assert first.startswith(f"The code calls torch.ops.higher_order.{name}, which")
    assert place.strip() == f'File "{__file__}", line {line_of(program, "square")}, in {program.__qualname__}'


def codes_in(code: types.CodeType) -> Iterator[str]:
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const.co_qualname
            yield from codes_in(const)


@pytest.mark.row("F12", "H17")
def test_each_function_of_the_table_is_in_torch() -> None:
    for path in _FUNCTIONS:
        module, outer = next(
            (sys_module, path.removeprefix(f"{name}.").split(".<locals>")[0])
            for name in sorted({path[:i] for i, c in enumerate(path) if c == "."}, reverse=True)
            if (sys_module := _imported(name)) is not None
        )
        found: Any = module
        for part in outer.split("."):
            found = getattr(found, part)
        if "<locals>" in path:
            inside = getattr(found, "__wrapped__", found)
            assert path.removeprefix(f"{module.__name__}.") in set(codes_in(inside.__code__)), path
        else:
            assert higher_order(found) is _FUNCTIONS[path], path


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


TRACED = {"functional_call", "stack_module_state", "rearrange", "replace_all_batch_norm_modules_", "debug_unwrap"}


@pytest.mark.row("F12")
def test_each_transform_that_torch_offers_is_in_the_table() -> None:
    for module in (torch.func, torch.autograd.functional, higher_order_ops):
        names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        for name in set(names) - TRACED:
            offered = getattr(module, name)
            defined = getattr(offered, "__module__", "").startswith(("torch.func", "torch._f", "torch.autograd.f"))
            if isinstance(offered, types.FunctionType) and (defined or module is higher_order_ops):
                assert higher_order(offered) is not None, f"{module.__name__}.{name}"


# --- what we say to try ---------------------------------------------------------------------------------------


@pytest.mark.row("F12", "H17")
def test_no_reason_recommends_what_breaks() -> None:
    names = [entry.name for entry in _FUNCTIONS.values()]
    for reason in REASONS.values():
        for hint in reason.hints:
            for name in names:
                place = hint.find(name + " ")
                allowed = "outside compiled code" in hint or "on the result" in hint or hint.startswith("Instead of")
                assert place < 0 or allowed, f"{reason.id}: {hint}"


def instead_of_cond(x):
    return torch.where(x.sum() > 0, x.sin(), x.cos())


def instead_of_a_loop(x):
    for row in range(x.shape[0]):
        x = x + x[row].sin()
    return x


def instead_of_vmap(x):
    return (x * x.sum(dim=1, keepdim=True)).sin()


@pytest.mark.row("F12", "H17")
@pytest.mark.parametrize("program", [instead_of_cond, instead_of_a_loop, instead_of_vmap])
def test_what_we_say_to_write_instead_is_traced(program: Callable[[Any], Any]) -> None:
    result = tracer_core.compile(program, backend="eager", fullgraph=True)(X)
    assert torch.allclose(result, program(X))


@pytest.mark.row("F12")
def test_gradients_of_what_was_compiled_are_taken_outside() -> None:
    x = leaf()
    (gradient,) = torch.autograd.grad(tracer_core.compile(total, backend="eager", fullgraph=True)(x), x)
    assert gradient.equal(X * 2)


@pytest.mark.row("F12")
def test_the_compiled_forward_of_a_module_with_backward_hooks_is_one_graph() -> None:
    seen: list[int] = []
    module = Hooked("register_full_backward_hook")
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(len(outputs)))
    module.forward = tracer_core.compile(module.forward, backend="eager", fullgraph=True)  # type: ignore[method-assign]
    x = leaf()
    module(x * 1).sum().backward()
    assert seen == [1]
    assert x.grad.equal(torch.full((2, 3), 2.0))

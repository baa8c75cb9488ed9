"""Reads of values: known ones are computed while tracing, others are explained."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental import proxy_tensor as torchs

from tests.proxy_tensor.checking import MODES, check_same
from tracer_core import make_fx
from tracer_core.errors import TracewalkError
from tracer_core.proxy_tensor import DataDependentError

pytestmark = pytest.mark.row("P5")


def branch(x: Any) -> Any:
    if x.sum() > 0:  # the line
        return x + 1
    return x


def read(x: Any) -> Any:
    return [0] * x.sum().int().item()  # the line


def truth(x: Any) -> Any:
    return 1 if bool(x[0]) else 2  # the line


def line_of(function: Any) -> int:
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if "# the line" in line)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [branch, read, truth])
def test_a_read_is_told_with_operation_line_and_a_way_out(function: Any, mode: str) -> None:
    with pytest.raises(DataDependentError) as caught:
        make_fx(function, tracing_mode=mode)(torch.ones(3))
    error = caught.value
    assert f"line {line_of(function)}, in {function.__name__}" in error.line
    assert "test_data_dependent.py" in error.line
    assert error.operation in str(error) and error.line in str(error) and "Try: " in str(error)
    assert isinstance(error, RuntimeError) and isinstance(error, TracewalkError)


def test_the_operation_is_named() -> None:
    with pytest.raises(DataDependentError, match=r"aten\._local_scalar_dense\.default"):
        make_fx(read)(torch.ones(3))
    with pytest.raises(DataDependentError, match="the condition `Eq"):
        make_fx(branch, tracing_mode="symbolic")(torch.ones(3))


def test_a_shape_that_depends_on_values_is_told_where_no_symbol_can_be_made() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = FakeTensorMode().from_tensor(torch.ones(3))
    with pytest.raises(DataDependentError, match=r"the shape of the result of `aten\.nonzero\.default`"):
        make_fx(lambda x: x.nonzero(), tracing_mode="fake")(x)


def test_reads_of_real_tensors_are_allowed_by_the_option() -> None:
    check_same(branch, torch.ones(3), _error_on_data_dependent_ops=False)
    with pytest.raises(DataDependentError):
        make_fx(branch)(torch.ones(3))


def constants(x: Any) -> Any:
    a = torch.tensor(2)
    b = a + torch.tensor(3)
    b.mul_(2)
    n = b.item()
    if b > 9 and not torch.tensor([0]):
        n += 1
    return x + n


def large_constants(x: Any) -> Any:
    return x + torch.tensor([1, 2])[0].item()


def random_ones(x: Any) -> Any:
    return x + torch.rand(()).item()


@pytest.mark.parametrize("mode", MODES)
def test_constants_of_one_element_are_known(mode: str) -> None:
    graph = check_same(constants, torch.ones(3), tracing_mode=mode)
    assert "11)" in graph.code


def test_a_known_constant_is_not_changed_by_operators_in_place() -> None:
    def function(x: Any) -> Any:
        t = torch.tensor([1.0, 2.0])
        t.add_(1)
        return x + t

    graph = check_same(function, torch.zeros(2))
    for _ in range(2):
        assert graph(torch.zeros(2)).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("function", [large_constants, random_ones])
def test_larger_and_random_tensors_are_not_known(function: Any) -> None:
    with pytest.raises(DataDependentError):
        make_fx(function)(torch.ones(2))
    with pytest.raises(RuntimeError):
        torchs.make_fx(function)(torch.ones(2))


@pytest.mark.parametrize("mode", ["fake", "symbolic"])
@pytest.mark.row("P10")
def test_a_read_number_is_a_symbol_with_its_binding(mode: str) -> None:
    def function(x: Any) -> Any:
        n = x.sum().int().item()
        torch._check(n >= 2)
        return torch.zeros(n + 1), n * 2

    graph = check_same(function, torch.ones(3), tracing_mode=mode)
    assert [node.name for node in graph.graph.nodes if "unbacked_bindings" in node.meta] == ["_local_scalar_dense"]

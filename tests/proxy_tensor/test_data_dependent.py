"""Reads of values: known ones are computed while tracing, others are explained."""

from __future__ import annotations

import inspect
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


def loops_until(x: Any) -> Any:
    while x.norm() > 1:  # the line
        x = x / 2
    return x


def scales_by_a_float(x: Any) -> Any:
    return float(x.mean()) + x  # the line


def rounds(x: Any) -> Any:
    return int(x[0]) * x  # the line


def reads_an_item(x: Any) -> Any:
    return x * x.max().item()  # the line


def selects(x: Any) -> Any:
    return x[x > 0]


def asserts(x: Any) -> Any:
    assert (x > 0).all()  # the line
    return x


def counts(x: Any) -> Any:
    return [x * i for i in range(int(x[0]))]  # the line


def compares(x: Any) -> Any:
    return x if torch.equal(x, x + 1) else x * 2  # the line


def compares_closely(x: Any) -> Any:
    return x if torch.allclose(x, x) else x * 2  # the line


def finds_the_row(x: Any) -> Any:
    return x[x.argmax()]  # the line


def slices(x: Any) -> Any:
    return x[: x.argmax().item()]  # the line


def looks_for_a_member(x: Any) -> Any:
    return x * (2 if x.sum() in (3, 6) else 1)  # the line


def looks_for_any(x: Any) -> Any:
    return x if any(value > 1 for value in x) else x * 2  # the line


def sorts_in_python(x: Any) -> Any:
    return sorted(x)  # the line


def creates(x: Any) -> Any:
    return torch.zeros(int(x[0]), 2)  # the line


def splits(x: Any) -> Any:
    return x.split([int(x[0]), 3 - int(x[0])])  # the line


def looks_up(x: Any) -> Any:
    return {1: x}[int(x[0])]  # the line


def picks_a_letter(x: Any) -> Any:
    return x + len("abc"[x.int()[0]])  # the line


def branches_on_how_many(x: Any) -> Any:
    found = x.nonzero()
    if found.shape[0] > 1:  # the line
        return found
    return x


PROGRAMS: list[Any] = [
    branch, read, truth, loops_until, scales_by_a_float, rounds, reads_an_item, selects, asserts, counts, compares,
    compares_closely, finds_the_row, slices, looks_for_a_member, looks_for_any, sorts_in_python, creates, splits,
    looks_up, picks_a_letter, branches_on_how_many,
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", PROGRAMS)
def test_programs_are_traced_as_by_torch_or_told_why_not(function: Any, mode: str) -> None:
    try:
        torchs.make_fx(function, tracing_mode=mode)(torch.tensor([1.0, 2.0, 3.0]))
    except RuntimeError:
        with pytest.raises(DataDependentError) as caught:
            make_fx(function, tracing_mode=mode)(torch.tensor([1.0, 2.0, 3.0]))
        _, source = caught.value.line.splitlines()
        assert source.strip() in inspect.getsource(function) and "# the line" in source
    else:
        check_same(function, torch.tensor([1.0, 2.0, 3.0]), tracing_mode=mode)


@pytest.mark.parametrize(
    ("function", "mode", "text", "way"),
    [
        (branch, "real", "`aten._local_scalar_dense.default` is", "`torch.where` and `torch.cond` instead"),
        (branch, "fake", "the condition `Eq(u0, 1)` (u0 = the result of `aten._local_scalar_dense.default`)",
         "instead of a Python branch"),
        (branches_on_how_many, "symbolic",
         "the condition `u0 > 1` (u0 = a size of the result of `aten.nonzero.default`)",
         "instead of a Python branch"),
        (rounds, "symbolic", "the number `zuf0` (zuf0 = the result of `aten._local_scalar_dense.default`)",
         "`x.int().item()` instead of `int(x)`"),
        (finds_the_row, "symbolic", "the number `u0` (u0 = the", "`x.index_select(0, i)` instead of `x[i]`"),
        (compares, "real", "`aten.equal.default` is", "compute with tensors"),
    ],
)  # fmt: skip
def test_the_value_is_described_and_the_way_out_fits(function: Any, mode: str, text: str, way: str) -> None:
    with pytest.raises(DataDependentError) as caught:
        make_fx(function, tracing_mode=mode)(torch.tensor([1.0, 2.0, 3.0]))
    told, _, tried = str(caught.value).partition("  Try: ")
    assert text in told
    assert way in tried


def test_the_ways_out_trace() -> None:
    def converts(x: Any) -> Any:
        return x[0].int().item() * x

    def selects_the_row(x: Any) -> Any:
        return x.index_select(0, x.argmax())

    for function in (converts, selects_the_row):
        check_same(function, torch.tensor([1.0, 2.0, 3.0]), tracing_mode="symbolic")


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


def writes_an_item(x: Any) -> Any:
    a = torch.tensor([0.0])
    a[0] = x.sum()
    return x * a.item()


def writes_through_a_view(x: Any) -> Any:
    a = torch.tensor(1.0)
    a.view(1).add_(x.sum())
    return x * a.item()


def writes_what_has_a_view(x: Any) -> Any:
    a = torch.tensor([1.0])
    b = a[0]
    a.add_(x.sum())
    return x * b.item()


def writes_a_detached_tensor(x: Any) -> Any:
    a = torch.tensor(1.0)
    a.detach().copy_(x.sum())
    return x * a.item()


def writes_members_of_a_list(x: Any) -> Any:
    a = torch.tensor(1.0)
    torch._foreach_add_([a], [x.sum()])
    return x * a.item()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "function",
    [
        writes_an_item,
        writes_through_a_view,
        writes_what_has_a_view,
        writes_a_detached_tensor,
        writes_members_of_a_list,
    ],
)
def test_a_constant_that_data_is_written_to_is_none_any_more(function: Any, mode: str) -> None:
    if mode == "real":
        with pytest.raises(DataDependentError):
            make_fx(function)(torch.ones(2))
        return
    graph = make_fx(function, tracing_mode=mode)(torch.ones(2))
    x = torch.full((2,), 3.0)
    assert torch.equal(graph(x), function(x))


def writes_known_values(x: Any) -> Any:
    a = torch.tensor([1.0])
    a[0] = 5
    torch._foreach_add_([a], 2.0)
    a.view(()).mul_(torch.tensor(3.0))
    return x * a.item()


@pytest.mark.parametrize("mode", MODES)
def test_a_constant_that_constants_are_written_to_stays_one(mode: str) -> None:
    graph = make_fx(writes_known_values, tracing_mode=mode)(torch.ones(2))
    assert graph(torch.ones(2)).tolist() == [21, 21]
    assert not any("scalar" in str(node.target) for node in graph.graph.nodes)

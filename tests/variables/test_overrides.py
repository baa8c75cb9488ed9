"""Overrides of torch's functions: they run for the program alone, as often as in plain Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.recording.programs_in_files import recorded

pytestmark = pytest.mark.row("F11")

LOG: list[tuple[Any, ...]] = []


class Logging(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        LOG.append(
            (getattr(func, "__name__", None), len(args), sorted(kwargs or {}), [each.__name__ for each in types])
        )
        return super().__torch_function__(func, types, args, kwargs)


class LoggingBelow(Logging):
    pass


def logging(cls: type = Logging, start: int = 0) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        return (torch.arange(6.0) + start).reshape(2, 3).as_subclass(cls)


CALLS: dict[str, Callable[..., Any]] = {
    "function": lambda x, y: torch.sin(x),
    "keywords": lambda x, y: torch.sum(x, dim=1, keepdim=True),
    "method": lambda x, y: x.add(y, alpha=2),
    "method in Python": lambda x, y: x.norm(),
    "function in Python": lambda x, y: torch.nn.functional.gelu(x),
    "function in Python of several": lambda x, y: torch.nn.functional.linear(x, y),
    "operators": lambda x, y: (x + y, y + x, 2 * x, x**2, -x, y / x, 1 - x),
    "comparisons": lambda x, y: (x < y, y < x, x == 1),
    "subscripts": lambda x, y: (x[0], x[:, 1:]),
    "attributes": lambda x, y: (x.shape, x.dtype, x.T),
    "in place": lambda x, y: (x.add_(y), x.mul_(2)),
    "operator in place": lambda x, y: operator.iadd(x, y),
    "several results": lambda x, y: (x.max(dim=0), x.chunk(2)),
    "list": lambda x, y: torch.stack([y, x]),
    "questions": lambda x, y: (x.size(0), x.dim(), len(x), x.numel(), y + 1),
    "iteration": lambda x, y: [row + 1 for row in x],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("cls", [Logging, LoggingBelow])
def test_overrides_run_as_often_and_in_the_order_of_plain_python(name: str, cls: type) -> None:
    function = CALLS[name]

    def logged(compiled: Callable[..., Any]) -> tuple[Any, list[Any]]:
        LOG.clear()
        result = compiled(logging(cls), logging(torch.Tensor, 3))
        return result, list(LOG)

    ours = tracer_core.compile(function, backend="eager", fullgraph=True)
    want, calls = logged(function)
    for _ in range(2):  # the second call checks the guards
        got, ours_calls = logged(ours)
        assert ours_calls == calls
        same(got, want)


def same(got: Any, want: Any) -> None:
    assert type(got) is type(want)
    if isinstance(want, (tuple, list)):
        for one, other in zip(got, want, strict=True):
            same(one, other)
    elif isinstance(want, torch.Tensor):
        with torch._C.DisableTorchFunctionSubclass():
            assert torch.equal(got, want)
    else:
        assert got == want


class Shaped(torch.Tensor):
    """Tells functions from each other, attributes too."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func == torch.Tensor.shape.__get__:
            return torch.Size([7])
        if func in (torch.Tensor.dtype.__get__, torch.Tensor.layout.__get__):
            return func.__name__
        if func is torch.Tensor.size or func in CALLED_BY_NAME:
            return CALLED_BY_NAME.get(func, "size")
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


CALLED_BY_NAME = {torch.Tensor.ndim.__get__: "ndim", torch.Tensor.add: "add", torch.mul: "mul"}


def test_functions_are_told_from_each_other() -> None:
    def function(x, y):
        asked = x.shape, x.dtype, x.layout, x.size(), x.ndim, x.requires_grad
        return asked, x + y, torch.mul(x, y), x.mul(y), y + 1

    compiled = tracer_core.compile(function, backend="eager", fullgraph=True)
    x, y = logging(Shaped), logging(torch.Tensor, 3)
    same(compiled(x, y), function(x, y))


def test_two_subclasses_in_one_call() -> None:
    def function(x, y):
        return x + y

    x, y = logging(Logging), logging(LoggingBelow)
    LOG.clear()
    want = function(x, y)
    calls = list(LOG)
    LOG.clear()
    got = tracer_core.compile(function, backend="eager", fullgraph=True)(x, y)
    assert LOG == calls
    assert type(got) is type(want) is LoggingBelow


def test_an_override_that_is_exchanged_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changing:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 1

    def exchanged(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> int:
        return 2

    def function(x):
        return x + torch.add(Changing(), x)

    compiled = tracer_core.compile(function, backend="eager", fullgraph=True)
    x = torch.ones(3)
    assert torch.equal(compiled(x), x + 1)
    monkeypatch.setattr(Changing, "__torch_function__", classmethod(exchanged))
    assert torch.equal(compiled(x), x + 2)


def test_gradients_go_through() -> None:
    def function(x, w):
        return (x * w).sin().sum()

    w = torch.ones(2, 3, requires_grad=True)
    expected = torch.autograd.grad(function(torch.arange(6.0).reshape(2, 3), w), w)[0]
    loss = tracer_core.compile(function, backend="eager", fullgraph=True)(logging(), w)
    assert type(loss) is Logging
    with torch._C.DisableTorchFunctionSubclass():
        loss.backward()
    assert torch.equal(w.grad, expected)


def test_operators_of_the_registry_dispatch() -> None:
    compiled = tracer_core.compile(lambda x: torch.ops.aten.sin.default(x), backend="eager", fullgraph=True)
    assert type(compiled(logging())) is type(torch.ops.aten.sin.default(logging()))


def test_where_all_decline_the_graph_breaks_by_name() -> None:
    class Declining:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    def function(x):
        try:
            return torch.add(Declining(), x)
        except TypeError:
            return x + 1

    trace = recorded(function, (torch.ones(3),))
    assert {each.reason_id for each in trace.breaks} == {"graph-argument"}

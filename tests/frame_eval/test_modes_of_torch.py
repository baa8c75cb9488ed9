"""The program's `TorchFunctionMode`s and `TorchDispatchMode`s see what plain Python shows them, nothing of ours."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

import tracer_core
from tracer_core import Unsupported
from tracer_core.observer import Observer, observing

X = torch.arange(12.0).reshape(3, 4) / 4
BACKENDS = ("eager", "aot_eager")


class Functions(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Flops(FlopCounterMode):
    def __init__(self) -> None:
        super().__init__(display=False)

    @property
    def seen(self) -> int:
        return self.get_total_flops()


class WiderFunctions(TorchFunctionMode):
    """Gives doubles, so that nothing after it is as it would be without the mode."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result.double() if func is torch.mm else result


class WiderOperators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result.double() if func is torch.ops.aten.mm.default else result


class Refusing(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise ValueError(f"no {getattr(func, '__name__', func)} here")


class RefusingOperators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise ValueError(f"no {func} here")


class Graphs(Observer):
    def __init__(self) -> None:
        self.count = 0
        self.skipped: list[tuple[str, str]] = []

    def on_graph(self, module: Any, name: str) -> None:
        self.count += 1

    def on_skip(self, code: Any, reason_id: str, message: str) -> None:
        self.skipped.append((reason_id, message))


def straight(x):
    y = torch.mm(x, x.t())
    return torch.nn.functional.relu(y).reshape(y.shape[0], -1) + 1


def breaking(x):
    y = torch.mm(x, x.t())
    print(end="")
    if y.sum() > 0:
        y = y - inner(y)
    return [y.dtype, y.mm(y), *(part * 2 for part in y.unbind())]


def inner(y):
    return torch.zeros_like(y[0]).normal_().mul(0) + y.dim()


def training(x):
    layer = LAYER(x)
    layer.sum().backward()
    grad = LAYER.weight.grad
    LAYER.weight.grad = None
    return layer.detach(), grad


torch.manual_seed(0)
LAYER = torch.nn.Linear(4, 2)


def under(mode: Any, function: Callable[..., Any]) -> str:
    torch.manual_seed(1)
    LAYER.bias.grad = None  # else the first call of all, which has nothing to add to, shows other operations
    with mode:
        result = function(X)
    return f"{result} {getattr(mode, 'seen', '')}"


@pytest.mark.row("F11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("function", [straight, breaking, training])
@pytest.mark.parametrize("kind", [Functions, Operators, Flops, WiderFunctions, WiderOperators])
def test_a_mode_around_a_call_sees_what_plain_python_does(kind: Any, function: Any, warm: bool, backend: str) -> None:
    expected = under(kind(), function)
    compiled = tracer_core.compile(function, backend=backend)
    if warm:
        compiled(X)
    for _ in range(3):
        assert under(kind(), compiled) == expected
    watching = Graphs()
    with observing(watching):  # after it, compiled as ever
        torch.manual_seed(1)
        result = compiled(X)
        torch.manual_seed(1)
        assert str(result) == str(function(X))
    assert warm or watching.count > 0


@pytest.mark.row("F11")
@pytest.mark.parametrize("kind", [Refusing, RefusingOperators])
def test_what_a_mode_raises_is_the_programs(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"no .* here") as plain, kind():
        straight(X)
    said = re.escape(str(plain.value))
    compiled = tracer_core.compile(straight, backend="eager")
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^{said}$"), kind():
            compiled(X)
        assert torch.equal(compiled(X), straight(X))


def enters(x):
    y = x.mm(x.t()) + 1
    with Functions() as functions:
        y = y.relu() + x.shape[0]
    with Operators() as operators, Flops() as flops:
        y = y.mm(y) * 2
    try:
        with Operators() as left:
            y.view(5)
    except RuntimeError:
        y = y - 1
    return y * 3, functions.seen, operators.seen, flops.seen, left.seen


def calls_what_enters(x):
    return [enters(x + i) for i in range(2)]


@pytest.mark.row("F11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [enters, calls_what_enters])
def test_modes_that_the_function_enters(function: Any, backend: str) -> None:
    expected = str(function(X))
    compiled, watching = tracer_core.compile(function, backend=backend), Graphs()
    with observing(watching):
        assert str(compiled(X)) == expected
    assert watching.count > 0
    assert ("inside-torch-mode", True) in {(why, "Functions is active" in said) for why, said in watching.skipped}
    assert str(compiled(X)) == expected


@pytest.mark.row("F11")
@pytest.mark.parametrize("kind", [Functions, Operators])
def test_a_full_graph_is_refused_under_a_mode(kind: Any) -> None:
    compiled = tracer_core.compile(straight, backend="eager", fullgraph=True)
    with pytest.raises(Unsupported) as error, kind():
        compiled(X)
    said = f"straight is called while the mode {kind.__name__} is active, so it runs as plain Python."
    assert error.value.reason_id == "inside-torch-mode" and str(error.value).startswith(said)
    assert torch.equal(compiled(X), straight(X))


@pytest.mark.row("F11")
def test_a_default_device_is_no_such_mode() -> None:
    compiled, watching = tracer_core.compile(straight, backend="eager", fullgraph=True), Graphs()
    with observing(watching), torch.device("cpu"):
        assert torch.equal(compiled(X), straight(X))
    assert watching.count == 1


_FIRST = """
import torch, tracer_core
from tests.frame_eval.test_modes_of_torch import Functions, Operators, X
compiled = tracer_core.compile(lambda x: x + 1, backend="eager")
with Functions() as functions, Operators() as operators:
    compiled(X)
print(functions.seen, operators.seen)
"""


@pytest.mark.row("F11")
def test_nor_do_they_see_how_the_engine_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", _FIRST], capture_output=True, text=True, check=True)
    assert done.stdout == "['add'] ['aten.add.Tensor']\n"

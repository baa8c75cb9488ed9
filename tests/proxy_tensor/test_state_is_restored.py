"""However a trace ends, the state of the thread and of the process is as it was before."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest
import torch
import torch.fx._symbolic_trace as symbolic_trace
import torch.fx.traceback as fx_traceback
import torch.utils._python_dispatch as python_dispatch
from torch import nn
from torch._higher_order_ops.map import map_impl
from torch._higher_order_ops.wrap import wrap
from torch._ops import mode_stack_state_for_pre_dispatch
from torch.fx.experimental import proxy_tensor as torchs

from tests.frame_eval.interrupting import interrupted, places
from tests.proxy_tensor.checking import MODES, same_graphs
from tests.proxy_tensor.notes_calls import NotesCalls
from tracer_core import make_fx
from tracer_core.proxy_tensor import ModuleStackTracer, ProxyTorchDispatchMode, get_proxy_mode

pytestmark = pytest.mark.row("P2")


def state() -> dict[str, Any]:
    pre = mode_stack_state_for_pre_dispatch()
    return {
        "modes": [torch._C._get_dispatch_stack_at(i) for i in range(torch._C._len_torch_dispatch_stack())],
        "function modes": [torch._C._get_function_stack_at(i) for i in range(torch._C._len_torch_function_stack())],
        "pre-dispatch": (pre.get(0), pre.get(1)),
        "included": torch._C._dispatch_tls_local_include_set(),
        "excluded": torch._C._dispatch_tls_local_exclude_set(),
        "flags": (
            python_dispatch._is_in_torch_dispatch_mode,
            python_dispatch._is_in_non_infra_torch_dispatch_mode,
            python_dispatch._is_in_any_mode_without_ignore_compile_internals,
        ),
        "fx": symbolic_trace._is_fx_tracing_flag,
        "module": (nn.Module.__call__, nn.Module.__getattr__),
        "trace": torchs._CURRENT_MAKE_FX_TRACER,
        "autocast": (torch.is_autocast_cache_enabled(), torch.is_autocast_enabled()),
        "grad": torch.is_grad_enabled(),
        "meta": {key: value for key, value in fx_traceback.current_meta.items() if value is not None},
    }


@contextlib.contextmanager
def unchanged() -> Iterator[None]:
    before = state()
    yield
    assert state() == before


class Oops(Exception):
    pass


def fails(x: Any) -> Any:
    with torch.no_grad(), torch.autocast("cpu"):
        (x @ x.T).sin()
        raise Oops


OPTIONS = [
    *({"tracing_mode": mode} for mode in MODES),
    {"pre_dispatch": True},
    {"pre_dispatch": True, "tracing_mode": "symbolic"},
    {"record_module_stack": True},
]


def named(function: Callable[..., Any]) -> Any:
    function._orig_mod = nn.Linear(2, 2)
    return function


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_after_an_error_of_the_function(options: Any) -> None:
    with unchanged(), pytest.raises(Oops):
        make_fx(named(lambda x: fails(x)), **options)(torch.randn(2, 3))


@pytest.mark.parametrize("mode", MODES)
def test_after_an_error_of_a_decomposition(mode: str) -> None:
    def decomposition(x: Any) -> Any:
        x.cos()
        raise Oops

    def function(x: Any) -> Any:
        with pytest.raises(Oops):
            x.sin()
        assert get_proxy_mode().decomp_layers == 0
        return x.sin()

    table = {torch.ops.aten.sin.default: decomposition}
    with unchanged(), pytest.raises(Oops):
        make_fx(function, tracing_mode=mode, decomposition_table=table)(torch.randn(2))


@torch.library.custom_op("tracewalk_proxy::fails", mutates_args=())
def failing_operator(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@failing_operator.register_fake
def _(x: Any) -> Any:
    raise Oops


@pytest.mark.parametrize("mode", ["fake", "symbolic"])
def test_after_an_error_of_a_fake_kernel(mode: str) -> None:
    with unchanged(), pytest.raises(Oops):
        make_fx(failing_operator, tracing_mode=mode)(torch.randn(2))


class FailsBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.sin()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        gradient.cos()
        raise Oops


def fails_in_a_body(x: Any) -> Any:
    return wrap(lambda x: fails(x), x)


def fails_in_a_mapped_body(x: Any) -> Any:
    return map_impl(lambda row: fails(row[None]), [x], [])


def fails_in_the_backward_pass(x: Any) -> Any:
    x = x.detach().requires_grad_()
    return torch.autograd.grad(FailsBackward.apply(x).sum(), x)


@pytest.mark.parametrize("options", OPTIONS[:-1], ids=str)
@pytest.mark.parametrize("function", [fails_in_a_body, fails_in_a_mapped_body, fails_in_the_backward_pass])
def test_after_an_error_of_a_body_or_of_a_backward_pass(function: Any, options: Any) -> None:
    with unchanged(), pytest.raises(Oops):
        make_fx(function, **options)(torch.randn(2, 3))


def test_a_trace_within_a_trace_is_on_its_own() -> None:
    inner: list[Any] = []
    row, square = torch.randn(3), torch.randn(2, 2)

    def function(x: Any) -> Any:
        mode = get_proxy_mode()
        inner.append(make_fx(lambda y: y.cos() + 1)(row))
        with pytest.raises(Oops):
            make_fx(fails)(square)
        assert get_proxy_mode() is mode
        return x.sin()

    with unchanged():
        outer = make_fx(function)(torch.randn(2))
    assert [node.name for node in outer.graph.nodes] == ["x_1", "sin", "output"]
    assert [node.name for node in inner[0].graph.nodes] == ["y_1", "cos", "add", "output"]


@pytest.mark.parametrize("mode", MODES)
def test_a_users_mode_sees_the_calls_first(mode: str) -> None:
    """The user's mode is above the proxy mode though it was entered earlier, as in torch."""

    def calls(make: Any) -> Any:
        outside, inside = NotesCalls(), NotesCalls()

        def function(x: Any) -> Any:
            with inside:
                return x.sin() @ x

        with unchanged(), outside:
            graph = make(function, tracing_mode=mode)(torch.randn(2, 2))
        return graph, outside.calls, inside.calls

    (ours, *seen), (theirs, *expected) = calls(make_fx), calls(torchs.make_fx)
    same_graphs(theirs, ours)
    assert seen == expected


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_after_an_error_under_a_users_mode(options: Any) -> None:
    def function(x: Any) -> Any:
        with NotesCalls():
            return fails(x)

    with NotesCalls() as outside, unchanged(), pytest.raises(Oops):
        make_fx(named(function), **options)(torch.randn(2, 3))
    assert outside.calls


def test_entering_another_proxy_mode_takes_the_first_away() -> None:
    tracer = ModuleStackTracer(nn.Linear(1, 1))
    first, second = (ProxyTorchDispatchMode(tracer, "real") for _ in range(2))
    with unchanged():
        with first:
            with pytest.raises(Oops), second:
                assert get_proxy_mode() is second
                raise Oops
            assert get_proxy_mode() is first
        assert get_proxy_mode() is None


def test_a_trace_in_a_thread() -> None:
    graphs: list[Any] = []

    def run() -> None:
        with unchanged():
            graphs.append(make_fx(lambda x: x.sin(), tracing_mode="fake")(torch.randn(2)))
            with pytest.raises(Oops):
                make_fx(fails, tracing_mode="symbolic")(torch.randn(2, 3))
        graphs.append(True)

    with unchanged():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert len(graphs) == 2 and "sin" in graphs[0].code


# --- Ctrl-C -------------------------------------------------------------------------------------------------
class Pressed(BaseException):
    pass


@pytest.fixture
def pressing() -> Iterator[None]:
    def handler(number: int, frame: Any) -> None:
        raise Pressed

    before = signal.signal(signal.SIGUSR1, handler)
    yield
    signal.signal(signal.SIGUSR1, before)


def ours_and_modes(code: CodeType) -> bool:
    name = code.co_filename
    return ours(code) or "_python_dispatch" in name or name.endswith("overrides.py")


def ours(code: CodeType) -> bool:
    """(Ctrl-C where torch's own fake mode is being left within a call aborts the process. In callbacks of weak
    references, Python raises nothing.)"""
    return "tracer_core/proxy_tensor" in code.co_filename and code.co_name != "_forget"


@pytest.mark.usefixtures("pressing")
@pytest.mark.parametrize("options", [{}, {"tracing_mode": "symbolic"}, {"pre_dispatch": True}], ids=str)
def test_after_ctrl_c_at_any_place(options: Any) -> None:
    table = {torch.ops.aten.tanh.default: lambda x: x.exp()}

    def trace() -> Any:
        with torch.no_grad():
            return make_fx(lambda x: x.tanh() * x.shape[0] * x.shape[0], decomposition_table=table, **options)(
                torch.randn(3)
            )

    trace()
    with unchanged():
        found = places(trace, ours if "tracing_mode" in options else ours_and_modes)
    assert len(found) > 100
    stopped = 0
    for place in list(found)[::3]:
        before = state()
        try:
            interrupted(trace, place, signal.SIGUSR1)
        except Pressed:
            stopped += 1
        assert state() == before, place
    assert stopped > 50

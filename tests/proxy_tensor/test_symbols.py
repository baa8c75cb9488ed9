"""Slots, and symbolic numbers: arithmetic recorded lazily, sizes that become nodes when used."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Proxy
from torch.fx.experimental.proxy_tensor import make_fx as torchs_make_fx
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._thunk import Thunk

from tests.proxy_tensor.checking import check_same
from tracer_core import make_fx
from tracer_core.proxy_tensor import (
    ProxySymDispatchMode,
    ProxyTorchDispatchMode,
    PythonKeyTracer,
    disable_proxy_modes_tracing,
    get_proxy_mode,
    get_proxy_slot,
    handle_sym_dispatch,
    has_proxy_slot,
    maybe_disable_thunkify,
    maybe_enable_thunkify,
    set_proxy_slot,
    track_tensor_tree,
)
from tracer_core.proxy_tensor.slots import ProxyTensor, TensorSlots


def new_tracer() -> PythonKeyTracer:
    tracer = PythonKeyTracer()
    tracer.root, tracer.graph, tracer.tensor_attrs = torch.nn.Module(), Graph(), {}
    return tracer


def symbolic(*sizes: int) -> torch.Tensor:
    return FakeTensorMode(shape_env=ShapeEnv()).from_tensor(torch.ones(sizes), static_shapes=False)


def targets(tracer: PythonKeyTracer) -> list[str]:
    return [str(node.target) for node in tracer.graph.nodes if node.op == "call_function"]


def placeholder(tracer: PythonKeyTracer, value: Any, name: str = "x") -> Proxy:
    proxy = tracer.create_proxy("placeholder", name, (), {})
    track_tensor_tree(value, proxy, constant=None, tracer=tracer)
    return proxy


@pytest.mark.row("P3")
def test_slots_of_tensors_are_overwritten_and_die_with_them() -> None:
    tracer = new_tracer()
    x = torch.ones(2)
    assert not has_proxy_slot(x, tracer)
    first, second = (tracer.create_proxy("placeholder", name, (), {}) for name in "ab")
    set_proxy_slot(x, tracer, ProxyTensor(first, None))
    set_proxy_slot(x, tracer, ProxyTensor(second, None))
    assert get_proxy_slot(x, tracer).proxy is second and get_proxy_slot(x, tracer, None, lambda s: s.proxy) is second
    assert len(tracer.tensor_tracker) == 1
    del x
    assert len(tracer.tensor_tracker) == 0
    with pytest.raises(RuntimeError, match="not tracked"):
        get_proxy_slot(torch.ones(1), tracer)
    assert get_proxy_slot(torch.ones(1), tracer, 7, lambda s: 8) == 7


@pytest.mark.row("P3")
def test_a_table_of_tensors_is_a_mapping_by_identity() -> None:
    table = TensorSlots()
    x, y = torch.ones(2), torch.ones(2)
    table[x] = 1
    assert x in table and y not in table and "x" not in table and table[x] == 1
    assert [key is x for key in table] == [True] and len(table) == 1
    with pytest.raises(KeyError):
        table[y]
    del table[x]
    assert not table


@pytest.mark.row("P3")
def test_slots_of_script_objects_are_overwritten_and_die_with_them() -> None:
    torch.ops.load_library(str(Path(torch.__file__).parent / "lib" / "libtorchbind_test.so"))
    tracer = new_tracer()
    number = torch.classes._TorchScriptTesting._Foo(3, 4)
    first, second = (tracer.create_proxy("placeholder", name, (), {}) for name in "ab")
    assert not has_proxy_slot(number, tracer)
    set_proxy_slot(number, tracer, first)
    set_proxy_slot(number, tracer, second)
    assert get_proxy_slot(number, tracer) is second
    del number
    assert len(tracer.script_object_tracker) == 0


@pytest.mark.row("P3")
def test_slots_of_numbers_are_never_overwritten() -> None:
    tracer = new_tracer()
    n = symbolic(3).shape[0]
    first, second = (tracer.create_proxy("placeholder", name, (), {}) for name in "ab")
    set_proxy_slot(n, tracer, Thunk(lambda: first))
    set_proxy_slot(n, tracer, Thunk(lambda: second))
    assert get_proxy_slot(n, tracer).force() is first


@pytest.mark.row("P3")
def test_in_place_operators_do_not_chain_where_torch_says_so() -> None:
    from tracer_core.proxy_tensor.torch_adapter import keep_first_slots

    def function(x: Any) -> Any:
        with keep_first_slots():
            x.add_(1)
        return x.mul_(2)

    graph = check_same(function, torch.ones(2))
    assert [str(node.args[0]) for node in graph.graph.nodes if node.op == "call_function"] == ["x_1", "x_1"]


@pytest.mark.row("P4")
def test_sizes_become_nodes_only_when_used() -> None:
    tracer = new_tracer()
    x = symbolic(3, 4)
    placeholder(tracer, x)
    assert targets(tracer) == []
    for value in (x.shape[1], x.numel(), x.stride(0)):
        get_proxy_slot(value, tracer).force()
    expected = ["aten.sym_size.int", "aten.sym_numel.default", "aten.sym_stride.int"]
    assert targets(tracer) == expected
    for value in (x.shape[1], x.numel(), x.stride(0)):
        get_proxy_slot(value, tracer).force()
    assert targets(tracer) == expected
    moved = x[:, x.shape[0] - 1 :]
    placeholder(tracer, moved)
    get_proxy_slot(moved.storage_offset(), tracer).force()
    assert targets(tracer) == [*expected, "aten.sym_storage_offset.default"]


@pytest.mark.row("P4")
def test_parts_of_trees_are_items_of_the_proxy() -> None:
    tracer = new_tracer()
    a, b, c = torch.ones(1), torch.ones(2), torch.ones(3)
    placeholder(tracer, (a, [b, 3, None], {"k": c}))
    proxies = [get_proxy_slot(each, tracer).proxy for each in (a, b, c)]
    assert [proxy.node.meta["val"].shape[0] for proxy in proxies] == [1, 2, 3]
    assert [str(node.args[1]) for node in tracer.graph.nodes if node.target is operator.getitem] == [
        "0", "1", "0", "1", "2", "2", "k"
    ]  # fmt: skip


@pytest.mark.row("P6")
def test_multiplication_by_one_is_dropped() -> None:
    tracer = new_tracer()
    n = symbolic(3).shape[0]
    mode = ProxySymDispatchMode(tracer)
    assert mode.__sym_dispatch__(operator.mul, [], (n, 1)) is n
    assert mode.__sym_dispatch__(operator.mul, [], (1, n)) is n
    assert targets(tracer) == []
    with pytest.raises(TypeError, match="keywords"):
        mode.__sym_dispatch__(operator.add, [], (n, 1), {"out": 2})


@pytest.mark.row("P6")
def test_arithmetic_is_recorded_at_once_or_when_used() -> None:
    tracer = new_tracer()
    x = symbolic(3)
    placeholder(tracer, x)
    mode = ProxyTorchDispatchMode(tracer, "symbolic")
    with mode:
        eager = x.shape[0] + 1
        assert targets(tracer) == ["aten.sym_size.int", "<built-in function add>"]
        with maybe_enable_thunkify():
            lazy = eager * 3
            with maybe_disable_thunkify():
                eager + 5
            assert len(targets(tracer)) == 3
        get_proxy_slot(lazy, tracer).force()
        get_proxy_slot(lazy, tracer).force()
        assert targets(tracer)[3:] == ["<built-in function mul>"]
        with mode.sym_mode.enable(False):
            untracked = eager - 7
        assert len(targets(tracer)) == 4
        assert str(handle_sym_dispatch(operator.add, (eager, 2), {})) == str(eager + 2)
    assert str(untracked) == str(eager - 7)


@pytest.mark.row("P6")
def test_a_number_computed_while_tracing_was_disabled_is_computed_from_its_symbols() -> None:
    def function(x: Any) -> Any:
        with disable_proxy_modes_tracing() as mode:
            assert mode is not None and get_proxy_mode() is None
            n = x.shape[0] * 2 + x.shape[1] + 1
            m = torch.sym_max(x.shape[0], 5)
        return x.new_zeros(n), m * 2

    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing as torchs_disable

    def torchs_function(x: Any) -> Any:
        with torchs_disable():
            n = x.shape[0] * 2 + x.shape[1] + 1
            m = torch.sym_max(x.shape[0], 5)
        return x.new_zeros(n), m * 2

    from torch.fx.experimental.proxy_tensor import make_fx as torchs_make_fx

    ours = make_fx(function, tracing_mode="symbolic")(torch.ones(3, 4))
    theirs = torchs_make_fx(torchs_function, tracing_mode="symbolic")(torch.ones(3, 4))
    assert str(ours.graph).replace("tracer_core.proxy_tensor.numbers", "torch.fx.experimental.proxy_tensor") == str(
        theirs.graph
    )
    assert ours(torch.ones(6, 2))[0].shape == (15,)


@pytest.mark.row("P10")
def test_numbers_that_are_inputs_are_used_for_equal_ones() -> None:
    def function(n: Any, x: Any) -> Any:
        return x.new_zeros(n + 1), torch.ones(n + 1), x.view(n, -1)

    graph = check_same(function, 3, torch.ones(3, 2), tracing_mode="symbolic")
    assert sum(node.target is operator.add for node in graph.graph.nodes) == 1


@pytest.mark.row("P10")
def test_unused_arithmetic_is_removed_and_unused_operators_stay() -> None:
    def function(x: Any) -> Any:
        x.shape[0] + 3
        x.sin()
        return x

    graph = check_same(function, torch.ones(3), tracing_mode="symbolic")
    assert [node.name for node in graph.graph.nodes] == ["x_1", "sin", "output"]


def layers(x: torch.Tensor) -> torch.Tensor:
    for _ in range(6):
        x = (x.transpose(1, 2).contiguous() * 2).transpose(1, 2).sin() + x
    return x


def test_equal_calls_compute_sizes_once() -> None:
    """A tensor that the fake cache rebuilds has torch's sizes and storage, for far fewer symbolic expressions."""
    made, lengths = [], []
    for each in (make_fx, torchs_make_fx):
        with patch.object(SymNode, "__init__", autospec=True, side_effect=SymNode.__init__) as count:
            graph = each(layers, tracing_mode="symbolic")(torch.ones(3, 5, 7)).graph
        made.append(count.call_count)
        fakes = [node.meta["val"] for node in graph.nodes if node.op != "output"]
        lengths.append(
            [(str(fake.shape), str(fake.stride()), str(fake.untyped_storage().nbytes())) for fake in fakes]
        )
    assert lengths[0] == lengths[1]
    assert made[0] < 0.45 * made[1], made

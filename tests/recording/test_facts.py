"""What is kept of torch's own objects: fake tensors with symbols, nodes, targets."""

from __future__ import annotations

import functools
import operator
from typing import Any

import pytest
import torch
import torch.fx
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from tracer_core.bytecode import CallShape, Instruction
from tracer_core.recording.codes import instr
from tracer_core.recording.facts import args_text, clean, fake_meta, fakes_in, target_text
from tracer_core.variables.core.tensors import is_parameter


def fake(value: torch.Tensor, *, dynamic: int | None = None) -> Any:
    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    sizes = [DimDynamic.DYNAMIC if at == dynamic else DimDynamic.STATIC for at in range(value.dim())]
    return mode.from_tensor(value, symbolic_context=StatelessSymbolicContext(dynamic_sizes=sizes))


def test_a_fake_tensor() -> None:
    meta = fake_meta(fake(torch.zeros(4, 8, dtype=torch.bfloat16).t()))
    assert meta is not None
    assert (meta.type, meta.dtype, meta.shape, meta.stride) == ("Tensor", "bfloat16", ["8", "4"], ["1", "8"])
    assert (meta.device, meta.requires_grad, meta.hints) == ("cpu", False, {})


def test_a_parameter() -> None:
    meta = fake_meta(fake(torch.nn.Parameter(torch.zeros(3))))
    assert meta is not None
    assert (meta.type, meta.requires_grad) == ("Parameter", True)


def test_symbolic_sizes_have_their_hints() -> None:
    value = fake(torch.zeros(5, 8), dynamic=0)
    with value.fake_mode:
        doubled = torch.cat([value, value])
    name = str(value.shape[0])
    meta = fake_meta(doubled)
    assert meta is not None
    assert meta.shape == [f"2*{name}", "8"]
    assert meta.hints == {f"2*{name}": "10"}
    size = fake_meta(value.shape[0])
    assert size is not None
    assert (size.type, size.dtype, size.shape, size.hints) == ("SymInt", "int", [name], {name: "5"})


def test_reading_a_symbolic_size_adds_no_guard() -> None:
    value = fake(torch.zeros(5, 8), dynamic=0)
    fake_meta(value)
    assert value.fake_mode.shape_env.guards == []


def test_tensors_without_strides() -> None:
    meta = fake_meta(torch.eye(3).to_sparse_csr())
    assert meta is not None
    assert (meta.shape, meta.stride) == (["3", "3"], [])


def test_what_is_no_tensor_has_no_meta() -> None:
    assert fake_meta(None) is None
    assert fake_meta("text") is None


def test_fakes_in_nested_results() -> None:
    one, two = fake(torch.zeros(2)), fake(torch.zeros(3))
    assert [tuple(f.shape) for f in fakes_in((one, [two, None], {"k": one}))] == [(2,), (3,), (2,)]


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (operator.add, "operator.add"),
        (torch.add, "torch.add"),
        (torch.relu, "torch.relu"),
        (torch.nn.functional.linear, "torch.nn.functional.linear"),
        (torch.nn.functional.relu, "torch.nn.functional.relu"),
        (torch.nn.functional.scaled_dot_product_attention, "torch.nn.functional.scaled_dot_product_attention"),
        (torch.ops.aten.add.Tensor, "aten.add.Tensor"),
        (getattr, "getattr"),
        ("view", "view"),
    ],
)
def test_targets(target: Any, text: str) -> None:
    assert target_text(target) == text


def test_arguments_of_a_node() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(
        torch.cat, ([x, x], 0), {"dtype": torch.float32, "out": (None,), "at": slice(1, None), "f": 1.5}
    )
    assert args_text(node) == "[x, x], 0, dtype=torch.float32, out=(None,), at=slice(1, None, None), f=1.5"


def test_arguments_of_other_kinds_are_named_by_type() -> None:
    class User:
        def __repr__(self) -> str:
            raise AssertionError("nobody asks the user's object")

    graph = torch.fx.Graph()
    node = graph.call_function(len, ({"a": torch.device("cpu")},), {})
    node._update_args_kwargs((User(), {"a": torch.device("cpu"), "b": torch.zeros(2)}), {})
    assert args_text(node) == "<User>, {'a': cpu, 'b': <Tensor>}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain", "plain"),
        ("tab\tnew\nline", "tab\\tnew\\nline"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\ud800", "\\ud800"),
        ("\u202eabc", "\\u202eabc"),
        ("é 漢 🙂", "é 漢 🙂"),
        ("x" * 201, "x" * 199 + "…"),
        (12, "<int>"),
    ],
)
def test_clean(text: Any, kept: str) -> None:
    assert clean(text) == kept


def test_subclasses_of_str_are_read_as_plain_text() -> None:
    class Loud(str):
        def __str__(self) -> str:
            raise AssertionError("not to be called")

    assert clean(Loud("quiet")) == "quiet"


def test_a_fake_is_a_parameter_where_torch_says_so() -> None:
    with FakeTensorMode() as mode:
        marked = torch.ones(2)
        marked._is_param = True  # type: ignore[attr-defined]
    real = torch.nn.Parameter(torch.ones(2))
    for fake in (mode.from_tensor(torch.ones(2)), mode.from_tensor(real), marked, torch.nn.Parameter(marked), real):
        assert is_parameter(fake) is isinstance(fake, torch.nn.Parameter)


def test_only_calls_have_names_of_keyword_arguments() -> None:
    """A constant of generated code may have `keywords` of its own, whose `repr` would be the program's."""
    constant = Instruction("LOAD_CONST", functools.partial(print, sep=","))
    assert instr(constant, {}, {}).arg == "<partial>"
    assert instr(Instruction("CALL", CallShape(1, ("sep",))), {}, {}).arg == "<CallShape>, ('sep',)"

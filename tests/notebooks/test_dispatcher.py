"""The third notebook run from top to bottom in a kernel: its graphs are those of torch's own `make_fx`, and its layer
computes what plain Python computes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from tests.notebooks.running import Ran, run

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "03_dispatcher.ipynb"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(PATH, tmp_path_factory.mktemp("notebook"), {})


def printed_graph(text: str) -> str:
    """The graph at the end of what a cell printed, up to its result."""
    return text[text.index("graph():") :].partition("\n    return")[0].strip()


def torchs(function: object, **options: object) -> str:
    graph = make_fx(function, **options)(torch.ones(4, 3))  # type: ignore[arg-type]
    return printed_graph(str(graph.graph))


def operators(text: str) -> list[str]:
    return [word.partition("]")[0] for word in text.split("target=torch.ops.")[1:]]


def test_every_cell_ran_without_a_warning(ran: Ran) -> None:
    ran.check_that_every_cell_ran_without_a_warning()


def test_the_operators_are_those_that_torch_records(ran: Ran) -> None:
    def silu(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(x) + 1

    assert ran.printed("operators").startswith("x is a Tensor of torch.float32\n")
    assert printed_graph(ran.printed("operators")) == torchs(silu)


def test_a_proxy_is_a_node_of_the_graph(ran: Ran) -> None:
    def squares(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        return y * y

    names = [line.split(" : ")[0].strip() for line in torchs(squares).splitlines()[1:]]
    lines = ran.printed("proxies").splitlines()
    assert [line.split(" : ")[0] for line in lines] == [
        f"{each}: {name}" for each, name in zip("xyz", names, strict=True)
    ]
    assert "torch.ops.aten.sin.default](args = (%x_1,)" in lines[1]
    assert "torch.ops.aten.mul.Tensor](args = (%sin, %sin)" in lines[2]


def test_the_modes_are_passed_from_top_to_bottom(ran: Ran) -> None:
    below = "['ProxyTorchDispatchMode', 'FakeTensorMode']"
    first, second = ran.printed("modes").splitlines()[:2]
    assert first == f"aten.add.Tensor is passed on to {below}"
    assert second == f"aten.relu.default is passed on to {below}"
    assert printed_graph(ran.printed("modes")) == torchs(lambda x: (x + 1).relu(), tracing_mode="fake")


def test_a_decomposition_replaces_an_operator(ran: Ran) -> None:
    assert ran.printed("decomposition").splitlines() == [
        "without ['aten.silu.default']",
        "with ['aten.sigmoid.default', 'aten.mul.Tensor']",
    ]


def test_sizes_are_symbols(ran: Ran) -> None:
    assert printed_graph(ran.printed("symbols")) == torchs(lambda x: x.sum(0) / x.shape[0], tracing_mode="symbolic")
    assert ran.printed("symbols").splitlines()[-2:] == [
        "2 rows, equal to plain Python: True",
        "5 rows, equal to plain Python: True",
    ]


def test_the_layer_is_lowered_and_right(ran: Ran) -> None:
    assert ran.printed("layer") == "calls: 1.0\n"
    assert "call_method[target=add_]" in ran.printed("captured")
    assert operators(ran.printed("forward")) == [
        f"aten.{each}" for each in ("add.Tensor", "t.default", "addmm.default", "relu.default", "detach.default")
    ]
    backward = ran.printed("backward")
    assert "aten.threshold_backward.default" in operators(backward)
    assert operators(backward).count("aten.mm.default") == 1  # no gradient of `x` is wanted
    assert "threshold_backward is there for relu, of relu\n" in backward
    assert "mm is there for addmm, of linear\n" in backward
    assert ran.printed("check").splitlines() == [
        "linear.weight has the gradient of plain Python: True",
        "linear.bias has the gradient of plain Python: True",
    ]

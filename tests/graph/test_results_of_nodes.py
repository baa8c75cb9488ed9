"""What a node may give back, as a tracker and after the graph; anything else breaks and says what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.side_by_side import agree
from tracer_core.observer import observing


def matrix() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


@torch.compiler.allow_in_graph
def pair_of(x):
    return [x + 1, (x + 2, x * 3)]


@torch.compiler.allow_in_graph
def nothing_of(x):
    return None


@torch.compiler.allow_in_graph
def numbers_of(x):
    return (x.dim(), True, 2.5, "text", x.dtype, x.device, None, x * 2)


PROGRAMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "a tensor": lambda x: torch.neg(x),
    "a tuple of tensors": lambda x: torch.unbind(x),
    "a tuple taken apart": lambda x: [part + 1 for part in x.split(2, dim=1)],
    "a list of tensors": lambda x: torch.meshgrid(x[0], x[1], indexing="ij"),
    "a list and a tuple in it": lambda x: (pair_of(x)[0], pair_of(x)[1][1]),
    "a named tuple": lambda x: x.max(dim=1),
    "fields of a named tuple": lambda x: (torch.sort(x).values, torch.topk(x, 1).indices, x.min(dim=0)[1]),
    "a named tuple of its own type": lambda x: type(torch.sort(x)) is torch.return_types.sort,
    "None": lambda x: (nothing_of(x), x + 1),
    "plain numbers, texts, dtypes": lambda x: numbers_of(x),
    "an int of a tensor's make": lambda x: (x.dim() * x, x.size(0) + x, x.numel(), x.stride()),
    "a bool of a tensor's make": lambda x: x + 1 if x.is_contiguous() and not x.is_complex() else x,
    "a size": lambda x: (x.shape, x.size(), x.shape[1:], type(x.shape) is torch.Size, x + x.shape.numel()),
    "the state of a generator": lambda x: (torch.Generator().manual_seed(3).get_state(), x + 1),
}


@pytest.mark.row("B7")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_result_is_what_plain_python_gives(name: str) -> None:
    agree(lambda x: PROGRAMS[name](x), lambda: (matrix(),))


@pytest.mark.row("B7")
@pytest.mark.parametrize("name", [name for name in PROGRAMS if "generator" not in name and "None" not in name])
def test_and_breaks_nothing(name: str) -> None:
    watch = agree(lambda x: (PROGRAMS[name](x), x - 1), lambda: (matrix(),))
    assert (len(watch.graphs), watch.breaks) == (1, [])


@pytest.mark.row("B7", "B8")
@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda x: x.size(0) * 2, int),
        (lambda x: x.size(0) / 2, float),
        (lambda x: x.size(0) > x.size(1), bool),
        (lambda x: x.shape, torch.Size),
    ],
    ids=["int", "float", "bool", "size"],
)
def test_symbolic_results(read: Any, kind: type) -> None:
    """One graph for every size, and the real numbers and their types after it."""
    sizes = [(3, 5), (4, 7), (6, 9)]
    calls = [lambda size=size: (torch.ones(size),) for size in sizes]
    watch = agree(lambda x: (read(x), x + 1), *calls, dynamic=True, then=lambda made: type(made[0]) is kind)
    assert watch.breaks == []
    assert len(watch.graphs) == 1


@pytest.mark.row("B7")
def test_one_tensor_given_back_twice_is_one() -> None:
    agree(
        lambda x: (x.contiguous() is x, x.view_as(x) is x, torch.unbind(x)[0] is torch.unbind(x)[0]),
        lambda: (matrix(),),
    )


class Odd:
    def __init__(self, x: torch.Tensor) -> None:
        self.x = x


@torch.compiler.allow_in_graph
def odd_of(x):
    return Odd(x)


@torch.compiler.allow_in_graph
def dict_of(x):
    return {"x": x + 1}


@pytest.mark.row("B7")
@pytest.mark.parametrize(("function", "came"), [(odd_of, "Odd"), (dict_of, "dict")])
def test_anything_else_breaks_and_says_what_came_back(function: Any, came: str) -> None:
    said = Counter[str]()

    def program(x):
        made = function(x * 2)
        return (made.x if isinstance(made, Odd) else made["x"]) + 1

    class Messages:
        def __getattr__(self, name: str) -> Any:
            return lambda *args: said.update([args[0].message]) if name == "on_break" else None

    with observing(Messages()):  # type: ignore[arg-type]
        watch = agree(program, lambda: (matrix(),))
    assert "graph-result" in watch.breaks

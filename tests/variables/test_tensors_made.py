"""`torch.tensor` and its kin of numbers that only the graph knows give what plain Python gives."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.side_by_side import agree

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64")
VALUES = (0, 1, -3, 7, 300, 2.5, -1.75, 1e30, 2**53 + 1, 2**61 + 2**37 + 1, True)
CALLS = (
    "torch.tensor({}{})", "torch.as_tensor({}{})", "x.new_tensor({}{})", "torch.Tensor([{}])",
    "torch.LongTensor([{}])",
)  # fmt: skip


def parts() -> st.SearchStrategy[str]:
    return st.sampled_from(("e", "e[None]", "x.shape[0]", "n", "r", "2", "1.5", "True", "x[0]", "n > 3", "e.long()"))


def lists() -> st.SearchStrategy[str]:
    row = st.lists(parts(), min_size=1, max_size=3).map(lambda items: f"[{', '.join(items)}]")
    pairs = st.lists(parts(), min_size=2, max_size=2).map(lambda items: f"({', '.join(items)})")
    return st.one_of(
        row, row, pairs.map(lambda pair: f"[{pair}, {pair}]"), st.sampled_from(("n", "r", "x.shape[0]", "2"))
    )


def element(dtype: str, value: Any) -> torch.Tensor:
    return torch.tensor(value).to(getattr(torch, dtype))


@pytest.mark.row("F10")
@settings(max_examples=40)
@given(
    lists(), st.sampled_from(CALLS), st.sampled_from(DTYPES), st.sampled_from(VALUES), st.sampled_from(VALUES),
    st.sampled_from((None, None, *DTYPES)),
)  # fmt: skip
def test_tensors_of_numbers(data: str, call: str, dtype: str, one: Any, other: Any, given_dtype: str | None) -> None:
    named = f", dtype=torch.{given_dtype}" if given_dtype is not None else ""
    lines = [
        "def function(x, e, n, r):",
        "    y = x + 1",
        "    try:",
        f"        return y, {call.format(data, named)}",
        "    except Exception as error:",
        "        return y, type(error), str(error)",
    ]
    namespace: dict[str, Any] = {"torch": torch}
    exec("\n".join(lines), namespace)
    calls = [(3, one, 2, 0.5), (4, other, 300, 1e300), (5, one, 2**61 + 2**37 + 1, 2.25)]
    agree(
        namespace["function"],
        *[lambda size=s, value=v, n=n, r=r: (torch.ones(size), element(dtype, value), n, r) for s, v, n, r in calls],
    )


@pytest.mark.row("F10", "B8")
def test_one_graph_for_every_size() -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.tensor([x.shape[0], 1.5]), torch.LongTensor([len(x)]), x.new_tensor([len(x), 2]), x + 1

    watch = agree(function, *[lambda n=n: (torch.ones(n),) for n in (3, 4, 5, 6)])
    assert len(watch.graphs) == 2


@pytest.mark.row("I2", "B8")
def test_shapes_are_compared_in_the_graph() -> None:
    def function(x: torch.Tensor) -> Any:
        return x + 1, x.shape == (4, 6), x.shape != (4, 3), [*x.shape] == [5, 3], (1, *x.shape) == (1, 4, 3)

    sizes = ((3, 3), (4, 4), (4, 3), (5, 3), (4, 6))
    watch = agree(function, *[lambda size=size: (torch.ones(size),) for size in sizes])
    assert len(watch.graphs) == 2

"""Arrays with negative strides: views of them, writes through them, and what they then say of their memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.variables.test_arrays import compiled, same

pytestmark = pytest.mark.row("B6")

VIEWS = [
    "v[::-1]",
    "v[..., ::-1]",
    "v[::-2]",
    "v[1:]",
    "v[:-1]",
    "v[-2::-1]",
    "v[1:0:-1]",
    "v[..., 2:0:-1]",
    "v[None]",
    "v[..., None]",
    "v[0]",
    "v[-1]",
    "v[..., -1]",
    "v.T",
    "np.flip(v)",
    "np.flip(v, -1)",
    "np.flip(v, axis=(0,))",
    "np.fliplr(v)",
    "np.flipud(v)",
    "v.reshape(-1)",
    "v.ravel()",
    "v.swapaxes(0, -1)",
    "np.expand_dims(v, 1)",
    "np.squeeze(v)",
    "v * 1",
    "v.copy()",
    "np.ascontiguousarray(v)",
]
USES = ["v + 1", "v.sum()", "v.max(axis=0)", "np.concatenate([v, v])", "v > 2", "np.where(v > 2, v, 0)"]
WRITES = ["v[0] = 7", "v += 1", "v[...] = 2", "v[1:] = v[:-1]", "v[v > 3] = 0", "v.fill(3)", "x[0] = 9", "v[:1] *= 2"]
WRITES += ["np.copyto(v, v[::-1])", "np.add(v, 1, out=v)", "v.sort(-1)", "v[::-1] -= v"]
STARTS = ["{0}", "{0}[::-1]", "{0}[..., ::-1]", "{0}.T", "{0}.T[::-2]", "{0}[:, ::-1].T"]


def answers(arrays: list[Any], given: Any) -> list[Any]:
    """What arrays say of their memory. (Strides of new arrays lead nowhere in dimensions of one item.)"""
    bases = [(array.base is given, array.base is None, array.flags.owndata) for array in arrays]
    strides = [
        [
            step
            for n, step in zip(array.shape, array.strides, strict=True)
            if array.size and (n > 1 or array.base is given)
        ]
        for array in arrays
    ]
    return [bases, strides, [[np.shares_memory(a, b) for b in arrays] for a in arrays]]


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(STARTS),
    st.lists(st.sampled_from(VIEWS), min_size=1, max_size=4),
    st.lists(st.sampled_from([*USES, *WRITES]), min_size=1, max_size=4),
)
def test_views_and_writes_are_those_of_numpy(start: str, views: list[str], uses: list[str]) -> None:
    lines = ["def fn(x):", "    v = x", "    seen = []"]
    for line in [*(f"v = {view}" for view in views), *uses]:
        lines.append(f"    {line}" if line in WRITES or line.startswith("v = ") else f"    seen.append({line})")
    namespace: dict[str, Any] = {"np": np}
    exec("\n".join([*lines, "    return v, seen"]), namespace)
    fn = namespace["fn"]
    quick = compiled(fn)
    for first in (0, 5):
        x, y = (eval(start.format("m"), {"m": np.arange(first, first + 12.0).reshape(3, 4).copy()}) for _ in range(2))
        try:
            expected = fn(x)
        except (ValueError, IndexError, TypeError, AttributeError) as error:
            with pytest.raises(type(error)):
                quick(y)
            return
        found = quick(y)
        same(found, expected)
        same(y, x)
        arrays = [[r[0], *(s for s in r[1] if isinstance(s, np.ndarray))] for r in (found, expected)]
        if isinstance(expected[0], np.ndarray):
            assert answers([y, *arrays[0]], y) == answers([x, *arrays[1]], x)


@pytest.mark.parametrize("text", ["x[::-1] * 2", "x[:0:-1]", "np.flip(x)", "np.fliplr(x).T", "x[::-1] + x"])
@pytest.mark.parametrize("start", STARTS)
def test_one_graph_for_each_layout(text: str, start: str) -> None:
    namespace: dict[str, Any] = {"np": np}
    exec(f"def fn(x):\n    return {text}", namespace)
    quick = tracer_core.compile(namespace["fn"], backend="eager", fullgraph=True)
    for size in (3, 4, 5, 6):
        for layout in (start, "{0}"):
            x = eval(layout.format("m"), {"m": np.arange(2.0 * size * size).reshape(size, 2 * size)[:, :size]})
            found, expected = quick(x), namespace["fn"](x)
            same(found, expected)
            assert answers([found], x) == answers([expected], x)


def test_signs_of_strides_are_guarded() -> None:
    def fn(x: Any) -> Any:
        return x[1:], x * 2

    quick = compiled(fn)
    for x in (np.arange(4.0), np.arange(4.0)[::-1], np.arange(4.0), np.arange(8.0)[::-2], np.arange(1.0)[::-1]):
        same(quick(x), fn(x))


def test_an_argument_and_its_reverse() -> None:
    def fn(x: Any, y: Any) -> Any:
        x += 1
        return y * 2 + x

    quick = compiled(fn)
    for reverse in (False, True, False):
        results = []
        for call in (fn, quick):
            x = np.arange(4.0)
            results.append((call(x, x[::-1] if reverse else np.ones(4)), x))
        same(results[1], results[0])


@pytest.mark.parametrize("text", ["torch.from_numpy(x[::-1])", "torch.as_tensor(x[::-1])", "torch.tensor(x[::-1])"])
def test_torch_refuses_them(text: str) -> None:
    namespace: dict[str, Any] = {"np": np, "torch": torch}
    exec(f"def fn(x):\n    return {text}", namespace)
    with pytest.raises(ValueError, match="negative"):
        compiled(namespace["fn"])(np.arange(3.0))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_by_back_ends(backend: str) -> None:
    def fn(x: Any) -> Any:
        y = x[::-1]
        y[0] = 5
        x += 1
        return y[1:], y * 2, np.flip(y)

    quick = tracer_core.compile(fn, backend=backend, fullgraph=True)
    for start in (0.0, 1.0):
        x, y = (np.arange(4.0) + start for _ in range(2))
        same(quick(x), fn(y))
        same(x, y)


def test_strides_of_dimensions_of_one_item() -> None:
    def fn(x: Any) -> Any:
        x = x * 2
        return x[None], x[:, None], x[None].T, x[:1], x[::-1][:1], np.atleast_2d(x), x[None, :, None][::-1]

    x = np.arange(4.0)
    assert [y.strides for y in compiled(fn)(x)] == [y.strides for y in fn(x)]

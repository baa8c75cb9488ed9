"""NumPy arrays in traced code give what plain NumPy gives: type, dtype, values, memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.back_ends import Graphs
from tracer_core.errors import Unsupported

pytestmark = pytest.mark.row("B6")

OPTIONS = {"raise_internal_faults": True}


def compiled(fn: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    tracer_core.reset()
    made: Callable[..., Any] = tracer_core.compile(fn, backend="eager", options={**OPTIONS, **options})
    return made


def same(found: Any, expected: Any) -> None:
    """Equal in type, dtype, shape and every bit (any nan is a nan)."""
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found, expected, strict=True)
        if expected.dtype.kind in "fc":
            pairs = [(found.real, expected.real), (found.imag, expected.imag)]
            for one, other in pairs[: 1 + (expected.dtype.kind == "c")]:
                signs = ~np.isnan(other)
                assert np.array_equal(np.signbit(one)[signs], np.signbit(other)[signs])
    else:
        assert found == expected


UNARY = [
    "-{0}",
    "abs({0})",
    "{0}.T",
    "{0}.reshape(-1)",
    "{0}[0]",
    "{0}[..., 1:]",
    "{0}[0, 1]",
    "np.floor({0})",
    "np.square({0})",
    "{0}.max(axis=0)",
    "{0}.min()",
    "{0}.argmax()",
    "{0}.any()",
    "np.sort({0})",
    "{0} ** 2",
    "{0}.astype(np.float32)",
    "{0}.astype(int)",
    "np.sign({0})",
    "np.round({0})",
    "np.median({0}, axis=1)",
    "{0}.ravel()",
    "{0}.flatten()",
    "np.isnan({0})",
    "np.nan_to_num({0})",
    "np.reciprocal({0})",
    "np.clip({0}, -1, 1)",
    "np.zeros_like({0})",
    "{0}.copy()",
    "np.ptp({0}, axis=0)",
    "~{0}",
    "np.roll({0}, 1)",
    "{0}.real",
    "{0}.imag",
    "{0}.conj()",
    "{0}[:, [1, 0]]",
    "{0}[[0, 1, 0]]",
    "{0}[..., [0]]",
    "{0}.astype(np.float16)",
    "{0}.astype(complex)",
    "[row + 1 for row in {0}]",
]
BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{0} // {1}", "{0} % {1}", "{0} < {1}", "{0} == {1}",
          "{0} >= {1}", "np.maximum({0}, {1})", "np.where({0} > 0, {0}, {1})", "np.concatenate([{0}, {1}])",
          "np.stack([{0}, {1}])", "{0} & {1}", "{0} | {1}", "np.logical_and({0}, {1})", "np.copysign({0}, {1})",
          "{0} * 2", "{0} + 0.5", "3 - {0}", "{0} > -1", "2.0 / {0}", "{0} + True", "{0} % 3", "{0} // 2",
          "{0} * np.float32(2)", "np.int64(3) + {0}", "{0} - {1}.max()", "{0} != {1}[0]", "{0} + 1j", "{0} * 0.1",
          "np.subtract({0}, {1})",
          "1j - {0}", "{0}[:, [0, 1]] - {1}.T[:, [0, 1]].T", "{0} + np.complex64(2j)"]  # fmt: skip
DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float32",
    "float64",
    "float16",
    "complex64",
    "complex128",
]


def special(dtype: str) -> list[Any]:
    parts = [np.nan, np.inf, -0.0]
    return [complex(a, b) for a in parts for b in parts] if dtype.startswith("complex") else parts


def array_of(draw: Any, dtype: str, transposed: bool) -> np.ndarray:
    values = draw(st.lists(st.integers(-5, 5), min_size=6, max_size=6))
    made = np.array(values).astype(dtype) if dtype != "uint8" else np.abs(values).astype(dtype)
    if dtype.startswith("float"):
        made = made / made.dtype.type(4)
    if dtype.startswith("complex"):
        made = made + made[::-1] * made.dtype.type(1j)
    if dtype.startswith(("float", "complex")):
        for at, value in draw(st.dictionaries(st.integers(0, 5), st.sampled_from(special(dtype)))).items():
            made[at] = value
    return made.reshape(3, 2).T if transposed else made.reshape(2, 3)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_operation_on_any_dtypes(data: st.DataObject) -> None:
    forms = data.draw(st.lists(st.sampled_from(UNARY + BINARY), min_size=1, max_size=3))
    transposed = data.draw(st.booleans())
    one, other = (array_of(data.draw, data.draw(st.sampled_from(DTYPES)), transposed) for _ in range(2))
    namespace: dict[str, Any] = {"np": np}
    shown = ", ".join(form.format("x", "y") for form in forms)
    exec(f"def fn(x, y):\n    return [{shown}]", namespace)
    with np.errstate(all="ignore"):
        try:
            expected: Any = namespace["fn"](one, other)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                compiled(namespace["fn"])(one, other)
            return
        same(compiled(namespace["fn"])(one, other), expected)


CHANGES = ["x += 1", "x -= y", "x *= 2", "x[0] = 3", "x[:, 1] = y[:, 0]", "x[1:] = 0", "x[..., 0] += 1", "x = x + y",
           "v = x[0]", "s = x[0, 0]", "x = x.T.T", "v += 1", "y[0] = x[1]",
           "np.add(x, y, out=x)", "np.subtract(x, y, y)", "x.fill(2)", "x.put([0, 4], [5, 6])", "np.copyto(x, y)",
           "np.add(x[0], 1, out=x[1])", "x.sum(axis=0, out=y[0])", "np.fill_diagonal(x, 7)",
           "np.negative(v, v)"]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=6), st.sampled_from(DTYPES[5:]))
def test_any_changes_in_place(changes: list[str], dtype: str) -> None:
    lines = ["def fn(x, y):", "    v, s = x[1], x[1, 1]", *(f"    {change}" for change in changes)]
    namespace: dict[str, Any] = {"np": np}
    exec("\n".join([*lines, "    return x, y, v, s, x + 2"]), namespace)
    fn = namespace["fn"]
    quick = compiled(fn)
    for start in (0, 4):
        args = [np.arange(start, start + 6).astype(dtype).reshape(2, 3), np.ones((2, 3), dtype)]
        copies = [arg.copy() for arg in args]
        expected, found = fn(*args), quick(*copies)
        same(found, expected)
        same(copies, args)
        sharing = [[np.shares_memory(a, b) for b in (*args, *expected[:3])] for a in expected[:3]]
        assert sharing == [[np.shares_memory(a, b) for b in (*copies, *found[:3])] for a in found[:3]]
        assert [a is b for a in expected[:3] for b in args] == [a is b for a in found[:3] for b in copies]


def test_one_graph_without_breaks() -> None:
    def fn(x: Any, y: Any) -> Any:
        z = np.maximum(x, y).reshape(-1) * 2
        z[0] = 7
        return z.sum(axis=0), np.concatenate([z, z]), torch.from_numpy(z) + 1

    quick = tracer_core.compile(fn, backend="eager", fullgraph=True)
    expected, found = (f(np.arange(4.0), np.ones(4)) for f in (fn, quick))
    same(found[:2], expected[:2])
    assert torch.equal(found[2], expected[2])


@pytest.mark.parametrize(
    ("text", "argument", "reason"),
    [
        ("np.diagonal(x[::-1])", np.ones((3, 3)), "numpy-differs"),
        ("x[x > 0]", np.arange(3.0), "numpy-function"),
        ("np.exp(x)", np.arange(3.0), "numpy-function"),
        ("bool(x.sum() > 1)", np.arange(3.0), "numpy-data"),
        ("x + x", np.array(["a"]), "numpy-array"),
        ("x * x", np.array([1j]), "numpy-function"),
        ("x.sum()", np.ones(3, np.float16), "numpy-function"),
        ("x + x", np.ones(3, np.longdouble), "numpy-array"),
        ("x + x", np.arange(3.0).astype(">f8"), "numpy-array"),
        ("x.strides", np.arange(3.0), "attribute"),
        ("np.linalg.norm(x)", np.arange(3.0), "skipped-function"),
    ],
)
def test_what_cannot_be_traced_breaks_by_name(text: str, argument: Any, reason: str) -> None:
    namespace: dict[str, Any] = {"np": np}
    exec(f"def fn(x):\n    return {text}", namespace)
    with pytest.raises(Unsupported) as caught:
        tracer_core.compile(namespace["fn"], backend="eager", fullgraph=True)(argument)
    assert caught.value.reason_id == reason
    same(compiled(namespace["fn"])(argument), namespace["fn"](argument))


def test_rounding_in_the_last_place_is_an_option() -> None:
    def fn(x: Any) -> Any:
        return np.exp(x) + np.sqrt(x)

    quick = tracer_core.compile(fn, backend="eager", fullgraph=True, options={"numpy_rounding": True})
    np.testing.assert_allclose(quick(np.arange(9.0)), fn(np.arange(9.0)), rtol=1e-14)


def test_a_scalar_that_varies_keeps_one_graph() -> None:
    backend = Graphs()

    def fn(x: torch.Tensor, s: Any) -> Any:
        return x * float(s), s

    quick = tracer_core.compile(fn, backend=backend)
    for value in (2.5, -1.0, 0.0, 7.25):
        tensor, scalar = quick(torch.ones(2), np.float64(value))
        assert tensor.tolist() == [value, value]
        assert type(scalar) is np.float64
    assert len(backend.graphs) == 1


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_by_back_ends(backend: str) -> None:
    def fn(x: Any, y: Any) -> Any:
        x += y
        z = x * 2 - y
        z[0] = 3
        return z, x.max(), z[1:]

    quick = tracer_core.compile(fn, backend=backend)
    for start in (0.0, 1.0):
        args = [np.arange(4.0) + start, np.ones(4)]
        copies = [arg.copy() for arg in args]
        same(quick(*copies), fn(*args))
        same(copies, args)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_arguments_that_overlap(backend: str) -> None:
    def fn(x: Any, y: Any) -> Any:
        x += 1
        return y * 2 + x

    quick = tracer_core.compile(fn, backend=backend)
    for slices in (None, (slice(0, 3), slice(0, 3)), (slice(0, 3), slice(1, 4)), None):
        results = []
        for call in (fn, quick):
            memory, apart = np.arange(6.0), np.ones(3)
            x, y = (memory[:3], apart) if slices is None else (memory[slices[0]], memory[slices[1]])
            results.append((call(x, y), memory))
        same(results[1], results[0])


def test_dtype_and_layout_are_guarded() -> None:
    def fn(x: Any) -> Any:
        return x * 2, x.reshape(-1)

    quick = compiled(fn)
    read_only = np.arange(4.0)
    read_only.flags.writeable = False
    strided, turned = np.arange(8.0)[::2], np.arange(6.0).reshape(2, 3).T
    for argument in (np.arange(4.0), np.arange(4), strided, read_only, turned, np.arange(4.0).view(np.recarray)):
        found, expected = quick(argument), fn(argument)
        same(found, expected)
        assert np.shares_memory(found[1], argument) == np.shares_memory(expected[1], argument)
        assert found[1].flags.writeable == expected[1].flags.writeable


def test_errors_that_numpy_shall_raise_are_raised() -> None:
    def fn(x: Any) -> Any:
        return x / 0.0

    quick = compiled(fn)
    same(quick(np.zeros(2)), np.array([np.nan, np.nan]))
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            quick(np.zeros(2))
    same(quick(np.zeros(2)), np.array([np.nan, np.nan]))

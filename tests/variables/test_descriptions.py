"""What values are called before people."""

from __future__ import annotations

import ast
import io
import operator
import os
import pickle
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tracer_core
from tracer_core.frame_eval.modules import CompiledModule
from tracer_core.names.public import name_of
from tracer_core.observer import Observer, observing
from tracer_core.recording import Recorder
from tracer_core.sources import LocalSource
from tracer_core.variables.core.lazy import LazyVariableTracker


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.arange, "torch.arange"),
        (torch.relu, "torch.relu"),
        (F.gelu, "torch.nn.functional.gelu"),
        (F.softmax, "torch.nn.functional.softmax"),
        (operator.add, "operator.add"),
        (len, "len"),
        (warnings.warn, "warnings.warn"),
        (pickle.dumps, "pickle.dumps"),
        (threading.Lock, "threading.Lock"),
        (os.urandom, "os.urandom"),
        (io.BytesIO, "io.BytesIO"),
        (torch.save, "torch.save"),
        (torch.manual_seed, "torch.manual_seed"),
        (torch.utils.data.TensorDataset.__init__, "torch.utils.data.TensorDataset.__init__"),
        (np.linalg.svd, "numpy.linalg.svd"),
        (CompiledModule.__call__, "a compiled module"),
    ],
)
def test_functions_have_the_names_they_are_called_by(function: Any, name: str) -> None:
    assert name_of(function) == name


@pytest.mark.parametrize("is_loaded", [False, True])
def test_loading_torchs_compiler_renames_nothing(is_loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It puts a wrapper in the place of `torch.manual_seed`; a program may have taken the function before."""
    before = torch.random.manual_seed
    after = torch._disable_dynamo(before) if is_loaded else before
    monkeypatch.setattr(torch, "manual_seed", after)
    assert {name_of(before), name_of(after)} == {"torch.manual_seed"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.ones(2, 3), "Tensor f32[2, 3]"),
        (torch.nn.Parameter(torch.ones(4, dtype=torch.float64)), "Parameter f64[4]"),
        (torch.eye(2).to_sparse(), "Tensor"),
        (3, "int"),
    ],
)
def test_values_that_were_not_looked_at_yet(value: Any, text: str) -> None:
    def never(value: Any, source: Any) -> Any:
        raise AssertionError("it was looked at")

    assert LazyVariableTracker(value, LocalSource("x"), never).describe() == text


def test_describing_looks_at_nothing() -> None:
    """Else the guards would be others when somebody watches."""
    folder = Path(tracer_core.__file__ or "").parent / "variables"
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name in ("describe", "parts", "python_type_name"):
                assert "realize(" not in ast.unparse(node), f"{path.name}: {node.name}"


@pytest.mark.parametrize("inside", ["a cell", "an exception", "a slice"])
def test_a_recording_changes_no_guard(inside: str) -> None:
    held = [1, 2]

    def program(x: torch.Tensor, n: int) -> Any:
        if inside == "a cell":
            return x + 1, lambda: held
        if inside == "an exception":
            return x + 1, ValueError(n)
        return x + 1, slice(n)

    def guards(observer: Observer) -> list[str]:
        tracer_core.reset()
        seen: list[str] = []
        watch = type("Watch", (type(observer),), {"on_guard": lambda self, guard: seen.append(guard.text)})()
        with observing(watch):
            tracer_core.compile(program, backend="eager")(torch.ones(2), 3)
        return seen

    assert guards(Recorder()) == guards(Observer())

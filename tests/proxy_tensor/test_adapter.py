"""Torch's own `proxy_tensor` is used by one module, for the parts of torch that require it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx.experimental import proxy_tensor as torchs

import tracer_core.proxy_tensor
from tests.proxy_tensor.checking import check_same
from tracer_core.proxy_tensor import function_modes, modes, torch_adapter

pytestmark = pytest.mark.row("P2")


def test_no_other_module_imports_it() -> None:
    folder = Path(tracer_core.proxy_tensor.__file__).parent
    users = []
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if any("fx.experimental.proxy_tensor" in f"{module}.{name}" for name in names):
                users.append(path.name)
    assert users == ["torch_adapter.py"]


def test_modes_are_of_torchs_classes_only_where_torch_requires_it() -> None:
    assert issubclass(modes.PreDispatchProxyMode, torchs.ProxyTorchDispatchMode)
    assert not issubclass(modes.ProxyTorchDispatchMode, torchs.ProxyTorchDispatchMode)
    assert issubclass(function_modes.TorchFunctionMetadataMode, torchs.TorchFunctionMetadataMode)
    assert issubclass(function_modes.PreDispatchTorchFunctionMode, torchs.PreDispatchTorchFunctionMode)
    for ours in (modes.PreDispatchProxyMode, modes.ProxyTorchDispatchMode):
        for name in ("__torch_dispatch__", "__sym_dispatch__", "__enter__", "__exit__", "enable_decompositions"):
            assert getattr(ours, name) is not getattr(torchs.ProxyTorchDispatchMode, name)


def test_torch_finds_our_trace_and_our_mode() -> None:
    found: list[Any] = []

    def function(x: Any) -> Any:
        found.extend((torchs.get_proxy_mode(), torch_adapter.get_current_trace()))
        return x.sin()

    tracer_core.make_fx(function)(torch.ones(1))
    assert type(found[0]) is modes.ProxyTorchDispatchMode and found[1].fx_tracer is found[0].tracer
    assert torch_adapter.get_current_trace() is None and torchs.get_proxy_mode() is None


def test_attention_takes_no_fast_path_while_it_is_traced() -> None:
    """Torch tells tracing by the exact class of its mode there, but looks for function modes first."""
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True).eval()
    with torch.no_grad():
        graph = check_same(lambda x: layer(x), torch.randn(2, 3, 8))
    assert "_transformer_encoder_layer_fwd" not in graph.code

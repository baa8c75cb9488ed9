"""What tracing a model costs: `python -m tests.benchmarks.trace_models [name ...]`.

Five models of the transformers library (full depth, small width, random weights) are traced by the engine and by the
installed `torch.compile`, in turns, both with a back end that does nothing. The floor is propagating fake tensors
through the finished graph. Seconds, the least of several cold runs in one process.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensorMode

import tracer_core

RUNS = 3
TEXT = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}


def tokens() -> torch.Tensor:
    return torch.randint(0, 100, (2, 16))


def bert(library: Any, layers: int = 12) -> tuple[Any, dict[str, Any]]:
    config = library.BertConfig(vocab_size=100, num_hidden_layers=layers, **TEXT)
    return library.BertModel(config), {"input_ids": tokens()}


def gpt2(library: Any, layers: int = 12) -> tuple[Any, dict[str, Any]]:
    config = library.GPT2Config(
        n_layer=layers, n_embd=64, n_head=4, vocab_size=100, bos_token_id=0, eos_token_id=0
    )  # fmt: skip
    return library.GPT2Model(config), {"input_ids": tokens()}


def llama(library: Any, layers: int = 32) -> tuple[Any, dict[str, Any]]:
    config = library.LlamaConfig(vocab_size=100, num_hidden_layers=layers, num_key_value_heads=4, **TEXT)
    return library.LlamaModel(config), {"input_ids": tokens()}


def t5(library: Any, layers: int = 6) -> tuple[Any, dict[str, Any]]:
    config = library.T5Config(d_model=64, d_kv=16, d_ff=128, num_heads=4, vocab_size=100, num_layers=layers)
    return library.T5Model(config), {"input_ids": tokens(), "decoder_input_ids": tokens()}


def vit(library: Any, layers: int = 12) -> tuple[Any, dict[str, Any]]:
    config = library.ViTConfig(image_size=32, patch_size=8, num_hidden_layers=layers, **TEXT)
    return library.ViTModel(config), {"pixel_values": torch.randn(2, 3, 32, 32)}


MODELS: dict[str, Callable[..., tuple[Any, dict[str, Any]]]] = {
    each.__name__: each for each in (bert, gpt2, llama, t5, vit)
}


@dataclass(slots=True)
class Identity:
    """A back end that keeps the graphs and runs them as they are."""

    graphs: list[torch.fx.GraphModule] = field(default_factory=list)
    examples: list[list[Any]] = field(default_factory=list)

    def __call__(self, graph: torch.fx.GraphModule, examples: list[Any]) -> Callable[..., Any]:
        self.graphs.append(graph)
        self.examples.append(examples)
        return graph.forward

    @property
    def nodes(self) -> int:
        return sum(node.op.startswith("call") for graph in self.graphs for node in graph.graph.nodes)


@dataclass(slots=True)
class Traced:
    seconds: float
    backend: Identity
    result: Any


def trace(compiler: Any, forget: Callable[[], None], model: Any, inputs: dict[str, Any]) -> Traced:
    """One cold compilation; its first call is part of the time, less that of a second call."""
    forget()
    backend = Identity()
    compiled = compiler(model, backend=backend)
    started = time.perf_counter()
    result = compiled(**inputs)
    first = time.perf_counter() - started
    started = time.perf_counter()
    compiled(**inputs)
    return Traced(first - (time.perf_counter() - started), backend, result)


def floor(backend: Identity) -> float:
    """Seconds for propagating fakes through the finished graphs."""
    total = 0.0
    for graph, examples in zip(backend.graphs, backend.examples, strict=True):
        mode = next((e.fake_mode for e in examples if isinstance(e, torch._subclasses.FakeTensor)), FakeTensorMode())
        started = time.perf_counter()
        with mode:
            torch.fx.Interpreter(graph).run(*examples)
        total += time.perf_counter() - started
    return total


def measure(name: str, library: Any) -> str:
    torch.manual_seed(0)
    model, inputs = MODELS[name](library)
    model.eval()
    forget_torch: Callable[[], None] = torch._dynamo.reset
    with torch.no_grad():
        expected = model(**inputs)
        pairs = [
            (
                trace(tracer_core.compile, tracer_core.reset, model, inputs),
                trace(torch.compile, forget_torch, model, inputs),
            )
            for _ in range(RUNS)
        ]
        least = min(floor(pairs[-1][0].backend) for _ in range(RUNS))
    ours, theirs = (min((pair[i] for pair in pairs), key=lambda traced: traced.seconds) for i in (0, 1))
    same = all(torch.equal(a, b) for a, b in zip(expected.to_tuple(), ours.result.to_tuple(), strict=False)
               if isinstance(a, torch.Tensor))  # fmt: skip
    return (
        f"{name:6} ours {ours.seconds:5.2f} s, torch {theirs.seconds:5.2f} s, "
        f"ratio {ours.seconds / theirs.seconds:.2f}; "
        f"floor {least:.3f} s, ours {ours.seconds / least:.1f} times; "
        f"graphs {len(ours.backend.graphs)} ({ours.backend.nodes} nodes), "
        f"torch {len(theirs.backend.graphs)} ({theirs.backend.nodes} nodes); "
        f"{'equal to plain Python' if same else 'DIFFERENT FROM PLAIN PYTHON'}"
    )


def main(names: list[str]) -> None:
    import transformers

    transformers.logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    for name in names or list(MODELS):
        print(measure(name, transformers), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

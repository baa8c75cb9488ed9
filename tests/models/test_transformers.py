"""Models of the transformers library trace into the graph that the installed `torch.compile` captures."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import pytest
import torch
import torch._dynamo
import transformers

import tracer_core
import tracewalk
from tests.benchmarks.trace_models import MODELS, Identity
from tests.models.outputs import tensors

OPTIONS = {"raise_internal_faults": True}
# Nodes of torch.compile's graphs that compute nothing: a count of API uses, and the read of a number nobody uses.
EMPTY = {("call_function", "_log_api_usage_once"), ("call_method", "item")}


def operators(backend: Identity) -> Counter[tuple[str, str]]:
    nodes = (node for graph in backend.graphs for node in graph.graph.nodes if node.op.startswith("call"))
    return Counter((node.op, getattr(node.target, "__name__", str(node.target))) for node in nodes)


@pytest.mark.row("B11", "I9")
@pytest.mark.parametrize("name", MODELS)
def test_one_graph_with_the_operators_of_torch(name: str) -> None:
    torch.manual_seed(0)
    model, inputs = MODELS[name](transformers, layers=2)
    model.eval()
    theirs, ours = Identity(), Identity()
    with torch.no_grad():
        expected = tensors(model(**inputs))
        # First, as it changes what `torch.nn.Module.__init__` is for the rest of the process.
        torch.compile(model, backend=theirs)(**inputs)
        compiled = tracer_core.compile(model, backend=ours, options=OPTIONS)
        results = [tensors(compiled(**inputs)) for _ in range(2)]
    assert (len(ours.graphs), len(theirs.graphs)) == (1, 1)
    for result in results:
        assert len(result) == len(expected)
        assert all(torch.equal(mine, plain) for mine, plain in zip(result, expected, strict=True))
    wanted = Counter({key: count for key, count in operators(theirs).items() if key not in EMPTY})
    assert operators(ours) - wanted == wanted - operators(ours) == Counter()


@pytest.mark.row("B11", "F10")
def test_a_model_that_skips_its_mask_when_it_is_compiled() -> None:
    """Asked without a mask, it makes none where it is being compiled, and then indexes it."""
    torch.manual_seed(0)
    config = transformers.SwitchTransformersConfig(
        vocab_size=50, d_model=16, d_kv=4, d_ff=16, num_layers=2, num_decoder_layers=2, num_heads=2, num_experts=2,
        expert_capacity=4, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1,
    )  # fmt: skip
    model = transformers.SwitchTransformersModel(config).eval()
    ids = torch.arange(6).view(1, 6)
    compiled = tracer_core.compile(model, backend="eager", options=OPTIONS)
    with torch.no_grad():
        expected = tensors(model(input_ids=ids, decoder_input_ids=ids))
        for _ in range(2):
            result = tensors(compiled(input_ids=ids, decoder_input_ids=ids))
            assert len(result) == len(expected)
            assert all(torch.equal(mine, plain) for mine, plain in zip(result, expected, strict=True))


@pytest.mark.row("B6", "B11", "O9")
def test_a_speech_model_in_training_draws_its_masks_as_numpy_does() -> None:
    """The graph ends where the number of spans depends on a draw, where the drawn spans are looked at, and where
    `requires_grad` of a tensor is set."""
    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        vocab_size=10, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        conv_dim=(8, 8, 8), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3), num_feat_extract_layers=3,
        mask_time_prob=0.3, mask_time_length=2, mask_feature_prob=0.2, mask_feature_length=2, layerdrop=0.0,
        num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
    )  # fmt: skip
    model = transformers.Wav2Vec2Model(config).train()
    compiled = tracer_core.compile(model, backend="eager", options=OPTIONS)
    sound = torch.randn(2, 800)
    for seed in range(2):
        results = []
        for call in (model, compiled):
            np.random.seed(seed)
            torch.manual_seed(seed)
            with tracewalk.record() as trace:
                results.append([*tensors(call(sound)), torch.tensor(np.random.rand())])
        assert all(torch.equal(mine, plain) for mine, plain in zip(*results, strict=True))
        if seed == 0:
            assert len(trace.graphs) == 10
            reasons = {each.reason_id for each in trace.breaks}
            assert reasons == {"set-attribute", "unknown-object", "random-number", "numpy-data"}


@pytest.mark.row("B11", "H14")
def test_a_model_with_an_autograd_function_trains_in_one_graph() -> None:
    torch.manual_seed(0)
    config = transformers.BloomConfig(
        vocab_size=64, hidden_size=32, n_layer=2, n_head=4, hidden_dropout=0.0, attention_dropout=0.0, use_cache=False
    )
    model = transformers.BloomForCausalLM(config).train()
    ids = torch.randint(0, 64, (2, 7))

    def step(call: Any) -> list[torch.Tensor]:
        model.zero_grad()
        loss = call(input_ids=ids, labels=ids).loss
        loss.backward()
        return [loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())]

    expected = step(model)
    theirs, ours = Identity(), Identity()
    step(torch.compile(model, backend=theirs))
    for backend in (ours, "aot_eager"):
        torch.testing.assert_close(step(tracer_core.compile(model, backend=backend, options=OPTIONS)), expected)
    assert (len(ours.graphs), len(theirs.graphs)) == (1, 1)
    wanted = Counter({key: count for key, count in operators(theirs).items() if key not in EMPTY})
    assert operators(ours) == wanted
    assert wanted["call_function", "autograd_function_apply"] == config.n_layer


@pytest.mark.row("H7", "B11")
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_a_model_with_checkpointed_layers_trains_in_one_graph(dropout: float) -> None:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        use_cache=False,
    )
    model = transformers.BertModel(config).train()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    ids = torch.randint(0, 64, (2, 7))

    def step(call: Any) -> list[torch.Tensor | None]:
        model.zero_grad()
        torch.manual_seed(1)
        result = call(input_ids=ids).last_hidden_state
        (result**2).sum().backward()
        grads = [parameter.grad for parameter in model.parameters()]
        return [result.detach(), *(None if grad is None else grad.clone() for grad in grads)]

    expected = step(model)
    theirs, ours = Identity(), Identity()
    step(torch.compile(model, backend=theirs))  # torch's operator draws anew: its gradients differ with dropout
    torch.testing.assert_close(step(tracer_core.compile(model, backend=ours, options=OPTIONS)), expected)
    assert (len(ours.graphs), len(theirs.graphs)) == (1, 1)
    names = [
        "checkpoint_keeping_random_state" if dropout else "tag_activation_checkpoint",
        "tag_activation_checkpoint",
    ]
    for backend, name in zip((ours, theirs), names, strict=True):
        assert operators(backend)["call_function", name] == config.num_hidden_layers

"""What people read about values in programs of the usual kinds: the program's own names, on every surface."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import torch

from tests.conformance.texts import explained_texts, faults, sentences, texts
from tests.recording.named_programs import PROGRAMS
from tests.recording.test_names_for_people import recorded
from tracer_core.recording import Trace
from tracer_core.recording.comparison import differences
from tracer_core.recording.views import chunk_view, meta_view

FILE = "named_programs.py"
_traces: dict[str, Trace] = {}


def traced(name: str) -> Trace:
    if name not in _traces:
        torch.manual_seed(0)
        make, calls = PROGRAMS[name]
        _traces[name] = recorded(make(), *calls)
    return _traces[name]


def line(text: str) -> int:
    """The only line of the programs that has this text."""
    with open(__file__.replace("test_named", "named")) as file:
        (found,) = (number for number, one in enumerate(file, 1) if text in one)
    return found


def at(text: str, within: str = "") -> str:
    """What a value is called that an expression created."""
    return f"{text}, {FILE}:{line(within or text.strip('`'))}"


def surfaces(trace: Trace) -> Iterator[tuple[str, str]]:
    """Every text about values that a person reads by default, with the surface it is on."""
    yield from ((kind, text) for kind, text in texts(trace) if kind != "operand")
    yield from ((kind, text) for kind, text, _ in explained_texts(trace))
    for node in trace.nodes:
        yield from (("module of a node", name) for name in node.modules)
    for cause in trace.recompilations:
        yield from (("recompilation", text) for text in (cause.source, cause.text, cause.change, *cause.remedies))
    for station in trace.story():
        yield from (("story", text) for text in (station.text, station.hint, station.value))
    for generated in meta_view(trace).generated:
        yield "listing", generated.listing
    for call in trace.calls:
        for check in call.checks:
            for failed in check.failures:
                yield from (("failed guard", text) for text in (failed.name, failed.text, failed.was, failed.seen))
                yield from (("failed guard", text) for text in failed.remedies)


OURS = re.compile(r"\b[LG]\[|\bG\(|___|_modules\[|_parameters\[|_buffers\[|__closure__\[|_tmp\b|\b\w*Tracker\b")


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_text_has_a_word_of_the_engine(name: str) -> None:
    trace = traced(name)
    assert {(kind, text[:200]) for kind, text in surfaces(trace) if OURS.search(text)} == set()
    assert faults(trace) == []


def names(trace: Trace) -> set[str]:
    """The names of all values, as the panes of values are sent them."""
    chunks = range(-(-trace.data.snapshots.trackers // 128))
    trackers = [tracker for chunk in chunks for tracker in chunk_view(trace, chunk).trackers]
    return {snapshot.name for tracker in trackers for snapshot in tracker.snapshots}


VALUES: dict[str, list[str]] = {
    "cnn": [
        *("self", "self.stem[0].weight", "self.layers[1].conv.bias", "self.stem[1].running_mean", "x", "F"),
        at("the result of `F.relu(self.conv(x))`", "F.relu(self.conv(x))"),
        at("`F.relu(self.conv(x)) + x`"),
        at("the result of `self.conv(x)`", "F.relu(self.conv(x))"),
        at("the result of `x.mean((2, 3))`", "pooled = x.mean"),
        at("the result of `self.head(pooled)`", "return self.head(pooled)"),
        at("the iterator over `self.layers`", "for layer in self.layers"),
    ],
    "transformer": [
        *("self.qkv.weight", "attention_mask", "scale"),
        at("[1] of the result of `self.qkv(self.norm(x)).chunk(3, -1)`", "q, k, v ="),
        at("`q @ k.transpose(-1, -2)`", "scores = q @"),
    ],
    "training": ["self.optimizer.param_groups[0]['params'][0].grad", "self.model.weight", "loss"],
    "counter": ["self.steps", "self.options['gain']", "self.seen", at('`x * self.options["gain"]`')],
    "defaults": ["default of `mask` in `masked`", "default of `shift` in `masked`", "SHIFT", "x"],
    "closure": ["weight", "`count` in `inner`", "inner", at("`inner(x) + weight`")],
    "globals": ["tests.recording.named_helpers.FACTOR", "`FACTOR**POWER`, named_helpers.py:14", "named_helpers"],
    "resumed": [
        at("the result of `z.sum().item()`", "z.sum().item()"),
        at("the iterator over `y.unbind()`", "in y.unbind()"),
        at("the next item of `y.unbind()`", "in y.unbind()"),
        at("[0] of the result of `y.unbind()`", "in y.unbind()"),
        at("`x * 2`", "z = x * 2"),
    ],
    "comprehension": [
        "xs[0]",
        at("`[x * 2 for x in xs if x.dim() == 1]`"),
        at("the result of `torch.stack(doubled)`", "torch.stack(doubled)"),
    ],
    "dataclass": ["batch.inputs", "batch.sizes['rows']", at('`batch.inputs * batch.sizes["rows"]`')],
    "layer": ["self[0].linear.weight", at("the result of `F.relu(x)`", "F.relu(x) * x.sum()")],
}


@pytest.mark.parametrize("name", VALUES)
def test_names_of_values(name: str) -> None:
    assert set(VALUES[name]) <= names(traced(name))


GUARDS: dict[str, list[str]] = {
    "cnn": ["self.stem[1].eps == 1e-05", "F is module torch.nn.functional"],
    "transformer": ["attention_mask is None", "scale == 0.5"],
    "training": ["list(self.optimizer.state) == []"],
    "counter": ["self.options['gain'] == 2.0", "self.steps == 0"],
    "defaults": ["(default of `mask` in `masked`) is None", "SHIFT is (default of `shift` in `masked`)"],
    "closure": ["(`count` in `inner`) == 2"],
    "globals": ["tests.recording.named_helpers.POWER == 2"],
    "resumed": ["total == 6.0", f"len(the next items of `y.unbind()`, {FILE}:{line('in y.unbind()')}) > 0"],
    "dataclass": ["list(batch.sizes) == ['rows']"],
}


@pytest.mark.parametrize("name", GUARDS)
def test_texts_of_guards(name: str) -> None:
    assert set(GUARDS[name]) <= {guard.text for guard in traced(name).guards}


def test_exact_sources_are_a_detail() -> None:
    weight = next(guard for guard in traced("cnn").guards if guard.name == "self.layers[0].conv.weight")
    assert weight.source == "L['self']._modules['layers']._modules['0']._modules['conv']._parameters['weight']"
    assert weight.names == ["self", "self.layers", "self.layers[0]", "self.layers[0].conv", weight.name]
    assert weight.path[:2] == ["L['self']", "L['self']._modules['layers']"]
    assert weight.path[-1] == weight.source
    node = next(node for node in traced("cnn").nodes if node.name == "self_head_weight")
    assert (node.label, node.source) == ("self.head.weight", "L['self']._modules['head']._parameters['weight']")
    bound = next(guard for guard in traced("defaults").guards if "gain" in guard.name)
    assert bound.source == "G['masked'].__kwdefaults__['gain']"


def test_sentences_name_values_by_variable_source_or_expression() -> None:
    said = {text for _, text in sentences(traced("transformer"))}
    product = (
        "BINARY_OP @ took Tensor f32[2, 3, 8] (`q`) and Tensor f32[2, 8, 3] (the result of `k.transpose(-1, -2)`)"
    )
    assert any(text.startswith(product) for text in said)
    assert any(
        text.startswith("LOAD_ATTR weight read the attribute `weight` of Linear module (`self.qkv`)") for text in said
    )
    assert "STORE_FAST scores bound `scores` to Tensor f32[2, 3, 3] (`scores + attention_mask`)." in said
    resumed = {text for _, text in sentences(traced("resumed"))}
    item = at("the result of `z.sum().item()`", "z.sum().item()")
    assert f"STORE_FAST total bound `total` to float ({item})." in resumed
    assert f"DELETE_FAST {item} deleted the variable {item}." in resumed


def test_the_modules_around_a_node() -> None:
    node = next(node for node in traced("cnn").nodes if node.name == "conv2d_2")
    assert node.modules == ["self", "self.layers[1]", "self.layers[1].conv"]


def test_recompilations_and_the_overview() -> None:
    (cause,) = traced("dataclass").recompilations[:1]
    assert cause.source in ("batch.inputs", "batch.sizes['rows']")
    told = str(traced("training"))
    assert "`self.optimizer.state` changed in 1 call" in told
    assert "Try: Fill `self.optimizer.state` with the same keys in the same order at each call." in told


def test_rows_of_a_comparison() -> None:
    found = differences(traced("defaults").diff(traced("closure")))
    (guards,) = (change for change in found.changes if change.kind == "guards")
    assert "default of `gain` in `masked`" in {section.title for section in guards.gone}
    assert "`count` in `inner`" in {section.title for section in guards.new}


def test_listings() -> None:
    shown = {name: [one.listing for one in traced(name).data.generated] for name in ("layer", "globals", "resumed")}
    assert any("graph_0(x, self.linear.weight, self.linear.bias)" in text for text in shown["layer"])
    assert any(
        f"    # stack_1 is {at('the result of `x.sum().item()`', 'x.sum().item()')}\n" in text
        for text in shown["layer"]
    )
    assert "tests.recording.named_helpers.FACTOR, x, " in shown["globals"][0]
    assert any(
        f"# stack_0 is {at('the iterator over `y.unbind()`', 'in y.unbind()')}\n" in text for text in shown["resumed"]
    )


def test_symbols() -> None:
    assert {symbol.meaning for symbol in traced("dataclass").symbols} == {
        "batch.inputs.size(0)",
        "batch.sizes['rows']",
    }


def test_side_effects_say_what_is_changed() -> None:
    messages = [effect.message for effect in meta_view(traced("counter")).side_effects]
    assert set(messages) == {"`self`: attribute steps is set"}
    said = [text for _, text in sentences(traced("resumed")) if "side effect" in text]
    assert any(
        f"recorded side effect {at('the iterator over `y.unbind()`', 'in y.unbind()')}: it is advanced" in text
        for text in said
    )

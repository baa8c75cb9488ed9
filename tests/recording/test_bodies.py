"""Bodies of higher-order operators in a recording: which steps are theirs, what they lifted and why, and what became
of them. Expected graphs are the modules that the back end gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import tracer_core
from tracer_core.observer import observing
from tracer_core.recording import Recorder, Trace, file, load, schema
from tracer_core.recording.damage import TraceFileError


def nested(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    y = x + weight
    scale = y.sum()

    def block(h: torch.Tensor) -> torch.Tensor:
        def grow(v: torch.Tensor) -> torch.Tensor:
            return v * scale + y

        def shrink(v: torch.Tensor) -> torch.Tensor:
            return v - y

        return torch.cond(h.sum() > 0, grow, shrink, (h,)).relu()

    return checkpoint(block, y.sin(), use_reentrant=False) + x


FIRST = nested.__code__.co_firstlineno


def traced(fn: Callable[..., Any], *args: Any, **options: Any) -> tuple[Trace, list[torch.fx.GraphModule]]:
    """Return the recording of a call, and the graphs that the back end got."""
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph

    recorder = Recorder(fn.__name__)
    with observing(recorder):
        tracer_core.compile(fn, backend=backend, **options)(*args)
    return Trace(recorder.finish()), graphs


def traced_nested() -> tuple[Trace, list[torch.fx.GraphModule]]:
    return traced(nested, torch.ones(3), torch.ones(3))


def named(trace: Trace) -> dict[str, schema.Body]:
    return {body.function.rpartition(".")[2]: body for body in trace.bodies}


def test_bodies_know_operator_function_and_the_body_around_them() -> None:
    trace, _ = traced_nested()
    block, grow, shrink = trace.bodies
    assert [body.function.rpartition(".")[2] for body in trace.bodies] == ["block", "grow", "shrink"]
    assert [body.operator for body in trace.bodies] == [
        "torch.utils.checkpoint.checkpoint", "torch.cond", "torch.cond"
    ]  # fmt: skip
    assert [body.parent for body in trace.bodies] == [None, block.id, block.id]
    assert [body.outcome for body in trace.bodies] == ["kept"] * 3
    assert [trace.nodes[body.calls[0]].target.rpartition(".")[2] for body in trace.bodies] == [
        "tag_activation_checkpoint", "cond", "cond"
    ]  # fmt: skip
    assert grow.calls == shrink.calls


def test_the_graphs_of_bodies_are_those_the_back_end_gets() -> None:
    trace, [module] = traced_nested()
    block = module.wrap_body_0
    real = {"block": block, "grow": block.cond_true_0, "shrink": block.cond_false_0}
    for name, body in named(trace).items():
        assert body.graph is not None
        graph = trace.all_graphs[body.graph]
        assert graph.body == body.id
        recorded = [trace.nodes[number] for number in graph.nodes]
        assert [node.name for node in recorded] == [node.name for node in real[name].graph.nodes]
        inputs = [[trace.nodes[number].name for number in node.inputs] for node in recorded]
        assert inputs == [[used.name for used in node.all_input_nodes] for node in real[name].graph.nodes]
        assert graph.code.strip() == real[name].graph.python_code("self").src.strip()
        holders = {"block": "wrap_body_0", "grow": "cond_true_0", "shrink": "cond_false_0"}
        assert [trace.nodes[number].name for number in body.holders] == [holders[name]]
    assert [graph.body for graph in trace.graphs] == [None]


def test_the_steps_of_a_body_are_those_of_the_frames_it_runs() -> None:
    trace, _ = traced_nested()
    for step in trace.steps:
        functions = [activation.code.name for activation in step.frames]
        if functions[0] == "nested":
            assert [body.function.rpartition(".")[2] for body in step.tracers] == functions[1:]
    for body in trace.bodies:
        assert body.step is not None
        assert body in trace.steps[body.step].bodies


def test_lifted_values_say_who_used_them_where() -> None:
    trace, _ = traced_nested()
    said = {name: [(lift.name, lift.reason) for lift in body.lifted] for name, body in named(trace).items()}
    assert said == {
        "block": [("h", "used"), ("scale", "inside"), ("y", "inside")],
        "grow": [("h", "used"), ("y", "used"), ("scale", "used")],
        "shrink": [("h", "used"), ("y", "used"), ("scale", "shared")],
    }
    by = {(name, lift.name): lift for name, body in named(trace).items() for lift in body.lifted}
    assert by["grow", "scale"].step is not None
    assert trace.steps[by["grow", "scale"].step].line == FIRST + 6
    assert by["grow", "scale"].text == (
        f"`scale`, computed by line {FIRST + 2} of nested, is used in the body `grow` of torch.cond by line "
        f"{FIRST + 6}: it becomes its input `sum_2_true_branch`."
    )
    assert by["block", "h"].text == (
        f"`h`, computed by line {FIRST + 13}, is used in the body `block` of torch.utils.checkpoint.checkpoint by "
        f"line {FIRST + 11}: it becomes its input `sin`."
    )
    assert "is used in another body of torch.cond" in by["shrink", "scale"].text
    assert by["shrink", "scale"].step == named(trace)["shrink"].step
    for lift in by.values():
        inner, outer = trace.nodes[lift.inner], trace.nodes[lift.outer]
        body = trace.bodies[trace.data.graphs[inner.graph].body or 0]
        around = None if body.parent is None else trace.bodies[body.parent].graph
        assert outer.graph == (trace.graphs[0].id if around is None else around)


LAYER = torch.nn.Linear(3, 3)


def uses_a_layer(x: torch.Tensor) -> torch.Tensor:
    y = torch.nn.functional.normalize(x)

    def body(a: torch.Tensor) -> torch.Tensor:
        return LAYER(a) + torch.nn.functional.normalize(y)

    return torch.cond(x.sum() > 0, body, torch.sin, (x,))


def test_lines_of_lifted_values_are_the_programs_own() -> None:
    """Layers and functions of torch's are Python, too, which is traced."""
    trace, _ = traced(uses_a_layer, torch.ones(2, 3))
    first = uses_a_layer.__code__.co_firstlineno
    texts = [lift.text for lift in named(trace)["body"].lifted]
    used = f"is used in the body `body` of torch.cond by line {first + 4}: it becomes its input"
    assert len(texts) == 4
    assert all(used in text for text in texts)
    assert any(text.startswith(f"`y`, computed by line {first + 1}, ") for text in texts)
    assert any(text.startswith("`LAYER.weight`, an input of the graph, ") for text in texts)


def test_sentences_and_summary_tell_of_bodies() -> None:
    trace, _ = traced_nested()
    grow = named(trace)["grow"]
    use = next(step for step in trace.steps if any(lift in grow.lifted for lift in step.lifted))
    assert "added node `mul = sin * sum_2_true_branch`" in use.sentence
    assert (
        f"`scale`, computed by line {FIRST + 2} of nested, is used in the body `grow` of torch.cond" in use.sentence
    )
    assert use.sentence.count("input of") == 0
    assert grow.step is not None
    assert grow.text == (
        "`grow`, a body of torch.cond, was traced into a graph of its own with 2 operations and 3 lifted values. It "
        "is run by the node `cond`."
    )
    assert grow.text in trace.steps[grow.step].sentence
    assert str(trace).count("Bodies of operators") == 1
    assert all(lift.text in str(trace) for lift in grow.lifted)


def abandoned(x: torch.Tensor) -> torch.Tensor:
    y = x + 1

    def block(h: torch.Tensor) -> torch.Tensor:
        z: torch.Tensor = torch.cond(h.sum() > 0, lambda a: a + 1, lambda a: a - 1, (h,))
        print("here")
        return z * y

    result: torch.Tensor = checkpoint(block, x.sin(), use_reentrant=False)
    return result


def test_abandoned_bodies_say_why() -> None:
    trace, graphs = traced(abandoned, torch.ones(3))
    block, one, other = trace.bodies
    assert [body.outcome for body in trace.bodies] == ["abandoned"] * 3
    assert block.message == "The code calls `print()`."
    assert block.text == (
        "`block`, the body of torch.utils.checkpoint.checkpoint, could not be traced (the code calls `print()`). Its "
        "graph was abandoned: the trace is as it was before the call."
    )
    assert one.text == "The true branch of torch.cond was abandoned with the body `block` around it."
    assert other.text == "The false branch of torch.cond was abandoned with the body `block` around it."
    inside = [graph for graph in trace.data.graphs if graph.body is not None]
    assert inside
    assert not any(trace.nodes[number].live for graph in inside for number in graph.nodes)
    kept = {graph.id: [trace.nodes[number].name for number in graph.nodes] for graph in trace.graphs}
    assert list(kept.values()) == [[node.name for node in graph.graph.nodes] for graph in graphs]


def sized(x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = checkpoint(lambda h: h * h.shape[0], x + 1, use_reentrant=False)
    return result


def test_symbols_are_lifted_under_their_meaning() -> None:
    trace, _ = traced(sized, torch.ones(3), dynamic=True)
    symbol = trace.bodies[0].lifted[0]
    assert symbol.text.startswith(f"`{symbol.name}`, which is x.size(0), is used in the body `<lambda>`")
    assert ", or is a size of a tensor that is used there: " in symbol.text


def fresh(x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = checkpoint(lambda: torch.ones(3).sum(), use_reentrant=False)
    return result + x


def test_a_body_that_adds_the_first_node_is_not_taken_for_the_frames_graph() -> None:
    trace, [module] = traced(fresh, torch.ones(3))
    [graph] = trace.graphs
    assert [trace.nodes[number].name for number in graph.nodes] == [node.name for node in module.graph.nodes]


def test_bodies_are_saved_and_checked(tmp_path: Path) -> None:
    trace, _ = traced_nested()
    trace.save(tmp_path / "t")
    assert load(tmp_path / "t").bodies == trace.bodies
    for damage in (
        lambda body: setattr(body, "parent", 2),
        lambda body: setattr(body, "last_step", len(trace)),
        lambda body: setattr(body.lifted[0], "outer", len(trace.nodes)),
        lambda body: body.calls.append(-1),
    ):
        data = load(tmp_path / "t").data
        damage(data.bodies[0])
        with pytest.raises(TraceFileError):
            file.unpack(file.pack(data), "it")


def test_older_recordings_have_no_bodies() -> None:
    trace, _ = traced(lambda x: x + 1, torch.ones(3))
    assert trace.bodies == []
    assert "Bodies" not in str(trace)
    assert all(step.tracers == step.bodies == step.lifted == [] for step in trace.steps)

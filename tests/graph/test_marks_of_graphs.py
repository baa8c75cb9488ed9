"""Random nests of graphs compute what plain Python does; what is rolled back leaves the state, field by field, as it
was, and graphs that come out as if it had never been built."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.fx import Node

from tests.graph.nested import call, fake_of, finish, op, output_for, run, tensor
from tracer_core.graph.output import OutputGraph
from tracer_core.graph.settings import Entered
from tracer_core.guards import make
from tracer_core.host.global_state import PROPERTIES
from tracer_core.sources import LocalSource

pytestmark = pytest.mark.row("O2")

LOCALS: dict[str, torch.Tensor] = {
    "a": torch.randn(3, 4),
    "b": torch.randn(3, 4),
    "c": torch.randn(4),
    "p": torch.nn.Parameter(torch.randn(3, 4)),
    "q": torch.nn.Parameter(torch.randn(3, 1)),
}
CONSTANT = torch.randn(4)
OPERATIONS: tuple[Callable[..., torch.Tensor], ...] = (torch.add, torch.sub, torch.minimum, torch.maximum)


@dataclass
class Values:
    """What a body can use: its own values and those of the bodies around it."""

    tensors: list[Any]
    numbers: list[Any] = field(default_factory=list)

    def copy(self) -> Values:
        return Values(list(self.tensors), list(self.numbers))

    def tensor(self, pick: int) -> Any:
        return self.tensors[pick % len(self.tensors)]

    def number(self, pick: int) -> Any:
        return self.numbers[pick % len(self.numbers)] if self.numbers else 2


class GivenUp(Exception):
    pass


class Plain:
    """Computes with tensors."""

    def input(self, name: str) -> Any:
        return LOCALS[name]

    def constant(self) -> Any:
        return CONSTANT

    def compute(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    def size(self, value: Any) -> Any:
        return value.shape[0]

    def call(self, body: list[Any], values: Values, results: list[int]) -> list[Any]:
        walk(self, body, values)
        return [values.tensor(pick) for pick in results]

    def speculate(self, body: list[Any], values: Values) -> None:
        """It never happened."""


class Builder(Plain):
    """Builds graphs."""

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.inputs: dict[str, Node] = {}

    def input(self, name: str) -> Node:
        if name not in self.inputs:
            self.inputs[name] = tensor(self.output, name)
        return self.inputs[name]

    def constant(self) -> Node:
        with self.output.fakes.mode:
            fake = torch.empty(4)
        return self.output.current.add_attribute("constant", CONSTANT, fake)

    def compute(self, function: Callable[..., Any], *args: Any) -> Any:
        return op(self.output, function, *args) if any(isinstance(arg, Node) for arg in args) else function(*args)

    def size(self, value: Node) -> Any:
        n = fake_of(value).shape[0]
        return n if isinstance(n, int) else self.output.symbol_node(n)

    def call(self, body: list[Any], values: Values, results: list[int]) -> list[Any]:
        with self.output.subtracer() as inner:
            walk(self, body, values)
        return call(self.output, inner, [values.tensor(pick) for pick in results])

    def speculate(self, body: list[Any], values: Values) -> None:
        output, inputs = self.output, dict(self.inputs)
        before = state_of(output)
        mark = output.mark()
        with contextlib.suppress(GivenUp, RuntimeError):
            walk(self, body, values)
        self.inputs = inputs
        output.roll_back(mark)
        assert state_of(output) == before

    # What only a body does that is given up.

    def learn(self, values: Values, pick: int) -> None:
        shapes = [fake_of(values.tensor(each)).shape for each in (pick, pick + 1)]
        numbers = [n for shape in shapes for n in shape]
        bool(numbers[0] > 2)
        bool(numbers[0] == numbers[-1])
        bool(numbers[0] * 2 + numbers[-1] < 100)

    def write(self, values: Values, pick: int) -> None:
        with torch.no_grad():
            values.tensors.append(op(self.output, torch.Tensor.add_, values.tensor(pick), 1))

    def draw(self, values: Values, pick: int) -> None:
        values.tensors.append(op(self.output, torch.rand_like, values.tensor(pick)))

    def unknown(self, values: Values, pick: int) -> None:
        node, _ = self.output.root.unknown_number(LocalSource(f"n{pick % 2}"), (int, float)[pick % 2])
        values.numbers.append(node)

    def guard(self, values: Values, pick: int) -> None:
        self.output.guard(make.constant(LocalSource("k"), pick))

    def strides(self, values: Values, pick: int) -> None:
        self.output.note_strides_read()

    def setting(self, values: Values, pick: int) -> None:
        self.output.settings.touch("default_dtype")
        torch.set_default_dtype((torch.float32, torch.float64)[pick % 2])

    def manager(self, values: Values, pick: int) -> None:
        before = torch.is_grad_enabled()
        self.output.settings.touch("grad_mode")
        self.output.add_settings_node(["grad_mode"], torch._C._set_grad_enabled, (not before,))
        torch._C._set_grad_enabled(not before)
        leave = Entered(object(), lambda: torch._C._set_grad_enabled(before), True, 0)
        self.output.settings.entered.append(leave)

    def give_up(self, values: Values, pick: int) -> None:
        raise GivenUp


def walk(machine: Any, body: list[Any], values: Values) -> None:
    for kind, *rest in body:
        match kind:
            case "input":
                values.tensors.append(machine.input(rest[0]))
            case "constant":
                values.tensors.append(machine.constant())
            case "compute":
                which, one, other = rest
                values.tensors.append(machine.compute(OPERATIONS[which], values.tensor(one), values.tensor(other)))
            case "size":
                values.numbers.append(machine.size(values.tensor(rest[0])))
            case "double":
                values.numbers.append(machine.compute(operator.mul, values.number(rest[0]), 2))
            case "scale":
                args = values.tensor(rest[0]), values.number(rest[1])
                values.tensors.append(machine.compute(torch.mul, *args))
            case "call":
                inner, results = rest
                values.tensors += machine.call(inner, values.copy(), results)
            case "speculate":
                machine.speculate(rest[0], values.copy())
            case _:
                getattr(machine, kind)(values, rest[0])


def state_of(output: OutputGraph) -> dict[str, Any]:
    """All that is known, as text that does not change any more."""
    env = vars(output.fakes.shape_env)
    counters = ("_version_counter", "_replacements_version_counter", "log", "settings")
    state: dict[str, Any] = {f"env.{name}": plain(value) for name, value in env.items() if name not in counters}
    state["current"] = id(output.current)
    for depth, tracer in enumerate(output.stack()):
        graph, namespace = tracer.graph, tracer.graph._graph_namespace
        state[f"{depth}.nodes"] = [
            (n.name, n.op, str(n.target), repr((n.args, n.kwargs)), repr(list(n.users)), repr(n.meta))
            for n in graph.nodes
        ]
        state[f"{depth}.names"] = [sorted(namespace._used_names), plain(namespace._base_count)]
        state[f"{depth}.named"] = sorted(f"{each}: {name}" for each, name in namespace._obj_to_name.items())
        state[f"{depth}.found"] = [repr(graph.find_nodes(op=o)) for o in ("placeholder", "call_method", "get_attr")]
        state[f"{depth}.length"] = len(graph.nodes)
        state |= {f"{depth}.{name}": plain(v) for name, v in vars(tracer).items() if isinstance(v, (list, dict))}
    fakes = output.fakes
    state["symbols"] = plain(fakes.symbols)
    state["tracked"] = plain({key: (each.idle, each.sizes, each.mutated) for key, each in fakes.inputs.items()})
    state["fakes"] = plain([fakes.unknowns, fakes.needs_all_strides, vars(fakes.operations), output._context])
    state["guards"] = plain([list(output.guards), output.shapes.needed_by])
    state["settings"] = plain([output.settings.start, output.settings.entered])
    state["torch"] = {name: repr(PROPERTIES[name].read()) for name in ("default_dtype", "grad_mode")}
    return state


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {repr(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return sorted(map(repr, value)) if isinstance(value, (set, frozenset)) else repr(value)


PICK = st.integers(0, 20)
STEPS = st.one_of(
    st.tuples(st.just("input"), st.sampled_from(sorted(LOCALS))),
    st.tuples(st.just("constant")),
    st.tuples(st.just("compute"), st.integers(0, 3), PICK, PICK),
    st.tuples(st.just("compute"), st.integers(0, 3), PICK, PICK),
    st.tuples(st.just("size"), PICK),
    st.tuples(st.just("double"), PICK),
    st.tuples(st.just("scale"), PICK, PICK),
)
RECKLESS = st.tuples(st.sampled_from("learn write draw unknown guard strides setting manager give_up".split()), PICK)


def calls_of(steps: Any) -> Any:
    bodies = st.deferred(lambda: st.lists(st.one_of(STEPS, steps, call), max_size=5))
    call = st.tuples(st.just("call"), bodies, st.lists(PICK, min_size=1, max_size=3))
    return bodies


NESTS = calls_of(st.nothing())
GIVEN_UP = calls_of(RECKLESS)
SPECULATIVE = calls_of(st.tuples(st.just("speculate"), GIVEN_UP))


def without_speculation(body: list[Any]) -> list[Any]:
    return [
        ("call", without_speculation(step[1]), step[2]) if step[0] == "call" else step
        for step in body
        if step[0] != "speculate"
    ]


def built(body: list[Any], dynamic: bool) -> tuple[OutputGraph, torch.fx.GraphModule]:
    output = output_for(dict(LOCALS), dynamic)
    machine = Builder(output)
    values = Values([machine.input("a")])
    walk(machine, body, values)
    return output, finish(output, values.tensors)


def expected(body: list[Any]) -> list[torch.Tensor]:
    values = Values([LOCALS["a"]])
    walk(Plain(), body, values)
    return values.tensors


def codes(module: torch.fx.GraphModule) -> Iterator[str]:
    for name, each in module.named_modules():
        assert isinstance(each, torch.fx.GraphModule)
        yield f"{name}: {each.code}"


@settings(max_examples=30)
@given(NESTS, st.booleans())
def test_nested_graphs_give_what_plain_python_gives(body: list[Any], dynamic: bool) -> None:
    output, module = built(body, dynamic)
    got, want = run(output, module), expected(body)
    assert len(got) == len(want)
    assert all(map(torch.equal, got, want))
    for each in module.modules():
        assert isinstance(each, torch.fx.GraphModule)
        read = [node.name for node in each.graph.find_nodes(op="placeholder")]
        assert len(set(read)) == len(read)


@settings(max_examples=30)
@given(SPECULATIVE, st.booleans())
def test_what_is_rolled_back_was_never_there(body: list[Any], dynamic: bool) -> None:
    output, module = built(body, dynamic)
    _, without = built(without_speculation(body), dynamic)
    assert list(codes(module)) == list(codes(without))
    assert all(map(torch.equal, run(output, module), expected(body)))


def test_a_graph_that_was_closed_since_is_open_again() -> None:
    output = output_for(dict(LOCALS))
    a, b = tensor(output, "a"), tensor(output, "b")
    with output.subtracer() as inner:
        before, mark = state_of(output), output.mark()
        inner.close([op(output, torch.add, a, b)])
        output.roll_back(mark)
        assert state_of(output) == before
        c = op(output, torch.sub, b, a)
    (got,) = run(output, finish(output, call(output, inner, [c])))
    assert torch.equal(got, LOCALS["b"] - LOCALS["a"])


def guards_on_shapes(output: OutputGraph) -> list[str]:
    return [guard.text for guard in output.shapes.finish()]


@pytest.mark.row("G5")
@pytest.mark.parametrize("question", [lambda n, m: n > 2, lambda n, m: n == m, lambda n, m: n * 2 < m * 7])
def test_what_was_asked_of_sizes_before_a_roll_back_is_asked_again_after_it(question: Callable[..., Any]) -> None:
    def asked(output: OutputGraph) -> list[str]:
        bool(question(*sizes))
        return [*guards_on_shapes(output), str(sizes)]

    output = output_for({"x": torch.randn(5, 6), "y": torch.randn(5)})
    output.frame.history.update(dict.fromkeys(("L['x']", "L['y']")))  # both varied
    x, y = tensor(output, "x"), tensor(output, "y")
    sizes = fake_of(x).shape[0], fake_of(y).shape[0]
    before = [*guards_on_shapes(output), str(sizes)]
    mark = output.mark()
    first = asked(output)
    assert first != before
    output.roll_back(mark)
    assert [*guards_on_shapes(output), str(sizes)] == before
    assert asked(output) == first


@pytest.mark.row("O10")
def test_runtime_asserts_on_unknown_numbers_are_rolled_back() -> None:
    output = output_for({})
    number = output.fakes.unknown(int)
    env = output.fakes.shape_env
    mark = output.mark()
    torch._check(number > 3)
    assert env.num_deferred_runtime_asserts == 1
    output.roll_back(mark)
    assert (env.num_deferred_runtime_asserts, dict(env.deferred_runtime_asserts)) == (0, {})
    assert str(output.fakes.unknown(int)) == str(number).replace("0", "1")

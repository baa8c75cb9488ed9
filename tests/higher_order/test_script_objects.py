"""Script objects, of the classes that torch's own test library registers in C++: inputs of graphs, whose methods are
calls of the operator `call_torchbind`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch._higher_order_ops.torchbind import call_torchbind
from torch._library.fake_class_registry import global_fake_class_registry
from torch.utils.checkpoint import checkpoint

import tracer_core
from tests.higher_order.three_ways import Graphs, agree, refused, written

pytestmark = [
    pytest.mark.row("H15"),
    pytest.mark.filterwarnings("ignore:.*doesn't implement"),
]

torch.ops.load_library(str(Path(torch.__file__).parent / "lib" / "libtorchbind_test.so"))
LIBRARY: Any = torch.classes._TorchScriptTesting


class Sum:
    """As `_Foo` in C++: a tensor times the sum of two integers."""

    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    @classmethod
    def __obj_unflatten__(cls, state: Any) -> Sum:
        return cls(**dict(state))

    def add_tensor(self, z: torch.Tensor) -> torch.Tensor:
        return (self.x + self.y) * z


class Queue:
    """As `_TensorQueue` in C++, which `pop` leaves as it is if it is empty."""

    def __init__(self, queue: list[torch.Tensor]) -> None:
        self.queue = queue

    @classmethod
    def __obj_unflatten__(cls, state: Any) -> Queue:
        return cls(**dict(state))

    def push(self, x: torch.Tensor) -> None:
        self.queue.append(x)

    def pop(self) -> torch.Tensor:
        return self.queue.pop(0)

    def size(self) -> int:
        return len(self.queue)


class Holder:
    """As `_ContainsTensor` in C++."""

    def __init__(self, t: torch.Tensor) -> None:
        self.t = t

    @classmethod
    def __obj_unflatten__(cls, state: Any) -> Holder:
        return cls(**dict(state))

    def get(self) -> torch.Tensor:
        return self.t


@torch.ops._TorchScriptTesting.takes_foo.default.py_impl(torch._C.DispatchKey.Meta)
def _takes_foo(foo: Any, x: torch.Tensor) -> Any:
    return foo.add_tensor(x)


@pytest.fixture(autouse=True)
def _fake_classes() -> Iterator[None]:
    before = dict(global_fake_class_registry._registered_class)
    global_fake_class_registry._registered_class.clear()
    for name, fake in (("_Foo", Sum), ("_TensorQueue", Queue), ("_ContainsTensor", Holder)):
        torch._library.register_fake_class(f"_TorchScriptTesting::{name}", fake)
    tracer_core.reset()
    torch._dynamo.reset()
    yield
    global_fake_class_registry._registered_class.clear()
    global_fake_class_registry._registered_class.update(before)


SUM = LIBRARY._Foo(10, 20)


def sums(o: Any, x: torch.Tensor) -> Any:
    return o.add_tensor(x) + 1


def of_a_global(x: torch.Tensor) -> Any:
    return SUM.add_tensor(x) * SUM.add_tensor(x + 1)


def queued(q: Any, x: torch.Tensor) -> Any:
    q.push(x)
    q.push(x + 1)
    size = q.size()
    return q.pop() * size, q.pop().sin()


def read_as_it_is(o: Any, x: torch.Tensor) -> Any:
    return o.get() + x, x.sin()


def by_operator(o: Any, x: torch.Tensor) -> Any:
    return torch.ops._TorchScriptTesting.takes_foo(o, x) + x


def queue() -> Any:
    return LIBRARY._TensorQueue(torch.zeros(3))


X = torch.arange(3.0)
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "sums": (sums, lambda: (LIBRARY._Foo(2, 3), X.clone())),
    "global": (of_a_global, lambda: (X.clone(),)),
    "queue": (queued, lambda: (queue(), X.clone())),
    "operator": (by_operator, lambda: (LIBRARY._Foo(2, 3), X.clone())),
    "holder": (read_as_it_is, lambda: (LIBRARY._ContainsTensor(X + 2), X.clone())),
}


def outcome(function: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]], calls: int = 2) -> Any:
    """Return the results of several calls on the same objects, and the state of these then."""
    given = arguments()
    results = [function(*given) for _ in range(calls)]
    states = [each.__obj_flatten__() for each in given if isinstance(each, torch.ScriptObject)]
    return copy.deepcopy((results, states))


@pytest.mark.parametrize("name", PROGRAMS)
def test_captured_as_torch_captures_it(name: str) -> None:
    program, arguments = PROGRAMS[name]
    ours, theirs = Graphs(), Graphs()
    compiled = tracer_core.compile(program, backend=ours, fullgraph=True)
    by_torch = torch.compile(program, backend=theirs, fullgraph=True)
    expected = outcome(program, arguments, 1)
    agree(outcome(by_torch, arguments, 1), expected)
    agree(outcome(compiled, arguments, 1), expected)
    assert [written(each) for each in ours.graphs] == [written(each) for each in theirs.graphs]
    assert not ours.raised
    assert name == "operator" or call_torchbind in [node.target for node in ours.graphs[0].graph.nodes]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_later_calls_find_the_objects_as_they_are(name: str, backend: str) -> None:
    """(torch's compiler has no guard on the state, and uses sizes of the first call.)"""
    program, arguments = PROGRAMS[name]
    compiled = tracer_core.compile(program, backend=backend, fullgraph=True)
    agree(outcome(compiled, arguments, 3), outcome(program, arguments, 3))


def test_the_state_is_guarded_and_the_data_of_tensors_is_not() -> None:
    graphs = Graphs()
    compiled = tracer_core.compile(sums, backend=graphs)
    for x, y in ((1, 2), (1, 2), (3, 4)):
        agree(compiled(LIBRARY._Foo(x, y), X), (x + y) * X + 1)
    assert len(graphs.graphs) == 2
    compiled = tracer_core.compile(read_as_it_is, backend=graphs)
    for held, versions in ((X, 3), (X * 2, 3), (X.double(), 4), (X[:1], 5)):
        agree(compiled(LIBRARY._ContainsTensor(held), X)[0], held + X)
        assert len(graphs.graphs) == versions


def counts(q: Any, x: torch.Tensor) -> Any:
    q.push(x)
    if q.size() > 2:
        return x + 1
    return x - 1


def test_a_number_that_a_method_returns_decides_a_branch() -> None:
    """`_TensorQueue` grows at each call."""
    compiled = tracer_core.compile(counts, backend="eager", fullgraph=True)
    agree(outcome(compiled, lambda: (queue(), X), 4), outcome(counts, lambda: (queue(), X), 4))


def same_object(q: Any, x: torch.Tensor) -> Any:
    q.push(x)
    return q.pop() is x, x + 1


def same_data(o: Any, x: torch.Tensor) -> Any:
    return o.get() is o.get(), x + 1


def test_which_object_a_method_returns_is_not_known() -> None:
    for program, arguments in (
        (same_object, lambda: (queue(), X.clone())), (same_data, lambda: (LIBRARY._ContainsTensor(X), X)),
    ):  # fmt: skip
        assert refused(program, arguments).reason_id == "identity"
        compiled = tracer_core.compile(program, backend="eager")
        agree(outcome(compiled, arguments), outcome(program, arguments))


def breaks_between(q: Any, x: torch.Tensor) -> Any:
    q.push(x + 1)
    torch._dynamo.graph_break()
    return q.pop() + q.pop()


def raises_after_a_change(q: Any, x: torch.Tensor) -> Any:
    q.push(x)
    return x[torch.tensor([7])]


def test_breaks_leave_the_object_as_the_program_does() -> None:
    compiled = tracer_core.compile(breaks_between, backend="eager")
    agree(outcome(compiled, lambda: (queue(), X), 1), outcome(breaks_between, lambda: (queue(), X), 1))


def test_a_graph_that_raises_has_called_a_method_once() -> None:
    mine, expected = queue(), queue()
    for function, given in ((tracer_core.compile(raises_after_a_change, backend="eager"), mine),
                            (raises_after_a_change, expected)):  # fmt: skip
        with pytest.raises(IndexError):
            function(given, X)
    assert mine.size() == expected.size()


def leaf() -> torch.Tensor:
    return X.clone().requires_grad_()


def in_a_branch(o: Any, x: torch.Tensor) -> Any:
    return checkpoint(lambda a: o.add_tensor(a) + 1, x, use_reentrant=False)


def keeps_what_it_writes(q: Any, x: torch.Tensor) -> Any:
    y = x + 1
    y.add_(1)
    q.push(y)
    return y + 1


REFUSED: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], str, str]] = {
    "gradient": (sums, lambda: (LIBRARY._Foo(2, 3), leaf()), "script-method", "on tensors that require gradients"),
    "held gradient": (read_as_it_is, lambda: (LIBRARY._ContainsTensor(leaf()), X), "script-method", "gradients"),
    "body": (in_a_branch, lambda: (LIBRARY._Foo(2, 3), X), "body-breaks", "torch.classes._TorchScriptTesting._Foo"),
    "not in the fake": (lambda o, x: (o.increment(1), x + 1)[1], lambda: (LIBRARY._Foo(2, 3), X),
                        "script-object-attribute", "increment"),
    "no fake": (lambda o, x: (o.get(), x + 1)[1], lambda: (LIBRARY._FlattenWithTensorOp(X), X),
                "script-class", "torch.classes._TorchScriptTesting._FlattenWithTensorOp"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_captured_breaks_by_name_and_runs(name: str) -> None:
    program, arguments, reason, text = REFUSED[name]
    error = refused(program, arguments)
    assert error.reason_id == reason
    assert text in error.message
    compiled = tracer_core.compile(program, backend="eager")
    plain = lambda f: pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, f(*arguments()))
    agree(plain(compiled), plain(program))


def test_writes_that_a_back_end_would_make_to_another_tensor() -> None:
    arguments = lambda: (queue(), X.clone())
    for backend in ("eager", "aot_eager"):
        compiled = tracer_core.compile(keeps_what_it_writes, backend=backend)
        agree(outcome(compiled, arguments), outcome(keeps_what_it_writes, arguments))

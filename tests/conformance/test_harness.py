"""The yardstick itself: what a snapshot tells apart, how records are judged, what survives a crash."""

from __future__ import annotations

import collections
import functools
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conformance import lists
from tests.conformance.compare import judge, unlike_plain
from tests.conformance.counting import CountingBackend
from tests.conformance.lists import ProgramList, pin, torch_does_the_same, tracing_digest
from tests.conformance.pool import Runner, Worker, Workers
from tests.conformance.program import Call, Listed, list_programs, loaded, t
from tests.conformance.snapshot import Snapshot
from tests.conformance.ways import CallRecord, Record, run

PROGRAMS = '''"""Programs of the harness's own tests."""
import os, time
import torch
from tests.conformance.program import program, t

STATE = []


@program("I1 I3", lambda: [t(2), t(3)])
def fine(x):
    STATE.append(1)
    print("size", x.shape[0])
    return x + len(STATE)


@program("I1")
def dies(x):
    os._exit(7)


@program("I1")
def hangs(x):
    time.sleep(60)


@program("I1")
def raises(x):
    x.add_(1)
    raise KeyError("k")
'''


@pytest.fixture
def listed(tmp_path: Path) -> dict[str, Listed]:
    (tmp_path / "own.py").write_text(PROGRAMS)
    return {each.name: each for each in list_programs(tmp_path)}


def text(value: Any) -> str:
    return Snapshot().text({"value": value})[0]


def alike(a: Any, b: Any) -> bool:
    return text(a) == text(b)


class Plain:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Slotted:
    __slots__ = ("a",)


def closure(value: Any) -> Any:
    def inner() -> Any:
        return value

    return inner


SHARED = [1]
BASE = t(4)
TELLS_APART = {
    "int and bool": (1, True),
    "int and float": (1, 1.0),
    "zero and minus zero": (0.0, -0.0),
    "list and tuple": ([1], (1,)),
    "one list twice and two lists": ([SHARED, SHARED], [[1], [1]]),
    "dict order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "dict and ordered dict": ({"a": 1}, collections.OrderedDict(a=1)),
    "deque limit": (collections.deque([1], 3), collections.deque([1], 4)),
    "tensor values": (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0000002])),
    "tensor dtype": (torch.ones(2), torch.ones(2, dtype=torch.float64)),
    "tensor strides": (torch.ones(2, 2), torch.ones(4, 2)[::2]),
    "tensor class": (torch.ones(2), torch.nn.Parameter(torch.ones(2), requires_grad=False)),
    "requires_grad": (torch.ones(2), torch.ones(2, requires_grad=True)),
    "grad": (torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)),
    "shared storage": ([BASE, BASE[:2]], [BASE, BASE[:2].clone()]),
    "same tensor and its equal": ([BASE, BASE], [BASE, BASE.clone()]),
    "attributes": (Plain(a=1), Plain(a=2)),
    "closure contents": (closure(1), closure(2)),
    "cell identity": ([c := closure(1), c], [closure(1), closure(1)]),
    "exception message": (ValueError("a"), ValueError("b")),
    "exception type": (ValueError("a"), TypeError("a")),
    "partial": (functools.partial(max, 1).func, min),
}
TELLS_APART["grad"][1].grad = torch.ones(2)


@pytest.mark.parametrize("name", TELLS_APART)
def test_snapshot_tells_apart(name: str) -> None:
    one, other = TELLS_APART[name]
    assert not alike(one, other)


ALIKE = {
    "small ints": (10**9, int("1000000000")),
    "equal lists": ([1, [2]], [1, [2]]),
    "sets in any order": ({"a", "b"}, {"b", "a"}),
    "nan": (float("nan"), float("nan")),
    "tensors": (t(2, 3), t(2, 3)),
    "functions of one text": (closure([1]), closure([1])),
}


@pytest.mark.parametrize("name", ALIKE)
def test_snapshot_finds_alike(name: str) -> None:
    one, other = ALIKE[name]
    assert alike(one, other)


def test_snapshot_of_cycles_ends() -> None:
    items: list[Any] = [1]
    items.append(items)
    assert "again" in text(items)


def test_snapshot_remembers_numbers_over_calls() -> None:
    snapshot, items = Snapshot(), [1]
    before = snapshot.text({"value": items})
    items.append(2)
    after = snapshot.text({"value": items})
    replaced = snapshot.text({"value": [1, 2]})
    assert before[0].splitlines()[0].split("#")[1] == after[0].splitlines()[0].split("#")[1]
    assert after != replaced


def test_every_run_starts_from_the_same_state(listed: dict[str, Listed]) -> None:
    first, second = (run(listed["fine"].path, "fine", "plain") for _ in range(2))
    assert first == second
    globals_seen = [call.globals for call in first.calls]
    assert globals_seen == ["STATE: list of 1#2\n  [0]: 1", "STATE: list of 2#2\n  [0]: 1\n  [1]: 1"]
    assert [call.output for call in first.calls] == ["size 2\n", "size 3\n"]


def test_torch_way_counts_graphs(listed: dict[str, Listed]) -> None:
    record = run(listed["fine"].path, "fine", "torch")
    assert unlike_plain(run(listed["fine"].path, "fine", "plain"), record) == []
    assert all("add" in [name for graph in call.ran for name in graph] for call in record.calls)
    assert record.calls[0].compiled >= 1


def test_exceptions_and_mutations_are_recorded(listed: dict[str, Listed]) -> None:
    (call,) = run(listed["raises"].path, "raises", "plain").calls
    assert call.outcome.startswith("raised: KeyError: 'k'")
    assert "-1.75" in call.inputs


@pytest.mark.parametrize(("way", "asked"), [("torch", 2), ("plain", 2), ("ours", 1)])
def test_only_the_process_of_torch_is_asked_again_after_a_crash(
    way: str, asked: int, listed: dict[str, Listed]
) -> None:
    class Dying(Worker):
        times = 0

        def run(self, program: Listed, way: str, backend: str = "eager", *, recorded: bool = True) -> Record:
            self.times += 1
            return Record(failure="crash (SIGSEGV)")

    workers = Workers()
    workers.ours, workers.others = Dying(), Dying()
    assert Runner(workers).run(listed["fine"], way).failure == "crash (SIGSEGV)"
    assert workers.of(way).times == asked


def test_crash_and_hang_cost_one_program(listed: dict[str, Listed]) -> None:
    worker = Worker(seconds=60)  # a new process loads torch first
    try:
        assert worker.run(listed["dies"], "plain").failure == "crash (exit code 7)"
        assert worker.run(listed["fine"], "plain").failure == ""
        worker.seconds = 1
        assert worker.run(listed["hangs"], "plain").failure == "timeout after 1 s"
    finally:
        worker.close()


def record(*calls: CallRecord) -> Record:
    return Record(list(calls))


def program(differs: str | None = None) -> Listed:
    return Listed(Path("file.py"), "name", ("I1",), differs, "why" if differs else "")


ONE = CallRecord(outcome="returned: 1", ran=[["add", "mul"]], compiled=1)
TWO = CallRecord(outcome="returned: 1", ran=[["add"], ["mul"]], compiled=2)
WRONG = CallRecord(outcome="returned: 2", ran=[["add", "mul"]], compiled=1)
REUSED = CallRecord(outcome="returned: 1", ran=[["add", "mul"]], compiled=0)
UNTRACED = CallRecord(outcome="returned: 1")


@pytest.mark.parametrize(
    ("torch_call", "our_call", "word", "wrong", "differs", "breaks_more"),
    [
        (ONE, ONE, None, [], [], False),
        (ONE, TWO, None, [], ["graphs", "compilations"], True),
        (ONE, UNTRACED, None, [], ["graphs", "ops", "compilations"], True),
        (TWO, ONE, "fewer_breaks", [], [], False),
        (ONE, REUSED, "fewer_breaks", [], [], False),
        (ONE, TWO, "stricter", [], [], False),
        (WRONG, TWO, "torch_differs", [], [], False),
        (ONE, WRONG, None, ["outcome"], [], False),
    ],
)
def test_verdicts(
    torch_call: CallRecord,
    our_call: CallRecord,
    word: str | None,
    wrong: list[str],
    differs: list[str],
    breaks_more: bool,
) -> None:
    verdict = judge(program(word), {"plain": record(ONE), "torch": record(torch_call), "ours": record(our_call)})
    assert (verdict.wrong, verdict.differs, verdict.breaks_more) == (wrong, differs, breaks_more)
    assert verdict.entry == []


def test_an_internal_fault_is_a_disagreement() -> None:
    faulty = Record([ONE], notes=["fault: KeyError at somewhere"])
    verdict = judge(program(), {"plain": record(ONE), "torch": record(ONE), "ours": faulty})
    assert verdict.differs == ["fault"]
    assert not verdict.agrees


@pytest.mark.parametrize(
    ("torch_call", "our_call", "word"),
    [
        (TWO, ONE, None),
        (ONE, REUSED, None),
        (UNTRACED, ONE, None),
        (REUSED, ONE, "fewer_breaks"),
        (ONE, ONE, "fewer_breaks"),
        (ONE, TWO, "fewer_breaks"),
        (ONE, ONE, "stricter"),
    ],
)
def test_marks_are_true_and_where_they_belong(torch_call: CallRecord, our_call: CallRecord, word: str | None) -> None:
    """Such a program is no entry of not_yet.txt: `--update` writes none, and pytest would refuse it."""
    verdict = judge(program(word), {"torch": record(torch_call), "ours": record(our_call)})
    assert verdict.entry
    assert not verdict.differs


def test_torch_departing_from_plain_python_must_be_marked() -> None:
    assert judge(program(), {"plain": record(ONE), "torch": record(WRONG)}).entry
    assert not judge(program("torch_differs"), {"plain": record(ONE), "torch": record(WRONG)}).entry
    assert judge(program("torch_differs"), {"plain": record(ONE), "torch": record(ONE)}).entry


def test_lists_keep_what_was_not_judged(tmp_path: Path) -> None:
    programs = ProgramList(tmp_path / "some.txt", "# Some programs.\n")
    programs.write({"a.one": "ops", "a.two": "graphs, ops"}, [])
    programs.write({}, ["a.one"])
    assert programs.read() == {"a.two": "graphs, ops"}


def test_torch_is_asked_unless_the_list_says_it_does_the_same(
    listed: dict[str, Listed], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = listed["fine"]
    monkeypatch.setattr(lists, "ASKED_AGAIN", 10**100)
    by_torch = {program.id: tracing_digest(program, record(ONE))}
    assert torch_does_the_same(program, record(ONE), by_torch)
    assert not torch_does_the_same(program, record(TWO), by_torch)
    assert not torch_does_the_same(program, record(ONE), {})
    with monkeypatch.context() as patch:
        patch.setattr(lists, "ASKED_AGAIN", 1)
        assert not torch_does_the_same(program, record(ONE), by_torch)
    with monkeypatch.context() as patch:
        patch.setattr(lists, "version", lambda package: "2.99.0")
        assert not torch_does_the_same(program, record(ONE), by_torch)
    program.path.write_text(PROGRAMS + "\n")
    assert not torch_does_the_same(program, record(ONE), by_torch)


def test_pins_count_graphs_operators_and_compilations_of_each_call() -> None:
    assert pin(record(TWO, ONE, REUSED, REUSED, UNTRACED)) == "2 2 2, 1 2 1, 1 2 0 x2, 0 0 0"


def test_operator_names_do_not_depend_on_who_made_the_graph() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.add, (graph.call_method("view", (x, -1)), 1))
    y = graph.call_function(torch.nn.functional.linear, (y, y))
    import operator

    graph.output(graph.call_function(operator.mul, (y, 2)))
    backend = CountingBackend()
    backend(torch.fx.GraphModule(torch.nn.Module(), graph), [])
    assert backend.graphs == [[".view", "torch.add", "torch.nn.functional.linear", "mul"]]


def test_calls_take_tuples_and_single_values(tmp_path: Path) -> None:
    (tmp_path / "calls.py").write_text(
        "from tests.conformance.program import call, program, t\n\n"
        '@program("I1", lambda: [1, (1, 2), call(1, k=2), [3]])\ndef f(*a, **k):\n    return a, k\n'
    )
    with loaded(tmp_path / "calls.py") as file:
        assert file.programs["f"].make_calls() == [Call((1,)), Call((1, 2)), Call((1,), {"k": 2}), Call(([3],))]

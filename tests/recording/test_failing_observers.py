"""An observer that fails loses its record of that thing and says so once; results and graphs stay the same."""

from __future__ import annotations

import contextlib
import inspect
import random
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch

import tracer_core
import tracewalk as tw
from tests.conformance import ways
from tests.conformance.compare import TRACING, traced, unlike_plain
from tests.conformance.program import PROGRAMS, loaded
from tests.recording.reading import read_all
from tracer_core.observer import EVENTS, Observer, current, observing
from tracer_core.recording import (
    Recorder,
    Trace,
    bodies,
    breaking,
    calls,
    codes,
    column_writer,
    compiling,
    facts,
    file,
    graphs,
    schema,
    snapshots,
    source_names,
    stepping,
    trackers,
    work,
)

CHOSEN = {
    "breaks": 1,
    "breaks_in_blocks": 1,
    "class_statements": 1,
    "control_flow": 1,
    "exceptions": 1,
    "generators": 1,
    "guards_recompiles": 2,
    "dicts": 1,
    "kept_state": 1,
    "higher_order_operators": 1,
}
"""Files of programs, and how many of each."""


def chosen() -> list[tuple[Path, str]]:
    found = []
    for stem, count in CHOSEN.items():
        path = PROGRAMS / f"{stem}.py"
        with loaded(path) as programs:
            found += [(path, name) for name in list(programs.programs)[:count]]
    return found


def run(path: Path, name: str, monkeypatch: pytest.MonkeyPatch, observer: Observer | None) -> ways.Record:
    """The program through the engine, watched by `observer`."""
    monkeypatch.setattr(ways.OurWay, "watching", lambda self: observing(observer))
    monkeypatch.setattr(ways.OurWay, "unclear", lambda self: [])
    return ways.run(path, name, "ours")


class Boom(Exception):
    """What the observers here raise."""


def failing_in(event: str) -> Observer:
    def fail(self: Observer, *_: Any) -> None:
        raise Boom(event)

    observer: Observer = type("Failing", (Observer,), {event: fail})()
    return observer


def test_every_method_of_an_observer_is_an_event_or_about_losses() -> None:
    methods = {name for name, value in vars(Observer).items() if isinstance(value, FunctionType)}
    assert methods == {*EVENTS, "on_lost", "losses"}


@pytest.fixture(scope="module")
def references() -> dict[tuple[Path, str], tuple[ways.Record, ways.Record]]:
    """Each program as plain Python, and through the engine with nobody watching."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return {
            (path, name): (ways.run(path, name, "plain"), run(path, name, monkeypatch, None))
            for path, name in chosen()
        }


@pytest.fixture(scope="module")
def having() -> dict[str, list[tuple[Path, str]]]:
    """For each event, the programs in which it comes."""
    found: dict[str, list[tuple[Path, str]]] = {event: [] for event in EVENTS}
    for path, name in chosen():
        came: set[str] = set()
        methods = {event: lambda self, *_, event=event, came=came: came.add(event) for event in EVENTS}
        with pytest.MonkeyPatch.context() as monkeypatch:
            run(path, name, monkeypatch, type("Noting", (Observer,), methods)())
        for event in came:
            found[event].append((path, name))
    return found


def agree(reference: tuple[ways.Record, ways.Record], seen: ways.Record) -> None:
    plain, alone = reference
    assert unlike_plain(plain, seen) == []
    for aspect in TRACING:
        assert traced(alone, aspect) == traced(seen, aspect)


_fired: set[str] = set()


AT_THE_DISPATCHER = [event for event in EVENTS if event.startswith("on_dispatch_")]


@pytest.mark.parametrize("event", AT_THE_DISPATCHER)
def test_an_observer_that_fails_at_an_event_of_the_dispatcher(event: str) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(x) + x.shape[0]

    alone = tracer_core.make_fx(f, tracing_mode="symbolic")(torch.ones(3))
    with warnings.catch_warnings(record=True) as said, observing(failing_in(event)):
        warnings.simplefilter("always")
        watched = tracer_core.make_fx(f, tracing_mode="symbolic")(torch.ones(3))
    assert watched.code == alone.code
    assert [f"{EVENTS[event]} ({event}: Boom: {event})" in str(one.message) for one in said] == [True]


@pytest.mark.parametrize("event", [event for event in EVENTS if event not in AT_THE_DISPATCHER])
def test_an_observer_that_fails_at_an_event(
    event: str,
    having: dict[str, list[tuple[Path, str]]],
    references: dict[Any, tuple[ways.Record, ways.Record]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the programs in which the event comes, three are tried, others for the next event: for the engine, events
    that an observer does not have are not there."""
    said: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: said.append(str(message)))
    first = [*EVENTS].index(event)
    places = [*range(first, first + len(having[event]))][:3]
    for path, name in (having[event][place % len(having[event])] for place in places):
        with shown_as(said, monkeypatch):
            agree(references[path, name], run(path, name, monkeypatch, failing_in(event)))
    if event not in ("on_fault", "on_notice", "on_lowered"):  # (which have tests of their own)
        assert said
    assert set(said) <= {
        f"Failing failed, and its record of some things is lost: {EVENTS[event]} ({event}: Boom: {event}). What was "
        f"compiled, and what it computes, is not affected."
    }


def test_an_observer_that_fails_where_a_graph_is_lowered() -> None:
    compiled = tracer_core.compile(lambda x: x.sin(), backend="tracer_aot")
    with warnings.catch_warnings(record=True) as said, observing(failing_in("on_lowered")):
        warnings.simplefilter("always")
        assert torch.equal(compiled(torch.ones(2)), torch.ones(2).sin())
    assert ["the graphs of operators (on_lowered: Boom" in str(one.message) for one in said] == [True]


@contextlib.contextmanager
def shown_as(said: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside, the warnings that the harness takes for others' than the program's are added to `said`."""
    captured = ways.captured

    @contextlib.contextmanager
    def capturing(module: Any) -> Iterator[Any]:
        with captured(module) as text:
            show = warnings.showwarning

            def showing(message: Any, category: Any, filename: str, *rest: Any, **more: Any) -> None:
                if "its record of some things is lost" in str(message):
                    said.append(str(message))
                show(message, category, filename, *rest, **more)

            warnings.showwarning = showing
            yield text

    with monkeypatch.context() as patch:
        patch.setattr(ways, "captured", capturing)
        yield


def test_one_warning_for_all_that_is_lost_from_the_line_of_the_block() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x.sin() + x.cos()

    class Failing(Observer):
        def on_node(self, *_: Any) -> None:
            raise Boom("node")

        def on_guard(self, *_: Any) -> None:
            raise Boom

        def on_lost(self, event: str, error: BaseException) -> None:
            raise Boom("again")

        def losses(self) -> dict[str, str]:
            raise Boom("and again")

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with observing(Failing()):
            tw.compile(program, backend="eager")(torch.ones(2))
        line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    (one,) = warned
    assert "a guard (on_guard: Boom); a node (on_node: Boom: node)" in str(one.message)
    assert one.category is RuntimeWarning
    assert (one.filename, one.lineno) == (__file__, line - 1)


def test_a_fault_of_the_engine_is_told_to_nobody_who_fails() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def run() -> torch.Tensor:
        with observing(failing_in("on_fault")), pytest.MonkeyPatch.context() as patch:
            patch.setattr("tracer_core.interpreter.machine.Interpreter.run", lambda *_: 1 / 0)
            return tw.compile(program, backend="eager")(torch.ones(2))

    with pytest.warns(RuntimeWarning, match=r"a fault of the engine \(on_fault: Boom: on_fault\)"):
        assert run().tolist() == [2, 2]


def test_a_notice_is_told_to_nobody_who_fails() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.size(0) == 3 else x * 2

    def run() -> torch.Tensor:
        x = torch.ones(3)
        torch._dynamo.mark_dynamic(x, 0)
        with observing(failing_in("on_notice")):
            return tw.compile(program, backend="eager")(x)

    with pytest.warns(RuntimeWarning, match=r"a notice \(on_notice: Boom: on_notice\)"):
        assert run().tolist() == [2, 2, 2]


def test_a_program_that_made_warnings_errors_gets_this_one_at_the_end() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        came = None
        with pytest.raises(RuntimeWarning, match="its record of some things is lost"):
            with observing(failing_in("on_step_end")):
                came = tw.compile(program, backend="eager")(torch.ones(2))
    assert came is not None
    assert came.tolist() == [2, 2]


def test_what_stops_the_program_stops_it() -> None:
    """Ctrl-C while an observer works is the user's, and so is what a signal handler of the program raises."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    class Stopped(Exception):
        pass

    def handler(number: int, frame: Any) -> None:
        raise Stopped

    class Interrupting(Observer):
        def on_step_start(self, *_: Any) -> None:
            signal.raise_signal(signal.SIGUSR1)

    class Pressing(Observer):
        def on_node(self, *_: Any) -> None:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with observing(Interrupting()), pytest.raises(Stopped):
            tw.compile(program, backend="eager")(torch.ones(2))
    finally:
        signal.signal(signal.SIGUSR1, before)
    with observing(Pressing()), pytest.raises(KeyboardInterrupt):
        tw.compile(program, backend="eager")(torch.ones(2))


def test_nobody_is_between_when_nobody_watches() -> None:
    assert current() is None
    with observing(None):
        assert current() is None


# --- the recorder, when parts of it fail ------------------------------------------------------------------

INNER = [
    (owner, name)
    for owner in (
        *(calls.CallTable, codes.CodeTable, codes.CodeEntry, column_writer.Writer, graphs.GraphTable),
        *(source_names.SourceNames, snapshots.Writer, snapshots.Pool, trackers.Trackers, work.Work, work.Watched),
        *(facts.FakeMetas, facts.TargetTexts, stepping.Stepping, breaking.Breaking, compiling.Compiling),
        *(bodies.BodyTable, Recorder),
    )
    for name, value in vars(owner).items()
    if isinstance(value, FunctionType)
    and not name.startswith(("on_", "__init__"))
    and name not in ("release", "finish", "_finish", "_data", "columns", "snapshots", "losses")
    and name not in ("repair", "_cut_short", "_step", "_attempt", "settle", "drop", "_fill_gaps", "_where_lost")
    and name not in ("last_step", "frame_of", "instruction_of")
    and (owner, name) != (work.Work, "step")
] + [
    (module, name)
    for module, names in (
        (graphs, ("args_text", "fakes_in", "target_text", "clean")),
        (trackers, ("clean",)),
        (codes, ("source_text", "instr", "clean", "shown_file")),
        (stepping, ("_suspend", "line_of")),
        (calls, ("clean",)),
    )
    for name in names
]
"""What the recorder's events call, but for what puts things right afterwards."""


class Faults:
    """Makes the recorder's inner functions fail, some before and some after they have done their work."""

    def __init__(self, patch: pytest.MonkeyPatch, seed: int, rate: float, inner: list[tuple[Any, str]]) -> None:
        self.random = random.Random(seed)
        self.rate = rate
        self.failed: set[str] = set()
        self.on = True
        for owner, name in inner:
            patch.setattr(owner, name, self.failing(getattr(owner, name), f"{owner.__name__}.{name}"))

    def failing(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self.on or self.random.random() >= self.rate:
                return function(*args, **kwargs)
            self.failed.add(name)
            if self.random.random() < 0.5:
                function(*args, **kwargs)
            raise Boom(name)

        return call


def recorded(path: Path, name: str, faults: Callable[[pytest.MonkeyPatch], Faults | None]) -> Any:
    """The program's record, its recording, and the faults."""
    with pytest.MonkeyPatch.context() as patch:
        recorder = Recorder()
        made = faults(patch)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            record = run(path, name, patch, recorder)
        if made is not None:
            made.on = False
        return record, recorder.finish(), made


def read_again(data: schema.Recording) -> Trace:
    """The recording as it is after saving and loading, with all that it shows read."""
    trace = Trace(file.unpack(file.pack(data), "recorded"))
    read_all(trace)
    return trace


def attempts_of(trace: Trace) -> list[tuple[tuple[int, int], list[Any]]]:
    """For each attempt, which one of which version it is, and what its steps show."""
    return [
        (
            (trace.compilations[attempt.compilation].version, attempt.number),
            [shown(step) for step in trace.steps[attempt.first_step : attempt.last_step + 1]],
        )
        for attempt in trace.attempts
    ]


def shown(step: Any) -> tuple[Any, ...]:
    """What a step shows of its place, its stack and its locals, by the types of values, which do not change."""
    after = step.after
    return (
        (step.code.qualname, step.opname, step.line),
        [value.cls for value in step.stack],
        {name: value.cls for name, value in step.locals.items()},
        None if after is None else [value.cls for value in after.stack],
    )


def consistent(harmed: list[Any], whole: list[Any]) -> bool:
    """Whether the steps are the first ones of the whole attempt, but for values said to be not recorded."""
    return len(harmed) <= len(whole) and all(map(same_step, harmed, whole))


def same_step(harmed: tuple[Any, ...], whole: tuple[Any, ...]) -> bool:
    place, stack, names, after = harmed
    return (
        place == whole[0]
        and same_values(stack, whole[1])
        and names.keys() == whole[2].keys()
        and all(same_values([names[name]], [whole[2][name]]) for name in names)
        and (after is None or whole[3] is None or same_values(after, whole[3]))
    )


def same_values(harmed: list[str], whole: list[str]) -> bool:
    return len(harmed) == len(whole) and all(a in (b, "not recorded") for a, b in zip(harmed, whole, strict=True))


def test_the_steps_of_a_frame_whose_end_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def steps() -> list[Any]:
        recorder = Recorder()
        tracer_core.reset()
        with warnings.catch_warnings(), observing(recorder):
            warnings.simplefilter("ignore", RuntimeWarning)
            tw.compile(program, backend="eager")(torch.ones(2))
        return [shown(step) for step in read_again(recorder.finish()).steps]

    def fail(*_: Any) -> None:
        raise Boom("leave")

    whole = steps()
    monkeypatch.setattr(column_writer.Writer, "leave", fail)
    assert steps() == [*whole[:-1], (*whole[-1][:3], None)]


@pytest.mark.parametrize(("path", "name"), chosen(), ids=lambda each: each if isinstance(each, str) else each.stem)
def test_a_recorder_whose_parts_fail(
    path: Path, name: str, references: dict[Any, tuple[ways.Record, ways.Record]]
) -> None:
    """Results stay, what is recorded is right, and what is not is told."""
    _, data, _ = recorded(path, name, lambda patch: None)
    assert data.lost == []
    whole = attempts_of(read_again(data))
    for seed in range(3):
        for rate in (0.002, 0.05):
            record, data, faults = recorded(path, name, lambda patch: Faults(patch, seed, rate, INNER))  # noqa: B023
            agree(references[path, name], record)
            trace = read_again(data)
            assert bool(trace.lost) == bool(faults.failed)
            for key, steps in attempts_of(trace):
                found = any(key == other and consistent(steps, all_steps) for other, all_steps in whole)
                assert found, (seed, rate, key, faults.failed)
            if not faults.failed:
                assert attempts_of(trace) == whole

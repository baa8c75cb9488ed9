"""Runs one program one way and writes down everything that can be compared."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import logging
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy
import torch

from tests.conformance.counting import Backend, CountingBackend, identity
from tests.conformance.program import Call, Loaded, Program, loaded
from tests.conformance.snapshot import Snapshot, class_data, type_name, without_addresses
from tests.conformance.texts import faults
from tests.untimed_guards import leave_guards_untimed
from tracer_core.errors import CacheLimitWarning, NoticeWarning


@dataclass(slots=True)
class CallRecord:
    """One call. The texts are what a person can see of it; the lists are how it was traced."""

    inputs: str = ""
    globals: str = ""
    outcome: str = ""
    output: str = ""
    modes: str = ""
    #: operators of each graph that ran, in the order in which they ran
    ran: list[list[str]] = field(default_factory=list)
    #: how many graphs were compiled
    compiled: int = 0


@dataclass(slots=True)
class Record:
    """A program run one way. `notes` are the compiler's own words about breaks and faults, for people."""

    calls: list[CallRecord] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: names of the engine's own in what a person reads of the recording
    unclear: list[str] = field(default_factory=list)
    #: why there is no record: `crash ...`, `timeout ...`, or a fault of the harness or program file
    failure: str = ""

    @staticmethod
    def from_json(data: dict[str, Any]) -> Record:
        return Record([CallRecord(**each) for each in data["calls"]], data["notes"], data["unclear"], data["failure"])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


#: The back end that runs graphs as they are, and those that rewrite them.
EAGER = "eager"
OURS = "tracer_aot"
REWRITING = ("aot_eager", "inductor", OURS)


def backend_called(name: str) -> Backend:
    """The back end of this name, of torch or ours."""
    if name == EAGER:
        return identity
    if name == OURS:
        ours: Backend = importlib.import_module("tracer_core.aot").tracer_aot
        return ours
    found: Backend = importlib.import_module("torch._dynamo").lookup_backend(name)
    return found


class Way:
    """Plain Python; the others override how a function is compiled and what is noted of it. If it is `recorded`, the
    texts of its recording are judged too."""

    def __init__(self, program: Program, backend: str, *, recorded: bool = True) -> None:
        self.program = program
        self.recorded = recorded and backend == EAGER
        self.rewrites = backend != EAGER
        self.backend = CountingBackend(backend_called(backend))

    def compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return fn

    def watching(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def notes(self) -> list[str]:
        return []

    def unclear(self) -> list[str]:
        return []


class TorchWay(Way):
    """The installed `torch.compile`. It measures a back end of ours by the one of torch with the same purpose."""

    def __init__(self, program: Program, backend: str, *, recorded: bool = True) -> None:
        super().__init__(program, "aot_eager" if backend == OURS else backend, recorded=recorded)

    def compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        dynamo = importlib.import_module("torch._dynamo")
        leave_guards_untimed()
        dynamo.reset()
        dynamo.utils.counters.clear()
        compiled: Callable[..., Any] = torch.compile(fn, backend=self.backend, **self.program.compile)
        return compiled

    def notes(self) -> list[str]:
        counters = importlib.import_module("torch._dynamo.utils").counters
        return [f"break: {' '.join(reason.split())[:300]}" for reason in counters["graph_break"]]


class OurWay(Way):
    """`tracer_core.compile`."""

    def compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        engine = importlib.import_module("tracer_core")
        engine.reset()
        given = dict(self.program.compile)
        options = {"graph_runs_as_it_is": not self.rewrites, **given.pop("options", {})}
        compiled: Callable[..., Any] = engine.compile(fn, backend=self.backend, options=options, **given)
        self._log = break_log(fn.__code__.co_filename, recording=self.recorded)
        return compiled

    def watching(self) -> contextlib.AbstractContextManager[Any]:
        observing: contextlib.AbstractContextManager[Any] = importlib.import_module("tracer_core.observer").observing(
            self._log
        )
        return observing

    def notes(self) -> list[str]:
        noted: list[str] = self._log.noted
        return noted

    def unclear(self) -> list[str]:
        if not self.recorded:
            return []
        trace = importlib.import_module("tracer_core.recording").Trace
        return faults(trace(self._log.finish()))


def break_log(file_name: str, *, recording: bool) -> Any:
    """An observer that keeps what the engine says of breaks, its own faults, and frames of the file that it skips;
    with `recording`, a recorder."""
    home, name = ("recording", "Recorder") if recording else ("observer", "Observer")
    base = getattr(importlib.import_module(f"tracer_core.{home}"), name)

    class BreakLog(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.noted: list[str] = []

        def on_break(self, unsupported: Any, frame: Any, instruction: Any) -> None:
            super().on_break(unsupported, frame, instruction)
            self.noted.append(f"break: [{unsupported.reason_id}] {unsupported.message}")

        def on_skip(self, code: Any, reason_id: str, message: str) -> None:
            super().on_skip(code, reason_id, message)
            if code.co_filename != file_name:
                return
            self.noted.append(f"skip: {code.co_name} [{reason_id}] {message}")

        def on_fault(self, text: str) -> None:
            super().on_fault(text)
            lines = [line.strip() for line in text.strip().splitlines()]
            places = [line for line in lines if line.startswith("File ")]
            self.noted.append(f"fault: {lines[-1] if lines else ''} at {places[-1] if places else 'unknown'}")

    return BreakLog()


WAYS: dict[str, type[Way]] = {"plain": Way, "torch": TorchWay, "ours": OurWay}


def run(path: Path, name: str, way_name: str, backend: str = EAGER, *, recorded: bool = True) -> Record:
    """Run the program `name` of the file at `path` and record each of its calls; `recorded`: judge the texts of our
    engine's recording too."""
    reset_world()
    with loaded(path) as file:
        program = file.programs[name]
        way = WAYS[way_name](program, backend, recorded=recorded)
        compiled = way.compile(program.fn)
        try:
            record = Record(list(run_calls(file, way, compiled)))
        finally:
            reset_world()
        record.notes = [without_addresses(note) for note in way.notes()]
        record.unclear = way.unclear()
    return record


def run_calls(file: Loaded, way: Way, compiled: Callable[..., Any]) -> Iterator[CallRecord]:
    """A generator on purpose: it keeps an exception that stays "being handled" from the programs that run later."""
    snapshot = Snapshot(file.module)
    for call in way.program.make_calls():
        yield run_call(file, way, compiled, call, snapshot)


def run_call(file: Loaded, way: Way, compiled: Callable[..., Any], call: Call, snapshot: Snapshot) -> CallRecord:
    snapshot.text(inputs_of(call), module_data(file.module))
    graphs, ran = len(way.backend.graphs), len(way.backend.ran)
    with captured(file.module) as output, way.watching():
        try:
            outcome = {"returned": compiled(*call.args, **call.kwargs)}
        except BaseException as error:  # noqa: BLE001 - a program may raise anything; it is compared
            outcome = {"raised": error}
    seen = snapshot.text(inputs_of(call), module_data(file.module), outcome)
    if "returned" in outcome and way.program.then is not None:
        with captured(file.module) as later:
            seen += snapshot.text({"then": then_result(way.program, outcome["returned"])})
        output.write(later.getvalue())
    return CallRecord(
        inputs=seen[0],
        globals=seen[1],
        outcome="\n".join(seen[2:]),
        output=without_addresses(output.getvalue()),
        modes=modes(),
        ran=[way.backend.graphs[index] for index in way.backend.ran[ran:]],
        compiled=len(way.backend.graphs) - graphs,
    )


def then_result(program: Program, result: Any) -> Any:
    assert program.then is not None
    try:
        return program.then(result)
    except Exception as error:  # noqa: BLE001 - compared like any other result
        return error


def inputs_of(call: Call) -> dict[str, Any]:
    return {**{f"argument {i}": each for i, each in enumerate(call.args)}, **call.kwargs}


def module_data(module: types.ModuleType) -> dict[str, Any]:
    """The module's globals that are data, and the data in its classes."""
    found: dict[str, Any] = {}
    for name, value in list(module.__dict__.items()):
        if name.startswith("__") or isinstance(value, types.ModuleType | types.FunctionType):
            continue
        if isinstance(value, type):
            if value.__module__ == module.__name__:
                found.update({f"{name}{label}": held for label, held in class_data(value)})
        elif getattr(value, "__module__", None) == module.__name__ or not callable(value):
            found[name] = value
        elif isinstance(value, torch.nn.Module | types.MethodType):
            found[name] = value
    return found


@contextlib.contextmanager
def captured(module: types.ModuleType) -> Iterator[io.StringIO]:
    """What is printed, logged, or warned of by the program's own file, in order, but for notices of the engine."""
    text = io.StringIO()

    def show(message: Warning | str, category: type[Warning], filename: str, *_: Any, **__: Any) -> None:
        if filename == module.__file__ and not issubclass(category, CacheLimitWarning | NoticeWarning):
            text.write(f"{type_name(category)}: {message}\n")

    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield text


def modes() -> str:
    """Process-wide switches and random streams that a program may leave changed."""
    name, keys, *rest = numpy.random.get_state()
    streams = (random.getstate(), (name, keys.tobytes(), rest), torch.get_rng_state().numpy().tobytes())
    digests = [hashlib.sha1(repr(stream).encode()).hexdigest()[:8] for stream in streams]
    return (
        f"grad={torch.is_grad_enabled()} inference={torch.is_inference_mode_enabled()} "
        f"autocast={torch.is_autocast_enabled('cpu')}:{torch.get_autocast_dtype('cpu')} "
        f"dtype={torch.get_default_dtype()} deterministic={torch.are_deterministic_algorithms_enabled()} "
        f"random={digests[0]} numpy={digests[1]} torch={digests[2]} recursion={sys.getrecursionlimit()} "
        f"handling={sys.exc_info()[1]!r}"
    )


_RECURSION_LIMIT = sys.getrecursionlimit()


AUTOCAST_DTYPES = {device: torch.get_autocast_dtype(device) for device in ("cpu", "cuda")}


def reset_world() -> None:
    """The starting state of every run."""
    sys.setrecursionlimit(_RECURSION_LIMIT)
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.use_deterministic_algorithms(False)
    torch.set_default_device(None)
    for device, dtype in AUTOCAST_DTYPES.items():
        torch.set_autocast_enabled(device, False)
        torch.set_autocast_dtype(device, dtype)
    torch.set_autocast_cache_enabled(True)
    torch.utils.hooks.RemovableHandle.next_id = 0
    torch.distributions.Distribution.set_default_validate_args(__debug__)  # torch.compile switches it off for good
    logging.getLogger().handlers.clear()
    logging.getLogger().setLevel(logging.WARNING)

"""Workers in processes of their own, so that a crash or a hang costs one program and not the table."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from tests.conformance.program import Listed
from tests.conformance.ways import EAGER, Record

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".pytest_cache" / "conformance"
SECONDS = 60.0


class Worker:
    """A worker process, started when first needed and again after it died."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def run(self, program: Listed, way: str, backend: str = EAGER, *, recorded: bool = True) -> Record:
        """The record of one run; a dead or late process makes a record that says so."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        request = {
            "path": str(program.path),
            "name": program.name,
            "way": way,
            "backend": backend,
            "recorded": recorded,
        }
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.seconds, end)
        timer.start()
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            timer.cancel()
        if answer:
            return Record.from_json(json.loads(answer))
        code = process.wait()
        self.close()
        if late.is_set():
            return Record(failure=f"timeout after {self.seconds:g} s")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Record(failure=f"crash ({name})")

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.conformance.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("CONFORMANCE_STDERR") else subprocess.DEVNULL,
                text=True,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            )
            # Importing torch takes seconds; the time limit is for programs only.
            assert self._process.stdout is not None
            self._process.stdout.readline()
        return self._process


class Workers:
    """The two processes of a runner, which several runners may share: our engine has one of its own, as it and
    `torch.compile` share one C frame hook."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.ours, self.others = Worker(seconds), Worker(seconds)

    def of(self, way: str) -> Worker:
        return self.ours if way == "ours" else self.others

    def close(self) -> None:
        self.ours.close()
        self.others.close()


class Runner:
    """Runs programs any way, compiled ones with the back end of that name, in the processes of `workers`. Our engine
    records those of which `recorded` is true.

    Records of plain Python and `torch.compile` are kept between runs for as long as the program's file, this
    harness and torch stay the same.
    """

    def __init__(
        self,
        workers: Workers,
        *,
        use_cache: bool = True,
        backend: str = EAGER,
        recorded: Callable[[Listed], bool] = lambda program: True,
    ) -> None:
        self._workers = workers
        self._recorded = recorded
        self._use_cache = use_cache
        self._backend = backend

    def run(self, program: Listed, way: str) -> Record:
        backend = EAGER if way == "plain" else self._backend
        if way == "ours" or not self._use_cache:
            return self._workers.of(way).run(program, way, backend, recorded=self._recorded(program))
        kept = CACHE / f"{cache_key(program.path, program.name, f'{way} {backend}')}.json"
        if kept.exists():
            return Record.from_json(json.loads(kept.read_text()))
        record = self._workers.of(way).run(program, way, backend)
        if way != "ours" and record.failure.startswith("crash"):
            # After hundreds of programs in one process torch.compile may die at random, or leave it so that plain
            # Python, which shares it, does: ask again in a new one. Our engine is never asked twice.
            record = self._workers.of(way).run(program, way, backend)
        if not record.failure:
            kept.parent.mkdir(parents=True, exist_ok=True)
            temporary = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            temporary.write_text(json.dumps(record.to_json()))
            temporary.replace(kept)
        return record

    def close(self) -> None:
        self._workers.close()


#: Runs a program the ways that are to be compared.
Ask = Callable[[Runner, Listed], dict[str, Record]]


def ask_ways(*ways: str) -> Ask:
    return lambda runner, program: {way: runner.run(program, way) for way in ways}


@lru_cache
def harness_digest(versions: str) -> bytes:
    """A digest of the versions that records depend on, and of the files here that they depend on."""
    here = Path(__file__).parent
    digest = hashlib.sha256(versions.encode())
    for name in ("program.py", "snapshot.py", "counting.py", "ways.py", "worker.py"):
        digest.update((here / name).read_bytes())
    return digest.digest()


def cache_key(path: Path, name: str, way: str) -> str:
    digest = hashlib.sha256(harness_digest(f"{version('torch')} {sys.version}") + path.read_bytes())
    digest.update(f"{path.stem}.{name} {way}".encode())
    return digest.hexdigest()[:32]


def run_all(
    programs: Sequence[Listed], ask: Ask, make_runner: Callable[[], Runner], *, jobs: int
) -> Iterator[tuple[Listed, dict[str, Record]]]:
    """What `ask` gives for all programs, as it comes, on `jobs` threads with a runner each."""
    todo: queue.SimpleQueue[Listed] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Listed, dict[str, Record]]] = queue.SimpleQueue()
    for program in programs:
        todo.put(program)

    def work() -> None:
        runner = make_runner()
        try:
            while True:
                program = todo.get_nowait()
                done.put((program, ask(runner, program)))
        except queue.Empty:
            pass
        finally:
            runner.close()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for _ in programs:
        yield done.get()
    for thread in threads:
        thread.join()

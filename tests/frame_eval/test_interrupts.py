"""Ctrl-C, and a signal handler of the program, at any place while a frame is traced: nothing is left changed."""

from __future__ import annotations

import inspect
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from types import CodeType

import pytest

from tests.frame_eval.interrupted_program import TooLong, expect_nothing_left, fresh, named, raises, state
from tests.frame_eval.interrupting import Place, interrupted, places
from tracer_core import enabled, make_config
from tracer_core.observer import Observer, observing


@pytest.fixture(autouse=True)
def handler_of_the_program(ctrl_c: None, nothing_frozen: None) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, raises)
    yield
    signal.signal(signal.SIGUSR1, before)


# Where something is switched: what blocks are entered and left by, and our own code around a trace.
_BLOCKS = ("__enter__", "__exit__")
_FILES = (
    "contextlib.py",
    "_python_dispatch.py",
    "torch/_guards.py",
    *("tracer_core/" + name for name in ("signals.py", "noticed_warnings.py", "process_state.py", "torch_state.py")),
    *("tracer_core/frame_eval/" + name for name in ("api.py", "hook.py", "convert.py", "threads.py")),
    *(
        "tracer_core/codegen/" + name
        for name in ("compile_frame.py", "attempts/surroundings.py", "attempts/hidden_fakes.py")
    ),
    "tracer_core/interpreter/depth.py",
)


def switches(code: CodeType) -> bool:
    of_torch_or_ours = "/torch/" in code.co_filename or "/tracer_core/" in code.co_filename
    return (
        code.co_name in _BLOCKS
        or code.co_name == "switched"
        or code.co_filename.endswith(_FILES)
        or (of_torch_or_ours and bool(code.co_flags & inspect.CO_GENERATOR))
    )


@pytest.fixture(scope="module")
def found() -> list[Place]:
    """The places where something is switched."""
    for _ in range(2):  # the first traces import and remember much
        compiled, arguments = fresh()
        reached = places(lambda compiled=compiled, arguments=arguments: compiled(*arguments), switches)
    return list(reached)


@pytest.mark.row("I5", "O8")
@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGUSR1, TooLong)], ids=["ctrl-c", "handler"]
)
def test_nothing_is_left_changed_wherever_a_signal_comes(
    found: list[Place], number: int, error: type[BaseException]
) -> None:
    of_blocks = [place for place in found if place[0].co_name in _BLOCKS]
    assert len(found) > 200 and len(of_blocks) > 50
    choice = random.Random(number)
    for place in choice.sample(of_blocks, 20) + choice.sample(found, 20):
        given = fresh()
        before = state()
        with pytest.raises(error):
            interrupted(lambda given=given: given[0](*given[1]), place, number)
        expect_nothing_left(given, before, named(place))


@pytest.mark.row("I5", "O8")
@pytest.mark.parametrize(("backend", "count"), [("eager", 12), ("aot_eager", 4)])
def test_a_signal_while_torch_may_not_raise_ends_no_process(backend: str, count: int) -> None:
    command = [sys.executable, "-m", "tests.frame_eval.interrupted_dispatch", backend, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("done\n"), (done.returncode, done.stdout[-500:], done.stderr[-2000:])


@pytest.mark.row("I5", "O8")
def test_nothing_is_left_on_where_blocks_of_ours_are_entered_and_left() -> None:
    def block() -> None:
        with observing(Observer()), enabled(config):
            pass

    config = make_config(backend="eager")
    block()
    reached = places(block, lambda code: code.co_filename.endswith(("/hook.py", "/observer.py")))
    assert len(reached) > 10
    for place, often in reached.items():
        for time in range(1, often + 1):
            before = state()
            with pytest.raises(KeyboardInterrupt):
                interrupted(block, place, signal.SIGINT, time)
            after = state()
            assert {name: after[name] for name in before if after[name] != before[name]} == {}, named(place)

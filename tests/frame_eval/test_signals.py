"""What the program's own signal handlers raise while we trace, check guards or run a graph goes up to the program."""

from __future__ import annotations

import functools
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._C._dynamo import eval_frame

import tracer_core
from tracer_core.host import signals

OPTIONS = {"raise_internal_faults": True}


class TooLong(Exception):
    """What a timeout raises."""


class Stopped(BaseException):
    """What a test runner's timeout raises."""


def raises(kind: type[BaseException]) -> Callable[[int, Any], None]:
    def handler(number: int, frame: Any) -> None:
        raise kind("out of time")

    return handler


class Calls:
    def __call__(self, number: int, frame: Any) -> None:
        raise TooLong("out of time")

    def method(self, number: int, frame: Any) -> None:
        raise TooLong("out of time")


def with_more(number: int, frame: Any, *, kind: type[BaseException]) -> None:
    raise kind("out of time")


def once(number: int, frame: Any) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise TooLong("out of time")


HANDLERS: list[Any] = [
    raises(TooLong),
    raises(Stopped),
    raises(SystemExit),
    raises(KeyError),
    raises(NotImplementedError),
    raises(tracer_core.InternalError),
    Calls(),
    Calls().method,
    functools.partial(with_more, kind=TimeoutError),
    once,
]


@pytest.fixture(autouse=True)
def handlers_as_before() -> Iterator[None]:
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


class Backend:
    """A back end that gets a signal when it has the graph, or when the graph runs."""

    def __init__(self, when: str) -> None:
        self.when = when
        self.armed = True

    def press(self, when: str) -> None:
        if self.armed and self.when == when:
            self.armed = False
            signal.raise_signal(signal.SIGUSR1)

    def __call__(self, module: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        self.press("compiling")

        def run(*args: Any) -> Any:
            self.press("running")
            return module(*args)

        return run


def works(x):
    try:
        y = x + 1
        return y[torch.tensor([0])] * 2
    finally:
        assert torch.is_grad_enabled()


def goes_on(x):
    with torch.no_grad():
        print("broken")
        y = x * 2 + 1
    return y


@pytest.mark.row("I5", "O8")
@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: str(getattr(handler, "__name__", type(handler))))
@pytest.mark.parametrize("when", ["compiling", "running"])
@pytest.mark.parametrize("function", [works, goes_on])
def test_what_a_handler_raises_goes_up(handler, when, function, capsys):
    signal.signal(signal.SIGUSR1, handler)
    compiled = tracer_core.compile(function, backend=Backend(when), options=OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BaseException, match="out of time") as caught:
            compiled(torch.ones(2))
    assert type(caught.value).__module__ != "tracer_core.host.signals"
    names = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] in ("handler", "__call__", "method", "with_more", "once")
    assert not any("tracer_core" in entry.filename for entry in traceback.extract_tb(caught.value.__traceback__)[2:])
    assert caught.value.__context__ is None
    assert torch.is_grad_enabled()
    assert eval_frame.get_eval_frame_callback() is None
    assert signal.getsignal(signal.SIGUSR1) in (handler, signal.SIG_DFL)
    signal.signal(signal.SIGUSR1, handler)
    assert torch.equal(compiled(torch.ones(2)), function(torch.ones(2)))


@pytest.mark.row("I5")
def test_what_a_handler_raises_is_caught_by_blocks_of_the_caller_in_its_context():
    def caught(function):
        try:
            try:
                raise KeyError("first")
            except KeyError:
                signal.signal(signal.SIGUSR1, raises(TooLong))
                return function(torch.ones(2))
        except TooLong as error:
            return repr(error.__context__)

    def plain(x):
        signal.raise_signal(signal.SIGUSR1)

    assert caught(tracer_core.compile(works, backend=Backend("compiling"))) == caught(plain)


def test_a_handler_that_returns_disturbs_nothing():
    seen: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    compiled = tracer_core.compile(works, backend=Backend("compiling"), options=OPTIONS)
    assert torch.equal(compiled(torch.ones(2)), works(torch.ones(2)))
    assert seen == [signal.SIGUSR1]


def test_a_timer_ends_a_long_trace():
    def long(x):
        for i in range(1_000_000):
            x = x + i
        return x

    signal.signal(signal.SIGALRM, raises(TooLong))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(TooLong):
            tracer_core.compile(long, backend="eager", options=OPTIONS)(torch.ones(1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert not tracer_core.is_compiling()


class Sized(list):
    """Presses when it is asked for its length outside of tracing."""

    armed = False

    def __len__(self) -> int:
        if Sized.armed:
            Sized.armed = False
            signal.raise_signal(signal.SIGUSR1)
        return super().__len__()


def test_a_handler_in_a_guard_check_is_not_lost():
    from tests.frame_eval.stand_in import tracing
    from tracer_core.frame_input import CompiledFrame
    from tracer_core.guards import make
    from tracer_core.sources import LocalSource

    def function(n):
        return len(n)

    signal.signal(signal.SIGUSR1, raises(TooLong))
    compiled = tracer_core.compile(function, backend="eager")
    with tracing(lambda f: CompiledFrame(f.code, [make.length(LocalSource("n"), 1)])):
        assert compiled(Sized([1])) == 1
        Sized.armed = True
        with pytest.raises(TooLong):
            compiled(Sized([1]))
        assert compiled(Sized([1])) == 1


def test_other_threads_trace_while_a_handler_is_installed():
    signal.signal(signal.SIGUSR1, raises(TooLong))
    found: list[Any] = []
    compiled = tracer_core.compile(works, backend="eager", options=OPTIONS)
    thread = threading.Thread(target=lambda: found.append(compiled(torch.ones(2))))
    thread.start()
    thread.join()
    assert torch.equal(found[0], works(torch.ones(2)))


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_tracing_shows_the_function_and_none_of_our_code():
    def presses(module, examples):
        try:
            raise ValueError("of the back end")
        except ValueError:
            signal.raise_signal(signal.SIGINT)
        return module

    with pytest.raises(KeyboardInterrupt) as caught:
        tracer_core.compile(works, backend=presses, options=OPTIONS)(torch.ones(2))
    names = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "works"
    assert caught.value.__context__ is None
    assert sys.exc_info() == (None, None, None)


@pytest.mark.row("I5", "O8")
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGUSR1, TooLong)])
@pytest.mark.parametrize("another", [True, False])
def test_a_handler_waits_for_the_answer_to_a_question_of_torchs_code_in_cpp(number, error, another):
    """It is called at the next operation, or where tracing ends."""
    seen: list[str] = []

    def __torch_dispatch__(mode, func, types):
        signal.raise_signal(number)
        seen.append("answered")

    def asks(module, examples):
        __torch_dispatch__(None, torch.ops.prim.device.default, ())
        if another:
            examples[0] + 1
        seen.append("went on")
        return module

    signal.signal(signal.SIGUSR1, raises(TooLong))
    with pytest.raises(error) as caught:
        tracer_core.compile(works, backend=asks, options=OPTIONS)(torch.ones(2))
    assert seen == (["answered"] if another else ["answered", "went on"])
    assert caught.value.__context__ is None
    files = [entry.filename for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert not any("tracer_core" in file for file in files[2:])
    assert not signals.waiting
    assert torch.equal(tracer_core.compile(works, backend="eager")(torch.ones(2)), works(torch.ones(2)))


@torch.library.custom_op("tracewalk_signals::endless", mutates_args=())
def endless(x: torch.Tensor) -> int:
    return 1


@endless.register_fake
def _(x):
    while True:
        pass


def test_a_fake_implementation_that_does_not_end_is_interrupted():
    signal.signal(signal.SIGALRM, raises(TooLong))
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(TooLong):
            tracer_core.compile(lambda x: x * endless(x), backend="eager", options=OPTIONS)(torch.ones(1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

"""When the hook is on, what it sees, and how it leaves."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._C._dynamo import eval_frame

import tracer_core
from tests.frame_eval.stand_in import Log, guards_on_arguments, renamed, tracing
from tracer_core import Config, InternalError, Unsupported, disabled, enabled
from tracer_core.frame_eval.backends import eager
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame


def ours() -> Config:
    return Config(eager, options={"raise_internal_faults": True})


def name_of_caller() -> str:
    return sys._getframe(1).f_code.co_name


def inner(n: int) -> list[str]:
    return [name_of_caller()]


def outer(n: int) -> list[str]:
    return [*inner(n), name_of_caller()]


def test_frames_that_start_inside_are_replaced() -> None:
    with tracing() as tracer:
        assert outer(1) == ["inner", "outer"]
        with enabled(ours()):
            assert outer(1) == ["inner_1", "outer_1"]
        assert outer(1) == ["inner", "outer"]
    assert tracer.log[:3] == [("outer", 1), ("inner", 1), ("name_of_caller", 1)]


def test_what_tracing_is_given() -> None:
    kept = [1]

    def function(a: Any, *args: Any, key: Any = 2, **rest: Any) -> Any:
        return kept, a, args, key, rest

    config = ours()
    with tracing() as tracer, enabled(config):
        function("a", "b", other="c")
    (frame,) = tracer.frames
    assert frame.code is function.__code__
    assert dict(frame.locals) == {"a": "a", "args": ("b",), "key": 2, "rest": {"other": "c"}, "kept": kept}
    assert frame.globals is globals()
    assert frame.builtins["len"] is len
    assert frame.closure == function.__closure__
    assert frame.config is config
    assert frame.history == {}
    assert frame.version == 1


def test_history_stays_from_version_to_version() -> None:
    def noting(frame: FrameInput) -> CompiledFrame:
        frame.history.setdefault("seen", []).append(frame.locals["n"])
        return renamed(frame)

    def function(n: int) -> int:
        return n

    with tracing(noting) as tracer, enabled(ours()):
        for n in (1, 2, 1, 3):
            function(n)
    assert tracer.frames[-1].history == {"seen": [1, 2, 3]}


def test_off_while_our_own_code_runs() -> None:
    seen: list[Any] = []

    def nosy(frame: FrameInput) -> CompiledFrame:
        seen.append(eval_frame.get_eval_frame_callback())
        seen.append(tracer_core.is_compiling())
        compiled_inner = tracer_core.compile(inner, backend="eager")
        seen.append(compiled_inner(1))
        with enabled(ours()):
            seen.append(inner(2))
        return renamed(frame)

    with tracing(nosy) as tracer, enabled(ours()):
        (lambda n: n)(1)
    assert seen == [None, True, ["inner"], ["inner"]]
    assert len(tracer.log) == 1
    assert not tracer_core.is_compiling()


def test_nests_and_comes_back() -> None:
    first, second = ours(), ours()
    with tracing() as tracer, enabled(first):
        inner(1)
        with enabled(second):
            inner(1)
            with disabled():
                assert inner(5) == ["inner"]
            inner(1)
        inner(1)
    assert [entry for entry in tracer.log if entry[0] == "inner"] == [("inner", 1), ("inner", 1)]
    assert [f.config for f in tracer.frames if f.code is inner.__code__] == [first, second]


def test_comes_back_after_an_error() -> None:
    def fails(n: int) -> int:
        return n // 0

    with tracing() as tracer:
        with pytest.raises(ZeroDivisionError), enabled(ours()):
            fails(1)
        assert eval_frame.get_eval_frame_callback() is None
        with enabled(ours()):
            with pytest.raises(ZeroDivisionError):
                fails(1)
            inner(1)
    assert ("inner", 1) in tracer.log


def recursive(n: int) -> list[str]:
    return [*(recursive(n - 1) if n else []), name_of_caller()]


def test_recursion_compiles_each_level() -> None:
    with tracing(), enabled(ours()):
        assert recursive(2) == ["recursive_3", "recursive_2", "recursive_1"]
        assert recursive(2) == ["recursive_3", "recursive_2", "recursive_1"]


def test_generators_are_left_alone_and_still_compile_what_they_call() -> None:
    def generator(n: int) -> Any:
        while True:
            try:
                n = yield [*inner(n), name_of_caller()]
            except KeyError:
                yield "caught"

    log = Log()
    with tracing(), enabled(ours()), tracer_core.observing(log):
        running = generator(1)
        assert next(running) == ["inner_1", "generator"]
        assert running.send(2) == ["inner_2", "generator"]
        assert running.throw(KeyError()) == "caught"
        running.close()
    assert "skip generator frame-generator" in log.lines


def test_coroutines_are_left_alone() -> None:
    async def coroutine() -> list[str]:
        await asyncio.sleep(0)
        return [*inner(1), name_of_caller()]

    log = Log()
    with tracing(), tracer_core.observing(log), enabled(ours()):
        assert asyncio.run(coroutine()) == ["inner_1", "coroutine"]
    assert "skip coroutine frame-async" in log.lines


def test_code_that_is_no_function_is_left_alone() -> None:
    log = Log()
    with tracing(), tracer_core.observing(log), enabled(ours()):
        exec(compile("value = 1\nclass Inside: pass", "somewhere.py", "exec"), {})
    assert "skip <module> frame-not-function" in log.lines
    assert "skip Inside frame-not-function" in log.lines


def test_libraries_are_left_alone_and_what_they_call_is_not() -> None:
    class Mine:
        def __str__(self) -> str:
            return name_of_caller()

        def __len__(self) -> int:
            return len(self.__str__())

    log = Log()
    with tracing(), tracer_core.observing(log), enabled(ours()):
        text = json.dumps({"a": 1}, default=str, sort_keys=True)
        assert sorted([3, 1], key=lambda n: -n) == [3, 1]
        assert str(Mine()) == "__str___1"
    assert text == '{"a": 1}'
    assert "skip dumps frame-library" in log.lines


def test_nobody_is_told_of_our_own_frames() -> None:
    log = Log()
    compiled = tracer_core.compile(inner, backend="eager")

    def function(n: int) -> list[str]:
        with disabled():
            pass
        return compiled(n)

    with tracing(), tracer_core.observing(log), enabled(ours()):
        assert function(1) == ["inner_1"]
    assert not [line for line in log.lines if line.startswith("skip")]


def test_modules_of_torch_are_where_a_graph_may_start() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    with tracing(lambda frame: CompiledFrame(frame.code, [])) as tracer, enabled(ours()):
        model(torch.ones(2))
    names = [name for name, _ in tracer.log]
    assert names[0] == "forward", "of Sequential, and not the code that calls any module"
    assert names.count("forward") == 2


def test_skipped_once_or_for_ever() -> None:
    def answer(frame: FrameInput) -> SkippedFrame:
        return SkippedFrame("frame-library", "no gain", forever=frame.locals.get("n") == 3)

    def function(n: int) -> int:
        return n

    log = Log()
    with tracing(answer) as tracer, tracer_core.observing(log), enabled(ours()):
        for n in range(1, 6):
            assert function(n) == n
    assert [frame.locals["n"] for frame in tracer.frames] == [1, 2, 3]
    assert log.lines.count("skip function frame-library") == 3
    assert log.lines.count("skipped") == 3


def test_skipped_with_all_that_runs_inside() -> None:
    def answer(frame: FrameInput) -> Any:
        if frame.code.co_name == "outer":
            return SkippedFrame("frame-library", "no gain", recursive=True)
        return renamed(frame)

    with tracing(answer) as tracer, enabled(ours()):
        assert outer(1) == ["inner", "outer"]
        assert outer(2) == ["inner", "outer"]
        assert inner(1) == ["inner_1"]
    assert tracer.log[:2] == [("outer", 1), ("inner", 1)]


# --- errors -----------------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[[FrameInput], CompiledFrame]:
    def answer(frame: FrameInput) -> CompiledFrame:
        raise error

    return answer


def test_a_fault_of_ours_warns_once_and_the_function_runs() -> None:
    log = Log()
    function = tracer_core.compile(outer, backend="eager")
    with tracing(raising(RuntimeError("broken engine"))), tracer_core.observing(log):
        with pytest.warns(tracer_core.FaultWarning, match=r"(?s)outer \(.*broken engine") as warned:
            answers = [function(1) for _ in range(2)]
        assert answers == [["inner", "outer"]] * 2
    texts = [str(warning.message) for warning in warned]
    assert sum("tracing outer (" in text for text in texts) == 1
    assert "please report it" in texts[0]
    assert log.lines[:4] == ["call outer", "compile outer 1", "fault RuntimeError: broken engine", "fault"]


def test_a_fault_of_ours_can_be_raised() -> None:
    with tracing(raising(RuntimeError("broken engine"))), enabled(ours()):
        with pytest.raises(InternalError, match="The fault is ours") as caught:
            inner(1)
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    "error", [Unsupported("tensor-branch", what="x"), KeyboardInterrupt(), tracer_core.BackendError("no")]
)
def test_what_the_user_must_see_is_raised_from_the_call(error: BaseException) -> None:
    function = tracer_core.compile(inner, backend="eager")
    for _ in range(3):
        with tracing(raising(error)):
            with pytest.raises(type(error)) as caught:
                function(1)
        assert caught.value is error
        assert eval_frame.get_eval_frame_callback() is None
    assert not tracer_core.is_compiling()
    with tracing():
        assert function(1) == ["inner_1"], "nothing is left behind"


def test_the_user_may_catch_it_and_go_on() -> None:
    def careful(n: int) -> Any:
        try:
            return tracer_core.compile(inner, backend="eager", fullgraph=True)(n)
        except Unsupported as error:
            return error.reason_id

    with tracing(raising(Unsupported("tensor-branch", what="x"))):
        assert careful(1) == "tensor-branch"


def test_ctrl_c_in_a_guard_is_not_lost() -> None:
    class Pressing:
        armed = False

        def __len__(self) -> int:
            if Pressing.armed:
                Pressing.armed = False
                raise KeyboardInterrupt
            return 1

    from tracer_core.guards import make
    from tracer_core.sources import LocalSource

    def function(n: Any) -> str:
        return name_of_caller()

    compiled = tracer_core.compile(function, backend="eager")
    with tracing(lambda f: CompiledFrame(f.code, [make.length(LocalSource("n"), 1)] if "n" in f.locals else [])):
        compiled(Pressing())
        Pressing.armed = True
        with pytest.raises(KeyboardInterrupt):
            compiled(Pressing())
        assert compiled(Pressing()) == "function"


# --- threads ----------------------------------------------------------------------------------------------


def test_on_in_one_thread_only() -> None:
    names: list[str] = []

    with tracing(), enabled(ours()):
        thread = threading.Thread(target=lambda: names.extend(inner(1)))
        thread.start()
        thread.join()
        assert inner(1) == ["inner_1"]
    assert names == ["inner"]


def test_many_threads_compile_the_same_code() -> None:
    active: list[int] = []

    def slow(frame: FrameInput) -> CompiledFrame:
        active.append(1)
        assert len(active) == 1, "two at a time"
        time.sleep(0.002)
        active.pop()
        return CompiledFrame(frame.code, guards_on_arguments(frame))

    def function(n: int) -> int:
        return n * 2

    compiled = tracer_core.compile(function, backend="eager", options={"raise_internal_faults": True})
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for i in range(60):
            n = (seed + i) % 5
            if compiled(n) != n * 2:
                wrong.append(n)

    with tracing(slow) as tracer:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    counted = [frame.locals["n"] for frame in tracer.frames if frame.code is function.__code__]
    assert sorted(counted) == [0, 1, 2, 3, 4], "each once, though several threads asked"

"""Cached versions: which is reused, which is tried first, when there are too many, and what keeps nothing alive."""

from __future__ import annotations

import gc
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.frame_eval.stand_in import Log, guards_on_arguments, tracing
from tracer_core import Config, Unsupported, enabled
from tracer_core.frame_eval import cache
from tracer_core.frame_eval.backends import eager
from tracer_core.frame_input import CompiledFrame, FrameInput
from tracer_core.names.where import Where

pytestmark = pytest.mark.row("G4")


def said(answer: str) -> types.CodeType:
    """Code of a function of one argument that returns `answer`."""
    made: dict[str, Any] = {}
    exec(f"def function(n): return {answer!r}", made)
    return made["function"].__code__  # type: ignore[no-any-return]


def numbered(frame: FrameInput) -> CompiledFrame:
    """Code that returns `version <number>`."""
    return CompiledFrame(said(f"version {frame.version}"), guards_on_arguments(frame))


def fresh() -> Callable[[Any], Any]:
    """A function whose code nothing else has."""
    made: dict[str, Any] = {}
    exec("def function(n): return 'plain'", made)
    return made["function"]  # type: ignore[no-any-return]


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return tracer_core.compile(function, backend="eager", options={"raise_internal_faults": True, **options})


def test_reused_while_guards_hold() -> None:
    function = compiled(fresh())
    with tracing(numbered) as tracer:
        answers = [function(n) for n in (1, 2, 1, 2, 3, 1)]
    assert answers == ["version 1", "version 2", "version 1", "version 2", "version 3", "version 1"]
    assert [version for _, version in tracer.log] == [1, 2, 3]


def test_what_an_observer_is_told_of_lookups() -> None:
    log = Log()
    function = compiled(fresh())
    with tracing(numbered):
        function(1), function(2), function(3)
        with tracer_core.observing(log):
            function(1), function(1), function(4)
        function(2)
        with tracer_core.observing(log):
            function(2)
    assert log.lines == [
        *("call function", "function 3 n == 3: it is 1", "function 2 n == 2: it is 1", "function 1 reused"),
        *("call function", "function 1 reused"),
        *(
            "call function",
            "function 1 n == 1: it is 4",
            "function 3 n == 3: it is 4",
            "function 2 n == 2: it is 4",
        ),
        *("compile function 4", "compiled"),
        *("call function", "function 2 reused"),
    ]


def test_a_call_that_finds_nothing_cached_is_told_too() -> None:
    log = Log()
    with tracing(numbered), tracer_core.observing(log):
        compiled(fresh())(1)
    assert log.lines == ["call function", "compile function 1", "compiled"]


def test_an_observer_that_fails_does_not_change_the_result() -> None:
    class Failing(Log):
        def on_cache_check(self, *args: Any) -> None:
            raise ValueError("observer")

    function = compiled(fresh())
    with tracing(numbered):
        function(1)
        with pytest.warns(RuntimeWarning, match=r"the check of a version \(on_cache_check: ValueError: observer\)"):
            with tracer_core.observing(Failing()):
                assert function(1) == "version 1"


def test_an_observer_of_another_thread_hears_nothing() -> None:
    import threading

    log = Log()
    function = compiled(fresh())
    with tracing(numbered):
        function(1)
        with tracer_core.observing(log):
            thread = threading.Thread(target=function, args=(1,))
            thread.start()
            thread.join()
    assert log.lines == []


def test_limit() -> None:
    log = Log()
    function = compiled(fresh(), cache_size_limit=3)
    with tracing(numbered) as tracer:
        for n in (1, 2, 3):
            function(n)
        with (
            tracer_core.observing(log),
            pytest.warns(tracer_core.CacheLimitWarning, match="compiled 3 times already") as warned,
        ):
            assert function(4) == "plain"
        assert "n was 3 at compile time and is 4 now" in str(warned[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert [function(n) for n in (1, 3, 5, 2)] == ["version 1", "version 3", "plain", "version 2"]
    assert len(tracer.log) == 3
    assert log.lines[-1] == "skip function cache-limit"


def test_limit_is_eight_unless_told() -> None:
    function = compiled(fresh())
    with tracing(numbered), pytest.warns(tracer_core.CacheLimitWarning, match="compiled 8 times already"):
        assert [function(n) for n in range(9)][7:] == ["version 8", "plain"]


def test_limit_is_an_error_where_the_whole_function_was_promised() -> None:
    function = tracer_core.compile(fresh(), backend="eager", fullgraph=True, options={"cache_size_limit": 1})
    with tracing(numbered):
        function(1)
        with pytest.raises(Unsupported) as caught:
            function(2)
        assert caught.value.reason_id == "cache-limit"
        assert function(1) == "version 1"


def test_other_settings_have_other_code() -> None:
    plain = fresh()
    backends = [lambda gm, inputs: gm.forward for _ in range(2)]
    functions = [tracer_core.compile(plain, backend=backend) for backend in backends]
    functions += [tracer_core.compile(plain, backend="eager", dynamic=dynamic) for dynamic in (None, True)]
    with tracing(numbered) as tracer:
        for _ in range(2):
            assert [function(1) for function in functions] == ["version 1"] * 4
    assert len(tracer.log) == 4
    assert len({id(frame.config) for frame in tracer.frames}) == 4


def test_same_settings_share_code() -> None:
    plain = fresh()
    with tracing(numbered) as tracer:
        for _ in range(3):
            assert compiled(plain)(1) == "version 1"
    assert len(tracer.log) == 1


def test_reset_forgets_code_marks_and_history() -> None:
    function = compiled(fresh(), cache_size_limit=1)
    with tracing(numbered) as tracer, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(1), function(2)
        tracer_core.reset()
        assert function(2) == "version 1"
        tracer_core.reset()
        assert function(1) == "version 1"
    assert [version for _, version in tracer.log] == [1, 1, 1]


def test_afresh_forgets_what_is_called() -> None:
    function, other = compiled(fresh()), compiled(fresh())
    with tracing(numbered) as tracer:
        function(1), function(2), other(1), other(2)
        with tracer_core.afresh():
            assert [function(2), function(2), function(3)] == ["version 1", "version 1", "version 2"]
        assert [function(2), function(3), function(1)] == ["version 1", "version 2", "version 3"]
        assert [other(1), other(2)] == ["version 1", "version 2"], "it was not called meanwhile"
    assert [version for _, version in tracer.log] == [1, 2, 1, 2, 1, 2, 3]


def test_afresh_keeps_nothing_of_a_back_end_that_is_gone() -> None:
    def back_end(graph: Any, _: Any) -> Any:
        return graph.forward

    plain = fresh()
    function = tracer_core.compile(plain, backend=back_end)
    with tracing(numbered):
        function(1)
        [version] = [weakref.ref(each) for each in versions_of(plain)]
        with tracer_core.afresh():
            del function, back_end
            gc.collect()
    assert version() is None


def versions_of(function: Any) -> list[Any]:
    return [version for each in cache._know(function.__code__).caches.values() for version in each.versions]


def test_reset_while_the_code_runs() -> None:
    def resetting(n: int) -> str:
        tracer_core.reset()
        return "done"

    function = compiled(resetting)
    with tracing(lambda frame: CompiledFrame(frame.code, guards_on_arguments(frame))) as tracer:
        assert [function(1), function(1)] == ["done", "done"]
    assert tracer.log == [("resetting", 1), ("resetting", 1)]


class Thing:
    pass


def test_entries_go_with_the_object_they_were_made_for() -> None:
    function = compiled(fresh(), cache_size_limit=2)
    replaced: list[weakref.ref[Any]] = []

    def keeping(frame: FrameInput) -> CompiledFrame:
        compiled_frame = numbered(frame)
        replaced.append(weakref.ref(compiled_frame.code))
        return compiled_frame

    with tracing(keeping) as tracer:
        kept = Thing()
        assert function(kept) == "version 1"
        for round_ in range(6):
            thing = Thing()
            assert function(thing) == f"version {round_ + 2}"
            tracer.frames.clear()
            del thing
            gc.collect()
            assert replaced[-1]() is None, "its code is freed"
        assert function(kept) == "version 1"
    assert len(tracer.log) == 7


def test_an_object_may_die_inside_its_own_call() -> None:
    def emptying(holder: list[Any]) -> str:
        holder.clear()
        gc.collect()
        return "done"

    def on_content(frame: FrameInput) -> CompiledFrame:
        from tracer_core.guards import make
        from tracer_core.sources import GetItemSource, LocalSource

        holder = frame.locals["holder"]
        return CompiledFrame(frame.code, [make.identity(GetItemSource(LocalSource("holder"), 0), holder[0])])

    function = compiled(emptying)
    with tracing(on_content) as tracer:
        for _ in range(12):
            assert function([Thing()]) == "done"
    assert [version for _, version in tracer.log] == list(range(1, 13))


def test_nothing_keeps_the_code_alive() -> None:
    plain = fresh()
    code = weakref.ref(plain.__code__)
    function = compiled(plain)
    log = Log()

    def with_place(frame: FrameInput) -> CompiledFrame:
        answer = numbered(frame)
        for guard in answer.guards:
            guard.installed_at(Where.of(0, [(frame.code, 1)]))
        return answer

    with tracing(with_place) as tracer:
        with tracer_core.observing(log):
            function(1), function(1), function(2)
        tracer.frames.clear()
    del plain, function
    gc.collect()
    assert code() is None


def test_nothing_keeps_arguments_alive() -> None:
    function = compiled(fresh())
    tensor, thing = torch.ones(3), Thing()
    references = [weakref.ref(tensor), weakref.ref(thing)]
    with tracing(numbered) as tracer:
        function(tensor), function(thing), function(tensor)
        tracer.frames.clear()
    del tensor, thing
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_a_function_guarded_by_itself_can_be_freed() -> None:
    from tracer_core.guards import make
    from tracer_core.sources import GlobalSource

    def on_itself(frame: FrameInput) -> CompiledFrame:
        return CompiledFrame(said("itself"), [make.identity(GlobalSource("function"), frame.globals["function"])])

    made: dict[str, Any] = {}
    exec("def function(n): return 'plain'", made)
    code = weakref.ref(made["function"].__code__)
    with tracing(on_itself) as tracer:
        assert compiled(made["function"])(1) == "itself"
        tracer.frames.clear()
    made.clear()
    gc.collect()
    assert code() is None


def test_hooks_of_forgotten_settings_are_freed() -> None:
    config = Config(eager)
    reference = weakref.ref(config)
    plain = fresh()
    with tracing(numbered) as tracer:
        with enabled(config):
            assert plain(1) == "version 1"
        tracer.frames.clear()
    del config
    tracer_core.reset()
    gc.collect()
    assert reference() is None

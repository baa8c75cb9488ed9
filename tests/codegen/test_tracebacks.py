"""What looks at the Python stack sees the user's functions by their names, at their lines."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import sys
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core


def entries(error: BaseException) -> list[tuple[str, str, int | None]]:
    """The traceback from the first entry in this file on that is not a test's."""
    found = [(e.filename, e.name, e.lineno) for e in traceback.extract_tb(error.__traceback__)]
    return [entry for entry in found if entry[0] == __file__ and not entry[1].startswith(("test_", "raised"))]


def raised(function: Callable[..., Any], *args: Any) -> BaseException:
    try:
        function(*args)
    except BaseException as error:  # noqa: BLE001
        return error
    raise AssertionError("nothing was raised")


def after_a_break(x):
    y = x + 1
    print("a")
    z = y * 2
    print("b")
    raise ValueError(z.shape)


def in_a_loop(x):
    for i in range(5):
        x = x + 1
        print(i)
        if i == 3:
            raise KeyError(i)
    return x


def in_the_broken_call(x):
    x = x + 1
    after_a_break(x)
    return x * 2


def in_a_block(x):
    try:
        x = x + 1
        print("a")
        x = x * 2
        after_a_break(x)
    except ValueError as error:
        print("b")
        raise RuntimeError("again") from error
    finally:
        print("c")


def in_a_call_after(x):
    print("a")
    y = x + 1
    after_a_break(y)
    return y


def by_a_jump(x):
    if x.sum() > 100:
        return x
    x = x + 1
    print("a")
    return x.nonsense


def recursive(x, n):
    x = x + n
    print(n)
    if n == 0:
        raise ValueError(n)
    return recursive(x, n - 1) + 1


def a_comprehension(x):
    print("a")
    return [x + 1 // n for n in (2, 1, 0)]


PROGRAMS = [
    (after_a_break,), (in_a_loop,), (in_the_broken_call,), (in_a_block,), (in_a_call_after,), (by_a_jump,),
    (recursive, 3), (a_comprehension,),
]  # fmt: skip


@pytest.mark.row("I5")
@pytest.mark.parametrize("program", PROGRAMS, ids=[case[0].__name__ for case in PROGRAMS])
def test_a_traceback_has_one_entry_a_frame(program: tuple[Any, ...]) -> None:
    function, *rest = program
    plain = raised(function, torch.ones(3), *rest)
    compiled = tracer_core.compile(function, backend="eager", options={"raise_internal_faults": True})
    for _ in range(2):
        ours = raised(compiled, torch.ones(3), *rest)
        assert (type(ours), str(ours)) == (type(plain), str(plain))
        assert entries(ours) == entries(plain)
        if plain.__cause__ is not None:
            assert ours.__cause__ is not None
            assert entries(ours.__cause__) == entries(plain.__cause__)
        assert sys.exc_info() == (None, None, None)


def test_tools_that_hash_code_objects_can_show_it() -> None:
    frames = [
        f
        for f, _ in traceback.walk_tb(
            raised(tracer_core.compile(in_a_loop, backend="eager"), torch.ones(2)).__traceback__
        )
    ]
    assert all(isinstance(hash(frame.f_code), int) for frame in frames)


counter = {"calls": 0}


def changes_a_dict(x):
    global counter
    counter["calls"] += 1
    y = x + counter["calls"]
    print("a")
    raise ValueError(y.shape)


def test_constants_that_cannot_be_hashed() -> None:
    error = raised(tracer_core.compile(changes_a_dict, backend="eager"), torch.ones(2))
    assert isinstance(error, ValueError)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert all(isinstance(hash(frame.f_code), int) for frame in frames)


def whose_name():
    return sys._getframe(1).f_code.co_name, sys._getframe(1).f_code.co_qualname, sys._getframe(1).f_lineno


def asks(x):
    print("a")
    x = x + 1
    name = whose_name()
    return x, name


def logs(x):
    print("a")
    x = x + 1
    logging.getLogger("tracewalk.test").error("said")
    warnings.warn("warned", stacklevel=1)
    return x


def test_callees_see_the_functions_name_and_line() -> None:
    function = tracer_core.compile(asks, backend="eager")
    assert function(torch.ones(2))[1] == asks(torch.ones(2))[1]


def test_logging_and_warnings_name_the_function(caplog: pytest.LogCaptureFixture) -> None:
    function = tracer_core.compile(logs, backend="eager")
    seen = []
    for run in (logs, function):
        caplog.clear()
        with pytest.warns(UserWarning, match="warned") as caught:
            run(torch.ones(2))
        (record,) = caplog.records
        seen.append((record.funcName, record.pathname, record.lineno, caught[0].filename, caught[0].lineno))
    assert seen[0] == seen[1]


def looks_up(x):
    print("a")
    x = x + 1
    return x, sys._getframe(1).f_code.co_name


def warns_of_the_caller(x):
    print("a")
    x = x + 1
    warnings.warn("careful", stacklevel=2)
    return x


def caller(function, x):
    return function(x)


def test_code_that_counts_frames_counts_those_of_plain_python() -> None:
    config = tracer_core.make_config(backend="eager")
    for function in (looks_up, warns_of_the_caller):
        seen = []
        for run in (contextlib.nullcontext(), tracer_core.enabled(config)):
            with warnings.catch_warnings(record=True) as caught, run:
                warnings.simplefilter("always")
                result = caller(function, torch.ones(2))
            seen.append((str(result), [(w.filename, w.lineno, str(w.message)) for w in caught]))
        assert seen[0] == seen[1]


def asks_for_the_callers(x):
    warnings.warn("careful", stacklevel=2)
    x = x + 1
    logging.getLogger("tracewalk.test").error("said", stacklevel=2)
    return x


class Warns(torch.nn.Module):
    def forward(self, x):
        warnings.warn("careful", stacklevel=4)  # over `_call_impl` and `_wrapped_call_impl`
        return x + 1


@pytest.mark.parametrize("wrapped", [functools.partial(tracer_core.compile, backend="eager"), tracer_core.disable])
@pytest.mark.parametrize("function", [asks_for_the_callers, Warns()], ids=["function", "module"])
def test_the_caller_of_what_is_compiled_is_named(
    wrapped: Callable[..., Any], function: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    seen = []
    for run in (function, wrapped(function), wrapped(function)):
        caplog.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            caller(run, torch.ones(2))
        said = [(r.funcName, r.pathname, r.lineno) for r in caplog.records]
        seen.append((said, [(w.filename, w.lineno, str(w.message)) for w in caught]))
    assert seen[1] == seen[2] == seen[0]
    assert all(name == "caller" for name, *_ in seen[0][0])


TEXT = "def f(x):\n    x = x + 1\n    print('a')\n    return x * 2\n"


@pytest.mark.parametrize("replaced", [False, True])
def test_resume_functions_die_with_the_code_they_go_on_with(replaced: bool) -> None:
    from tracer_core.bytecode.decoded import _decoded
    from tracer_core.codegen.resume import functions as resume

    names: dict[str, Any] = {}

    def run() -> tuple[weakref.ref[Any], weakref.ref[Any]]:
        exec(TEXT, names)
        tracer_core.compile(names["f"], backend="eager")(torch.ones(2))
        code = names["f"].__code__
        (made,) = resume._made[id(code)].values()
        return weakref.ref(code), weakref.ref(made.code)

    before = len(resume._by_code)
    for _ in range(3):
        original, made = run()
        if replaced:
            names["f"].__code__ = (lambda x: x).__code__
        else:
            del names["f"]
        gc.collect()
        assert original() is None
        assert made() is None
    assert len(resume._by_code) == before
    assert all(reference() is not None for reference, _ in _decoded.values())

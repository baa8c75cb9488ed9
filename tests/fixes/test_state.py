"""Trying changes, and comparing with torch.compile, changes nothing that the program keeps, wherever that is."""

from __future__ import annotations

import logging
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import tracewalk as tw
from tests.fixes import state_programs as programs
from tracewalk import Trace

X = torch.ones(3)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = dict(os.environ)
    yield
    torch.set_default_dtype(torch.float32)
    os.environ.clear()
    os.environ.update(before)


def recorded(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Trace:
    with tw.record() as trace:
        for args in calls:
            function(*args)
    return trace


IN_ONE_ROW = [
    programs.appends,
    programs.closes_over,
    programs.with_default,
    programs.calls_with_default,
    programs.keeps_attribute,
    programs.counts_in_class,
    programs.elsewhere,
    programs.writes_array,
    programs.draws,
    programs.advances,
    programs.logs,
    programs.sets_environment,
    programs.sets_default_dtype,
    programs.slots,
    programs.own_dict,
]
BATCHES = [programs.trains, programs.calls_partial]
PROGRAMS = [*((function, X) for function in IN_ONE_ROW), *((function, torch.ones(2, 3)) for function in BATCHES)]


@pytest.mark.usefixtures("nothing_frozen")  # functions are found by Python's collector
@pytest.mark.parametrize(("function", "x"), PROGRAMS, ids=[function.__name__ for function, _ in PROGRAMS])
def test_the_program_keeps_its_state(function: Callable[..., Any], x: torch.Tensor) -> None:
    trace = recorded(function, (x,), (x * 2,))
    before = programs.state()
    fixes = trace.try_fixes()
    assert programs.state() == before
    assert fixes.before is not None, str(fixes)
    trace.beside_torch()
    assert programs.state() == before


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    trace = recorded(programs.logs, (X,))
    filters = [list(one.filters) for one in logging.getLogger().handlers]
    caplog.clear()
    assert trace.try_fixes().before is not None
    assert not caplog.records
    assert [list(one.filters) for one in logging.getLogger().handlers] == filters


def _opens(path: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def f(x: torch.Tensor) -> torch.Tensor:
        with open(path, "a") as file:
            file.write("line\n")
        return x + 1

    return f


def _opens_by_path(path: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def f(x: torch.Tensor) -> torch.Tensor:
        Path(path).write_text("text")
        return x + 1

    return f


def _saves(path: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def f(x: torch.Tensor) -> torch.Tensor:
        torch.save(x, path)
        return x + 1

    return f


def _catches(path: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def f(x: torch.Tensor) -> torch.Tensor:
        try:
            with open(path, "w") as file:
                file.write("text")
        except Exception:  # noqa: BLE001  as programs do that save when they can
            print("cannot save")
        return x + 1

    return f


def _starts(path: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def f(x: torch.Tensor) -> torch.Tensor:
        subprocess.run(["touch", path], check=True)
        return x + 1

    return f


OUTSIDE = [
    (_opens, "open `{}` for writing"),
    (_opens_by_path, "open `{}` for writing"),
    (_saves, "open `{}` for writing"),
    (_catches, "open `{}` for writing"),
    (_starts, "start another process"),
]


@pytest.mark.parametrize(("create", "what"), OUTSIDE, ids=[create.__name__ for create, _ in OUTSIDE])
def test_what_reaches_outside_the_process_is_not_repeated(
    create: Callable[[str], Callable[[torch.Tensor], torch.Tensor]], what: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        trace = recorded(create(path), (X,))
        os.remove(path)
        said = f"Repeated, the calls would {what.format(path)} again."
        assert trace.try_fixes().notes == [f"{said} So nothing can be tried."]
        assert trace.beside_torch().notes == [f"{said} So nothing was compared."]
        assert not os.path.exists(path)
        with open(path, "w") as file:
            file.write("writing works again")


def test_a_generator_is_not_advanced() -> None:
    source = (torch.ones(3) * number for number in range(10))
    trace = recorded(programs.generated, (source,))
    said = "The calls use an object of builtins.generator, which cannot be copied, and which they would change."
    assert trace.try_fixes().notes == [f"{said} So nothing can be tried."]
    assert torch.equal(next(source), torch.ones(3))


def test_files_that_are_open_get_nothing() -> None:
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "file"), "w") as file:

        def writes(x: torch.Tensor) -> torch.Tensor:
            print("line", file=file, flush=True)
            return x + 1

        fixes = recorded(writes, (X,)).try_fixes()
        assert fixes.before is not None, str(fixes)
        assert Path(file.name).read_text() == "line\n"

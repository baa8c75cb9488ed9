"""Trying changes leaves alone what calls reach by other ways than names: through classes of values, modules in
modules, weak references, loggers and context variables."""

from __future__ import annotations

import contextvars
import logging
import os
import sqlite3
import tempfile
from array import array
from collections.abc import Callable
from os import remove as removes_file
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tests.fixes.reached.counts
import tracewalk as tw

Program = tuple[Callable[[torch.Tensor], Any], Callable[[], Any]]
"""A function to trace, and what must stay as it is."""

VARIABLE = contextvars.ContextVar("VARIABLE", default=0)
LOGGER = logging.getLogger("tests.fixes.reached")


class Net(nn.Module):
    calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        type(self).calls += 1
        return x * 2


def class_of_a_value() -> Program:
    net = Net()
    return lambda x: net(x), lambda: Net.calls


def local_class() -> Program:
    class Counter:
        calls = 0

        @classmethod
        def count(cls) -> None:
            cls.calls += 1

    def f(x: torch.Tensor) -> torch.Tensor:
        Counter.count()
        return x * 2

    return f, lambda: Counter.calls


def module_in_a_package() -> Program:
    def f(x: torch.Tensor) -> torch.Tensor:
        tests.fixes.reached.counts.count += 1
        tests.fixes.reached.counts.names.append("a")
        return x * 2

    return f, lambda: (tests.fixes.reached.counts.count, list(tests.fixes.reached.counts.names))


def module_imported_inside() -> Program:
    def f(x: torch.Tensor) -> torch.Tensor:
        import tests.fixes.reached.counts as counts  # noqa: PLC0415

        counts.count += 1
        return x * 2

    return f, lambda: tests.fixes.reached.counts.count


def bytes_and_arrays() -> Program:
    held, numbers = bytearray(1), array("i", [0])

    def f(x: torch.Tensor) -> torch.Tensor:
        held[0] += 1
        numbers[0] += 1
        return x * 2

    return f, lambda: (bytes(held), numbers.tolist())


def context_variable() -> Program:
    def f(x: torch.Tensor) -> torch.Tensor:
        VARIABLE.set(VARIABLE.get() + 1)
        return x * 2

    return f, VARIABLE.get


def logger() -> Program:
    def f(x: torch.Tensor) -> torch.Tensor:
        LOGGER.setLevel(LOGGER.level + 1)
        LOGGER.addHandler(logging.NullHandler())
        return x * 2

    return f, lambda: (LOGGER.level, list(LOGGER.handlers))


def scheduled_optimizer() -> Program:
    """A scheduler replaces `optimizer.step` by a function that holds the optimizer weakly."""
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    def f(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).pow(2).sum()
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss.detach()

    def state() -> Any:
        momentum = [held["momentum_buffer"].tolist() for held in optimizer.state.values()]
        return [one.tolist() for one in model.parameters()], momentum, optimizer.param_groups[0]["lr"]

    return f, state


PROGRAMS = [
    class_of_a_value,
    local_class,
    module_in_a_package,
    module_imported_inside,
    bytes_and_arrays,
    context_variable,
    logger,
    scheduled_optimizer,
]


def traced(function: Callable[..., Any], calls: int = 2) -> tw.Trace:
    compiled = tw.compile(function, backend="eager")
    with tw.record() as trace:
        for number in range(calls):
            compiled(torch.ones(3) * (number + 1))
    return trace


@pytest.mark.usefixtures("nothing_frozen")  # functions are found by Python's collector
@pytest.mark.parametrize("create", PROGRAMS)
def test_state_stays_however_it_is_reached(create: Callable[[], Program]) -> None:
    function, state = create()
    trace = traced(function)
    before = state()
    fixes = trace.try_fixes()
    assert state() == before
    assert fixes.before is not None, str(fixes)
    assert fixes.notes == []


def test_a_database_is_not_written_to() -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute("create table t (a)")

        def f(x: torch.Tensor) -> torch.Tensor:
            database.execute("insert into t values (1)")
            return x * 2

        trace = traced(f)
        said = "The calls use an object of sqlite3.Connection, which cannot be copied, and which they would change."
        assert trace.try_fixes().notes == [f"{said} So nothing can be tried."]
        assert database.execute("select count(*) from t").fetchone() == (2,)


def test_functions_that_were_imported_by_name_are_not_repeated() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        Path(path).write_text("text")

        def f(x: torch.Tensor) -> torch.Tensor:
            removes_file(path)
            return x * 2

        trace = traced(f, 1)
        Path(path).write_text("text")
        assert trace.try_fixes().notes == [
            f"Repeated, the calls would remove `{path}` again. So nothing can be tried."
        ]
        assert os.path.exists(path)
    assert removes_file is os.remove


DUMPS: list[str] = []


def dumped(x: torch.Tensor) -> torch.Tensor:
    Path(DUMPS[0]).write_text("large")
    return x


def dumps_rarely(x: torch.Tensor) -> torch.Tensor:
    y = dumped(x) if x.sum() > 1000 else x * 2
    return y


def test_a_branch_that_writes_a_file_is_not_run_to_try_something() -> None:
    with tempfile.TemporaryDirectory() as folder:
        DUMPS[:] = [os.path.join(folder, "dump")]
        (problem,) = traced(dumps_rarely).try_fixes().problems
        assert {one.verdict for one in problem.tried} == {"not tried"}
        assert all("open" in one.why and DUMPS[0] in one.why for one in problem.tried)
        assert not os.path.exists(DUMPS[0])


NAMED = (one for one in range(3))  # cannot be copied


class Named:
    NAMED = 2.0


def test_a_global_with_the_name_of_an_attribute_is_not_used() -> None:
    held = Named()
    fixes = traced(lambda x: x * held.NAMED).try_fixes()
    assert fixes.before is not None, str(fixes)
    assert next(NAMED) == 0

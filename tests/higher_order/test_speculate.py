"""Bodies that are given up leave nothing behind, and what is refused in them is told with operator and function."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch
from torch._higher_order_ops.wrap import wrap

import tracer_core
from tests.higher_order.three_ways import refused, same_three_ways, torch_refuses
from tests.variables.whole_state import State
from tracer_core.errors import Unsupported
from tracer_core.higher_order import cond, speculate

pytestmark = pytest.mark.row("H1", "O2")

KEPT: list[Any] = []
SETTINGS = {"a": 1}
COUNT = 0


class Holder:
    """An object that bodies change."""

    def __init__(self) -> None:
        self.value: Any = 1


HOLDER = Holder()


def double(a: torch.Tensor) -> torch.Tensor:
    return a * 2


def prints(a: torch.Tensor) -> torch.Tensor:
    b = a.sin() + a.size(0)
    print(b)
    return b


def appends(a: torch.Tensor) -> torch.Tensor:
    KEPT.append(a)
    return a + 1


def sets_an_item(a: torch.Tensor) -> torch.Tensor:
    SETTINGS["b"] = 2
    return a + 1


def sets_an_attribute(a: torch.Tensor) -> torch.Tensor:
    HOLDER.value = a
    return a + 1


def writes_a_global(a: torch.Tensor) -> torch.Tensor:
    global COUNT
    COUNT += 1
    return a + 1


def draws(a: torch.Tensor) -> torch.Tensor:
    return a + random.random()


def changes_a_setting(a: torch.Tensor) -> torch.Tensor:
    torch.set_default_dtype(torch.float64)
    return a + 1


def raises(a: torch.Tensor) -> torch.Tensor:
    raise ValueError("no")


def branches(a: torch.Tensor) -> torch.Tensor:
    return a + 1 if a.sum() > 0 else a - 1


def returns_an_object(a: torch.Tensor) -> Any:
    return Holder()


REFUSED: dict[Callable[..., Any], str] = {
    prints: "prints",
    appends: "KEPT",
    sets_an_item: "SETTINGS",
    sets_an_attribute: "HOLDER",
    writes_a_global: "COUNT",
    draws: "random",
    changes_a_setting: "leaves torch.get_default_dtype() changed",
    raises: "ValueError",
    branches: "branches on the value",
    returns_an_object: "Holder",
}


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body.__name__)
def test_a_refused_body_is_told_with_operator_function_and_line(body: Callable[..., Any]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, body, double, (x,)) + 1

    arguments = lambda: (torch.ones(3),)
    error = refused(program, arguments)
    if body is not changes_a_setting:  # torch.compile takes it, and leaves the setting changed either way
        torch_refuses(program, arguments)
    said = str(error)
    assert "torch.cond" in said
    assert body.__name__ in said
    assert REFUSED[body] in said
    assert f'File "{__file__}", line ' in said
    assert "Try: " in said


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body.__name__)
def test_a_refused_body_leaves_nothing_behind(body: Callable[..., Any]) -> None:
    wrong: list[str] = []
    tried = 0
    plain = speculate.speculate_subgraph

    def watched(tx: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal tried
        before = State(tx)
        try:
            return plain(tx, *args, **kwargs)
        except Unsupported:
            tried += 1
            wrong.extend(before.differences(State(tx)))
            raise

    def program(x: torch.Tensor) -> torch.Tensor:
        own = [x.cos()]
        own.append(own[0] * 2)
        return torch.cond(x.sum() > 0, double, lambda a: body(a + own[1]), (x,)) + 1

    with mock.patch.object(cond, "speculate_subgraph", watched):
        refused(program, lambda: (torch.ones(3),))
    assert tried == 1 or body is returns_an_object
    assert wrong == []


def test_a_body_may_change_what_it_creates_and_put_back_what_it_changes() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        stack = [x]

        def body(a: torch.Tensor) -> torch.Tensor:
            own = [a]
            own.append(a + 1)
            stack.append(own[1])
            b = stack[0] * stack.pop()
            with torch.no_grad():
                return b + own.pop()

        return torch.cond(x.sum() > 0, body, double, (x,)) + 1

    # torch.compile refuses to change a list of the code around, even where it is put back.
    x = torch.ones(3)
    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    assert torch.equal(compiled(x), x * (x + 1) + (x + 1) + 1)
    assert torch.equal(compiled(-x), -2 * x + 1)


def test_a_body_may_put_back_a_global() -> None:
    def body(a: torch.Tensor) -> torch.Tensor:
        global COUNT
        before, COUNT = COUNT, COUNT + 1
        b = a * COUNT
        COUNT = before
        return b

    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, body, double, (x,)) + COUNT

    x = torch.ones(3)
    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    assert torch.equal(compiled(x), x * (COUNT + 1) + COUNT)
    assert torch.equal(compiled(-x), -2 * x + COUNT)


def test_what_a_body_computed_goes_on_outside() -> None:
    def body(a: torch.Tensor, k: int) -> dict[str, Any]:
        b = a * k
        return {"b": b, "c": [b + 1, k], "a": a}

    def program(x: torch.Tensor) -> Any:
        y = x.sin()
        out = wrap(body, y, 3)
        again = wrap(lambda z: (wrap(double, z) + out["b"], y), out["c"][0])
        return again[0] + out["b"].sum(), out, out["a"] is y

    same_three_ways(program, lambda: (torch.ones(3, requires_grad=True),), graphs=False)


def writes_to_its_input(a: torch.Tensor) -> torch.Tensor:
    b = a.sin()
    b.add_(1)
    a.add_(1)  # the cause
    b.mul_(2)
    return b


def test_a_refused_write_is_told_with_its_line() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, writes_to_its_input, double, (x,)) + 1

    arguments = lambda: (torch.ones(3),)
    torch_refuses(program, arguments)
    assert line_of(refused(program, arguments)) == line_of_the_cause(writes_to_its_input)


def test_a_write_in_an_inner_body_is_told_with_its_line() -> None:
    def around(a: torch.Tensor) -> torch.Tensor:
        c = a.cos()
        d = wrap(writes_to_its_input, a)
        return c.add_(d)

    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, around, double, (x,)) + 1

    assert line_of(refused(program, lambda: (torch.ones(3),))) == line_of_the_cause(writes_to_its_input)


def test_a_refused_change_of_a_local_list_is_told_with_its_line() -> None:
    def program(x: torch.Tensor) -> Any:
        kept: list[torch.Tensor] = []

        def keeps(a: torch.Tensor) -> torch.Tensor:
            b = a * 2
            kept.append(b)
            return b + 1

        return torch.cond(x.sum() > 0, keeps, double, (x,)), kept

    arguments = lambda: (torch.ones(3),)
    torch_refuses(program, arguments)
    assert line_of(refused(program, arguments)) == program.__code__.co_firstlineno + 5


def test_a_hint_is_given_once_however_deep_the_bodies() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        def middle(a: torch.Tensor) -> torch.Tensor:
            return torch.cond(a.max() > 0, branches, double, (a,))

        return torch.cond(x.sum() > 0, lambda a: wrap(middle, a), double, (x,))

    hints = [line for line in str(refused(program, lambda: (torch.ones(3),))).splitlines() if "Try: " in line]
    assert len(hints) == len(set(hints)) > 1


def line_of(error: Exception) -> int:
    """Return the line that a message names."""
    found = re.search(r'File ".*", line (\d+)', str(error))
    assert found is not None
    return int(found[1])


def line_of_the_cause(function: Callable[..., Any]) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(at for at, line in enumerate(lines) if "# the cause" in line)

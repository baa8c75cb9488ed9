"""What a Function raises, where it breaks the graph, and what is refused, by name."""

from __future__ import annotations

import inspect
from typing import Any
from unittest import mock

import pytest
import torch
from torch.autograd import Function

import tracer_core
from tests.higher_order.autograd_programs import (
    SEEN,
    Double,
    captured,
    leaf,
    one,
)
from tests.higher_order.three_ways import agree, outcome, refused, torch_refuses
from tests.variables.whole_state import State
from tracer_core.higher_order import autograd_function
from tracewalk import record

pytestmark = pytest.mark.row("H14")


# --- exceptions and breaks ----------------------------------------------------------------------------------


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        SEEN.append("forward")
        raise LookupError("no forward", x.shape[0])

    @staticmethod
    def backward(ctx, g):
        return g


def test_what_forward_raises_is_raised_at_the_call() -> None:
    def program(x):
        SEEN.clear()
        y = x * 2
        try:
            y = Fails.apply(y)
        except LookupError as error:
            return y + 1, error.args, list(SEEN)
        return y

    captured(program, one, as_torch=False)


class BreaksForward(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        if y.sum() > 0:  # forward breaks
            return y
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 2


class BreaksBackward(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        SEEN.append("backward")  # backward breaks
        return g * 2


class RaisesBackward(BreaksForward):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise KeyError("no gradient")  # backward raises


@pytest.mark.parametrize(
    ("function", "method", "says"),
    [
        (BreaksForward, "forward", "# forward breaks"),
        (BreaksBackward, "backward", "# backward breaks"),
        (RaisesBackward, "backward", "# backward raises"),
    ],
)
def test_a_break_inside_names_function_method_and_line(function: Any, method: str, says: str) -> None:
    def program(x):
        y = x + 1
        return function.apply(y) * 2

    error = refused(program, one)
    torch_refuses(program, one)
    assert error.reason_id == "body-breaks"
    assert f"{function.__qualname__}.apply needs {function.__qualname__}.{method} as one graph" in str(error)
    source, first = inspect.getsourcelines(getattr(function, method))
    line = first + next(place for place, text in enumerate(source) if says in text)
    assert f'File "{__file__}", line {line}' in str(error)
    assert "Try: " in str(error)
    if function is not RaisesBackward:
        compiled = tracer_core.compile(program, backend="eager")
        with record() as trace:
            agree(outcome(compiled, one), outcome(program, one))
        assert {broken.reason_id for broken in trace.breaks} >= {"body-breaks"}


@pytest.mark.parametrize("function", [BreaksForward, BreaksBackward, RaisesBackward])
def test_a_break_leaves_nothing_behind(function: Any) -> None:
    wrong: list[str] = []
    tried = 0
    plain = autograd_function._captured

    def watched(tx: Any, *given: Any) -> Any:
        nonlocal tried
        before = State(tx)
        mark = tx.trace.mark()
        try:
            return plain(tx, given[0], mark)
        except tracer_core.Unsupported:
            tried += 1
            tx.trace.roll_back(mark)
            wrong.extend(before.differences(State(tx)))
            raise

    def program(x):
        own = [x.cos()]
        return function.apply(own[0] * x.shape[0]) * 2

    with mock.patch.object(autograd_function, "_captured", watched):
        refused(program, one)
    assert tried > 0
    assert wrong == []


def refusing(**parts: Any) -> Any:
    """Return a Function with these parts."""
    plain = {"forward": lambda ctx, x: x * 2, "backward": lambda ctx, g: g * 2}
    methods = {name: staticmethod(part) if callable(part) else part for name, part in (plain | parts).items()}
    return type("Refused", (Function,), methods)


def _unmaterialized(ctx: Any, x: Any) -> Any:
    ctx.set_materialize_grads(False)
    return x * 2, x * 3


def _dirty_and_not_returned(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    x.add_(1)
    return x * 2


def _saves_a_number(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x, 3)
    return x * 2


def _returns_twice(ctx: Any, x: Any) -> Any:
    y = x * 2
    return y, y


GIVEN = torch.ones(2, 3)
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"forward": _unmaterialized, "backward": lambda ctx, g, h: g * 2}, "set_materialize_grads"),
    ({"forward": _dirty_and_not_returned}, "does not return"),
    ({"forward": _saves_a_number}, "save_for_backward"),
    ({"forward": _returns_twice, "backward": lambda ctx, g, h: g + h}, "twice"),
    ({"forward": lambda ctx, x: GIVEN}, "none of its arguments"),
    ({"backward": lambda ctx, g: (g, g)}, "returns 2 gradients for 1"),
    ({"backward": lambda ctx, g: ()}, "returns 0 gradients for 1"),
    ({"backward": lambda ctx, g: 3}, "returns an int as a gradient"),
    ({"jvp": lambda ctx, t: t * 2}, "jvp of its own"),
    ({"vjp": lambda ctx, g: g * 2}, "vjp of its own"),
    ({"clear_saved_tensors_on_access": True}, "clear_saved_tensors_on_access"),
    ({"forward": lambda ctx, x, *, k=2: x * k}, "by name alone"),
]


@pytest.mark.parametrize(("parts", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_cannot_be_captured_is_refused_by_name(parts: dict[str, Any], says: str) -> None:
    function = refusing(**parts)

    def program(x):
        y = x + 1
        if "name alone" in says:
            return function.apply(x=y)
        result = function.apply(y)
        return result[0] if "materialize" in says else result

    error = refused(program, one)
    assert error.reason_id == "autograd-function"
    assert "Refused.apply" in str(error)
    assert says in str(error)
    found = []
    for called in (program, tracer_core.compile(program, backend="eager")):
        try:
            found.append(outcome(called, one))
        except (RuntimeError, TypeError) as raised:
            found.append((type(raised), str(raised)))
    agree(found[1], found[0])


@pytest.mark.parametrize("needs", [True, False])
def test_a_context_that_is_kept_is_autograds_own(needs: bool) -> None:
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            SEEN.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    SEEN.clear()
    result = tracer_core.compile(lambda x: Keeps.apply(x), backend="eager")(leaf(3).requires_grad_(needs))
    (ctx,) = SEEN
    assert (result.grad_fn is ctx) is needs
    assert "keeps ctx" in str(refused(lambda x: Keeps.apply(x), one))


def test_an_input_that_is_returned_and_saved_apart_from_forward() -> None:
    class Saves(Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return g

    for arguments in (one, lambda: (leaf(3).detach(),)):
        assert "Saves.apply" in str(refused(lambda x: Saves.apply(x), arguments))
        for call in (Saves.apply, tracer_core.compile(lambda x: Saves.apply(x), backend="eager")):
            with pytest.raises(RuntimeError, match="saved for backward"):
                call(*arguments())


def test_running_backward_compiles_nothing() -> None:
    def program(x):
        Double.apply(x).sum().backward()
        return x.grad + 1

    x = leaf(2, 3)
    with record() as trace:
        found = tracer_core.compile(program, backend="eager")(x)
    assert len(trace.graphs) == 2
    assert {broken.reason_id for broken in trace.breaks} == {"autograd-call"}
    torch.testing.assert_close(found, x.detach() * 10 + 1)


def test_another_backward_is_another_graph() -> None:
    class Changing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    compiled = tracer_core.compile(lambda x: Changing.apply(x), backend="eager", fullgraph=True)
    (gradient,) = outcome(compiled, one)[2]
    Changing.backward = staticmethod(lambda ctx, g: g * 7)  # type: ignore[method-assign]
    (other,) = outcome(compiled, one)[2]
    torch.testing.assert_close(other, gradient / 2 * 7)

"""The causes of recompilations: what changed, in which calls, the line it matters to, and what to try."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tracer_core
import tracewalk as tw
from tracer_core.observer import observing
from tracer_core.recording import Recorder, Trace, schema
from tracer_core.recording.recompiling import nearest_version, rounded
from tracer_core.recording.views import meta_view

X = torch.ones(3)


def recorded(function: Callable[..., Any], *calls: Any, **options: Any) -> Trace:
    """Record calls; a function among them is an action of the program between calls."""
    tracer_core.reset()
    compiled, recorder = tracer_core.compile(function, backend="eager", **options), Recorder()
    with observing(recorder):
        for args in calls:
            args() if callable(args) else compiled(*args)
    return Trace(recorder.finish())


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.scale = 0.1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        if self.steps % 2:
            x = x * 2
        return x * self.scale


class Chatty(nn.Module):
    """Counts its calls before and after a break, which leaves a value that no variable holds."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def doubled(self, x: torch.Tensor) -> torch.Tensor:
        print("doubled")
        return x * 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return torch.cat([self.doubled(x), x]) * self.steps


def test_a_function_and_its_rest_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    trace = recorded(Chatty(), (torch.ones(3, 2),), (torch.ones(4, 2),))
    causes = {cause.source: cause for cause in trace.recompilations}
    broken = Chatty.forward.__code__.co_firstlineno + 2
    rest = f"`Chatty.forward`, after line {broken}"
    assert causes["self.steps"].text == (
        f"`self.steps` changed in 1 call of Chatty.forward (2), and in 1 call of {rest} (2)"
    )
    assert causes["self.steps"].change == (
        f"In Chatty.forward it was 0 when it was compiled, then 1. In {rest}, it was 1 when it was compiled, then 2."
    )
    name = f"the result of `self.doubled(x)`, test_recompilations.py:{broken}"
    assert causes[name].text == f"{name}, changed in 1 call of {rest} (2)"
    assert causes[name].remedies == [
        f"Remove the break at line {broken}, which passes {name}, from one graph to the next.",
        "Compile with `dynamic=True`.",
        f"Pad the inputs that {name}, is computed from to one shape.",
    ]
    assert causes["x"].remedies[0] == "Mark the dimension of `x` that varies with `torch._dynamo.mark_dynamic`."


def test_a_counter_of_a_module() -> None:
    counter = Counter()
    trace = recorded(counter, (X,), (X,), lambda: setattr(counter, "scale", 0.1 * 3), (X,))
    steps, scale = trace.recompilations
    assert steps.text == "`self.steps` changed in 2 calls of Counter.forward (2, 3)"
    assert steps.change == "It was 0 when it was compiled, then 1, then 2."
    assert steps.line == "self.steps += 1"
    assert steps.place is not None and steps.place.line == Counter.forward.__code__.co_firstlineno + 1
    assert any("buffer" in remedy for remedy in steps.remedies) and any(
        "outside" in remedy for remedy in steps.remedies
    )
    assert (steps.calls, steps.alone, steps.plain) == ([1, 2], 1, 0)
    assert scale.text == "`self.scale` changed in 1 call of Counter.forward (3)"
    assert scale.change == "It was 0.1 when it was compiled, then 0.3."
    assert (scale.calls, scale.alone) == ([2], 0)
    assert steps.guard is not None and trace.guards[steps.guard].step == steps.step


def test_print_says_the_same() -> None:
    counter = Counter()
    trace = recorded(counter, (X,), (X,))
    shown = str(trace)
    for cause in trace.recompilations:
        for words in (cause.text, cause.change, cause.line, *cause.remedies):
            assert words in shown
    assert meta_view(trace).recompilations == trace.recompilations


def test_every_guard_that_fails_is_kept() -> None:
    def f(x: torch.Tensor, n: int, mode: str) -> torch.Tensor:
        return x + n if mode == "add" else x * n

    trace = recorded(f, (X, 2, "add"), (torch.ones(4), 3, "mul"))
    (check,) = trace.calls[1].checks
    assert {failed.source for failed in check.failures} == {"L['x']", "L['n']", "L['mode']"}
    first = check.failures[0]
    assert (first.text, first.seen, first.guard) == (check.text, check.seen, check.failed)
    assert len(trace.recompilations) == 3


def test_parts_of_a_value_that_failed_are_left_out() -> None:
    trace = recorded(lambda pair: pair[0] + pair[1], ([X, X],), ((X, X),))
    (check,) = trace.calls[1].checks
    assert [(failed.kind, failed.source) for failed in check.failures] == [("TYPE", "L['pair']")]


def test_the_version_that_came_nearest_gives_the_cause() -> None:
    def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
        return x + 1 if flag else x - 1

    double = X.double()
    trace = recorded(f, (X, True), (X, False), (double, False))
    nearest = nearest_version(trace.calls[2])
    assert nearest is not None and nearest.version == 2
    assert [cause.source for cause in trace.recompilations] == ["flag", "x"]
    assert [cause.calls for cause in trace.recompilations] == [[1], [2]]


def test_a_version_that_fits_is_no_recompilation() -> None:
    trace = recorded(lambda x, flag: x + flag, (X, True), (X, False), (X, True), (X, False))
    assert [call.outcome for call in trace.calls] == ["compiled", "compiled", "reused", "reused"]
    (cause,) = trace.recompilations
    assert cause.calls == [1]


def test_calls_beyond_the_limit_are_counted() -> None:
    with pytest.warns(RuntimeWarning):
        trace = recorded(lambda x, mode: x + len(mode), (X, "a"), (X, "b"), (X, "c"), options={"cache_size_limit": 2})
    (cause,) = trace.recompilations
    assert (cause.calls, cause.plain) == ([1, 2], 1)
    assert cause.change.endswith("1 of these calls ran as plain Python: there were too many versions.")


def test_a_resume_function_counts_as_its_function() -> None:
    def f(x: torch.Tensor, n: str) -> torch.Tensor:
        print(end="")
        return x + len(n)

    trace = recorded(f, (X, "a"), (X, "b"))
    assert all(trace.function_of(cause.code).name == "f" for cause in trace.recompilations)


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value


def _with_hook() -> nn.Module:
    module = nn.Linear(3, 3)
    module.register_forward_hook(lambda *_: None)
    return module


def _twice(items: Any) -> torch.Tensor:
    total = X
    for item in items:
        total = total + item
    return total


def _reads_default(holder: Holder) -> torch.Tensor:
    return X + getattr(holder, "extra", 0)


def _holder(**more: Any) -> Holder:
    holder = Holder(1)
    vars(holder).update(more)
    return holder


def _calls(inner: Callable[..., Any], x: torch.Tensor) -> torch.Tensor:
    return inner(x)  # type: ignore[no-any-return]


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "TYPE": (lambda pair: pair[0] + pair[1], ([X, X],), ((X, X),)),
    "NONE": (lambda x, m: x * 2 if m is None else x + m, (X, None), (X, X)),
    "CONSTANT": (lambda x, mode: x + len(mode), (X, "a"), (X, "bb")),
    "TENSOR": (lambda x: x + 1, (X,), (X.double(),)),
    "LENGTH": (_twice, ([X, X],), ([X, X, X],)),
    "DICT_KEYS": (lambda d: sum(d.values()), ({"a": X},), ({"b": X},)),
    "SET_ITEMS": (lambda s: X + sum(s), ({1, 2},), ({1, 3},)),
    "DICT_LACKS": (_reads_default, (_holder(),), (_holder(extra=2),)),
    "FUNCTION_CODE": (_calls, (lambda x: x + 1, X), (lambda x: x + 2, X)),
    "CALLS_FORWARD": (_calls, (nn.Linear(3, 3), X), (_with_hook(), X)),
    "DUPLICATE": (lambda a, b: (a.add_(1), b + 1), (X.clone(),) * 2, (X.clone(), X.clone())),
    "SHAPE": (lambda x: x + 1 if x.shape[0] < 10 else x - 1, (torch.ones(6),), (torch.ones(20),)),
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_each_kind_of_guard_has_a_cause_and_a_remedy(kind: str) -> None:
    function, first, second = PROGRAMS[kind]
    dynamic = True if kind == "SHAPE" else None
    trace = recorded(function, first, second, dynamic=dynamic)
    causes = [cause for cause in trace.recompilations if kind in cause.kinds]
    assert causes, [(cause.kinds, cause.text) for cause in trace.recompilations]
    for cause in causes:
        assert cause.remedies and all(cause.remedies)
        assert cause.text.count("`") == 2 and cause.change.endswith(".")
        assert "L['" not in "".join([cause.text, cause.change, *cause.remedies])


def test_no_grad_and_other_settings() -> None:
    def between() -> None:
        torch.set_grad_enabled(False)

    try:
        trace = recorded(lambda x: x + 1, (X,), between, (X,))
    finally:
        torch.set_grad_enabled(True)
    assert [cause.kinds for cause in trace.recompilations] == [["GLOBAL_STATE"]]
    assert trace.recompilations[0].remedies


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["x == 0.1", "it is 0.30000000000000004"], ["x == 0.1", "it is 0.3"]),
        (["x == 0.3", "it is 0.30000000000000004"], ["x == 0.3", "it is 0.30000000000000004"]),
        (["x == 12345678", "version 3.11"], ["x == 12345678", "version 3.11"]),
        (["x == 1.23456789e-05", "it is nan"], ["x == 1.235e-05", "it is nan"]),
    ],
)
def test_numbers_are_rounded_unless_they_would_look_alike(texts: list[str], expected: list[str]) -> None:
    assert rounded(texts) == expected


def test_the_table_and_a_file_have_the_failures(tmp_path: Any) -> None:
    trace = recorded(lambda x, n: x * len(n), (X, "a"), (torch.ones(4), "bb"))
    trace.save(tmp_path / "t.trace")
    from tracer_core.recording import load

    again = load(tmp_path / "t.trace")
    assert again.recompilations == trace.recompilations and len(again.recompilations) == 2
    assert isinstance(again.calls[1].checks[0].failures[0], schema.FailedGuard)


def test_a_partial_keeps_its_words() -> None:
    trace = recorded(functools.partial(lambda x, n: x * n, n=2), (X,), (torch.ones(4),))
    assert trace.recompilations[0].source == "x"


def _after_a_break(x: torch.Tensor) -> torch.Tensor:
    n, y = x.size(0), x + 1
    print(end="")
    return y * n + x


def _twice_in_a_line(x: torch.Tensor) -> torch.Tensor:
    return (print(end="") or x + 1) * (print(end="") or x.sum().item())  # type: ignore[func-returns-value]


def _loops(x: torch.Tensor) -> torch.Tensor:
    for i in range(3):
        x = x + i
        print(end="")
    return x


class Reads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + (print(end="") or x)  # type: ignore[func-returns-value]


def _line(function: Callable[..., Any], offset: int) -> int:
    return function.__code__.co_firstlineno + offset


def test_what_a_function_passes_to_its_rest_is_led_back_to_the_break() -> None:
    """Callers cannot mark, pass or pad it."""
    trace = recorded(_after_a_break, (torch.ones(3, 2),), (torch.ones(5, 2),))
    causes = {cause.source: cause for cause in trace.recompilations}
    remove = f"Remove the break at line {_line(_after_a_break, 2)}, which passes `{{}}` from one graph to the next."
    assert causes["y"].remedies == [
        remove.format("y"),
        "Compile with `dynamic=True`.",
        "Pad the inputs that `y` is computed from to one shape.",
    ]
    assert causes["n"].remedies == [
        remove.format("n"),
        "Keep `n` a tensor, if it is computed from one.",
        "Compile with `dynamic=True` if `n` varies from call to call.",
    ]
    assert "Mark the dimension of `x` that varies with `torch._dynamo.mark_dynamic`." in causes["x"].remedies


def test_which_break_of_a_line() -> None:
    trace = recorded(_twice_in_a_line, (torch.ones(3, 2),), (torch.ones(5, 2),))
    found = [remedy for cause in trace.recompilations for remedy in cause.remedies if remedy.startswith("Remove")]
    expected = f"Remove the third break of line {_line(_twice_in_a_line, 1)}, which passes "
    assert any(one.startswith(expected) for one in found), found


def test_items_of_a_loop_with_a_break() -> None:
    causes = recorded(_loops, (X,), (X,)).recompilations
    assert {kind for cause in causes for kind in cause.kinds} == {"CONSTANT", "UPCOMING"}
    for cause in causes:
        assert cause.remedies[0].startswith(
            f"Remove the break at line {_line(_loops, 3)}, which passes the next item"
        )
        assert not any("in a tensor" in remedy for remedy in cause.remedies)


def test_attributes_are_where_they_are_whatever_breaks() -> None:
    module = Reads()
    trace = recorded(module, (X,), lambda: setattr(module, "scale", 2.0), (X,))
    (cause,) = (cause for cause in trace.recompilations if "scale" in cause.source)
    assert cause.remedies[0].startswith("Keep `self.scale` in a tensor")


def test_arrays_are_named_instead_of_their_tensors() -> None:
    (cause,) = recorded(lambda a: torch.from_numpy(a) * 2, (np.ones(3),), (np.ones(4),)).recompilations
    assert cause.remedies == ["Compile with `dynamic=True`.", "Pad `a` to one shape."]


def test_a_function_that_needs_no_graph_is_not_over_the_limit() -> None:
    (cause,) = recorded(lambda x, flag: x * 2 if flag else x, (X, True), (X, False)).recompilations
    assert (cause.plain, cause.change) == (0, "It was True when it was compiled, then False.")


def test_an_int_and_a_float_are_told_apart() -> None:
    (cause,) = recorded(lambda x, n: x * n, (X, 2), (X, 2.0)).recompilations
    assert cause.change == "It was 2 when it was compiled, then 2.0."


def test_what_an_iterator_yields() -> None:
    (cause,) = recorded(lambda items: sum(items), (iter([X]),), (iter([X, X]),)).recompilations
    assert cause.text.startswith("the next items of `items` changed in 1 call of ")
    assert cause.change == "They were no more than 1 when it was compiled, then more than 1."


class _Warms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def test_dynamic_is_not_advised_for_numbers_of_modules() -> None:
    """They are never symbols, also with `dynamic=True`."""
    module = _Warms()
    compiled = tw.compile(module, backend="eager", dynamic=True)
    with tw.record() as trace:
        for number in range(3):
            module.factor = 1.5 + number
            compiled(X)
    (cause,) = trace.recompilations
    assert len(cause.calls) == 2
    assert cause.remedies == [
        "Keep `self.factor` in a tensor (in a module: a buffer) and update that in place.",
        "Keep what counts or schedules `self.factor` outside the compiled function.",
    ]


def _prints(x: torch.Tensor) -> torch.Tensor:
    print(end="")
    return x * 2


def _passes_two_results(x: torch.Tensor) -> torch.Tensor:
    h = _prints(x) + 1
    n = h.norm().item()
    return h / n


def test_the_results_of_two_breaks_are_two_causes() -> None:
    """Both are on the stack, but one is a tensor and the other a number."""
    causes = recorded(_passes_two_results, (torch.ones(3, 2),), (torch.ones(5, 2),)).recompilations
    called, read = (
        next(cause for cause in causes if name in cause.source) for name in ("`_prints(x)`", "`h.norm().item()`")
    )
    assert called.change == "It was of shape [3, 2] when it was compiled, then of shape [5, 2]."
    assert "of shape" not in read.change
    assert not any("item()" in remedy for remedy in called.remedies)

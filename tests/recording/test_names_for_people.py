"""What stack items, resume functions and calls of modules are called in sentences, guards and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.conformance.texts import faults
from tracer_core.errors import Unsupported
from tracer_core.observer import observing
from tracer_core.recording import Recorder, Trace


class Experts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.experts = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _, expert in enumerate(self.experts):
            x = x + expert(x)
            print(end="")
        return x


HERE = "test_names_for_people.py"
FOR, PRINT = (Experts.forward.__code__.co_firstlineno + ahead for ahead in (1, 3))


def recorded(function: Callable[..., Any], *calls: tuple[Any, ...], **options: Any) -> Trace:
    tracer_core.reset()
    compiled, recorder = tracer_core.compile(function, backend="eager", **options), Recorder()
    with observing(recorder):
        for args in calls:
            compiled(*args)
    return Trace(recorder.finish())


@pytest.fixture(scope="module")
def trace() -> Trace:
    return recorded(Experts(), (torch.ones(3, 2),))


def test_nothing_in_it_has_a_name_of_ours(trace: Trace) -> None:
    assert faults(trace) == []


def test_the_next_item_of_an_iterator(trace: Trace) -> None:
    item = f"the next item of `enumerate(self.experts)`, {HERE}:{FOR}"
    texts = [guard.text for guard in trace.guards]
    assert f"type({item}) is tuple" in texts
    assert f"type(({item})[1]) is torch.nn.modules.linear.Linear" in texts
    assert f"len(the next items of `enumerate(self.experts)`, {HERE}:{FOR}) > 0" in texts
    failed = [check for call in trace.calls for check in call.checks if not check.reused]
    assert [check.text for check in failed] == [f"len(the next items of `enumerate(self.experts)`, {HERE}:{FOR}) > 0"]
    assert [check.seen for check in failed] == ["there are 0"]


def test_the_rest_of_a_function(trace: Trace) -> None:
    rest = f"`Experts.forward`, after line {PRINT}"
    assert rest in {trace.codes[call.code].qualname for call in trace.calls}
    assert any(f"the rest of the function ({rest}) is traced separately" in broken.action for broken in trace.breaks)
    assert f"\n    {rest}: 1 version." in str(trace)
    assert trace.find(function="forward", line=FOR)


def test_calls_of_modules_are_named_after_the_class(trace: Trace) -> None:
    names = {trace.codes[call.code].qualname for call in trace.calls}
    assert "Experts.forward" in names
    inlined = {code.qualname for step in trace.steps for code in step.inlined}
    assert "Linear.forward" in inlined
    assert not any("_call_impl" in code.qualname for code in trace.codes)
    called = Recorder()
    called.on_call(torch.nn.Module._wrapped_call_impl.__code__, "Experts")
    assert "Experts.__call__ (module.py:" in str(Trace(called.finish()))


def test_an_item_that_no_variable_holds() -> None:
    def function(x: torch.Tensor) -> Any:
        return x.sum().item() + torch.ones(1), float(len([print(end="")]))

    line = function.__code__.co_firstlineno + 1
    made = recorded(function, (torch.ones(2),), (torch.ones(2) * 2,))
    assert f"(the result of `x.sum().item()`, {HERE}:{line})" in " ".join(guard.text for guard in made.guards)
    assert faults(made) == []


def test_a_symbol_comes_with_what_it_stands_for() -> None:
    def function(x: torch.Tensor) -> Any:
        return x.view(x.size(0), 1).expand(x.size(0), 2) * 2

    made = recorded(function, (torch.ones(3),), (torch.ones(4),))
    (symbol,) = {symbol.name for symbol in made.symbols}
    said = [step.sentence for step in made.steps if symbol in step.sentence]
    assert said and all(f"{symbol} = x.size(0)" in text or f"symbol {symbol} (x" in text for text in said)
    assert faults(made) == []


def test_a_message_says_what_a_symbol_stands_for() -> None:
    def function(x: torch.Tensor) -> Any:
        return torch.ones(x.size(0), 0).expand(x.size(0), 0).add(1).stride()

    compiled = tracer_core.compile(function, backend="eager", dynamic=True, fullgraph=True)
    with pytest.raises(Unsupported, match=r"f32\[(s\d+), 0\]\) \(\1 = x\.size\(0\)\)\."):
        compiled(torch.ones(3))


def test_objects_are_told_apart_without_their_addresses() -> None:
    made = recorded(lambda x, d: x + len(d), (torch.ones(2), {object(): 1}), (torch.ones(2), {object(): 1}))
    failed = [check for call in made.calls for check in call.checks if not check.reused]
    assert failed[0].text == "list(d) == [an object of object]"
    assert failed[0].seen == "it has other keys, [an object of object]"


def test_what_a_method_on_the_stack_is_bound_to() -> None:
    def program(x):
        found = []
        found.append(x.sum().item())
        return found, x + len(found)

    trace = recorded(program, (torch.ones(3),))
    texts = [guard.text for guard in trace.guards]
    receiver = f"`found`, {HERE}:{program.__code__.co_firstlineno + 2}"
    assert {f"type({receiver}) is list", f"len({receiver}) == 0"} <= set(texts)
    assert not any("__self__" in text for text in texts)
    assert faults(trace) == []

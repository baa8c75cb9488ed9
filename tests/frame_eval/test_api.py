"""`compile`, `disable`, `reset` as people use them."""

from __future__ import annotations

import copy
import functools
import io
import pickle
from typing import Any

import pytest
import torch

import tracer_core
from tests.frame_eval.stand_in import renamed, tracing
from tests.frame_eval.test_hook import inner, name_of_caller, outer
from tracer_core import Unsupported
from tracer_core.frame_input import CompiledFrame, FrameInput

eager = functools.partial(tracer_core.compile, backend="eager", options={"raise_internal_faults": True})


def same_code(frame: FrameInput) -> CompiledFrame:
    return CompiledFrame(frame.code, [])


def test_keeps_what_a_function_is() -> None:
    def function(a: int, b: str = "x") -> str:
        """Says it."""
        return b * a

    function.extra = 3  # type: ignore[attr-defined]
    compiled = eager(function)
    assert (compiled.__name__, compiled.__doc__, compiled.__wrapped__) == ("function", "Says it.", function)
    assert compiled.extra == 3
    assert compiled.__annotations__ == function.__annotations__
    with tracing(same_code):
        assert compiled(2) == "xx"
        assert compiled(b="y", a=1) == "y"


def test_as_a_decorator_with_and_without_arguments() -> None:
    @tracer_core.compile
    def bare(n: int) -> str:
        return name_of_caller()

    @tracer_core.compile(backend="eager", dynamic=True)
    def called(n: int) -> str:
        return name_of_caller()

    with tracing() as tracer:
        assert bare(1) == "bare_1"
        assert called(1) == "called_1"
    assert tracer.frames[0].config.dynamic is None
    assert [frame.config.dynamic for frame in tracer.frames if frame.code.co_name == "called"] == [True]


class Adder:
    offset = 10

    @tracer_core.compile(backend="eager")
    def add(self, n: int) -> Any:
        return self.offset + n, name_of_caller()

    @classmethod
    def by_class(cls, n: int) -> Any:
        return cls.offset + n, name_of_caller()

    @staticmethod
    def by_nobody(n: int) -> Any:
        return n, name_of_caller()

    def __call__(self, n: int) -> Any:
        return self.offset - n, name_of_caller()

    compiled_class = tracer_core.compile(by_class, backend="eager")
    compiled_static = tracer_core.compile(by_nobody, backend="eager")


def test_methods_of_every_sort() -> None:
    adder = Adder()
    with tracing():
        assert adder.add(1) == (11, "add_1")
        assert Adder.add(adder, 1) == (11, "add_1")
        assert Adder.compiled_class(1) == (11, "by_class_1")
        assert adder.compiled_class(1) == (11, "by_class_1")
        assert Adder.compiled_static(1) == (1, "by_nobody_1")
        assert adder.compiled_static(1) == (1, "by_nobody_1")
        assert eager(adder.by_nobody)(2) == (2, "by_nobody_1")
        assert eager(adder)(1) == (9, "__call___1")
        assert eager(functools.partial(adder, n=2))() == (8, "__call___2")


def test_compiling_twice_is_compiling_once() -> None:
    once = eager(inner)
    twice = eager(once)
    assert twice.__wrapped__ is inner
    adder = Adder()
    again = eager(adder.add)
    with tracing() as tracer:
        assert once(1) == twice(1) == ["inner_1"]
        assert again(1) == (11, "add_1")
    assert len([1 for frame in tracer.frames if frame.code is inner.__code__]) == 1


def test_a_user_s_wrapper_of_a_compiled_function_is_kept() -> None:
    compiled = eager(inner)

    @functools.wraps(compiled)
    def shouting(n: int) -> str:
        return str(compiled(n)).upper()

    with tracing():
        assert eager(shouting)(1) == "['INNER_1']"


def test_disable_keyword_gives_the_function_back() -> None:
    assert tracer_core.compile(inner, backend="eager", disable=True) is inner


def test_disabled_functions_run_plainly_with_all_they_call() -> None:
    plain = tracer_core.disable(outer)

    def function(n: int) -> Any:
        return [*plain(n), *inner(n), name_of_caller()]

    with tracing():
        assert eager(function)(1) == ["inner", "outer", "inner_1", "function_1"]
        assert eager(plain)(1) == ["inner", "outer"]
    assert plain.__name__ == "outer"
    assert tracer_core.disable(eager(inner)).__wrapped__ is inner


def test_disabled_still_so_after_reset() -> None:
    plain = tracer_core.disable(inner)
    with tracing():
        assert eager(lambda n: plain(n))(1) == ["inner"]
        tracer_core.reset()
        assert eager(lambda n: plain(n))(1) == ["inner"]


def test_what_cannot_be_compiled_is_said() -> None:
    with pytest.raises(TypeError, match="Adder is a class"):
        eager(Adder)
    with pytest.raises(TypeError, match="not int"):
        eager(3)
    with pytest.raises(TypeError, match="dynamic="):
        tracer_core.compile(inner, backend="eager", dynamic="yes")  # type: ignore[call-overload]


def generator() -> Any:
    yield 1


def test_the_whole_function_cannot_be_promised_for_what_is_never_traced() -> None:
    with pytest.raises(Unsupported) as caught:
        tracer_core.compile(generator, backend="eager", fullgraph=True)
    assert caught.value.reason_id == "frame-generator"
    assert list(eager(generator)()) == [1]


# --- modules ----------------------------------------------------------------------------------------------


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.calls: list[str] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.append(name_of_caller())
        return self.linear(x)  # type: ignore[no-any-return]

    def train(self, mode: bool = True) -> Any:
        self.calls.append(f"train {mode}")
        return super().train(mode)

    def described(self) -> str:
        return f"{type(self).__name__} {self.training}"


def test_a_module_is_called_through_the_compiler() -> None:
    model = Model()
    compiled = eager(model)
    x = torch.ones(1, 2)
    with tracing(lambda f: renamed(f) if f.code is Model.forward.__code__ else same_code(f)) as tracer:
        assert torch.equal(compiled(x), model.linear(x))
    assert model.calls == ["forward_1"]
    assert tracer.frames[0].locals["self"] is model, "the original is what is traced"


def test_a_compiled_module_is_the_module() -> None:
    model = Model()
    compiled: Any = eager(model)
    assert isinstance(compiled, Model)
    assert isinstance(compiled, torch.nn.Module)
    assert repr(compiled) == repr(model)
    assert compiled.described() == "Model True"
    assert list(compiled.state_dict()) == ["linear.weight", "linear.bias"]
    assert compiled.linear is model.linear
    assert dict(compiled.named_modules()).keys() == dict(model.named_modules()).keys()
    assert compiled.eval() is compiled
    assert not model.training
    assert model.calls == ["train False"]
    compiled.added = 5
    assert model.added == 5
    model.register_buffer("extra", torch.ones(1))
    assert "extra" in compiled.state_dict()
    del compiled.added
    assert not hasattr(model, "added")
    compiled.load_state_dict(model.state_dict())
    compiled.to(torch.float64)
    assert model.linear.weight.dtype == torch.float64


def test_hooks_of_a_compiled_module_run() -> None:
    model = Model()
    compiled = eager(model)
    ran: list[str] = []
    compiled.register_forward_hook(lambda module, args, result: ran.append(type(module).__name__))
    with tracing(same_code):
        compiled(torch.ones(1, 2))
    assert ran == ["Model"]


def test_containers_keep_their_ways() -> None:
    compiled: Any = eager(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
    assert len(compiled) == 2
    assert [type(part).__name__ for part in compiled] == ["Linear", "ReLU"]
    assert compiled[0].out_features == 3
    with tracing(same_code):
        assert compiled(torch.ones(1, 2)).shape == (1, 3)


def test_a_compiled_module_inside_another() -> None:
    class Outer(torch.nn.Module):
        def __init__(self, part: torch.nn.Module) -> None:
            super().__init__()
            self.part = part

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.part(x)  # type: ignore[no-any-return]

    model = Model()
    whole = Outer(eager(model))
    assert list(whole.state_dict()) == ["part.linear.weight", "part.linear.bias"]
    with tracing(same_code) as tracer:
        assert torch.equal(whole(torch.ones(1, 2)), model.linear(torch.ones(1, 2)))
    assert ("forward", 1) in tracer.log


def test_copies_of_a_compiled_module_are_compiled() -> None:
    model = Model()
    deep = copy.deepcopy(eager(model))
    assert deep.linear.weight is not model.linear.weight
    assert torch.equal(deep.linear.weight, model.linear.weight)
    with tracing(same_code) as tracer:
        deep(torch.ones(1, 2))
    assert tracer.log[0] == ("forward", 1)


def test_pickling_says_what_to_do() -> None:
    with pytest.raises(TypeError, match="state_dict"):
        pickle.dumps(eager(Model()))
    buffer = io.BytesIO()
    torch.save(eager(Model()).state_dict(), buffer)


def test_a_class_does_not_notice_its_compiled_form() -> None:
    noticed: list[type] = []

    class Watching(torch.nn.Module):
        def __init_subclass__(cls, **kwargs: Any) -> None:
            noticed.append(cls)

    eager(Watching())
    assert noticed == []


def test_compiling_a_compiled_module_compiles_the_original() -> None:
    model = Model()
    again: Any = eager(eager(model))
    assert again._tracewalk_original is model


def test_a_disabled_module_runs_plainly() -> None:
    model = Model()
    plain = tracer_core.disable(model)
    with tracing(same_code) as tracer:
        eager(lambda x: plain(x))(torch.ones(1, 2))
    assert [name for name, _ in tracer.log] == ["<lambda>"]

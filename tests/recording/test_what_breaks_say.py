"""What people are told of a break: what they wrote, a reason that is true, and hints that fit."""

from __future__ import annotations

import io
import json
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad
from torch.nn.utils.rnn import pack_padded_sequence

import tracer_core
from tests.conformance.texts import faults
from tests.recording.test_names_for_people import recorded
from tracer_core.frame_eval.convert import prepare
from tracer_core.interpreter.ops import table
from tracer_core.reasons import REASONS


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] * 2 + x * 0


def total(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum()


def differentiated(x):
    return Double.apply(x)[0].sum().backward(), x.grad


def in_a_dual_level(x):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), torch.ones(3))
        print(end="")
        return forward_ad.unpack_dual(dual * dual).tangent


COMPILED = tracer_core.compile(torch.nn.Linear(3, 3), backend="eager")


@tracer_core.compile(backend="eager")
def compiled_on_its_own(x):
    return x * 2


def refused(program: Callable[..., Any]) -> Callable[..., Any]:
    def caught(x):
        try:
            return program(x)
        except (RuntimeError, ValueError):
            return x + 1

    return caught


LSTM = torch.nn.LSTM(1, 2)
LENGTHS = torch.tensor([3])
STATE = torch.get_rng_state()
OBJECTS = {object()}


SAID: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "saved tensors": (differentiated, ["The code reads ctx.saved_tensors in Double, a torch.autograd.Function."]),
    "dual level": (
        in_a_dual_level,
        ["The graph ends inside a block of torch.autograd.forward_ad.dual_level, which cannot be entered again"],
    ),
    "grad_fn": (lambda x: str(type((x * 2).grad_fn)), ["The code reads the attribute grad_fn of a tensor."]),
    "hook": (lambda x: (x * 2).register_hook(abs), ["The code uses the handle of a hook on a tensor"]),
    "leaf": (lambda x: x.detach().requires_grad_() * 2, ["The code calls the method requires_grad_ of a tensor."]),
    "text": (lambda x: f"{x.sum():.1f}", ["The code reads the data of a tensor (format() on f32[])."]),
    "int": (lambda x: x[: int(x.sum())], ["The code reads the data of a tensor (int() on f32[])."]),
    "memory": (lambda x: x.data_ptr() > 0, ["The code calls data_ptr on a tensor (f32[3])."]),
    "mask": (lambda x: x[x > 0] + 1, ["The result of indexing depends on the data"]),
    "unique": (lambda x: torch.unique(x.detach()), ["The result of unique depends on the data"]),
    "warning": (
        lambda x: (x + 1, warnings.warn("w", stacklevel=1)),
        ["The code calls warnings.warn, which runs as plain Python"],
    ),
    "lock": (
        lambda x: (x + 1, threading.Lock()),
        ["The code calls threading.Lock, which runs as plain Python"],
    ),
    "pickle": (
        lambda x: (x + 1, pickle.dumps(1)),
        ["The code calls pickle.dumps, which runs as plain Python"],
    ),
    "buffer": (lambda x: (x + 1, io.BytesIO()), ["The code calls io.BytesIO, which is not traced."]),
    "storage": (
        lambda x: (x + 1).untyped_storage().nbytes(),
        ["The code calls the method nbytes of an UntypedStorage, which is not traced with these arguments."],
    ),
    "how a tensor was created": (
        lambda x: (x + 1, x._is_view()),
        ["The code calls the method _is_view of a Tensor, which is not traced"],
    ),
    "reading a generator's state": (
        lambda x: (x + 1, torch.initial_seed(), torch.get_rng_state()),
        [
            f"The code calls torch.{name}, which runs as plain Python: it reads the state of a random generator."
            for name in ("initial_seed", "get_rng_state")
        ],
    ),
    "changing a generator's state": (
        lambda x: (x + 1, torch.random.fork_rng(devices=[]), torch.set_rng_state(STATE)),
        ["The code calls torch.set_rng_state, which runs as plain Python: it changes the state of random"],
    ),
    "attribute of an array": (
        lambda x: x.detach().numpy().base is None,
        ["The code reads the attribute base of an ndarray, which is not traced."],
    ),
    "truth of an array": (
        lambda x: 1 if x.detach().numpy().sum() else 0,
        ["The code needs the truth value of a NumPy value (numpy scalar f32[])."],
    ),
    "items of an array": (
        lambda x: list(x.detach().numpy()),
        ["The code needs the items of a NumPy value (array f32[3])."],
    ),
    "text of an array": (
        lambda x: f"{x.detach().numpy()!r}",
        ["The code turns array f32[3] into text, which is not traced."],
    ),
    "what the tracer does not compute of NumPy": (
        lambda x: np.roll(x.detach().numpy(), np.int64(1)),
        ["The code uses numpy.roll on these NumPy values, which is not traced."],
    ),
    "a string times a NumPy number": (
        lambda x: "ab" * x.detach().numpy().argmax(),
        ["The code uses the operator * on these NumPy values, which is not traced."],
    ),
    "a size that depends on the data": (
        lambda x: np.where(x.detach().numpy() > 0),
        ["The result of numpy.where depends on the data (the size of its result depends on the data)."],
    ),
    "a mask of an array": (
        lambda x: x.detach().numpy()[x.detach().numpy() > 0],
        ["The code uses indexing on these NumPy values, which is not traced."],
    ),
    "a method of an array": (
        lambda x: x.detach().numpy().cumsum(),
        ["The code uses numpy.ndarray.cumsum on these NumPy values, which is not traced."],
    ),
    "what NumPy refuses": (
        refused(lambda x: x.detach().numpy().reshape(7)),
        ["numpy.ndarray.reshape raises an error for these arguments: ValueError: cannot reshape array of size 3"],
    ),
    "what NumPy refuses of an operator": (
        refused(lambda x: x.detach().numpy() + np.ones(2)),
        ["The operator + raises an error for these arguments: ValueError: operands could not be broadcast together"],
    ),
    "what torch refuses of an operator": (
        refused(lambda x: x + torch.ones(2)),
        ["The operator + raises an error for these arguments: RuntimeError: Attempting to broadcast a dimension"],
    ),
    "tensors on two devices": (
        refused(lambda x: x + torch.ones(3, device="meta")),
        ["The operator + raises an error for these arguments: RuntimeError: Expected all tensors to be on the"],
    ),
    "a method of what cannot be traced": (
        lambda x: torch.quantize_per_tensor(x.detach(), 0.1, 0, torch.qint8).dequantize(),
        [", is a quantized tensor."],
    ),
    "set of objects": (
        lambda x: [x + 1 for _ in OBJECTS],
        ["is a set of objects, whose order depends on their addresses."],
    ),
    "script": (
        lambda x: torch.jit.script(torch.nn.ReLU())(x),
        ["is a ScriptMethod object, which is not traced."],
    ),
    "compiled module": (
        lambda x: COMPILED(x) + 1,
        ["The code calls a compiled module, which runs as plain Python: it was compiled on its own."],
    ),
    "compiled function": (
        lambda x: compiled_on_its_own(x) + 1,
        ["compiled_on_its_own, which runs as plain Python: it was compiled on its own."],
    ),
}


@pytest.mark.parametrize("name", SAID)
@pytest.mark.filterwarnings("ignore")
def test_sentences(name: str) -> None:
    program, expected = SAID[name]
    trace = recorded(program, (torch.ones(3, requires_grad=True),))
    messages = [broken.message for broken in trace.breaks]
    for sentence in expected:
        assert any(sentence in message for message in messages), messages
    assert faults(trace) == []


def test_nothing_breaks_where_nothing_is_in_the_way() -> None:
    """The text of a size that varies, and questions about classes."""
    program = lambda x: (x + 1, f"{x.shape} {x.size()!r} {str(x.shape)}", torch.is_storage(x))  # noqa: E731
    trace = recorded(program, (torch.ones(3, 5),), (torch.ones(4, 6),), dynamic=True)
    assert not trace.breaks
    compiled = tracer_core.compile(program, backend="eager", dynamic=True)
    for sizes in ((3, 5), (4, 6)):
        assert compiled(torch.ones(sizes))[1:] == program(torch.ones(sizes))[1:]
    assert tracer_core.compile(torch.is_storage, backend="eager")(torch.ones(2).untyped_storage())


def test_what_fakes_alone_raise_is_no_fault_of_the_arguments() -> None:
    """What torch's LSTM meets first in fakes of unknown sizes, it does not always say in the same way."""
    trace = recorded(lambda x: LSTM(pack_padded_sequence(x.reshape(3, 1, 1), LENGTHS))[0].data, (torch.ones(3),))
    (said,) = (broken.message for broken in trace.breaks if "lstm" in broken.message)
    depends = "The result of lstm depends on the data (it needs a size or number that depends on the data)."
    assert said in ("lstm cannot be traced on fake tensors.", depends)
    assert faults(trace) == []


def test_a_text_with_an_address_is_told_as_such() -> None:
    (broken, *_) = recorded(lambda x: (x + 1, f"{(i for i in (1, 2))}"), (torch.ones(3),)).breaks
    assert "into text, which contains its address." in broken.message


def test_hints_for_derivatives_and_for_vmap() -> None:
    assert "batch" in " ".join(REASONS["inside-vmap"].hints)
    assert "batch" not in " ".join(REASONS["inside-derivative"].hints)


def test_the_frames_of_a_transform_are_no_calls_of_the_program() -> None:
    def program(x):
        return torch.func.grad(total)(x) + 1

    trace = recorded(program, (torch.ones(3),))
    names = {trace.function_of(call.code).qualname for call in trace.calls}
    assert names == {program.__qualname__}


def test_the_recursion_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: Any) -> Any:
        return endless()

    def program(x):
        return x + 1

    prepare()  # all handlers are registered
    monkeypatch.setitem(table._handlers, "BINARY_OP", endless)
    program = type(program)(program.__code__.replace(), globals())  # not decoded with another handler
    trace = recorded(program, (torch.ones(2),))
    (broken,) = trace.breaks
    assert broken.reason_id == "recursion-limit"
    name = program.__code__.co_qualname
    assert broken.message == f"Python's recursion limit was reached while {name} was traced."


def test_a_library_function_is_a_call_where_it_is_what_was_compiled() -> None:
    trace = recorded(json.dumps, ({"a": 1},))
    (call,) = trace.calls
    assert (trace.codes[call.code].qualname, call.outcome) == ("dumps", "skipped")

"""Inputs of every make: the fake answers as the real tensor does, and so does the traced program."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.guards.static import static_tensor
from tests.side_by_side import Watch, agree
from tracer_core.graph.fakes import Fakes
from tracer_core.guards import compile_guards
from tracer_core.names.where import Where
from tracer_core.observer import observing
from tracer_core.sources import LocalSource


def numbers(*shape: int, grad: bool = False, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=dtype).reshape(shape).requires_grad_(grad)


def view_made_without_grad(n: int) -> torch.Tensor:
    base = numbers(n, 6, grad=True)
    with torch.no_grad():
        return base[:, :3]


def inference(n: int) -> torch.Tensor:
    with torch.inference_mode():
        return numbers(n, 3)


MADE: dict[str, Callable[[int], torch.Tensor]] = {
    "plain": lambda n: numbers(n, 3),
    "expanded": lambda n: numbers(3).expand(n, 3),
    "one element expanded": lambda n: torch.ones(1).expand(n),
    "transposed": lambda n: numbers(3, n).t(),
    "every second": lambda n: numbers(n, 6)[:, ::2],
    "overlapping": lambda n: numbers(3 * n).as_strided((n, 3), (1, 1)),
    "with an offset": lambda n: numbers(3 * n + 5)[5:].view(n, 3),
    "odd stride at size 1": lambda n: numbers(12 * n).as_strided((n, 1, 3), (7, 100, 1)),
    "channels last": lambda n: numbers(2, 3, n, 2).to(memory_format=torch.channels_last),
    "0-d": lambda n: torch.tensor(float(n)),
    "empty": lambda n: torch.empty(0, n),
    "negative view": lambda n: torch._neg_view(numbers(n, 3)),
    "conjugate": lambda n: numbers(n, 3).to(torch.complex64).conj(),
    "conjugate of a result": lambda n: numbers(n, 3, grad=True).to(torch.complex64).mul(2j).conj(),
    "imaginary part": lambda n: numbers(n, 3).to(torch.complex64).mul(1 + 2j).imag,
    "bool": lambda n: numbers(n, 3) > 2,
    "bfloat16": lambda n: numbers(n, 3).bfloat16(),
    "meta": lambda n: torch.empty(n, 3, device="meta"),
    "parameter": lambda n: torch.nn.Parameter(numbers(n, 3)),
    "leaf": lambda n: numbers(n, 3, grad=True),
    "result": lambda n: numbers(n, 3, grad=True) * 2,
    "expanded result": lambda n: numbers(1, 3, grad=True).mul(2).expand(n, 3),
    "view of a leaf": lambda n: numbers(n, 6, grad=True)[:, :3],
    "view of a result": lambda n: numbers(n, 6, grad=True).mul(2)[:, :3],
    "view made without grad": view_made_without_grad,
    "view that asks for grad": lambda n: numbers(n, 6)[:, :3].requires_grad_(),
    "one of several views": lambda n: numbers(2, n, 3, grad=True).mul(2).unbind()[1],
    "detached": lambda n: numbers(n, 3, grad=True).mul(2).detach(),
    "inference": inference,
}


def answers(x: torch.Tensor) -> list[Any]:
    """All that can be asked of a tensor without its data, and what it says to being changed in place."""
    asked: list[Any] = [
        x.shape,
        x.stride(),
        x.dtype,
        x.is_leaf,
        x.requires_grad,
        x._is_view(),
        x.is_conj(),
        x.is_neg(),
        x.storage_offset(),
    ]
    asked += [x.is_inference(), x.is_contiguous(), x.dim(), x.numel(), type(x).__name__ == "Parameter"]
    for grad_mode in (True, False):
        with torch.set_grad_enabled(grad_mode):
            try:
                x.zero_()
            except RuntimeError as error:
                asked.append(str(error).partition(" is ")[2])
            else:
                asked.append("changed")
    return asked


@pytest.mark.row("B5")
@pytest.mark.parametrize("inside", [False, True], ids=["normal mode", "inference mode"])
@pytest.mark.parametrize("name", sorted(set(MADE) - {"parameter"}))
def test_a_fake_answers_as_the_real_tensor_does(name: str, inside: bool) -> None:
    here = Where.of(0, [(answers.__code__, 1)])
    real, fakes = MADE[name](4), Fakes({}, None, where=lambda: here)
    with torch.inference_mode(inside):
        fake = fakes.tensor(real, LocalSource("x")).fake
        with fakes.mode:
            of_fake = answers(fake)
        assert of_fake == answers(real)


def facts(x: torch.Tensor) -> Any:
    y = x + 1
    return y, x.shape, x.stride(), x.is_contiguous(), x.numel(), x.requires_grad, x.is_leaf, y.is_leaf, x.is_conj()


def copies(x: torch.Tensor) -> Any:
    made = (x.clone(), x + 1, torch.empty_like(x), x.detach(), x.contiguous(), x[:1] if x.dim() else x)
    return [(each.stride(), each.shape, each.is_contiguous(), each.requires_grad, each.is_neg()) for each in made]


def views(x: torch.Tensor) -> Any:
    return x.reshape(-1)[:2] * 2, x.flatten().stride(), x.squeeze(), x.transpose(0, -1).stride() if x.dim() else x


def changed_in_place(x: torch.Tensor) -> Any:
    log: list[Any] = []
    try:
        log.append("before")
        x.mul_(2)
        log.append("after")
    except RuntimeError as error:
        log.append(str(error))
    return log, x + 1, x.is_leaf, x.requires_grad


@pytest.mark.row("B5", "B8")
@pytest.mark.parametrize("program", [facts, copies, views, changed_in_place])
@pytest.mark.parametrize("name", MADE)
def test_programs_on_inputs_of_every_make(name: str, program: Callable[..., Any]) -> None:
    agree(program, *[lambda n=n: (MADE[name](n),) for n in (4, 5, 4)])


@pytest.mark.row("O4")
@pytest.mark.parametrize("name", ["expanded", "every second", "overlapping", "channels last", "odd stride at size 1"])
def test_strange_strides_are_symbols_in_one_graph(name: str) -> None:
    watch = agree(facts, *[lambda n=n: (MADE[name](n),) for n in (4, 5, 7)], dynamic=True)
    assert len(watch.graphs) == 1


LAYOUTS: dict[str, Callable[[], torch.Tensor]] = {
    "sparse": lambda: torch.eye(3).to_sparse(),
    "compressed rows": lambda: torch.eye(3).to_sparse_csr(),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
}


@pytest.mark.row("B2")
@pytest.mark.filterwarnings("ignore:.*(quantize_per|nested tensors|Sparse CSR)")
@pytest.mark.parametrize("name", LAYOUTS)
def test_other_layouts_break_by_name(name: str) -> None:
    watch = Watch()
    compiled = tracer_core.compile(lambda x: x.dim() + 1, backend=watch.backend)
    with observing(watch):
        assert compiled(LAYOUTS[name]()) == LAYOUTS[name]().dim() + 1
    assert set(watch.breaks) == {"tensor-quantized" if name == "quantized" else "tensor-layout"}


FIRST_AND_SECOND = ("plain", "leaf", "result", "view of a leaf", "view of a result", "view that asks for grad")


@pytest.mark.row("G1", "O7")
@pytest.mark.parametrize("second", FIRST_AND_SECOND)
@pytest.mark.parametrize("first", FIRST_AND_SECOND)
def test_code_that_changes_one_make_in_place_is_not_used_for_another(first: str, second: str) -> None:
    agree(changed_in_place, lambda: (MADE[first](4),), lambda: (MADE[second](4),))


def caught(operation: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    def function(x: torch.Tensor) -> Any:
        log: list[Any] = []
        try:
            log.append(operation(x))
        except RuntimeError as error:
            log.append(str(error))
        return log, x * 2

    return function


WRITES: dict[str, Callable[[torch.Tensor], Any]] = {
    "an element in several places": lambda x: x[:1].expand(3, 4).add_(1),
    "an element in several places, filled": lambda x: x[:1].expand(3, 4).fill_(1),
    "copied into several places": lambda x: x[:1].expand(3, 4).copy_(x[1]),
    "rows shifted": lambda x: x[1:].add_(x[:-1]),
    "rows assigned shifted": lambda x: x.__setitem__(slice(1, None), x[:-1]),
    "its own transpose": lambda x: x.t().add_(x),
    "result put over the argument": lambda x: torch.add(x[:-1], 1, out=x[1:]),
    "rows apart": lambda x: x[:2].add_(x[2:4]),
    "odd and even rows": lambda x: x[::2].add_(x[1::2]),
    "itself": lambda x: x.view(-1).add_(x.view(-1)),
    "a sum of itself": lambda x: x[2:].add_(x[:2].sum()),
}
REFUSED = {"an element in several places", "copied into several places", "result put over the argument"}
REFUSED |= {"rows shifted", "rows assigned shifted", "its own transpose"}


@pytest.mark.row("O7", "I5")
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", WRITES)
def test_writing_over_what_is_read_is_refused_where_the_program_can_catch_it(name: str, dynamic: bool | None) -> None:
    """Fake tensors do not look at how memory overlaps, real ones do."""
    watch = agree(caught(WRITES[name]), *[lambda n=n: (numbers(n, 4),) for n in (4, 4, 4)], dynamic=dynamic)
    assert ("operation-fails" in watch.breaks) is (name in REFUSED)


CASTS: dict[str, tuple[torch.dtype, Callable[[torch.Tensor], Any], bool]] = {
    "bool times int": (torch.bool, lambda x: x.mul_(2), True),
    "int times float": (torch.int64, lambda x: x.mul_(2.5), True),
    "int times float tensor": (torch.int64, lambda x: operator.imul(x, torch.ones(3)), True),
    "float plus complex": (torch.float32, lambda x: x.add_(torch.ones(3, dtype=torch.complex64)), True),
    "float times double": (torch.float32, lambda x: x.mul_(torch.ones(3, dtype=torch.float64)), False),
    "small int times int": (torch.int8, lambda x: operator.imul(x, 3), False),
}


@pytest.mark.row("O7", "I5")
@pytest.mark.parametrize("name", CASTS)
def test_results_that_cannot_be_cast_back_are_refused_where_the_program_can_catch_it(name: str) -> None:
    dtype, operation, refused = CASTS[name]
    watch = agree(caught(operation), lambda: (numbers(3).to(dtype),))
    assert ("operation-fails" in watch.breaks) is refused


@pytest.mark.row("O7")
def test_a_tensor_changed_in_place_by_one_that_requires_grad_is_no_leaf_any_more() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> Any:
        first, flat = x.is_leaf, x.view(-1)
        flat.add_(w)
        return first, x.is_leaf, x.requires_grad, flat.is_leaf, x * 2

    agree(function, lambda: (numbers(3), numbers(3, grad=True)), lambda: (numbers(3), numbers(3)))


@pytest.mark.row("B5", "G1")
@pytest.mark.parametrize(("name", "other"), [("conjugate", "plain"), ("negative view", "plain"), ("result", "plain")])
def test_the_guard_of_a_tensor_tells_it_from_another_make(name: str, other: str) -> None:
    real, source = MADE[name](4), LocalSource("x")
    guards = compile_guards([static_tensor(source, real)], {}, {})
    assert guards.check({"x": MADE[name](4)}) == -1
    failure = guards.explain({"x": MADE[other](4).to(real.dtype)})
    assert failure is not None
    assert failure.sentence.startswith("x was ")

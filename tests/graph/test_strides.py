"""Strides and starts that vary between calls: plain Python's results, with as few compilations as `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.back_ends import Graphs
from tests.side_by_side import Watch, agree
from tracer_core.graph.earlier_calls import StrideOver, note, relative
from tracer_core.graph.fakes import Fakes
from tracer_core.names.where import Where
from tracer_core.observer import observing
from tracer_core.sources import LocalSource

Made = Callable[[], Sequence[torch.Tensor]]


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)


def facts(value: Any, given: Sequence[torch.Tensor]) -> Any:
    """All that can be seen of a result: of tensors also how they lie in memory, and in whose. (Where a tensor without
    elements lies says nothing.)"""
    if isinstance(value, (tuple, list)):
        return [facts(each, given) for each in value]
    if not isinstance(value, torch.Tensor):
        return value
    memories = [each.untyped_storage().data_ptr() for each in given]
    own = value.untyped_storage().data_ptr()
    shared = memories.index(own) if own in memories and value.numel() else None
    strides = value.stride() if value.numel() else None
    start = None if shared is None else value.storage_offset()
    return [
        value.shape,
        strides,
        start,
        shared,
        value.is_contiguous(),
        value.tolist(),
        [each is value for each in given],
    ]


def outcome(function: Callable[..., Any], args: Sequence[torch.Tensor]) -> Any:
    try:
        result = function(*args)
    except (RuntimeError, IndexError, ValueError) as error:
        return type(error), [each.tolist() for each in args]
    return facts(result, args), [each.tolist() for each in args]


def counts(
    function: Callable[..., Any],
    make: Callable[[], Sequence[Sequence[torch.Tensor]]],
    *,
    ours: bool = True,
    expected: Sequence[Any] | None = None,
    dynamic: bool | None = None,
) -> list[int]:
    """How many graphs each call makes, by us or by torch. Compares the outcomes with those expected."""
    backend = Graphs()
    if ours:
        options = {"raise_internal_faults": True, "graph_runs_as_it_is": True}
        compiled = tracer_core.compile(function, backend=backend, dynamic=dynamic, options=options)
    else:
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=backend, dynamic=dynamic)
    made = []
    for number, args in enumerate(make()):
        before = len(backend.graphs)
        seen = outcome(compiled, args)
        made.append(len(backend.graphs) - before)
        assert expected is None or seen == expected[number]
    return made


def columns(*widths: int) -> list[torch.Tensor]:
    return [numbers(4, width)[:, :2] for width in widths]


def laid_out(size: tuple[int, ...], *strides: tuple[int, ...]) -> list[torch.Tensor]:
    return [numbers(200).as_strided(size, each) for each in strides]


def add_one(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def strides_asked(x: torch.Tensor) -> Any:
    return x + 1, x.stride(), x.t().stride()


def start_asked(x: torch.Tensor) -> Any:
    return x + 1, x.storage_offset(), x[1:].storage_offset()


PINNED: dict[str, tuple[Callable[[torch.Tensor], Any], Made, list[int]]] = {
    "columns": (add_one, lambda: columns(3, 4, 5, 6, 7), [1, 1, 0, 0, 0]),
    "first whole": (add_one, lambda: columns(2, 3, 4, 2, 5), [1, 1, 0, 0, 0]),
    "strides asked": (strides_asked, lambda: columns(3, 4, 5, 6), [1, 1, 0, 0]),
    "steps": (add_one, lambda: [numbers(40)[::step][:4] for step in (2, 3, 4, 5)], [1, 1, 0, 0]),
    "every stride": (add_one, lambda: laid_out((2, 3), (20, 4), (30, 5), (40, 6), (50, 7)), [1, 1, 0, 0]),
    "two strides in step": (add_one, lambda: laid_out((2, 3), (6, 2), (9, 3), (12, 4)), [1, 1, 0]),
    "order turns": (add_one, lambda: laid_out((3, 3), (9, 2), (10, 2), (2, 9), (2, 10), (11, 2)), [1, 1, 1, 0, 0]),
    "0 and 1": (add_one, lambda: laid_out((3,), (2,), (3,), (1,), (0,), (4,), (1,), (0,)), [1, 1, 1, 1, 0, 0, 0]),
    "starts": (add_one, lambda: [numbers(40)[n : n + 4] for n in (0, 3, 1, 7)], [1, 0, 0, 0]),
    "starts asked": (start_asked, lambda: [numbers(40)[n : n + 4] for n in (0, 3, 1, 7)], [1, 0, 0, 0]),
    "starts and strides asked": (
        lambda x: (start_asked(x), x.stride()),
        lambda: [numbers(9, n)[n : n + 2, 1:3] for n in (3, 4, 5, 6)],
        [1, 1, 0, 0],
    ),
    "size 1": (add_one, lambda: laid_out((1, 4), (4, 1), (5, 1), (9, 1), (1, 1)), [1, 0, 0, 0]),
    "size 1, strides asked": (strides_asked, lambda: laid_out((1, 4), (4, 1), (5, 1), (9, 1)), [1, 1, 0]),
    "size 1 between": (
        lambda x: (x * 2, x.view(-1, 2), x.is_contiguous()),
        lambda: laid_out((3, 1, 2), (2, 2, 1), (2, 9, 1), (2, 1, 1)),
        [1, 0, 0],
    ),
    "size 0": (lambda x: (x * 2, x.sum(0)), lambda: laid_out((0, 4), (4, 1), (5, 1), (9, 3)), [1, 0, 0]),
    "size 0 that varied": (
        lambda x: (x * 2, x.stride()),
        lambda: [numbers(4, 6), numbers(4, 5)[:, :0], numbers(4, 2), numbers(4, 3), numbers(4, 4)[:, :0]],
        [1, 1, 1, 0, 0],
    ),
    "other ranks": (add_one, lambda: [numbers(4, 2), numbers(4), *columns(5, 6)], [1, 1, 1, 0]),
    "marked static": (add_one, lambda: [marked(torch._dynamo.mark_static, n) for n in (3, 4, 5)], [1, 1, 0]),
    "marked dynamic": (add_one, lambda: [marked(torch._dynamo.mark_dynamic, n) for n in (3, 4, 5)], [1, 0, 0]),
    "parameters": (add_one, lambda: [torch.nn.Parameter(each) for each in columns(3, 4, 5)], [1, 1, 0]),
    "buffers": (add_one, lambda: [torch.nn.Buffer(each) for each in columns(3, 4, 5)], [1, 1, 0]),
    "views of leaves": (add_one, lambda: [numbers(4, n).requires_grad_()[:, :2] for n in (3, 4, 5)], [1, 1, 0]),
    "channels last": (
        lambda x: (x * 2, x.is_contiguous(memory_format=torch.channels_last)),
        lambda: [numbers(2, 3, n, 4).to(memory_format=torch.channels_last) for n in (2, 3, 4)],
        [1, 1, 0],
    ),
    "one channel": (
        lambda x: (x * 2, x.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)),
        lambda: laid_out((2, 1, 3, 3), (9, 9, 3, 1), (9, 1, 3, 1), (9, 9, 3, 1), (9, 1, 3, 1)),
        [1, 1, 0, 0],
    ),
    "heads": (
        lambda x: x.view(2, 3, 2, 2).transpose(1, 2) * 2,
        lambda: [numbers(2, 3, n)[:, :, :4] for n in (4, 5, 6)],
        [1, 1, 0],
    ),
}


def marked(mark: Callable[[torch.Tensor, int], None], width: int) -> torch.Tensor:
    (found,) = columns(width)
    mark(found, 0)
    return found


def each_alone(make: Made) -> Callable[[], list[tuple[torch.Tensor]]]:
    return lambda: [(each,) for each in make()]


@pytest.mark.row("O4", "B8")
@pytest.mark.parametrize("name", PINNED)
def test_compilations(name: str) -> None:
    function, make, pinned = PINNED[name]
    calls = each_alone(make)
    expected = [outcome(function, args) for args in calls()]
    assert counts(function, calls, expected=expected) == pinned
    assert sum(pinned) <= sum(counts(function, calls, ours=False))


@pytest.mark.row("O4", "O11")
@pytest.mark.parametrize("name", PINNED)
def test_results_with_a_back_end_that_rewrites_graphs(name: str) -> None:
    function, make, _ = PINNED[name]
    compiled = tracer_core.compile(function, backend="aot_eager", options={"raise_internal_faults": True})
    for (x,), (same,) in zip(each_alone(make)(), each_alone(make)(), strict=True):
        assert outcome(compiled, (x,)) == outcome(function, (same,))


@pytest.mark.row("B8")
@pytest.mark.parametrize(("dynamic", "made"), [(True, [1, 0, 0]), (False, [1, 1, 1])])
def test_dynamic(dynamic: bool, made: list[int]) -> None:
    for function in (add_one, strides_asked, start_asked):
        calls = each_alone(lambda: columns(3, 4, 5))
        expected = [outcome(function, args) for args in calls()]
        assert counts(function, calls, expected=expected, dynamic=dynamic) == made


@pytest.mark.row("B8")
def test_shapes_of_other_lengths_are_told_apart_without_their_sizes() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.shape == y.shape else x * 2

    def make() -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(numbers(n), numbers(m, 3)) for n, m in ((2, 2), (4, 4), (5, 6), (7, 7))]

    expected = [outcome(function, args) for args in make()]
    assert counts(function, make, expected=expected) == [1, 1, 0, 0]


@pytest.mark.row("B8", "B11")
def test_tensors_of_modules_keep_their_sizes_with_dynamic() -> None:
    linear = torch.nn.Linear(4, 3)
    watch = agree(lambda x: linear(x), *[lambda n=n: (numbers(n, 4),) for n in (2, 3, 5)], dynamic=True)
    assert len(watch.graphs) == 1
    shapes = [tuple(each.shape) for each in watch.examples[0] if isinstance(each, torch.Tensor)]
    assert [shape for shape in shapes if all(type(n) is int for n in shape)] == [(3, 4), (3,)]


@pytest.mark.row("O4", "O1")
def test_symbols_are_inputs_before_the_tensors_that_they_describe() -> None:
    watch = agree(strides_asked, *[lambda n=n: (numbers(4, n)[:, :2],) for n in (3, 4, 5)])
    assert [name for _, name in watch.symbols] == ["x.stride(0)"]
    symbol, tensor = watch.inputs()
    assert isinstance(symbol.meta["example_value"], torch.SymInt)
    assert tensor.meta["example_value"].stride() == (symbol.meta["example_value"], 1)


@pytest.mark.row("O4")
def test_a_start_is_an_input_where_the_program_asks() -> None:
    watch = agree(start_asked, *[lambda n=n: (numbers(40)[n : n + 4],) for n in (2, 0, 5)])
    assert [name for _, name in watch.symbols] == ["x.storage_offset()"]
    assert len(watch.graphs) == 1
    assert watch.inputs()[1].meta["example_value"].storage_offset() is not None


@pytest.mark.row("G5")
def test_guards_name_strides_as_a_program_does() -> None:
    watch = agree(add_one, *[lambda n=n: (numbers(4, n)[:, :2],) for n in (3, 4, 5)])
    texts = [guard.text for guard in watch.guards if guard.kind == "SHAPE"]
    assert sorted(texts) == [
        "2 <= x.stride(0) (0 and 1 are always compiled on their own)",
        "x.stride(0) != 2",
    ]


@pytest.mark.row("G5")
def test_strides_that_say_nothing_are_guarded_once_asked() -> None:
    def guards(function: Callable[..., Any]) -> list[str]:
        watch = Watch()
        tracer_core.reset()
        compiled = tracer_core.compile(function, backend="eager", options={"raise_internal_faults": True})
        with observing(watch):
            compiled(numbers(200).as_strided((1, 4), (9, 1)))
        return [text for text in watch.texts("x") if "hasattr" not in text]

    tensor = "x is a Tensor f32[1, 4], strides [*, 1], requires_grad=False"
    assert guards(add_one) == [tensor]
    assert guards(strides_asked) == [tensor, "x.stride(0) == 9"]


@pytest.mark.row("B5")
@pytest.mark.parametrize("dynamic", [None, True])
def test_fakes_start_where_the_real_tensors_do(dynamic: bool | None) -> None:
    real = numbers(9, 7)[2:5, 1:3]
    history: dict[str, Any] = {}
    here = Where.of(0, [(numbers.__code__, 1)])
    fake = Fakes(history, dynamic, where=lambda: here).tensor(real, LocalSource("x")).fake
    assert fake.storage_offset() == real.storage_offset() == 15
    assert not history.keys() - {"L['x']"}


@pytest.mark.row("B8")
def test_what_is_remembered_of_strides() -> None:
    assert relative((2, 3, 4), (12, 4, 1), over_one=False) == [StrideOver(1), StrideOver(2), 1]
    assert relative((3, 1), (5, 5), over_one=False) == [5, 5]
    assert relative((3, 1), (5, 5), over_one=True) == [StrideOver(1), 5]
    assert relative((2, 3), (0, 0), over_one=True) == [0, 0]
    history: dict[str, Any] = {}
    for size, strides in (((2, 3), (3, 1)), ((2, 3), (4, 1)), ((2, 3), (5, 1))):
        seen = note(history, "x", size, strides)
    assert seen is not None and (seen.sizes, seen.strides, seen.varying_strides) == ([2, 3], [None, 1], [0])
    seen = note(history, "x", (2, 4), (5, 1))
    assert seen is not None and seen.varying_strides == []
    assert note(history, "x", (2,), (1,)) is None
    assert note(history, "x", (2, 3), (3, 1)) is None


# --- chains of views ---------------------------------------------------------------------------------------------

Choose = Callable[[int, int], int]


def _narrowed(x: torch.Tensor, dim: int, choose: Choose) -> torch.Tensor:
    width = min(2, x.size(dim))
    return x.narrow(dim, choose(0, x.size(dim) - width), width)


VIEWS: dict[str, Callable[[torch.Tensor, Choose], torch.Tensor]] = {
    "transposed": lambda x, choose: x.transpose(0, -1),
    "last two transposed": lambda x, choose: x.transpose(-1, -2) if x.dim() > 1 else x,
    "ends cut": lambda x, choose: x[..., choose(0, 1) : max(1, x.size(-1) - choose(0, 1))],
    "two columns": lambda x, choose: _narrowed(x, -1, choose),
    "two rows": lambda x, choose: _narrowed(x, 0, choose),
    "one row": lambda x, choose: x[:1],
    "one column": lambda x, choose: x[..., :1],
    "a column": lambda x, choose: x.select(-1, choose(0, x.size(-1) - 1)) if x.dim() > 1 and x.size(-1) else x,
    "a row": lambda x, choose: x.select(0, choose(0, x.size(0) - 1)) if x.dim() > 1 and x.size(0) else x,
    "steps": lambda x, choose: x[..., :: choose(1, 3)],
    "maybe nothing": lambda x, choose: x[..., :0] if choose(0, 3) == 0 else x,
    "unsqueezed": lambda x, choose: x.unsqueeze(0),
    "expanded": lambda x, choose: x.unsqueeze(0).expand(choose(1, 3), *x.shape),
    "diagonal": lambda x, choose: x.diagonal(0, -1, -2) if x.dim() > 1 else x,
    "half": lambda x, choose: x.chunk(2, -1)[-1],
    "flat": lambda x, choose: x.reshape(-1),
}

ASKING: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: (x + 1, y * 2),
    "strides": lambda x, y: (x * 2, x.stride(), (y * 2).stride() if y.numel() else None),
    "starts": lambda x, y: (x * 2, x.storage_offset() + y.storage_offset(), x[..., :1].storage_offset()),
    "copies": lambda x, y: (x.reshape(-1), y.contiguous(), x.is_contiguous(), y.clone()),
    "view": lambda x, y: x.view(-1) * 2,
    "sum": lambda x, y: (x.sum(0), y.sum()),
    "parts": lambda x, y: (x[1:], x[..., :1] * 2, y.transpose(0, -1)),
    "cat": lambda x, y: torch.cat([x, x * 2], -1),
    "written to": lambda x, y: (x.mul_(2), y + 1),
    "part written to": lambda x, y: (x[..., :1].add_(1), y * 2, x.sum()),
    "both": lambda x, y: x + y if x.shape == y.shape else x * 2,
    "branch": lambda x, y: x + 1 if x.stride(-1) < 3 else y - 1,
}


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, Callable[[], list[tuple[torch.Tensor, torch.Tensor]]]]:
    """A program, and what makes its calls: two chains of views, the same at each call, of bases that vary."""
    chains = [draw(st.lists(st.sampled_from(sorted(VIEWS)), max_size=4)) for _ in range(2)]
    fixed = draw(st.lists(st.none() | st.integers(1, 4), min_size=1, max_size=3))
    one_base = draw(st.booleans())
    calls = []
    for _ in range(draw(st.integers(3, 6))):
        sizes = [n if n is not None else draw(st.integers(1, 6)) for n in fixed]
        calls.append((sizes, draw(st.lists(st.integers(0, 5), min_size=8, max_size=8))))

    def make() -> list[tuple[torch.Tensor, torch.Tensor]]:
        made = []
        for sizes, choices in calls:
            left = list(choices)
            base = numbers(*sizes)

            def choose(low: int, high: int, left: list[int] = left) -> int:
                return low + left.pop() % (high - low + 1) if left and high > low else low

            views = []
            for chain in chains:
                view = base if one_base else numbers(*sizes)
                for step in chain:
                    view = VIEWS[step](view, choose)
                views.append(view)
            made.append((views[0], views[1]))
        return made

    return draw(st.sampled_from(sorted(ASKING))), make


@pytest.mark.row("O4", "B8")
@settings(max_examples=25, deadline=None)
@given(programs())
def test_chains_of_views(program: tuple[str, Callable[[], list[tuple[torch.Tensor, torch.Tensor]]]]) -> None:
    name, make = program
    function = ASKING[name]
    expected = [outcome(function, args) for args in make()]
    tracer_core.reset()
    ours = counts(function, make, expected=expected)
    theirs = counts(function, make, ours=False)
    assert sum(ours) <= sum(theirs)

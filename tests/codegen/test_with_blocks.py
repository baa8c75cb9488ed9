"""Blocks of torch's context managers: what graphs and back ends see of them, what is left when something fails, and
how the generated code reads."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch.amp.autocast_mode import _enter_autocast, _exit_autocast

import tracer_core
from tracer_core import observer
from tracer_core.recording import Recorder, Trace

OPTIONS = {"raise_internal_faults": True}
BF16 = torch.bfloat16


def modes():
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
        torch.is_autocast_cache_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.are_deterministic_algorithms_enabled(),
        torch.backends.cudnn.enabled,
        torch.backends.cuda.flash_sdp_enabled(),
    )


def autocast_depth():
    depth = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    return depth


class Seen:
    """A back end that notes the modes it is called in and the functions in each graph."""

    def __init__(self):
        self.modes = []
        self.graphs = []

    def __call__(self, module, examples):
        self.modes.append(modes())
        self.graphs.append([node.target for node in module.graph.nodes if node.op.startswith("call")])
        return module.forward


def compiled(function):
    seen = Seen()
    return tracer_core.compile(function, backend=seen, options=OPTIONS), seen


@pytest.fixture(autouse=True)
def modes_are_put_back():
    before, depth = modes(), autocast_depth()
    yield
    assert (modes(), autocast_depth()) == (before, depth)


def everything(x):
    with torch.no_grad(), torch.autocast("cpu", dtype=BF16), torch.inference_mode(), torch.device("meta"):
        torch.use_deterministic_algorithms(True)
        y = x * 2
        print("inside")
        torch.use_deterministic_algorithms(False)
        z = y + 1
    return z


@pytest.mark.row("O8")
@pytest.mark.row("O3")
def test_the_back_end_is_called_in_the_modes_outside(capsys):
    function, seen = compiled(everything)
    before = modes()
    assert torch.equal(function(torch.ones(2)), torch.full((2,), 3.0))
    assert len(seen.modes) == 2
    assert seen.modes[0] == before


def doubly(x):
    with torch.no_grad():
        with torch.autocast("cpu", dtype=BF16):
            y = x @ x
            print(torch.is_autocast_enabled("cpu"), torch.is_grad_enabled())
            z = x @ x
        print(torch.is_autocast_enabled("cpu"), torch.is_grad_enabled())
        w = x @ x
    return y, z, w, x @ x


@pytest.mark.row("I6")
@pytest.mark.row("O6")
def test_each_graph_enters_and_leaves_the_blocks_that_it_is_in(capsys):
    switches = (torch._C._set_grad_enabled, _enter_autocast, _exit_autocast)
    function, seen = compiled(doubly)
    x = torch.ones(2, 2, requires_grad=True)
    results = function(x)
    assert capsys.readouterr().out == "True False\nFalse False\n"
    assert [(r.dtype, r.requires_grad) for r in results] == [
        (BF16, False),
        (BF16, False),
        (torch.float32, False),
        (torch.float32, True),
    ]
    grad, enter, leave = switches
    assert [[target for target in graph if target in switches] for graph in seen.graphs] == [
        [grad, enter, leave, grad],
        [grad, enter, leave, grad],
        [grad, grad],
    ]


def only_switches(x):
    with torch.no_grad():
        print("nothing here")
    return x + 1


@pytest.mark.row("O10")
def test_a_graph_without_operations_is_not_compiled(capsys):
    function, seen = compiled(only_switches)
    function(torch.ones(2))
    assert [[target.__name__ for target in graph] for graph in seen.graphs] == [["add"]]


def by_hand(x):
    manager = torch.inference_mode()
    manager.__enter__()
    y = x * 2
    print(torch.is_inference_mode_enabled())
    z = x * 3
    manager.__exit__(None, None, None)
    return y, z, x * 4


def in_a_stack(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode())
        y = x * 2
        print(torch.is_inference_mode_enabled())
        z = x * 3
    return y, z, x * 4


@pytest.mark.row("I6")
@pytest.mark.parametrize("function", [by_hand, in_a_stack])
def test_a_mode_that_no_block_of_the_frame_entered_is_entered_between_two_graphs(function, capsys):
    traced, seen = compiled(function)
    results = traced(torch.ones(2))
    assert [r.is_inference() for r in results] == [True, True, False]
    assert capsys.readouterr().out == "True\n"
    assert [[target.__name__ for target in graph] for graph in seen.graphs] == [["mul"], ["mul"], ["mul"]]


def picks(x, i):
    torch.set_default_dtype(torch.float64)
    try:
        with torch.autocast("cpu", dtype=BF16), torch.inference_mode(), torch.no_grad():
            y = x[i]
    except IndexError:
        return modes()
    finally:
        torch.set_default_dtype(torch.float32)
    return y


def picks_and_changes(x, i):
    with torch.autocast("cpu", dtype=BF16), torch.no_grad():
        x.add_(1)
        return x[i]


@pytest.mark.row("O3")
def test_a_graph_that_raises_inside_leaves_no_mode_behind():
    function, _ = compiled(picks)
    assert function(torch.ones(3), torch.tensor([7])) == picks(torch.ones(3), torch.tensor([7]))
    function, _ = compiled(picks_and_changes)
    with pytest.raises(IndexError):
        function(torch.ones(3), torch.tensor([7]))


def asks(x):
    return x + 1 if torch.backends.cudnn.enabled else x - 1


@pytest.mark.row("G1")
def test_a_setting_is_guarded_where_it_is_asked_for():
    function, seen = compiled(asks)
    x = torch.zeros(2)
    assert function(x)[0] == 1
    with torch.backends.cudnn.flags(enabled=False):
        assert function(x)[0] == -1
    assert function(x)[0] == 1
    assert len(seen.graphs) == 2


def multiplies(x):
    return x @ x


@pytest.mark.row("G1")
@pytest.mark.row("O3")
def test_autocast_is_guarded_with_dtype_and_cache():
    function, seen = compiled(multiplies)
    x = torch.ones(2, 2)
    blocks = [
        contextlib.nullcontext(),
        torch.autocast("cpu", dtype=BF16),
        torch.autocast("cpu", dtype=torch.float16),
        torch.autocast("cpu", dtype=torch.float16, cache_enabled=False),
    ]
    for _ in range(2):
        for block in blocks:
            with block:
                assert function(x).dtype == (x @ x).dtype
    assert len(seen.graphs) == 4


@pytest.mark.row("O3")
def test_autocast_of_gpus_is_guarded_without_one():
    """Its state is there without a GPU; a block for one is not."""
    function, seen = compiled(lambda x: (x + 1, torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")))
    x = torch.ones(2, 2)
    try:
        for _ in range(2):
            for state in ((False, torch.float16), (True, torch.float16), (True, BF16)):
                torch.set_autocast_enabled("cuda", state[0])
                torch.set_autocast_dtype("cuda", state[1])
                assert function(x)[1:] == state
        assert len(seen.graphs) == 3
    finally:
        torch.set_autocast_enabled("cuda", False)
        torch.set_autocast_dtype("cuda", torch.float16)


def leaves_modes(x):
    torch.set_autocast_enabled("cpu", True)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    return x + 1


@pytest.mark.row("O3")
def test_modes_that_the_program_leaves_on_are_on():
    function, _ = compiled(leaves_modes)
    try:
        function(torch.ones(2))
        assert (torch.is_autocast_enabled("cpu"), torch.is_grad_enabled()) == (True, False)
        assert torch.get_default_device() == torch.device("meta")
    finally:
        torch.set_default_device(None)
        torch.set_autocast_enabled("cpu", False)
        torch.set_grad_enabled(True)


def breaks_in_two(x):
    with torch.no_grad(), torch.autocast("cpu", dtype=BF16):
        y = x * 2
        print("inside")
        z = y + 1
    return z


def listing(function, *args):
    texts = []

    class Listings(observer.Observer):
        def on_generated(self, code, new, listing, resumes):
            texts.append(listing)

    with observer.observing(Listings()):
        compiled(function)[0](*args)
    return texts[0]


@pytest.mark.row("O13")
@pytest.mark.row("O6")
def test_the_listing_shows_how_blocks_are_entered_again():
    lines = [line.strip() for line in listing(breaks_in_two, torch.ones(2)).splitlines()]
    start, end = lines.index("block_0 = no_grad()"), len(lines) - 1
    assert lines[start : start + 6] == [
        "block_0 = no_grad()",
        "leave = block_0.__exit__",
        "block_0.__enter__()",
        "block_1 = autocast('cpu', torch.bfloat16, True, True)",
        "leave_1 = block_1.__exit__",
        "block_1.__enter__()",
    ]
    while not lines[end].startswith("return"):
        end -= 1
    assert lines[end - 2 : end] == ["leave_1(None, None, None)", "leave(None, None, None)"]
    assert "(block_0, block_1," in lines[end]


def attends(x):
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.MATH]):
        y = torch.nn.functional.scaled_dot_product_attention(x, x, x)
        print("inside")
        z = torch.nn.functional.scaled_dot_product_attention(y, x, x)
    return z


@pytest.mark.row("I6")
def test_a_manager_of_a_generator_is_made_again_for_each_part():
    function, seen = compiled(attends)
    x = torch.ones(1, 1, 2, 4)
    assert torch.equal(function(x), attends(x))
    kernel = torch.nn.attention._sdpa_kernel
    assert [graph.count(kernel) for graph in seen.graphs] == [2, 2]


def entered_by_hand_inside(x):
    with torch.inference_mode():
        manager = torch.autocast("cpu", dtype=BF16)
        manager.__enter__()
        y = x @ x
        print(torch.is_autocast_enabled("cpu"), torch.is_inference_mode_enabled())
        z = x @ x
        manager.__exit__(None, None, None)
    return y, z, x @ x


@pytest.mark.row("O3")
def test_a_block_with_something_else_open_inside_is_entered_between_graphs(capsys):
    x = torch.ones(2, 2)
    results = compiled(entered_by_hand_inside)[0](x)
    assert [(r.dtype, r.is_inference()) for r in results] == [(BF16, True), (BF16, True), (torch.float32, False)]
    assert capsys.readouterr().out == "True True\n"


@pytest.mark.row("I6")
def test_leaving_blocks_at_the_end_of_a_graph_can_be_recorded(capsys):
    recorder = Recorder()
    with observer.observing(recorder):
        compiled(attends)[0](torch.ones(1, 1, 2, 4))
    trace = Trace(recorder.finish())
    assert {trace.codes[frame.code].name for frame in trace.frames} >= {"attends", "sdpa_kernel", "__exit__"}

"""A graph that raises when it runs: the program sees what plain Python raises, at its place."""

from __future__ import annotations

import traceback

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import tracer_core
from tracer_core.codegen.emit.names import STREAMS
from tracer_core.observer import Observer, observing

OPTIONS = {"raise_internal_faults": True}


def pick(x, i):
    doubled = x * 2
    try:
        chosen = doubled[i]
    except IndexError:
        chosen = doubled - 1
    return chosen.sin()


def pick_or_raise(x, i):
    doubled = x * 2
    return doubled[i] + 1


def mutate_then_pick(x, i):
    x.add_(1)
    return x[i]


@pytest.mark.row("I5")
@pytest.mark.parametrize("index", [1, 7])
def test_an_error_of_the_data_is_caught_where_plain_python_catches_it(index):
    compiled = tracer_core.compile(pick, backend="eager", options=OPTIONS)
    x, i = torch.arange(3.0), torch.tensor([index])
    assert torch.equal(compiled(x, i), pick(x, i))


@pytest.mark.row("I5")
def test_an_error_of_the_data_leaves_with_the_line_of_the_user():
    compiled = tracer_core.compile(pick_or_raise, backend="eager", options=OPTIONS)
    x, i = torch.arange(3.0), torch.tensor([7])
    with pytest.raises(IndexError) as plain:
        pick_or_raise(x, i)
    with pytest.raises(IndexError) as ours:
        compiled(x, i)
    assert str(ours.value) == str(plain.value)
    last = traceback.extract_tb(ours.value.__traceback__)[-1]
    assert (last.name, last.line) == ("pick_or_raise", "return doubled[i] + 1")


def count_and_look_up(table, i, n, log):
    log.append("start")
    n += 1
    y = torch.nn.functional.dropout(table, 0.5)
    try:
        return torch.nn.functional.embedding(i, y)
    except IndexError:
        log.append("none")
        return n * 2


@pytest.mark.row("I5")
def test_inputs_and_random_streams_are_put_back_before_plain_python_runs():
    compiled = tracer_core.compile(count_and_look_up, backend="eager", options=OPTIONS)
    results = []
    for function in (count_and_look_up, compiled):
        torch.manual_seed(0)
        n, log = torch.zeros(1), []
        got = [function(torch.ones(4, 2), torch.tensor([i]), n, log) for i in (1, 9, 2)]
        results.append((str(got), n.item(), log, torch.rand(1).item()))
    assert results[0] == results[1]


def add_then_pick(n, w, i):
    n += w
    return (w * 2)[i]


@pytest.mark.row("I5")
def test_an_input_with_a_history_is_not_put_back():
    """Writing the old values would leave the operation in its history."""
    compiled = tracer_core.compile(add_then_pick, backend="eager", options=OPTIONS)
    n, w = torch.zeros(3), torch.ones(3, requires_grad=True)
    with pytest.raises(IndexError):
        compiled(n, w, torch.tensor([5]))
    n.sum().backward()
    assert torch.equal(n.detach(), torch.ones(3)) and torch.equal(w.grad, torch.ones(3))


def test_a_graph_that_changes_its_inputs_is_not_run_twice():
    compiled = tracer_core.compile(mutate_then_pick, backend="eager", options=OPTIONS)
    x = torch.zeros(3)
    with pytest.raises(IndexError):
        compiled(x, torch.tensor([7]))
    assert torch.equal(x, torch.ones(3))


def test_a_back_end_that_fails_when_run_leaves_the_result_right():
    def broken(module, examples):
        def run(*args):
            raise RuntimeError("out of order")

        return run

    def double(x):
        return x * 2

    compiled = tracer_core.compile(double, backend=broken, options=OPTIONS)
    with pytest.warns(tracer_core.BackendWarning, match="out of order"):
        assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))


def test_an_interrupt_while_the_graph_runs_is_not_hidden():
    def interrupted(module, examples):
        def run(*args):
            raise KeyboardInterrupt

        return run

    compiled = tracer_core.compile(pick_or_raise, backend=interrupted, options=OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        compiled(torch.ones(2), torch.tensor([0]))


class Block:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")

    def __exit__(self, cls, error, trace):
        self.log.append(cls.__name__ if cls else "out")


def breaks_in_blocks(x, log):
    with Block(log):
        try:
            y = x + 1
            print("here")
            return y * 2
        finally:
            log.append("finally")


@pytest.mark.row("O6")
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_blocks_are_left_when_the_rest_of_a_function_cannot_be_compiled(error, capsys):
    graphs = []

    def second_fails(module, examples):
        graphs.append(module)
        if len(graphs) == 2:
            raise error("no")
        return module.forward

    log = []
    compiled = tracer_core.compile(breaks_in_blocks, backend=second_fails, options=OPTIONS)
    with pytest.raises((tracer_core.errors.BackendError, KeyboardInterrupt)) as raised:
        compiled(torch.ones(2), log)
    assert log == ["in", "finally", type(raised.value).__name__]
    assert torch.equal(compiled(torch.ones(2), log), torch.full((2,), 4.0))


def makes_and_deletes_a_global(x):
    global made_here
    made_here = x + 1
    total = made_here.sum()
    del made_here
    return total


@pytest.mark.row("I13")
def test_a_global_made_and_deleted_again():
    compiled = tracer_core.compile(makes_and_deletes_a_global, backend="eager", options=OPTIONS)
    assert torch.equal(compiled(torch.ones(2)), torch.tensor(4.0))
    assert "made_here" not in globals()


def looks_at_its_namespace(x):
    unused = 3
    y = x + 1
    print(sorted(locals()))
    return y, eval("unused + 1")


@pytest.mark.row("O6")
def test_a_function_that_looks_at_its_namespace_has_all_of_it_after_a_break(capsys):
    compiled = tracer_core.compile(looks_at_its_namespace, backend="eager", options=OPTIONS)
    assert compiled(torch.ones(2))[1] == 4
    assert capsys.readouterr().out == "['unused', 'x', 'y']\n"


def breaks_each_round(w, rounds):
    for _ in range(rounds):
        w = w - 0.01 * w
        if w.sum() < 0:
            break
    return w


def prints_while(x):
    n = 0
    with torch.no_grad():
        while n < 700:
            n += 1
            print(n, end=" ")
            x = x + 1
    return x, n


@pytest.mark.row("O6")
def test_a_loop_that_breaks_each_round_does_not_pile_up(capsys):
    compiled = tracer_core.compile(breaks_each_round, backend="eager", options=OPTIONS)
    assert torch.equal(compiled(torch.ones(3), 1500), breaks_each_round(torch.ones(3), 1500))
    compiled = tracer_core.compile(prints_while, backend="eager", options=OPTIONS)
    result, n = compiled(torch.ones(3))
    printed = capsys.readouterr().out
    assert (n, printed) == (700, " ".join(map(str, range(1, 701))) + " ")
    assert torch.equal(result, torch.full((3,), 701.0))
    assert torch.is_grad_enabled()


def copies(x, y):
    y.copy_(x)
    return x * 2


def changes_and_copies(x, y):
    v = x + 1
    copies(
        x,
        y,
    )
    return v


def changes_after_a_break(x, y):
    print("a")
    v = x + 1
    y.copy_(x)
    return v


def with_rows_that_overlap(function):
    buffer = torch.ones(8)
    function(buffer[:4], buffer[4:])
    with pytest.raises(RuntimeError) as caught:
        function(buffer[:4], buffer[2:6])
    entries = [e for e in traceback.extract_tb(caught.value.__traceback__) if e.filename == __file__]
    return str(caught.value), [(e.name, e.lineno) for e in entries]


@pytest.mark.row("I5", "O8")
@pytest.mark.parametrize("function", [copies, changes_and_copies, changes_after_a_break])
def test_a_graph_that_is_not_undone_fails_at_the_line_of_the_user(function):
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    assert with_rows_that_overlap(compiled) == with_rows_that_overlap(function)


LAYER = torch.nn.Linear(2, 2)


@torch.library.custom_op("tracewalk_tests::leaves", mutates_args=())
def leaves(x: torch.Tensor) -> torch.Tensor:
    raise SystemExit(3)


@leaves.register_fake
def _(x):
    return torch.empty_like(x)


@pytest.mark.row("O3", "O8")
@pytest.mark.parametrize("raises", ["an exit", "an index"])
def test_what_leaves_a_graph_with_a_module_is_what_was_raised(raises):
    """A module's call asks for many of torch's settings, which are put back when the graph raises."""

    def function(x, i):
        x.add_(1)
        y = LAYER(x)
        return leaves(y) if raises == "an exit" else y[i]

    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    large = torch.ones(400_000, 2)  # too large for its changes to be undone, so that the error leaves at once
    with pytest.raises((SystemExit, IndexError)) as plain:
        function(large.clone(), len(large))
    with pytest.raises(plain.type) as ours:
        compiled(large.clone(), len(large))
    assert str(ours.value) == str(plain.value)


@pytest.mark.row("H7")
def test_a_compiled_module_is_recomputed_by_checkpoints():
    module = torch.nn.Sequential(LAYER, torch.nn.ReLU(), torch.nn.Linear(2, 2))
    compiled = tracer_core.compile(module, backend="eager", options=OPTIONS)
    gradients = []
    for each in (module, compiled):
        x = torch.ones(2, 2, requires_grad=True)
        checkpoint(each, x, use_reentrant=False).sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients)


def refused_index(n, i):
    n.index_reduce_(0, i, torch.ones(1), "prod")


def refused_weights(n, i):
    torch.multinomial(n - i, 1)


def refused_divisor(n, i):
    torch.ones(1, dtype=torch.int64).floor_divide(i - 7)


def refused_matrix(n, i):
    torch.linalg.cholesky((n[0] - i).reshape(1, 1))


@pytest.mark.row("I5")
@pytest.mark.parametrize("refused", [refused_index, refused_weights, refused_divisor, refused_matrix])
def test_what_changed_before_an_operation_that_raises_is_put_back(refused):
    def function(n, i):
        n += 1
        try:
            refused(n, i)
        except (RuntimeError, IndexError, ZeroDivisionError):
            return n * 2
        return n

    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    results = []
    for f in (function, compiled):
        torch.manual_seed(0)
        n = torch.ones(3)
        results.append((str([f(n, torch.tensor([i])) for i in (0, 7)]), n.tolist()))
    assert results[0] == results[1]


class Copies(Observer):
    """Whether the code compiled last keeps copies of inputs."""

    def on_generated(self, code, new_code, listing, resumes):
        self.kept = STREAMS in new_code.co_varnames


def only_computes(n, w, count):
    count += 1
    torch._foreach_add_([n], 1.0)
    return torch.nn.functional.layer_norm(n @ w, (3,)).relu().masked_fill(n.bool(), 0).sum() + count


def divides(n, w, count):
    count += 1
    return 7 // count


@pytest.mark.row("I5")
@pytest.mark.parametrize(("function", "kept"), [(only_computes, False), (divides, True)])
def test_inputs_are_copied_only_where_an_operation_may_raise(function, kept):
    copies = Copies()
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    given = lambda: (torch.ones(3), torch.ones(3, 3), torch.tensor(0))
    with observing(copies):
        assert str(compiled(*given())) == str(function(*given()))
    assert copies.kept is kept


def no_code_for_floats(x, z, log):
    log.append("start")
    x.add_(1)
    try:
        x.bitwise_and_(3)
    except NotImplementedError as error:
        log.append(str(error))
    return x * 2


def complex_numbers_have_no_order(x, z, log):
    log.append("start")
    x.mul_(2)
    try:
        return z > x
    except RuntimeError as error:
        log.append(str(error))
    return x + 1


def complex_results_do_not_fit(x, z, log):
    log.append("start")
    try:
        x.addcmul_(z, z)
    except RuntimeError as error:
        log.append(str(error))
    return x * 2


@pytest.mark.row("I5")
@pytest.mark.parametrize("function", [no_code_for_floats, complex_numbers_have_no_order, complex_results_do_not_fit])
def test_an_operator_without_code_for_a_dtype_raises_where_plain_python_raises(function):
    """Fakes do not know which dtypes an operator has code for."""

    def called(of):
        x, log = torch.ones(2), []
        results = [of(x, torch.ones(2, dtype=torch.complex64), log).tolist() for _ in range(2)]
        return results, x.tolist(), log

    expected = called(function)
    assert len(expected[2]) == 4
    assert called(tracer_core.compile(function, backend="eager", options=OPTIONS)) == expected

"""How many versions there may be: counted for what a person compiled, and only those that can hold again."""

from __future__ import annotations

import functools
import gc
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._C._dynamo import eval_frame

import tracer_core
import tracewalk as tw
from tests.frame_eval.stand_in import Counting, Log
from tracer_core import Unsupported

pytestmark = pytest.mark.row("G4")


def doubled(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs) * 2

    return wrapper


def cell(source: str, **names: Any) -> dict[str, Any]:
    """Run a notebook's cell: its functions and classes are new each time."""
    namespace = {"torch": torch, "tw": tw, "doubled": doubled, "x": torch.ones(2), "__name__": "__main__", **names}
    exec(compile(source, "<cell>", "exec"), namespace)
    return namespace


class Adds(torch.nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.name = "a" * n

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + len(self.name)


class Calls(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inside(x)  # type: ignore[operator, no-any-return]


def subclass(number: int) -> torch.nn.Module:
    class Derived(Calls):
        def inside(self, x: torch.Tensor) -> torch.Tensor:
            return x * 3

    return Derived()


def own_class(number: int) -> torch.nn.Module:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    return Net()


def breaking(number: int) -> Callable[..., Any]:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        print(end="")
        return y * len("a" * number)

    return function


LAYERS = (
    *(torch.nn.ReLU, torch.nn.Tanh, torch.nn.GELU, torch.nn.Sigmoid, torch.nn.ELU, torch.nn.SiLU, torch.nn.Hardtanh),
    *(torch.nn.Softplus, torch.nn.LeakyReLU, torch.nn.Mish, torch.nn.Softsign, torch.nn.LogSigmoid),
)
OPERATORS = (
    *(torch.sin, torch.cos, torch.tan, torch.exp, torch.relu, torch.sigmoid, torch.tanh, torch.abs, torch.neg),
    *(torch.sqrt, torch.floor, torch.ceil),
)

NET = "class Net(torch.nn.Module):\n def forward(self, x): return x + 1"

TWELVE: dict[str, tuple[Callable[[int], Any], int]] = {
    "classes of one function": (own_class, 1),
    "classes of a cell": (lambda n: cell(NET)["Net"](), 12),
    "layers": (lambda n: LAYERS[n](), 12),
    "layouts of one class": (lambda n: torch.nn.Sequential(*(torch.nn.ReLU() for _ in range(n + 1))), 12),
    "subclasses that inherit forward": (subclass, 12),
    "modules of one class, unlike": (Adds, 12),
    "modules of one class, alike": (lambda n: Adds(3), 1),
    "decorated functions": (lambda n: doubled(cell("def f(x): return x + 1")["f"]), 12),
    "lambdas": (lambda n: lambda x: OPERATORS[n](x), 12),
    "lambdas with defaults": (lambda n: lambda x, operator=OPERATORS[n]: operator(x), 12),
    "lambdas, alike": (lambda n: lambda x: x + 1, 1),
    "bound methods": (lambda n: Adds(n).forward, 12),
    "functions that break": (breaking, 13),
}
"""What makes the nth object, and how many graphs there must be of twelve: as many as torch has, but for its limit."""


@pytest.mark.parametrize("kind", TWELVE)
@pytest.mark.parametrize("alive", [True, False])
def test_twelve_compiled_objects_meet_no_limit(kind: str, alive: bool) -> None:
    make, graphs = TWELVE[kind]
    counting, kept = Counting(), []
    x = torch.full((2,), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(12):
            fn = make(number)
            compiled = tracer_core.compile(fn, backend=counting, fullgraph="break" not in kind)
            assert torch.equal(compiled(x), fn(x))
            kept += [compiled] if alive else []
    assert counting.graphs == graphs


def test_the_limit_is_that_of_the_function_however_often_it_is_compiled() -> None:
    def function(x: torch.Tensor, text: str) -> torch.Tensor:
        return x + len(text)

    counting = Counting()

    def twelve() -> list[float]:
        compiled = (tracer_core.compile(function, backend=counting) for _ in range(12))
        return [each(torch.zeros(1), "a" * number).item() for number, each in enumerate(compiled)]

    with pytest.warns(tracer_core.CacheLimitWarning, match="compiled 8 times already") as warned:
        results = twelve()
    assert results == list(range(12))
    assert counting.graphs == 8
    assert len(warned) == 1


def inner(x: torch.Tensor, text: str) -> torch.Tensor:
    return x + len(text)


def outer(x: torch.Tensor, text: str) -> torch.Tensor:
    return inner(x, text) * 2


def test_past_the_limit_nothing_below_is_compiled() -> None:
    counting = Counting()
    compiled = tracer_core.compile(outer, backend=counting)
    with pytest.warns(
        tracer_core.CacheLimitWarning, match=r"outer \(test_limits\.py:\d+\) was compiled 8 times already"
    ):
        results = [compiled(torch.zeros(1), "a" * number).item() for number in range(15)]
    assert results == [2.0 * number for number in range(15)]
    assert counting.graphs == 8
    assert compiled(torch.zeros(1), "aaa").item() == 6, "a version that fits is reused"


def test_with_fullgraph_the_limit_is_an_error_and_what_fits_still_runs() -> None:
    counting = Counting()
    compiled = tracer_core.compile(outer, backend=counting, fullgraph=True)
    for number in range(8):
        compiled(torch.zeros(1), "a" * number)
    for _ in range(2):
        with pytest.raises(Unsupported) as caught:
            compiled(torch.zeros(1), "a" * 8)
        assert caught.value.reason_id == "cache-limit"
    assert compiled(torch.zeros(1), "aaa").item() == 6
    assert counting.graphs == 8


class Scaled(torch.nn.Module):
    text = ""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * len(self.text)


class Inheriting(Scaled):
    pass


def at_the_limit(compiled: Callable[..., Any], vary: Callable[[int], Any]) -> str:
    with pytest.raises(Unsupported) as caught:
        for number in range(9):
            vary(number)
            compiled(torch.ones(1))
    return caught.value.message


def test_the_message_names_class_function_place_and_guard() -> None:
    model = Inheriting()
    line = Scaled.forward.__code__.co_firstlineno
    compiled = tracer_core.compile(model, backend="eager", fullgraph=True)
    message = at_the_limit(compiled, lambda n: setattr(model, "text", "a" * n))
    assert f"The module Inheriting, in Scaled.forward (test_limits.py:{line}) was compiled 8 times already" in message
    assert "'aaaaaaa' at compile time and is 'aaaaaaaa' now" in message
    assert "_call_impl" not in message


def test_the_message_names_the_wrapped_function() -> None:
    text = [""]

    @doubled
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * len(text[0])

    line = scaled.__wrapped__.__code__.co_firstlineno  # type: ignore[attr-defined]
    message = at_the_limit(
        tracer_core.compile(scaled, backend="eager", fullgraph=True), lambda n: text.__setitem__(0, "a" * n)
    )
    assert f"scaled (test_limits.py:{line}), wrapped by doubled.<locals>.wrapper was compiled 8 times" in message


def test_versions_of_what_died_are_not_counted() -> None:
    def use(net: torch.nn.Module, x: torch.Tensor) -> Any:
        return net(x) * 2

    counting = Counting()
    compiled = tracer_core.compile(use, backend=counting, fullgraph=True)
    for _ in range(30):
        assert compiled(own_class(0), torch.ones(1)).item() == 4
    assert counting.graphs == 30


def test_of_many_live_modules_each_tries_its_own_version_alone() -> None:
    x = torch.ones(2)
    modules = [tracer_core.compile(TWELVE["layouts of one class"][0](n), backend="eager") for n in range(40)]
    for module in modules:
        module(x)
    log = Log()
    with tracer_core.observing(log):
        for module in modules:
            module(x)
    checks = [line for line in log.lines if "reused" in line or ":" in line]
    assert len(checks) == len(modules), checks


RERUN = {
    "module": "class Net(torch.nn.Module):\n def forward(self, x): return x + 1\n"
    "tw.compile(Net(), backend='eager', fullgraph=True)(x)",
    "module with a layer": "class Net(torch.nn.Module):\n def __init__(self):\n  super().__init__()\n"
    "  self.l = torch.nn.Linear(2, 2)\n def forward(self, x): return self.l(x) + 1\n"
    "tw.compile(Net(), backend='eager', fullgraph=True)(x)",
    "module with a hook": "class Net(torch.nn.Module):\n def forward(self, x): return x + 1\n"
    "n = Net()\nn.register_forward_hook(lambda m, a, r: r * 2)\ntw.compile(n, backend='eager', fullgraph=True)(x)",
    "module that breaks": "class Net(torch.nn.Module):\n def forward(self, x):\n  y = x + 1\n  print(end='')\n"
    "  return y * 2\ntw.compile(Net(), backend='eager')(x)",
    "layer": "tw.compile(torch.nn.Linear(2, 2), backend='eager', fullgraph=True)(x)",
    "function": "@tw.compile(backend='eager', fullgraph=True)\ndef f(x): return x.sin() + 1\nf(x)",
    "decorated function": "@tw.compile(backend='eager')\n@doubled\ndef f(x): return x.sin() + 1\nf(x)",
    "back end": "def backend(gm, inputs): return gm.forward\ntw.compile(doubled(torch.sin), backend=backend)(x)",
    "used by an older function": "class Net(torch.nn.Module):\n def forward(self, x): return x + 1\nuse(Net(), x)",
    "trace": "class Net(torch.nn.Module):\n def forward(self, x): return x + 1\ntw.trace(Net(), x)",
    "record": "@doubled\ndef f(x): return x + 1\nwith tw.record() as t:\n f(x)\n torch.nn.ReLU()(x)",
}


def cached_entries() -> int:
    """How many entries the C side keeps for the code that cells have in common."""
    codes = [doubled(len).__code__, torch.nn.Module.__call__.__code__, torch.nn.Linear.forward.__code__]
    return max(eval_frame._get_total_cache_entry_count(code) for code in codes)


@pytest.mark.parametrize("kind", RERUN)
def test_a_cell_that_is_run_again_and_again_leaves_nothing(kind: str) -> None:
    def use_(net: Any, x: torch.Tensor) -> Any:
        return net(x) * 2

    use = tracer_core.compile(use_, backend="eager", fullgraph=True)
    runs = 110  # each could leave an entry: more than may be kept

    def run(count: int) -> None:
        for _ in range(count):
            namespace = cell(RERUN[kind], use=use)
            references.extend(weakref.ref(namespace[name]) for name in ("Net", "f") if name in namespace)
        gc.collect()

    references: list[weakref.ref[Any]] = []
    run(10), run(1)
    before = len(gc.get_objects())
    run(runs), run(1)
    assert len(gc.get_objects()) - before < 10 * runs, "objects that stay"
    assert sum(reference() is not None for reference in references) <= 10
    assert cached_entries() <= 100


def test_a_traced_cell_that_is_run_again_and_again_leaves_nothing() -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    try:
        shell.run_line_magic("load_ext", "tracewalk")
        shell.run_cell("import torch\nx = torch.ones(2)")
        references: list[weakref.ref[Any]] = []
        for _ in range(40):
            with capture_output():
                ran = shell.run_cell(
                    "%%trace\nclass Net(torch.nn.Module):\n    def forward(self, x): return x + 1\ny = Net()(x)"
                )
            assert ran.success
            assert shell.user_ns["y"].tolist() == [2, 2]
            references.append(weakref.ref(shell.user_ns["Net"]))
        gc.collect()
        assert sum(reference() is not None for reference in references) <= 10
    finally:
        InteractiveShell.clear_instance()


def test_a_function_that_is_compiled_in_vain_leaves_others_alone() -> None:
    """Modules that do nothing with tensors do not keep others from being compiled, though they share code."""

    class Idle(torch.nn.Module):
        def forward(self, n: int) -> int:
            return n + 1

    for _ in range(40):
        assert tracer_core.compile(Idle(), backend="eager")(1) == 2
    counting = Counting()
    tracer_core.compile(own_class(0), backend=counting)(torch.ones(1))
    assert counting.graphs == 1


def test_hooks_of_a_compiled_module_are_in_its_graph() -> None:
    module = own_class(0)
    compiled = tracer_core.compile(module, backend=(counting := Counting()), fullgraph=True)
    assert compiled(torch.ones(1)).item() == 2
    handle = module.register_forward_hook(lambda module, args, result: result * 10)
    assert compiled(torch.ones(1)).item() == 20
    assert counting.graphs == 2
    handle.remove()
    assert compiled(torch.ones(1)).item() == 2
    assert counting.graphs == 2


def test_threads_that_run_different_objects_reuse_what_there_is() -> None:
    import threading

    counting = Counting()
    modules = [tracer_core.compile(Adds(n), backend=counting) for n in range(4)]
    wrong: list[int] = []
    for module in modules:
        module(torch.zeros(1))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work(number: int) -> None:
        for _ in range(200):
            if modules[number](torch.zeros(1)).item() != number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong
    assert counting.graphs == 4
    assert eval_frame.get_eval_frame_isolate_recompiles_id() == -1


def goes_on_with_a_cell(x, text):
    def scaled():
        return x * len(text)

    def again():
        return scaled()

    print(text)
    return again()


def test_functions_that_a_frame_makes_are_not_what_it_wraps() -> None:
    """The rest of a function has the function's own cells among its free variables."""
    compiled = tracer_core.compile(goes_on_with_a_cell, backend="eager")
    for length in range(8):
        compiled(torch.ones(2), "a" * length)
    with pytest.warns(tracer_core.CacheLimitWarning, match="compiled 8 times") as caught:
        compiled(torch.ones(2), "a" * 8)
    (message,) = {str(each.message) for each in caught if "compiled 8 times" in str(each.message)}
    assert "goes_on_with_a_cell" in message and "wrapped by" not in message

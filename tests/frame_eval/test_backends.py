"""Back ends, options, and what each mistake in them is told."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
import torch.fx

import tracer_core
from tracer_core import BackendError
from tracer_core.frame_eval import backends
from tracer_core.frame_eval.api import make_config


def graph() -> torch.fx.GraphModule:
    return torch.fx.symbolic_trace(lambda x: (x.sin() + 1,))


@pytest.mark.row("O11")
@pytest.mark.parametrize("name", ["eager", "aot_eager"])
def test_named_back_ends_compile_graphs(name: str) -> None:
    x = torch.randn(3)
    compiled = make_config(backend=name).backend(graph(), [x])
    (result,) = compiled(x)
    assert torch.equal(result, x.sin() + 1)


@pytest.mark.row("O11")
def test_every_name_of_torch_s_is_known() -> None:
    assert set(torch.compiler.list_backends()) <= set(backends.names())
    for name in backends.names():
        assert callable(backends.lookup(name))


@pytest.mark.row("O11")
def test_any_callable_is_a_back_end() -> None:
    seen: list[Any] = []

    def mine(gm: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
        seen.append((gm, inputs))
        return gm.forward

    gm = graph()
    make_config(backend=mine).backend(gm, [1])
    assert seen == [(gm, [1])]


def test_a_back_end_s_own_options_reach_it() -> None:
    seen: list[Any] = []

    def mine(gm: Any, inputs: Any, *, options: Any = None, mode: Any = None) -> Any:
        seen.append((options, mode))
        return gm.forward

    config = make_config(backend=mine, mode="fast", options={"level": 3, "cache_size_limit": 2})
    config.backend(graph(), [])
    assert seen == [({"level": 3}, "fast")]
    assert config.options == {"cache_size_limit": 2}


MISTAKES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"backend": "induktor"}, ValueError, "there is no back end called 'induktor'. Did you mean 'inductor'"),
    ({"backend": "aot_eagre"}, ValueError, "Did you mean 'aot_eager'"),
    ({"backend": "nope"}, ValueError, "there is no back end called 'nope'. There are: aot_eager, "),
    ({"options": {"xyz": True}}, ValueError, "no option called 'xyz'. There are: cache_size_limit, "),
    ({"backend": 3}, TypeError, "must be a name or a function"),
    (
        {"backend": "eager", "options": {"cache_limit": 3}},
        ValueError,
        "no option called 'cache_limit'. Did you mean 'cache_size_limit'",
    ),
    ({"backend": "eager", "options": {"cache_size_limit": "3"}}, TypeError, "must be int, not str"),
    ({"backend": "eager", "options": {"cache_size_limit": True}}, TypeError, "must be int, not bool"),
    ({"backend": "eager", "options": {"cache_size_limit": 0}}, ValueError, "at least 1"),
    ({"backend": "eager", "mode": "max-autotune"}, ValueError, "is for the back end 'inductor'"),
    ({"mode": "max-autotun"}, ValueError, "Did you mean 'max-autotune'"),
    ({"options": {"max_autotun": True}}, ValueError, "Did you mean 'max_autotune'"),
    ({"mode": "max-autotune", "options": {"max_autotune": True}}, ValueError, "not both"),
]


@pytest.mark.parametrize(("keywords", "error", "text"), MISTAKES, ids=[case[2][:40] for case in MISTAKES])
def test_mistakes_are_told_at_once(keywords: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        tracer_core.compile(lambda x: x, **keywords)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("keywords", "patches", "ours"),
    [
        ({"mode": "default"}, {}, {}),
        ({"mode": "reduce-overhead"}, {"triton.cudagraphs": True}, {}),
        ({"options": {"max_autotune": True, "cache_size_limit": 2}}, {"max_autotune": True}, {"cache_size_limit": 2}),
        ({"options": {"max-autotune": True}}, {"max_autotune": True}, {}),
    ],
)
def test_modes_and_options_of_inductor_reach_it(
    keywords: dict[str, Any], patches: dict[str, Any], ours: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor import compile_fx

    given: list[Any] = []

    def compile_fx_stand_in(gm: Any, inputs: Any, config_patches: Any = None) -> Any:
        given.append(config_patches)
        return gm.forward

    monkeypatch.setattr(compile_fx, "compile_fx", compile_fx_stand_in)
    config = make_config(**keywords)
    config.backend(graph(), [torch.ones(2)])
    assert given == [patches]
    assert dict(config.options) == ours


@pytest.mark.row("O8")
def test_its_failures_are_told_apart() -> None:
    def failing(gm: Any, inputs: Any) -> Any:
        raise ValueError("no such instruction")

    with pytest.raises(BackendError, match=r"'.*failing' failed: ValueError: no such instruction") as caught:
        make_config(backend=failing).backend(graph(), [])
    assert isinstance(caught.value.__cause__, ValueError)


def test_what_is_no_function_is_no_result() -> None:
    with pytest.raises(BackendError, match="cannot be called"):
        make_config(backend=lambda gm, inputs: None).backend(graph(), [])


class Pair(NamedTuple):
    one: torch.Tensor
    two: torch.Tensor


def adds(x: torch.Tensor) -> None:
    x.add_(1)


RETURNED = {
    "too few": (lambda results: results[:1], "1 result"),
    "too many": (lambda results: [*results, results[0]], "3 results"),
    "nothing": (lambda results: None, "an object of type NoneType"),
    "a tensor": (lambda results: torch.stack(results), "an object of type Tensor"),
    "a generator": (lambda results: (each for each in results), "an object of type generator"),
    "a dict": (lambda results: dict(enumerate(results)), "an object of type dict"),
    "a text": (lambda results: "ab", "an object of type str"),
}


@pytest.mark.row("O8")
@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize(("change", "given"), RETURNED.values(), ids=RETURNED)
def test_results_of_another_number_or_kind(change: Any, given: str, fullgraph: bool) -> None:
    """At each call: a back end may change its mind. No handler in the compiled function catches it."""

    def mine(gm: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            changes = any(each.sum() == 0 for each in args)
            results = gm.forward(*args)
            return change(results) if changes else results

        return run

    def program(x: torch.Tensor, written: torch.Tensor) -> Any:
        try:
            written.add_(x[x.to(torch.int64)])
            return x + 1, x * 2
        except Exception:
            return "caught"

    compiled = tracer_core.compile(program, backend=mine, fullgraph=fullgraph)
    assert [each.tolist() for each in compiled(torch.ones(2), torch.ones(2))] == [[2, 2], [2, 2]]
    with pytest.raises(BackendError) as caught:
        compiled(torch.zeros(2), torch.ones(2))
    assert str(caught.value) == (
        f"the back end {mine.__qualname__!r} returned {given} for a graph with 2 outputs: what it compiles must "
        f"return a tuple or a list with one result for each output of the graph."
    )


@pytest.mark.parametrize("results", [tuple, list, Pair._make], ids=["tuple", "list", "named tuple"])
def test_results_as_a_tuple_or_a_list(results: Any) -> None:
    def mine(gm: Any, inputs: Any) -> Any:
        return lambda *args: results(gm.forward(*args))

    def program(x: torch.Tensor) -> Any:
        return x + 1, x * 2

    compiled = tracer_core.compile(program, backend=mine)
    assert [each.tolist() for each in compiled(torch.ones(1))] == [[2], [2]]
    assert [each.tolist() for each in compiled(torch.zeros(1))] == [[1], [0]]


@pytest.mark.parametrize("nothing", [None, (), []])
def test_a_graph_without_outputs_needs_no_results(nothing: Any) -> None:
    def mine(gm: Any, inputs: Any) -> Any:
        return lambda *args: (gm.forward(*args), nothing)[1]

    x = torch.ones(1)
    compiled = tracer_core.compile(adds, backend=mine)
    compiled(x)
    compiled(x)
    assert x.tolist() == [3]


def test_its_failures_can_be_passed_over() -> None:
    def failing(gm: Any, inputs: Any) -> Any:
        raise ValueError("no")

    config = make_config(backend=failing, options={"suppress_backend_errors": True})
    x = torch.randn(2)
    assert torch.equal(config.backend(graph(), [x])(x)[0], x.sin() + 1)


def test_what_it_returns_runs_with_the_hook_off() -> None:
    from torch._C._dynamo import eval_frame

    seen: list[Any] = []

    def mine(gm: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            seen.append(eval_frame.get_eval_frame_callback())
            return gm.forward(*args)

        return run

    compiled = make_config(backend=mine).backend(graph(), [])
    with tracer_core.enabled(make_config(backend="eager")):
        hook = eval_frame.get_eval_frame_callback()
        compiled(torch.ones(1))
        assert eval_frame.get_eval_frame_callback() is hook is not None
    assert seen == [None]


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)


def test_dynamo_is_not_imported() -> None:
    done = run(
        """
        import sys, torch
        import tracer_core
        from tracer_core.frame_eval.convert import use_tracer
        from tracer_core.frame_input import CompiledFrame
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        with use_tracer(lambda frame: CompiledFrame(frame.code, [])):
            tracer_core.compile(model, backend="eager")(torch.ones(2))
            tracer_core.compile(lambda x: x + 1, backend=lambda gm, inputs: gm, fullgraph=True)(torch.ones(2))
        tracer_core.reset()
        print([name for name in sys.modules if name.startswith("torch._dynamo")])
        """
    )
    assert done.stdout == "[]\n", done.stderr


def test_recordings_are_read_without_torch() -> None:
    done = run(
        """
        import sys
        sys.modules["torch"] = None
        import tracer_core
        tracer_core.recording
        assert "compile" in dir(tracer_core)
        try:
            tracer_core.nothing
        except AttributeError as error:
            print(error)
        """
    )
    assert done.stdout == "module 'tracer_core' has no attribute 'nothing'\n", done.stderr


def test_every_public_name_is_there() -> None:
    for name in tracer_core.__all__:
        assert getattr(tracer_core, name) is not None


# --- verify_correctness -----------------------------------------------------------------------------------------


def off_by_one(gm: Any, inputs: Any) -> Any:
    return lambda *args: [each + 1 for each in gm.forward(*args)]


def forgets_to_write(gm: Any, inputs: Any) -> Any:
    return lambda *args: gm.forward(*(arg.clone() for arg in args))


def adds_in_place(x: torch.Tensor) -> torch.Tensor:
    x.add_(2)
    return x * 3


@pytest.mark.row("O8")
@pytest.mark.parametrize(
    ("backend", "function", "verb"),
    [
        (off_by_one, lambda x: x * 2, "returns"),
        (forgets_to_write, adds_in_place, "leaves in the inputs"),
    ],
)
def test_results_are_compared_with_the_graph_if_asked_for(backend: Any, function: Any, verb: str) -> None:
    compiled = tracer_core.compile(function, backend=backend, options={"verify_correctness": True})
    with pytest.raises(BackendError, match=f"{verb} other values than the graph"):
        compiled(torch.ones(3))
    tracer_core.compile(function, backend=backend)(torch.ones(3))  # not asked for


@pytest.mark.row("O8")
def test_right_results_pass_the_comparison() -> None:
    base = torch.ones(4)
    for function in (adds_in_place, lambda x: (x + 1, torch.rand(3)), lambda x: x / 0 - x / 0):
        compiled = tracer_core.compile(function, backend="aot_eager", options={"verify_correctness": True})
        for _ in range(2):
            compiled(base[1:])

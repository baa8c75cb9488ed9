"""Each kind of guard: what it lets pass, what it does not, and what it says then."""

from __future__ import annotations

import builtins
import functools
import math
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.guards.static import static_tensor
from tracer_core.guards import KINDS, Guard, compile_guards, make
from tracer_core.sources import GlobalSource, LocalSource, SizeSource

x, y, z = map(LocalSource, "xyz")


class Thing:
    pass


class Silent(dict[str, int]):
    """A dict that lies to who asks it in the usual way."""

    def __iter__(self) -> Any:
        return iter(())

    def keys(self) -> Any:
        return ()


def compiled(*guards: Guard) -> Any:
    return compile_guards(guards, globals(), vars(builtins))


def verdicts(guard: Guard, **values: Any) -> tuple[bool, bool]:
    """By the generated function, and by plain Python."""
    check = compiled(guard)
    from tracer_core.sources import Scope

    return check.holds(values), guard.holds(Scope(values, globals(), vars(builtins)))


thing, other_thing = Thing(), Thing()
filled, empty = types.CellType(1), types.CellType()


def filled_cache(count: int) -> Any:
    """An `lru_cache` with so many results."""
    cached = functools.lru_cache(lambda n: n)
    for n in range(count):
        cached(n)
    return cached


def hooked(which: str) -> torch.nn.Module:
    """A module with a hook."""
    module = torch.nn.Linear(1, 1)
    getattr(module, f"register_forward_{which}hook")(lambda *args: None)
    return module


def with_own(name: str) -> torch.nn.Module:
    """A module with such a method in its `__dict__`."""
    module = torch.nn.Linear(1, 1)
    module.__dict__[name] = print
    return module


def first() -> int:
    return 1


def second() -> int:
    return 2


copy_of_first = types.FunctionType(first.__code__, {})
nan = float("nan")

# guard, values that pass, values that do not
ONE_VALUE: list[tuple[Guard, list[Any], list[Any]]] = [
    (make.type_is(x, int), [3, 0], [True, 3.0, "3", None]),
    (make.type_is(x, Thing), [thing, other_thing], [type("Thing", (Thing,), {})(), None]),
    (make.identity(x, thing), [thing], [other_thing, None]),
    (make.identity(x, torch), [torch], [math, None]),
    (make.identity(x, None), [None], [0, False]),
    (make.is_none(x), [None], [0, ()]),
    (make.is_not_none(x), [0, False], [None]),
    (make.constant(x, 3), [3, int("3")], [4, True, 3.0, "3"]),
    (make.constant(x, 10**30), [10**30, int("1" + "0" * 30)], [10**30 + 1, float(10**30)]),
    (make.constant(x, 1), [1], [True, 1.0]),
    (make.constant(x, True), [True], [1, False]),
    (make.constant(x, "ab c"), ["ab c", "".join(["ab", " c"])], ["ab", b"ab c"]),
    (make.constant(x, b"ab"), [b"ab", bytes(bytearray(b"ab"))], [bytearray(b"ab"), "ab"]),
    (make.constant(x, 0.5), [0.5, float("0.5")], [0.25, -0.5, torch.tensor(0.5)]),
    (make.constant(x, 1.0), [1.0], [1, True]),
    (make.constant(x, 0.0), [0.0], [-0.0, 0, False]),
    (make.constant(x, -0.0), [-0.0], [0.0]),
    (make.constant(x, nan), [nan, float("nan")], [0.0, math.inf]),
    (make.constant(x, math.inf), [math.inf], [-math.inf, nan]),
    (make.constant(x, 1 + 0j), [1 + 0j], [1, complex(1, -0.0)]),
    (
        make.constant(x, (1, (2.0, "a"))),
        [(1, (2.0, "a"))],
        [(1, (2, "a")), (True, (2.0, "a")), [1, (2.0, "a")], (1,)],
    ),
    (make.constant(x, frozenset({1, "a"})), [frozenset({"a", 1})], [frozenset({True, "a"}), {1, "a"}]),
    (make.constant(x, range(0, 3, 2)), [range(0, 3, 2)], [range(0, 4, 2), [0, 2]]),
    (make.constant(x, slice(1, None)), [slice(1, None)], [slice(1, 2), slice(True, None)]),
    (make.constant(x, ...), [...], [None]),
    (make.constant(x, torch.float32), [torch.float32], [torch.float64]),
    (make.constant(x, torch.device("cpu")), [torch.device("cpu")], [torch.device("meta"), "cpu"]),
    (make.constant(x, torch.Size((1, 2))), [torch.Size((1, 2))], [(1, 2), torch.Size((1,))]),
    (make.length(x, 2), [[1, 2], (1, 2), "ab"], [[1], [1, 2, 3], 3]),
    (make.length(x, 0), [[], {}], [[1]]),
    (make.filled(x, 1), [filled_cache(1), filled_cache(2)], [filled_cache(0)]),
    (make.upcoming(x, 1, True), [iter([1, 2]), iter([1, 2, 3])], [iter([1]), iter(())]),
    (make.upcoming(x, 1, False), [iter([1]), iter(())], [iter([1, 2])]),
    (make.dict_keys_are(x, {"a": 1, "b": 2}), [{"a": 0, "b": 0}], [{"b": 0, "a": 0}, {"a": 0}, {"a": 0, "c": 0}, {}]),
    (make.dict_keys_are(x, {1: 1}), [{1: 0}], [{True: 0}, {1.0: 0}]),
    (make.dict_keys_are(x, {thing: 1}), [{thing: 0}], [{other_thing: 0}]),
    (make.dict_keys_are(x, {}), [{}], [{"a": 1}]),
    (make.dict_keys_are(x, OrderedDict(a=1, b=2)), [OrderedDict(a=1, b=2)], [OrderedDict(b=2, a=1)]),
    (make.dict_keys_are(x, Silent(a=1)), [Silent(a=1)], [Silent(b=1)]),
    (make.set_items_are(x, {1}), [{1}, frozenset({1})], [{1.0}, {True}, {2}, {1, 2}, set()]),
    (make.contains(x, "a"), [{"a": 1}, {"a"}], [{}, {"b": 1}]),
    (make.contains(x, thing), [{thing: 1}], [{other_thing: 1}]),
    (make.lacks(x, "a"), [{}, {"b": 1}], [{"a": 1}]),
    (make.lacks_attr(x, "real"), ["a"], [3]),
    (make.cell_empty(x), [empty], [filled]),
    (
        make.calls_forward(x),
        [torch.nn.Linear(1, 1)],
        [hooked("pre_"), hooked(""), with_own("forward"), with_own("_compiled_call_impl")],
    ),
    (make.function_code(x, first), [first, copy_of_first], [second, len]),
]


NAMES = [f"{number} {case[0].kind}" for number, case in enumerate(ONE_VALUE)]


@pytest.mark.row("G1")
@pytest.mark.parametrize(("guard", "good", "bad"), ONE_VALUE, ids=NAMES)
def test_lets_pass_what_it_should(guard: Guard, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert verdicts(guard, x=value) == (True, True), value
    for value in bad:
        assert verdicts(guard, x=value) == (False, False), value
    assert verdicts(guard) == (False, False), "a missing value is no error"


@pytest.mark.row("G3")
@pytest.mark.parametrize(("guard", "good", "bad"), ONE_VALUE, ids=NAMES)
def test_explains_what_it_refuses(guard: Guard, good: list[Any], bad: list[Any]) -> None:
    check = compiled(guard)
    assert check.explain({"x": good[0]}) is None
    for value in bad:
        failure = check.explain({"x": value})
        assert failure is not None
        assert failure.guard is guard
        assert failure.sentence.startswith(
            f"{guard.source.name} {guard.rule.verbs[0]} {failure.expected} at compile time and "
        )
        assert failure.now == (f"it is {failure.seen}" if failure.missing else guard.rule.now(failure.seen))
        assert failure.expected != failure.seen
        assert failure.advice
        assert failure.sentence.endswith(f"To avoid this, {failure.advice}.")
    missing = check.explain({})
    assert missing is not None
    assert missing.seen.startswith("missing")
    assert "`x`" in missing.advice.split()


def test_a_lookup_never_fills_a_defaultdict() -> None:
    table: defaultdict[str, int] = defaultdict(int)
    assert verdicts(make.contains(x, "a"), x=table) == (False, False)
    assert verdicts(make.dict_keys_are(x, {"a": 1}), x=table) == (False, False)
    assert not table


SENTENCES = [
    (make.constant(x, 3), 4, "x was 3 at compile time and is 4 now."),
    (make.type_is(x, int), "a", "x was of type int at compile time and is of type str now."),
    (make.length(x, 2), [1], "x was of length 2 at compile time and is of length 1 now."),
    (
        make.filled(x, 2),
        filled_cache(1),
        "x was filled with at least 2 results at compile time and is filled with 1 now.",
    ),
    (
        make.dict_keys_are(x, {"a": 1}),
        {"b": 1},
        "x had the keys ['a'] at compile time and has the keys ['b'] now.",
    ),
    (make.is_none(x), 3, "x was None at compile time and is 3 now."),
    (make.set_items_are(x, ["a"]), {"b"}, "x had the items ['a'] at compile time and has the items ['b'] now."),
    (make.contains(x, "a"), {}, "x had 'a' in it at compile time and has no 'a' in it now."),
    (make.lacks(x, "a"), {"a": 1}, "x had no 'a' in it at compile time and has 'a' in it now."),
    (
        make.lacks_attr(x, "real"),
        3,
        "x had no attribute 'real' at compile time and has an attribute 'real' now.",
    ),
    (
        make.upcoming(x, 1, True),
        iter([1]),
        "the next items of `x` were more than 1 at compile time and are 1 now.",
    ),
    (
        make.upcoming(x, 0, False),
        iter([1]),
        "the next items of `x` were no more than 0 at compile time and are more than 0 now.",
    ),
    (
        make.identity(x, thing),
        other_thing,
        "x was an object of tests.guards.test_kinds.Thing at compile time and is another object of "
        "tests.guards.test_kinds.Thing now.",
    ),
]


@pytest.mark.row("G3")
def test_two_tensors_that_are_one_now() -> None:
    one, other = torch.ones(2), torch.ones(2)
    check = compiled(static_tensor(x, one), static_tensor(y, other))
    failure = check.explain({"x": one, "y": one})
    assert failure is not None
    assert failure.sentence == (
        "y was another object than x at compile time and is the same object as x now. To avoid this, "
        "pass different objects, or a clone of one of them, at each call."
    )


@pytest.mark.row("G3")
def test_what_came_reads_on_from_the_guard() -> None:
    check = compiled(static_tensor(x, torch.ones(4, 3)))
    for value, now in ((torch.ones(7, 3), "it is of shape [7, 3]"), (3, "it is 3")):
        failure = check.explain({"x": value})
        assert failure is not None and failure.now == now
    failure = check.explain({})
    assert failure is not None and failure.now == "it is missing (KeyError: 'x')"
    failure = compiled(make.shape("{0} == 2", [SizeSource(x, 0)])).explain({"x": torch.ones(3)})
    assert failure is not None and failure.now == "x.size(0) == 3"


@pytest.mark.row("G3")
@pytest.mark.parametrize(("guard", "value", "sentence"), SENTENCES)
def test_sentences(guard: Guard, value: Any, sentence: str) -> None:
    failure = compiled(guard).explain({"x": value})
    assert failure is not None
    assert failure.sentence.startswith(sentence + " To avoid this, ")


def test_same_object() -> None:
    guard = make.duplicate(x, y)
    assert verdicts(guard, x=thing, y=thing) == (True, True)
    assert verdicts(guard, x=thing, y=other_thing) == (False, False)
    failure = compiled(guard).explain({"x": thing, "y": other_thing})
    assert failure is not None
    assert failure.seen == "another object than y"


@pytest.mark.parametrize("tensors", [True, False], ids=["checked with the tensors", "on their own"])
def test_different_objects(tensors: bool) -> None:
    a, b, c = (torch.ones(2) for _ in range(3))
    guards = [static_tensor(s, t) for s, t in zip((x, y, z), (a, b, c), strict=True)] if tensors else []
    check = compiled(*guards, make.not_duplicate([x, y, z]))
    assert check.holds({"x": a, "y": b, "z": c})
    assert check.holds({"x": c, "y": b, "z": a})
    failure = check.explain({"x": a, "y": b, "z": b})
    assert failure is not None
    assert failure.guard.kind == "NOT_DUPLICATE"
    assert failure.seen == "one object in both y and z"


def test_iterators_that_have_to_do_with_each_other() -> None:
    guard = make.apart(x, [y, z])
    items = [1, 2]
    inner = iter(items)
    assert verdicts(guard, x=inner, y=enumerate(iter("ab")), z=[1, 2]) == (True, True)
    assert verdicts(guard, x=inner, y=enumerate(inner), z=[1, 2]) == (False, False)
    failure = compiled(guard).explain({"x": inner, "y": enumerate(iter("ab")), "z": items})
    assert failure is not None
    assert failure.sentence == (
        "x was an iterator of its own at compile time and is one that shares its items with z now. To avoid this, "
        "let `x` iterate over a container of its own at each call."
    )


def test_one_tensor_in_two_places_may_be_guarded_twice() -> None:
    tensor = torch.ones(2)
    guards = [static_tensor(x, tensor), static_tensor(y, tensor), make.duplicate(x, y)]
    check = compiled(*guards)
    assert check.holds({"x": tensor, "y": tensor})
    assert not check.holds({"x": tensor, "y": torch.ones(2)})
    assert not check.holds({"x": tensor, "y": torch.ones(3)})


SETTINGS: list[tuple[str, Callable[[], Any]]] = [
    ("grad_mode", lambda: torch.no_grad()),
    ("inference_mode", lambda: torch.inference_mode()),
    ("autocast", lambda: torch.autocast("cpu", torch.bfloat16)),
    ("autocast_cache", lambda: torch.autocast("cpu", torch.bfloat16, cache_enabled=False)),
    ("default_device", lambda: torch.device("meta")),
    ("torch_function_modes", lambda: torch.device("meta")),
    ("torch_function", lambda: torch._C.DisableTorchFunctionSubclass()),
]


@pytest.mark.row("G1")
@pytest.mark.parametrize(("setting", "change"), SETTINGS, ids=[s[0] for s in SETTINGS])
def test_settings(setting: str, change: Callable[[], Any]) -> None:
    guard = make.global_state(setting)
    check = compiled(guard)
    assert check.holds({})
    with change():
        failure = check.explain({})
    assert failure is not None
    assert failure.guard is guard
    assert failure.expected != failure.seen
    assert check.holds({})


@pytest.mark.parametrize(
    ("setting", "change", "back"),
    [
        (
            "deterministic",
            lambda: torch.use_deterministic_algorithms(True),
            lambda: torch.use_deterministic_algorithms(False),
        ),
        (
            "default_dtype",
            lambda: torch.set_default_dtype(torch.float64),
            lambda: torch.set_default_dtype(torch.float32),
        ),
        (
            "threads",
            lambda n=torch.get_num_threads(): torch.set_num_threads(n + 1),
            lambda n=torch.get_num_threads(): torch.set_num_threads(n),
        ),
    ],
)
def test_settings_without_a_block(setting: str, change: Callable[[], None], back: Callable[[], None]) -> None:
    check = compiled(make.global_state(setting))
    change()
    try:
        assert not check.holds({})
    finally:
        back()
    assert check.holds({})


def test_functorch_depth_and_dispatch_modes() -> None:
    check = compiled(make.global_state("functorch"), make.global_state("torch_dispatch_modes"))
    seen: list[Any] = []

    def inside(t: torch.Tensor) -> torch.Tensor:
        seen.append(check.explain({}))
        return t

    torch.func.vmap(inside)(torch.ones(2))
    assert seen[0].guard == make.global_state("functorch")


def test_a_setting_nobody_asked_for_does_not_matter() -> None:
    check = compiled(make.global_state("grad_mode"))
    with torch.autocast("cpu", torch.bfloat16):
        assert check.holds({})


def test_globals_are_those_given() -> None:
    check = compile_guards([make.constant(GlobalSource("size"), 3)], {"size": 3}, vars(builtins))
    assert check.holds({})
    assert not compile_guards([make.constant(GlobalSource("size"), 3)], {"size": 4}, vars(builtins)).holds({})


def test_a_constant_must_be_one() -> None:
    with pytest.raises(TypeError, match="cannot be guarded as a constant"):
        make.constant(x, [1, 2])
    with pytest.raises(TypeError, match="cannot be guarded as a constant"):
        make.constant(x, (1, thing))


def test_every_kind_is_tested() -> None:
    elsewhere = {
        "SHAPE",
        "DUPLICATE",
        "NOT_DUPLICATE",
        "APART",
        "TENSOR",
        "GLOBAL_STATE",
        "LIBRARIES",
    }
    assert {case[0].kind for case in ONE_VALUE} | elsewhere == set(KINDS)

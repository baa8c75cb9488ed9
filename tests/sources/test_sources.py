"""Each source finds, names, expresses and rebuilds the same value."""

from __future__ import annotations

import builtins
import types
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tracer_core.bytecode import assemble, decode, make, prologue
from tracer_core.names.code import Label
from tracer_core.sources import (
    AttrSource,
    BuiltinSource,
    CellContentsSource,
    CellSource,
    ClosureSource,
    ConstantSource,
    DefaultsSource,
    DictKeySource,
    DictValueSource,
    GetItemSource,
    GlobalSource,
    GlobalStateSource,
    GradSource,
    KwDefaultsSource,
    LenSource,
    LocalSource,
    MemberSource,
    ObjectAttrSource,
    OffsetSource,
    Scope,
    SizeSource,
    Source,
    SourceCode,
    StrideSource,
    TypeSource,
    UpcomingSource,
)

x = LocalSource("x")
other_module = types.ModuleType("elsewhere")
other_module.setting = ["theirs"]  # type: ignore[attr-defined]
setting = ["ours"]


class Plain:
    def __init__(self) -> None:
        self.kept = [1]

    def __getattr__(self, name: str) -> str:
        return f"made up: {name}"


def with_cell() -> Callable[..., Any]:
    inside = ["contents"]

    def function(a: Any, b: Any = (1, 2), *, c: Any = "key") -> Any:
        return inside

    return function


key = Plain()
grown = torch.ones(3, 4, requires_grad=True)
grown.grad = torch.full((3, 4), 2.0)
linear = torch.nn.Sequential(torch.nn.Linear(2, 3))
function = with_cell()
Point = namedtuple("Point", "a b")
started = iter([5, 6, 7])
next(started)

CELL = ClosureSource.of_function(x, function, 0)  # type: ignore[arg-type]
INSIDE = CellContentsSource(CELL)
NEXT_OF_XS = "the next item of `xs`, m.py:3"

CASES: list[tuple[Source, Any, str, Any]] = [
    (x, key, "x", key),
    (GlobalSource("setting"), None, "setting", setting),
    (
        GlobalSource.of_function("setting", vars(other_module), globals()),
        None,
        "elsewhere.setting",
        vars(other_module)["setting"],
    ),
    (BuiltinSource("len"), None, "builtins.len", len),
    (ConstantSource.of_object(Plain), None, "Plain", Plain),
    (AttrSource(x, "kept"), key, "x.kept", key.kept),
    (AttrSource(x, "missing"), key, "x.missing", "made up: missing"),
    (ObjectAttrSource(x, "kept"), key, "x.kept", key.kept),
    (GetItemSource(x, 1), [5, 6], "x[1]", 6),
    (GetItemSource(x, "a"), {"a": 6}, "x['a']", 6),
    (GetItemSource(x, (1, "a")), {(1, "a"): 6}, "x[(1, 'a')]", 6),
    (GetItemSource(x, Plain), {Plain: 6}, "x[Plain]", 6),
    (DictKeySource(x, 1), {"a": 1, key: 2}, "list(x)[1]", key),
    (DictValueSource(x, 1), {"a": 1, key: 2}, "list(x.values())[1]", 2),
    (UpcomingSource(x, 1), started, "the second next item of `x`", 7),
    (UpcomingSource(x, 0), started, "the next item of `x`", 6),
    (GetItemSource(UpcomingSource(x, 0), 1), iter([(5, 6)]), "(the next item of `x`)[1]", 6),
    (TypeSource(UpcomingSource(x, 0)), started, "type(the next item of `x`)", int),
    (LocalSource("x", label=Label("`f(y)`", "m.py:12", result=True)), key, "the result of `f(y)`, m.py:12", key),
    (
        AttrSource(LocalSource("x", label=Label("`f(y)`", "m.py:12", result=True)), "kept"),
        key,
        "(the result of `f(y)`, m.py:12).kept",
        key.kept,
    ),
    (
        LocalSource("x", label=Label("`xs`", "m.py:3", iterator=True)),
        started,
        "the iterator over `xs`, m.py:3",
        started,
    ),
    (UpcomingSource(LocalSource("x", label=Label("`xs`", "m.py:3", iterator=True)), 0), started, NEXT_OF_XS, 6),
    (GetItemSource(LocalSource("x", label=Label("`y`", box=True)), 0), [6], "`y`", 6),
    (TypeSource(x), Point(1, 2), "type(x)", Point),
    (LenSource(x), Point(1, 2), "len(x)", 2),
    (SizeSource(x, 1), grown, "x.size(1)", 4),
    (StrideSource(x, 0), grown, "x.stride(0)", 4),
    (OffsetSource(x), grown[1:], "x.storage_offset()", 4),
    (GradSource(x), grown, "x.grad", grown.grad),
    (INSIDE, function, "`inside` in `x`", function(0)),
    (CELL, function, "the cell of `inside` in `x`", function.__closure__[0]),  # type: ignore[index]
    (ClosureSource(x, 0), function, "x.__closure__[0]", function.__closure__[0]),  # type: ignore[index]
    (CellContentsSource(ClosureSource(x, 0)), function, "x.__closure__[0].cell_contents", function(0)),
    (DefaultsSource.of_function(x, function, 0), function, "default of `b` in `x`", (1, 2)),
    (GetItemSource(DefaultsSource.of_function(x, function, -1), 0), function, "(default of `b` in `x`)[0]", 1),
    (DefaultsSource(x, 0), function, "x.__defaults__[0]", (1, 2)),
    (KwDefaultsSource(x, "c", "c"), function, "default of `c` in `x`", "key"),
    (
        MemberSource(MemberSource(x, "_modules", "0"), "_parameters", "weight"),
        linear,
        "x[0].weight",
        linear[0].weight,
    ),
]


def same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and not isinstance(a, torch.Tensor) and a == b)


def scope_of(value: Any) -> Scope:
    return Scope({"x": value}, globals(), vars(builtins))


@pytest.mark.parametrize(("source", "value", "name", "expected"), CASES, ids=[case[2] for case in CASES])
def test_finds_and_names(source: Source, value: Any, name: str, expected: Any) -> None:
    assert source.name == name
    assert same(source.find(scope_of(value)), expected)


@pytest.mark.parametrize(("source", "value", "name", "expected"), CASES, ids=[case[2] for case in CASES])
def test_expression_gives_what_find_gives(source: Source, value: Any, name: str, expected: Any) -> None:
    objects: dict[str, Any] = {}

    def const(thing: Any) -> str:
        objects[f"c{len(objects)}"] = thing
        return f"c{len(objects) - 1}"

    text = ""
    for part in source.path():
        text = part.expr(text, const)
    given = {"L": {"x": value}, "G": globals(), "B": vars(builtins), **objects}
    assert same(eval(text, given), expected)


@pytest.mark.parametrize(
    ("source", "exact"),
    [
        (x, "L['x']"),
        (LocalSource("___stack0", label=Label("`f(y)`", "m.py:12")), "L['___stack0']"),
        (GlobalSource("setting"), "G['setting']"),
        (GlobalSource.of_function("setting", vars(other_module), globals()), "G(elsewhere)['setting']"),
        (BuiltinSource("len"), "B['len']"),
        (ConstantSource.of_object(Plain), "Plain"),
        (ObjectAttrSource(x, "kept"), "L['x'].kept"),
        (
            MemberSource(MemberSource(x, "_modules", "0"), "_parameters", "weight"),
            "L['x']._modules['0']._parameters['weight']",
        ),
        (SizeSource(AttrSource(x, "kept"), 1), "L['x'].kept.size(1)"),
        (GradSource(x), "L['x'].grad"),
        (CELL, "L['x'].__closure__[0]"),
        (KwDefaultsSource(x, "c", "c"), "L['x'].__kwdefaults__['c']"),
        (UpcomingSource(x, 1), "Upcoming(L['x'])[1]"),
        (DictKeySource(x, 1), "dict_keys(L['x'])[1]"),
        (GlobalStateSource("grad_mode"), "torch.is_grad_enabled()"),
        (CellSource("x"), "cell(x)"),
    ],
    ids=str,
)
def test_exact_source(source: Source, exact: str) -> None:
    assert source.exact == exact


def test_owner_is_what_the_name_is_composed_with() -> None:
    weight = MemberSource(MemberSource(x, "_modules", "0"), "_parameters", "weight")
    assert weight.owner == MemberSource(x, "_modules", "0")
    assert CELL.owner == x
    assert x.owner is None


def test_a_default_that_no_parameter_takes_is_named_by_its_place() -> None:
    def takes_none() -> None: ...

    takes_none.__defaults__ = (1,)
    assert DefaultsSource.of_function(x, takes_none, 0).name == "x.__defaults__[0]"


def template(x: Any) -> Any:
    return x


@pytest.mark.parametrize(("source", "value", "name", "expected"), CASES, ids=[case[2] for case in CASES])
def test_rebuilt_by_instructions(source: Source, value: Any, name: str, expected: Any) -> None:
    code = SourceCode()
    code.load_source(source)
    program = decode(template.__code__)
    program.instructions = [*prologue(), *code.instructions, make("RETURN_VALUE")]
    rebuilt = types.FunctionType(assemble(program), globals())
    assert same(rebuilt(value), expected)


def test_equal_by_value_not_by_way_of_making() -> None:
    first, second = (MemberSource(GetItemSource(LocalSource("m"), "k"), "_parameters", "w") for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert len({first, second}) == 1
    assert first != MemberSource(GetItemSource(LocalSource("n"), "k"), "_parameters", "w")
    assert DefaultsSource(x, 0) != ClosureSource(x, 0)
    assert LocalSource("x") == LocalSource("x", free=True)


def test_globals_of_two_modules_are_two_places() -> None:
    ours = GlobalSource.of_function("setting", globals(), globals())
    theirs = GlobalSource.of_function("setting", vars(other_module), globals())
    assert ours != theirs
    assert ours == GlobalSource("setting")
    assert theirs == GlobalSource.of_function("setting", vars(other_module), globals())


def test_paths_share_their_beginnings() -> None:
    weight = MemberSource(MemberSource(x, "_modules", "0"), "_parameters", "weight")
    bias = MemberSource(MemberSource(x, "_modules", "0"), "_parameters", "bias")
    assert weight.path()[:-1] == bias.path()[:-1]
    assert weight.root == x


def test_instance_dict_is_read_past_descriptors() -> None:
    class Shadowed:
        value = property(lambda self: "from the property")

    thing = Shadowed()
    vars(thing)["value"] = "stored"
    assert AttrSource(x, "value").find(scope_of(thing)) == "from the property"
    assert ObjectAttrSource(x, "value").find(scope_of(thing)) == "stored"


def test_order_of_an_ordered_dict_is_its_own() -> None:
    ordered = OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    assert DictKeySource(x, 0).find(scope_of(ordered)) == "b"
    assert DictValueSource(x, 0).find(scope_of(ordered)) == 2


def test_cell_of_the_frame_is_found_in_the_scope_only() -> None:
    cell = types.CellType(3)
    source = CellSource("x")
    assert source.find(Scope({}, {}, {}, {"x": cell})) is cell
    code = SourceCode()
    code.load_source(source)
    assert [(i.op, i.arg) for i in code.instructions] == [("LOAD_CLOSURE", "x")]
    with pytest.raises(NotImplementedError):
        source.expr("", lambda thing: "")


def test_settings_are_read_now_and_never_rebuilt() -> None:
    source = GlobalStateSource("grad_mode")
    assert source.find(scope_of(None)) is True
    with torch.no_grad():
        assert source.find(scope_of(None)) is False
    with pytest.raises(TypeError, match="not a value of the program"):
        source.rebuild(SourceCode())


@pytest.mark.parametrize(
    ("source", "value", "error"),
    [
        (LocalSource("absent"), None, KeyError),
        (GetItemSource(x, 3), [1], IndexError),
        (ObjectAttrSource(x, "absent"), Plain(), KeyError),
        (AttrSource(x, "absent"), 3, AttributeError),
        (CellContentsSource(x), types.CellType(), ValueError),
    ],
)
def test_missing_values_raise(source: Source, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        source.find(scope_of(value))


def test_gradient_that_torch_would_warn_of_is_not_read() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = GradSource(x).find(scope_of(grown * 2))
    assert found is not None
    assert not isinstance(found, torch.Tensor)

"""The generated check: what it reads and in which order, what it keeps alive, and how it fails."""

from __future__ import annotations

import builtins
import gc
import linecache
import weakref
from typing import Any

import pytest
import torch

from tests.guards.static import static_tensor
from tracer_core.guards import Guard, compile_guards, make
from tracer_core.names.where import Where
from tracer_core.sources import AttrSource, GetItemSource, GlobalSource, LocalSource, MemberSource, ObjectAttrSource

x, y = LocalSource("x"), LocalSource("y")


def compiled(*guards: Guard) -> Any:
    return compile_guards(guards, globals(), vars(builtins))


class Counting:
    """Counts reads of its attribute."""

    def __init__(self, value: Any) -> None:
        self.reads = 0
        self._value = value

    @property
    def value(self) -> Any:
        self.reads += 1
        return self._value


def test_a_shared_source_is_read_once() -> None:
    holder = Counting([1, 2, 3])
    value = AttrSource(x, "value")
    check = compiled(make.length(value, 3), *(make.constant(GetItemSource(value, i), i + 1) for i in range(3)))
    assert check.holds({"x": holder})
    assert holder.reads == 1


def test_equal_guards_are_checked_once() -> None:
    holder = Counting(3)
    check = compiled(*(make.constant(AttrSource(x, "value"), 3) for _ in range(3)))
    assert check.holds({"x": holder})
    assert holder.reads == 1
    assert len(check.guards) == 1


def test_nothing_below_a_value_of_the_wrong_type_is_read() -> None:
    holder = Counting(3)

    class Other(Counting):
        pass

    check = compiled(make.constant(AttrSource(x, "value"), 3), make.type_is(x, Other))
    assert not check.holds({"x": holder})
    assert holder.reads == 0
    failure = check.explain({"x": holder})
    assert failure is not None
    assert failure.guard.kind == "TYPE"


def test_attributes_of_a_tensor_are_read_only_if_it_is_one() -> None:
    holder = Counting(3)
    example = torch.ones(2)
    check = compiled(make.constant(AttrSource(x, "value"), 3), static_tensor(x, example))
    assert not check.holds({"x": holder})
    assert holder.reads == 0
    failure = check.explain({"x": holder})
    assert failure is not None
    assert failure.guard.kind == "TENSOR"


def test_stops_at_the_first_failure() -> None:
    later = Counting(3)
    check = compiled(static_tensor(AttrSource(y, "value"), torch.ones(1)), make.constant(x, 1))
    assert not check.holds({"x": 2, "y": later})
    assert later.reads == 0, "cheap ones come first"


def test_index_is_that_of_the_guard_that_fails() -> None:
    check = compiled(make.constant(x, 1), make.type_is(y, list), make.length(y, 1))
    values: dict[str, Any] = {"x": 1, "y": [0]}
    assert check.check(values) == -1
    assert check.guards[check.check({**values, "x": 2})] == make.constant(x, 1)
    assert check.guards[check.check({**values, "y": (0,)})] == make.type_is(y, list)
    assert check.guards[check.check({**values, "y": []})] == make.length(y, 1)


def test_errors_while_reading_are_failures() -> None:
    class Bad:
        @property
        def value(self) -> Any:
            raise RuntimeError("no value today")

        def __len__(self) -> int:
            raise RuntimeError("no length today")

    failure = compiled(make.constant(AttrSource(x, "value"), 1)).explain({"x": Bad()})
    assert failure is not None
    assert "no value today" in failure.seen
    assert "x.value" in failure.advice
    failure = compiled(make.length(x, 1)).explain({"x": Bad()})
    assert failure is not None
    assert "Bad" in failure.seen


def test_a_missing_part_is_named() -> None:
    deep = GetItemSource(GetItemSource(x, "a"), "b")
    failure = compiled(make.constant(deep, 1)).explain({"x": {}})
    assert failure is not None
    assert failure.advice == "have `x['a']` at each call"


def test_a_user_s_comparison_is_never_run() -> None:
    class Nosy:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __hash__ = object.__hash__

    for guard in (make.constant(x, 1), make.constant(x, "a"), make.constant(x, (1, 2)), make.identity(x, int)):
        assert not compiled(guard).holds({"x": Nosy()})


def test_text_is_kept_for_tracebacks_and_goes_with_the_guards() -> None:
    check = compiled(make.constant(x, 1))
    name = check.holds.__code__.co_filename
    assert "".join(linecache.getlines(name)) == check.text
    assert "L['x']" in check.text
    del check
    gc.collect()
    assert not linecache.getlines(name)


def test_no_guards_always_hold() -> None:
    assert compiled().check({}) == -1


class Thing:
    pass


def local_things() -> list[tuple[str, Any, Any]]:
    """(name, a guard on an object that lives only here, the object)"""

    class Local:
        pass

    made: dict[str, Any] = {}
    exec("def function(): ...", made)  # a code object that no other code has among its constants
    function = made.pop("function")
    thing, tensor, module = Thing(), torch.ones(2), torch.nn.Linear(1, 1)
    key = Thing()
    return [
        ("object", make.identity(x, thing), thing),
        ("tensor", make.identity(x, tensor), tensor),
        ("tensor's properties", static_tensor(x, tensor), tensor),
        ("module", make.identity(x, module), module),
        ("class", make.type_is(x, Local), Local),
        ("class as object", make.identity(x, Local), Local),
        ("function", make.identity(x, function), function),
        ("code", make.function_code(x, function), function.__code__),
        ("key", make.contains(x, key), key),
        ("keys", make.dict_keys_are(x, {key: 1}), key),
    ]


@pytest.mark.row("G4")
@pytest.mark.parametrize("index", range(10), ids=[case[0] for case in local_things()])
def test_nothing_of_the_user_s_is_kept_alive(index: int) -> None:
    _, guard, thing = local_things()[index]
    check = compiled(guard)
    code = (lambda: None).__code__.replace()
    guard.installed_at(Where.of(0, [(code, 1)]))
    gone = [weakref.ref(thing), weakref.ref(code)]
    mortal = [reference() for reference in check.mortals()]
    assert guard.kind == "TENSOR" or any(part is thing for part in mortal)
    del thing, mortal, code
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    assert guard.where is not None and guard.where.place.code is None
    for value in (None, 3, Thing()):
        assert not check.holds({"x": value})
    assert check.explain({"x": None}) is not None


def test_ids_are_not_mistaken_when_reused() -> None:
    for _ in range(200):
        thing = Thing()
        check = compiled(make.identity(x, thing))
        del thing
        assert not any(check.holds({"x": Thing()}) for _ in range(5))


def test_what_modules_hold_is_held_strongly() -> None:
    check = compiled(make.type_is(x, torch.nn.Linear), make.identity(x, torch))
    assert not list(check.mortals())


def test_guards_compare_by_what_they_ask() -> None:
    first, second = make.constant(x, 1), make.constant(x, 1)
    second.installed_at(Where.of(3, [(local_things.__code__, 4)]))
    assert first == second
    assert hash(first) == hash(second)
    assert make.constant(x, 1) != make.constant(x, True)
    assert make.constant(x, 0.0) != make.constant(x, -0.0)
    assert make.constant(x, float("nan")) == make.constant(x, float("nan"))
    assert make.constant(x, 1) != make.constant(y, 1)
    assert make.constant(x, 1) != make.length(x, 1)


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.linear = torch.nn.Linear(8, 8)


def module_guards(module: torch.nn.Module) -> list[Guard]:
    guards: list[Guard] = [make.global_state("grad_mode")]

    def visit(source: Any, part: torch.nn.Module) -> None:
        guards.append(make.type_is(source, type(part)))
        guards.append(make.constant(ObjectAttrSource(source, "training"), part.training))
        guards.append(make.length(ObjectAttrSource(source, "_forward_hooks"), 0))
        for name, parameter in part._parameters.items():
            assert parameter is not None
            guards.append(static_tensor(MemberSource(source, "_parameters", name), parameter))
        if part._modules:
            guards.append(make.dict_keys_are(ObjectAttrSource(source, "_modules"), part._modules))
        for name, child in part._modules.items():
            assert child is not None
            visit(MemberSource(source, "_modules", name), child)

    visit(x, module)
    return guards


def test_a_module_s_tree_is_checked_in_every_part() -> None:
    model = torch.nn.Sequential(*(Block() for _ in range(12)))
    check = compiled(*module_guards(model))
    assert len(check.guards) > 150
    assert check.holds({"x": model})

    block = model[7]
    assert isinstance(block, Block)
    changes: list[tuple[Any, Any, str]] = [
        (lambda: block.norm.eval(), lambda: block.norm.train(), "x[7].norm.training"),
        (lambda: block.linear.double(), lambda: block.linear.float(), "x[7].linear.weight"),
        (
            lambda: block.linear.requires_grad_(False),
            lambda: block.linear.requires_grad_(True),
            "x[7].linear.weight",
        ),
        (
            lambda: setattr(block, "extra", torch.nn.Identity()),
            lambda: delattr(block, "extra"),
            "x[7]._modules",
        ),
    ]
    for change, back, name in changes:
        change()
        failure = check.explain({"x": model})
        assert failure is not None
        assert failure.guard.source.name == name
        back()
        assert check.holds({"x": model})
    handle = block.register_forward_hook(lambda *args: None)
    failure = check.explain({"x": model})
    assert failure is not None
    assert failure.guard.text == "len(x[7]._forward_hooks) == 0"
    handle.remove()
    assert check.holds({"x": model})


def test_globals_of_another_module_are_read_there() -> None:
    theirs = {"__name__": "elsewhere", "size": 3}
    check = compile_guards(
        [make.constant(GlobalSource.of_function("size", theirs, globals()), 3)], globals(), vars(builtins)
    )
    assert check.holds({})
    theirs["size"] = 4
    failure = check.explain({})
    assert failure is not None
    assert failure.sentence.startswith("elsewhere.size was 3 at compile time and is 4")

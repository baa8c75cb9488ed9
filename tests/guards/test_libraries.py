"""Guards on what libraries are like: changes are noticed, and changes that do not matter cost nothing for long."""

from __future__ import annotations

import builtins
import collections.abc
import functools
import gc
import itertools
import math
import re
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tracer_core
from tests.back_ends import Graphs
from tracer_core.guards import CompiledGuards, Guard, compile_guards, make
from tracer_core.guards.kinds.libraries import LibraryReads
from tracer_core.recording.recorder import Recorder

pytestmark = pytest.mark.row("G1")


def compiled(*guards: Guard) -> CompiledGuards:
    return compile_guards(guards, {}, vars(builtins))


def module(**names: Any) -> types.ModuleType:
    made = types.ModuleType("library")
    vars(made).update(names)
    return made


def describe_function(function: Callable[..., Any]) -> str:
    return f"function {function.__qualname__}"


@pytest.mark.parametrize("count", [1, 40])
def test_names_of_a_module(count: int) -> None:
    names = {f"f{i}": (lambda i=i: i) for i in range(count)}
    library = module(**names)
    reads = LibraryReads()
    for name in (*names, "later"):
        reads.name(vars(library), name)
    check = compiled(make.libraries(reads.as_read()))
    assert check.holds({})
    library.other = 1
    assert check.holds({}) and check.holds({})
    library.f0 = len
    assert not check.holds({})
    failure = check.explain({})
    assert failure is not None
    assert failure.sentence == (
        f"library.f0 is builtin function len now and was {describe_function(names['f0'])} at compile time. "
        f"To avoid this, make that change before the first call."
    )
    library.f0 = names["f0"]
    assert check.holds({})
    library.later = 1
    assert not check.holds({})
    failure = check.explain({})
    assert failure is not None
    assert (failure.expected, failure.seen, failure.now) == ("not there", "library.later is 1", "library.later is 1")
    del library.later, library.f0
    failure = check.explain({})
    assert failure is not None and failure.seen == "library.f0 is not there"


def test_what_changed_between_reading_and_the_first_check() -> None:
    library = module(f=1)
    reads = LibraryReads()
    reads.name(vars(library), "f")
    library.f = 2
    assert not compiled(make.libraries(reads.as_read())).holds({})


def test_names_of_a_class() -> None:
    class Library:
        def f(self) -> None: ...

    reads = LibraryReads()
    reads.lookup(Library, "f")
    reads.lookup(Library, "g")
    check = compiled(make.libraries(reads.as_read()))
    assert check.holds({})
    Library.h = 1  # type: ignore[attr-defined]
    assert check.holds({})
    Library.f = lambda self: None  # type: ignore[method-assign]
    assert check.holds({}), "another function is noticed where it is used"
    Library.g = property(lambda self: 1)  # type: ignore[attr-defined]
    assert not check.holds({})
    failure = check.explain({})
    assert failure is not None and failure.seen.endswith("Library.g is an object of property")
    del Library.g  # type: ignore[attr-defined]
    Library.f = staticmethod(len)  # type: ignore[method-assign, assignment]
    failure = check.explain({})
    assert failure is not None and failure.expected == "an object of type function"


def test_a_class_that_is_gone_never_comes_back() -> None:
    class Library: ...

    reads = LibraryReads()
    reads.lookup(Library, "f")
    check = compiled(make.libraries(reads.as_read()))
    (gone,) = {id(ref): ref for ref in check.mortals()}.values()
    assert check.holds({}) and gone() is Library
    del reads, Library
    gc.collect()
    assert gone() is None and not check.holds({})


def test_bases() -> None:
    class A: ...

    class B: ...

    class C(A): ...

    class D(C): ...

    reads = LibraryReads()
    reads.lookup(D, "f")
    check = compiled(make.libraries(reads.as_read()))
    C.__bases__ = (A,)
    assert check.holds({})
    C.__bases__ = (B,)
    assert not check.holds({})
    failure = check.explain({})
    assert failure is not None and "D.__mro__ is " in failure.sentence and "B" in failure.seen


def test_registering_with_an_abstract_class() -> None:
    class Plain: ...

    class Other: ...

    reads = LibraryReads()
    reads.derives(Plain, collections.abc.Sized, False)
    check = compiled(make.libraries(reads.as_read()))
    collections.abc.Sized.register(Other)
    assert check.holds({})
    collections.abc.Sized.register(Plain)
    assert not check.holds({})
    failure = check.explain({})
    assert failure is not None and failure.seen.endswith("collections.abc.Sized) is True")


def test_one_guard_for_all_that_a_trace_reads() -> None:
    recorder = Recorder()
    layer = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    function = tracer_core.compile(lambda x: F.gelu(layer(x)), backend="eager")
    with tracer_core.observing(recorder):
        function(torch.ones(3))
    guards = [guard.text for guard in recorder.finish().guards if guard.kind == "LIBRARIES"]
    assert len(guards) == 1 and re.fullmatch("everything read from .*torch.* and [0-9]+ more is unchanged", guards[0])


def test_no_guard_where_nothing_is_read() -> None:
    recorder = Recorder()
    with tracer_core.observing(recorder):
        tracer_core.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
    assert not [guard.text for guard in recorder.finish().guards if guard.kind == "LIBRARIES"]


# --- what a person may do between two calls -----------------------------------------------------------------

linear, sequence = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())


class Thing: ...


class Base:
    def change(self, x: Any) -> Any:
        return x + 1


class OtherBase:
    def change(self, x: Any) -> Any:
        return x + 2


class Derived(Base): ...


def _in_turn(x: Any) -> Any:
    return [x]


REPLACED: list[tuple[str, Callable[[Any], Any], Any, str, Any]] = [
    ("a module's forward", lambda x: linear(x) + 1, nn.Linear, "forward", lambda self, x: x * 3),
    ("every module's call", lambda x: linear(x) + 1, nn.Module, "__call__", lambda self, x: x * 3),
    ("a function in the graph", lambda x: F.gelu(x), F, "gelu", lambda x: x * 3),
    ("a function of torch", lambda x: torch.relu(x), torch, "relu", lambda x: x * 7),
    ("what a library calls", lambda x: linear(x), F, "linear", lambda x, weight, bias: x * 3),
    ("what a library calls there", lambda x: sequence(x), F, "relu", lambda x, inplace=False: x * 2),
    ("a builtin that a library uses", lambda x: F.softmax(x, dim=0), F, "len", lambda x: 44),
    ("an iterator of modules", lambda x: sequence(x), nn.Sequential, "__iter__", lambda self: iter([linear])),
    ("a function of math", lambda x: x + math.floor(2.5), math, "floor", lambda x: 77),
    ("a class of itertools", lambda x: sum(itertools.chain([x], [x])), itertools, "chain", lambda *a: [a[0][0] * 5]),
    (
        "a function of functools",
        lambda x: functools.reduce(torch.add, [x, x]),
        functools,
        "reduce",
        lambda f, a: a[0],
    ),
    ("an attribute of tensors", lambda x: x + (1 if hasattr(x, "more") else 2), torch.Tensor, "more", property(len)),
    ("a method of tensors", lambda x: x.relu() + 1, torch.Tensor, "relu", lambda self: self * 7),
    ("a method answered while tracing", lambda x: x + x.size(0), torch.Tensor, "size", lambda self, dim: 9),
]


@pytest.mark.parametrize(
    ("function", "owner", "name", "value"), [case[1:] for case in REPLACED], ids=[case[0] for case in REPLACED]
)
def test_a_library_is_patched_after_compiling(
    function: Callable[[Any], Any], owner: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled_function = tracer_core.compile(function, backend="eager", options={"raise_internal_faults": True})
    x = torch.ones(2, 3) - 0.5
    before = function(x)
    assert torch.equal(compiled_function(x), before)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, value, raising=False)
        patched = function(x)
        assert torch.equal(compiled_function(x), patched)
    assert torch.equal(compiled_function(x), before)
    if name not in ("len",):
        assert not torch.equal(patched, before)


def test_bases_are_exchanged_after_compiling() -> None:
    thing, x = Derived(), torch.ones(2)
    function = tracer_core.compile(lambda x: thing.change(x), backend="eager")
    assert torch.equal(function(x), x + 1)
    Derived.__bases__ = (OtherBase,)
    try:
        assert torch.equal(function(x), x + 2)
    finally:
        Derived.__bases__ = (Base,)


def test_a_class_is_registered_after_compiling() -> None:
    thing, x = Thing(), torch.ones(2)
    one = tracer_core.compile(lambda x: x + isinstance(thing, collections.abc.Sized), backend="eager")
    many = tracer_core.compile(lambda x: x + issubclass(Thing, (int, collections.abc.Sized)), backend="eager")
    assert torch.equal(one(x), x) and torch.equal(many(x), x)
    collections.abc.Sized.register(Thing)
    assert torch.equal(one(x), x + 1) and torch.equal(many(x), x + 1)


THIRD_PARTY = """
import torch

class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
    def scale(self, x):
        return x * self.weight
    def forward(self, x):
        return helper(self.scale(x))

class Plain:
    size = property(lambda self: 3)
    def scale(self, x):
        return x * self.size
    @staticmethod
    def twice(x):
        return x * 2
    @classmethod
    def thrice(cls, x):
        return x * 3

def helper(x):
    return x + 1
"""


@pytest.mark.parametrize(
    ("call", "owner", "name", "value"),
    [
        (lambda lib, x: lib.layer(x), "Layer", "scale", lambda self, x: x - 9),
        (lambda lib, x: lib.layer(x), "Layer", "forward", lambda self, x: x - 9),
        (lambda lib, x: lib.layer(x), None, "helper", lambda x: x - 9),
        (lambda lib, x: lib.plain.scale(x), "Plain", "scale", lambda self, x: x - 9),
        (lambda lib, x: lib.plain.scale(x), "Plain", "size", property(lambda self: 8)),
        (lambda lib, x: lib.plain.scale(x), "Plain", "size", 8),
        (lambda lib, x: lib.plain.twice(x), "Plain", "twice", staticmethod(lambda x: x - 9)),
        (lambda lib, x: lib.plain.twice(x), "Plain", "twice", lambda self, x: x - 9),
        (lambda lib, x: lib.Plain.thrice(x), "Plain", "thrice", classmethod(lambda cls, x: x - 9)),
        (lambda lib, x: lib.Plain.thrice(x), "Plain", "thrice", lambda x: x - 9),
        (lambda lib, x: lib.plain.thrice(x), "Plain", "thrice", staticmethod(torch.neg)),
        (lambda lib, x: lib.plain.scale(x), "Plain", "__getattribute__", lambda self, name: lambda x: x - 9),
    ],
)
def test_a_third_party_library_is_patched_after_compiling(
    call: Callable[..., Any], owner: str | None, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library: Any = types.ModuleType("third_party")
    monkeypatch.setitem(sys.modules, "third_party", library)
    exec(THIRD_PARTY, vars(library))
    library.layer, library.plain = library.Layer(), library.Plain()
    x = torch.ones(3)
    function = tracer_core.compile(lambda x: call(library, x), backend="eager")
    before = call(library, x)
    assert torch.equal(function(x), before)
    setattr(library if owner is None else getattr(library, owner), name, value)
    assert not torch.equal(call(library, x), before)
    assert torch.equal(function(x), call(library, x))


def test_importing_more_of_a_library_changes_nothing() -> None:
    library, x, backend = nn.Linear(3, 3), torch.ones(3), Graphs()
    function = tracer_core.compile(lambda x: F.gelu(library(x)), backend=backend)
    function(x)
    try:
        nn.Linear.unrelated = F.unrelated = torch.unrelated = 1  # type: ignore[attr-defined]
        function(x)
    finally:
        del nn.Linear.unrelated, F.unrelated, torch.unrelated  # type: ignore[attr-defined]
    function(x)
    assert len(backend.graphs) == 1


def _replaced_forward(self: Any, input: torch.Tensor) -> torch.Tensor:
    return input * 7


@pytest.mark.row("G1")
def test_new_code_in_a_function_of_torch_s_is_noticed() -> None:
    layer, x = nn.Softsign(), torch.ones(3)
    function = tracer_core.compile(lambda x: layer(x) + 1, backend="eager")
    before = layer(x) + 1
    assert torch.equal(function(x), before)
    method: Any = nn.Softsign.forward
    code = method.__code__
    method.__code__ = _replaced_forward.__code__
    try:
        assert torch.equal(function(x), x * 7 + 1)
    finally:
        method.__code__ = code
    assert torch.equal(function(x), before)


@pytest.mark.row("G3")
def test_what_new_code_is_said_to_be() -> None:
    method: Any = nn.Softsign.forward
    reads = LibraryReads()
    reads.inlined(method)
    check = compiled(make.libraries(reads.as_read()))
    assert check.holds({})
    code = method.__code__
    method.__code__ = _replaced_forward.__code__
    try:
        failure = check.explain({})
    finally:
        method.__code__ = code
    assert failure is not None
    assert "Softsign.forward.__code__ is code _replaced_forward" in failure.sentence

"""Trackers of external functions, methods, classes and modules, by the rule for each."""

from __future__ import annotations

import functools
import types
import typing
from typing import Any

import torch

from tracer_core import rules
from tracer_core.guards import make
from tracer_core.sources import (
    AttrSource,
    CellContentsSource,
    ClosureSource,
    ConstantSource,
    DictValueSource,
    GlobalSource,
    Source,
)
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import SequenceVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import builds, handlers_for
from tracer_core.variables.functions.functions import (
    ConstantFunctionVariable,
    SkipFunctionVariable,
    UserFunctionVariable,
)
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable, UserMethodVariable
from tracer_core.variables.functions.partials import FunctoolsPartialVariable
from tracer_core.variables.objects.class_equality import refuse_own_equality
from tracer_core.variables.objects.classes import (
    BuiltinVariable,
    ClassVariable,
    PythonModuleVariable,
    SuperMethodVariable,
    TorchInGraphFunctionVariable,
)


def pin(build: VariableBuilder, value: Any, source: Source) -> None:
    """Guard that this very object is there, unless it is in a namespace of torch."""
    if isinstance(source, ConstantSource):
        return
    if _in_torch(source):
        _note_read(build, source)
        return
    build.tx.guard(make.identity(source, value))


def _in_torch(source: Source) -> bool:
    root = source.root
    if isinstance(root, ConstantSource):
        owner = root.value.value
        name = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(owner, "__module__", "") or ""
    elif isinstance(root, GlobalSource) and root.module is not None:
        name = str(root.module.value.get("__name__", ""))
    else:
        return False
    if type(name) is not str:  # (A class may claim any origin.)
        return False
    return name == "torch" or name.startswith(("torch.", "tracer_core.")) or name in _STDLIB


def _note_read(build: VariableBuilder, source: Source) -> None:
    """Note the read of a library's module under this name (classes are noted at lookups in them)."""
    if isinstance(source, AttrSource) and isinstance(source.of, ConstantSource):
        owner = source.of.value.value
        if isinstance(owner, types.ModuleType):
            build.tx.trace.libraries.name(vars(owner), source.attr)
    elif isinstance(source, GlobalSource) and source.module is not None:
        build.tx.trace.libraries.name(source.module.value, source.variable)


_STDLIB = frozenset(
    "builtins math operator functools itertools collections contextlib copy dataclasses typing enum abc types".split()
)


@builds(types.FunctionType)
def _function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    optimizers = _marked_in_optimizers(value)
    if optimizers is not None:
        return build(optimizers, AttrSource(source, _ORIGINAL))
    tracker = function_tracker(value, source)
    if value.__code__ in rules.FOLDED_CODES:
        _guard_dispatch(build, value, source)
    elif not isinstance(tracker, UserFunctionVariable):
        pin(build, value, source)
    elif _in_torch(source):
        _note_read(build, source)
    elif not isinstance(source, ConstantSource):
        # Guard the code, not the function: its other attributes are guarded when they are used, and reloading
        # replaces only the code.
        build.tx.guard(make.function_code(source, value))
    return tracker


_ORIGINAL = "_torchdynamo_orig_callable"


def _marked_in_optimizers(function: Any) -> Any:
    """Return a function of torch's optimizers that torch's compiler, once used, has marked as not to be compiled;
    None for any other."""
    original = vars(function).get(_ORIGINAL)
    is_of_optimizers = type(original) is types.FunctionType and original.__module__.startswith("torch.optim.")
    return original if is_of_optimizers else None


def _guard_dispatch(build: VariableBuilder, value: Any, source: Source) -> None:
    """Guard the registry of a `singledispatch` function; its dispatcher is called while tracing."""
    at = value.__code__.co_freevars.index("registry")
    registry = value.__closure__[at].cell_contents
    place = CellContentsSource(ClosureSource.of_function(source, value, at))
    build.tx.guard(make.dict_keys_are(place, registry))
    for index, function in enumerate(registry.values()):
        build.tx.guard(make.identity(DictValueSource(place, index), function))


def function_tracker(value: Any, source: Source | None) -> VariableTracker:
    """Return the tracker for a callable by the rule for it."""
    if isinstance(value, types.FunctionType) and (value in rules.ANSWERS or handlers_for(value)):
        return BuiltinVariable(value, source)
    rule = rules.decide(value)
    if rule.action in ("graph", "nonstrict"):
        return TorchInGraphFunctionVariable(value, source)
    if rule.action == "skip" and isinstance(value, types.FunctionType):
        return SkipFunctionVariable(value, rule.why, source)
    if isinstance(value, types.FunctionType) and getattr(value, "_dynamo_marked_constant", False):
        return ConstantFunctionVariable(UserFunctionVariable(value, source))
    if isinstance(value, types.FunctionType) and rule.action == "inline":
        return UserFunctionVariable(value, source)
    return BuiltinVariable(value, source)


@builds(
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, type(torch.ops.aten.add), type(torch.ops.aten.add.Tensor),
    torch._ops.OpOverloadPacket, torch._ops.OpOverload, property,
)  # fmt: skip
def _builtin_function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    owner = getattr(value, "__self__", None)
    if _is_bound(value, owner):
        return BoundBuiltinMethodVariable(_bound_to(build, value, source), value.__name__, source)
    pin(build, value, source)
    return function_tracker(value, source)


def _is_bound(value: Any, owner: Any) -> bool:
    """Return whether a builtin is a method bound to an object (functions of C modules have a module in
    `__self__`)."""
    if not isinstance(value, types.BuiltinFunctionType) or isinstance(owner, (types.ModuleType, type)):
        return False
    return isinstance(getattr(type(owner), value.__name__, None), types.MethodDescriptorType)


def _bound_to(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Return the object that a method written in C is bound to; its name is guarded."""
    build.tx.guard(make.type_is(source, type(value)))
    build.tx.guard(make.constant(AttrSource(source, "__name__"), value.__name__))
    return build(value.__self__, AttrSource(source, "__self__"))


@builds(types.MethodWrapperType)
def _method_of_a_slot(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.identity(AttrSource(source, "__objclass__"), value.__objclass__))
    return SuperMethodVariable(_bound_to(build, value, source), value.__objclass__, value.__name__, source)


@builds(types.MethodType)
def _method(build: VariableBuilder, value: types.MethodType, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, types.MethodType))
    function = build(value.__func__, AttrSource(source, "__func__"))
    return UserMethodVariable(function, build(value.__self__, AttrSource(source, "__self__")), source)


@builds(functools.partial)
def _partial(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, functools.partial))
    function = build(value.func, AttrSource(source, "func"))
    args = build(value.args, AttrSource(source, "args"))
    keywords = build(value.keywords, AttrSource(source, "keywords"))
    assert isinstance(args, SequenceVariable) and isinstance(keywords, ConstDictVariable)
    named = {key.value(): item for key, item in keywords.entries(build.tx)}
    return FunctoolsPartialVariable(function, args.items, named, source)


@builds(type, subclasses=True)
def _class(build: VariableBuilder, value: type, source: Source) -> VariableTracker:
    pin(build, value, source)
    return class_tracker(value, source)


def class_tracker(value: type, source: Source | None) -> VariableTracker:
    refuse_own_equality(value)
    return ClassVariable(value, source)


@builds(types.ModuleType, subclasses=True)
def _python_module(build: VariableBuilder, value: types.ModuleType, source: Source) -> VariableTracker:
    pin(build, value, source)
    return PythonModuleVariable(value, source)


@builds(
    types.GenericAlias, types.UnionType, types.CodeType, typing.TypeVar, typing.ParamSpec, typing.TypeVarTuple,
    type(typing.Sequence[int]), type(typing.Union[int, str]), type(typing.Literal[1]),  # noqa: UP007
)  # fmt: skip
def _typing_form(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    pin(build, value, source)
    return BuiltinVariable(value, source)

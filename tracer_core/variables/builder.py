"""The two builders: `VariableBuilder` for values from outside, `SourcelessBuilder` for values the trace made."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import math
import types
from typing import Any

import torch

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import (
    AttrSource,
    CellContentsSource,
    CellSource,
    ClosureSource,
    ConstSource,
    DictKeySource,
    DictValueSource,
    GlobalSource,
    ItemSource,
    LocalSource,
    Source,
)
from tracer_core.sources.parts import dict_keys, dict_values
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.class_guards import guard_class
from tracer_core.variables.classes import BuiltinVariable, ClassVariable, ModuleVariable, TorchFunctionVariable
from tracer_core.variables.constant import LITERAL_TYPES, ConstantVariable
from tracer_core.variables.dicts import DictVariable, SetVariable, key_of
from tracer_core.variables.exceptions import ExceptionVariable
from tracer_core.variables.functions import (
    BuiltinMethodVariable,
    MethodVariable,
    PartialVariable,
    SkippedFunctionVariable,
    UserFunctionVariable,
)
from tracer_core.variables.iterators import OpaqueIterator
from tracer_core.variables.lazy import LazyVariable
from tracer_core.variables.nn_module import NNModuleVariable, member_source
from tracer_core.variables.parts import PARTS, DequePart, DictPart, ListPart, base_of
from tracer_core.variables.registry import builder_for, builds, handlers_for
from tracer_core.variables.sequences import (
    DequeVariable,
    ListVariable,
    NamedTupleVariable,
    RangeVariable,
    SequenceVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from tracer_core.variables.tensor import SymNodeVariable, TensorVariable
from tracer_core.variables.user_objects import UserObjectVariable


class VariableBuilder:
    """Makes the tracker of a value found at `source`, and guards what the tracker relies on."""

    def __init__(self, tx: Tracing) -> None:
        self.tx = tx
        self.cache: dict[tuple[int, Source], VariableTracker] = {}

    def __call__(self, value: Any, source: Source) -> VariableTracker:
        if isinstance(value, VariableTracker):
            raise TypeError("a tracker was given where a value is wanted")
        key = (id(value), source)
        known = self.cache.get(key)
        if known is not None:
            return known
        tracker = self._same_object(value, source) or self._build(value, source)
        self.cache[key] = tracker
        self.tx.output.kept_alive.append(value)
        if tracker.mutable:
            self.tx.output.trackers_by_object.setdefault(id(value), tracker)
        return tracker

    def lazy(self, value: Any, source: Source) -> VariableTracker:
        """A tracker that is built when it is first looked at."""
        known = self.cache.get((id(value), source))
        return known if known is not None else LazyVariable(value, source, self)

    def _same_object(self, value: Any, source: Source) -> VariableTracker | None:
        """The tracker of an object already met elsewhere: from now on both places must hold the same one."""
        known = self.tx.output.trackers_by_object.get(id(value))
        if known is not None and known.source is not None and known.source != source:
            if isinstance(known.source, CellSource):
                raise Unsupported("unknown-object", type="cell", source=source.name)
            self.tx.guard(make.duplicate(source, known.source))
        return known

    def _build(self, value: Any, source: Source) -> VariableTracker:
        builder = builder_for(value)
        if builder is not None:
            return builder(self, value, source)
        if type(value).__module__ == "builtins" and not isinstance(value, BaseException):
            raise Unsupported("unknown-object", type=type(value).__qualname__, source=source.name)
        return build_object(self, value, source)


def _constant(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if value is None:
        build.tx.guard(make.is_none(source))
    elif not isinstance(source, ConstSource):
        build.tx.guard(make.constant(source, value))
    return ConstantVariable(value, source)


for _type in LITERAL_TYPES:
    builds(_type)(_constant)


@builds(int)
def _int(build: VariableBuilder, value: int, source: Source) -> VariableTracker:
    """A plain number stays one, until it differs between calls in a place where numbers vary."""
    output = build.tx.output
    if not _may_be_symbolic(source) or not output.fakes.wants_symbol(value, source):
        return _constant(build, value, source)
    build.tx.guard(make.type_is(source, int))
    number = output.fakes.number(value, source)
    return SymNodeVariable(output.symbol_node(number), number, source)


@builds(float)
def _float(build: VariableBuilder, value: float, source: Source) -> VariableTracker:
    """Like an int; as a symbol it enters the graph in a tensor, so that back ends that only take tensors can.

    Zeros stay numbers, since a symbol does not tell -0.0 from 0.0.
    """
    output = build.tx.output
    varies = _may_be_symbolic(source) and math.isfinite(value) and value != 0.0
    if not varies or not output.fakes.wants_symbol(value, source):
        return _constant(build, value, source)
    build.tx.guard(make.type_is(source, float))
    number = output.fakes.number(value, source)
    assert isinstance(number, torch.SymFloat)
    return SymNodeVariable(output.float_node(number, graph_name(source)), number, source)


def _may_be_symbolic(source: Source) -> bool:
    """Arguments, and items of containers given as arguments. Globals, attributes, defaults and cells stay numbers."""
    while isinstance(source, ItemSource):
        source = source.of
    return isinstance(source, LocalSource) and not source.free


@builds(enum.Enum, subclasses=True)
def _enum(build: VariableBuilder, value: enum.Enum, source: Source) -> VariableTracker:
    build.tx.guard(make.identity(source, value))
    return ConstantVariable(value, source)


@builds(torch.Tensor, subclasses=True)
def _tensor(build: VariableBuilder, value: torch.Tensor, source: Source) -> VariableTracker:
    tx = build.tx
    if type(value) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
        raise Unsupported("tensor-subclass", cls=type(value).__qualname__, source=source.name)
    if value.layout is not torch.strided or value.is_quantized or value.is_nested:
        raise Unsupported("tensor-layout", layout=str(value.layout), source=source.name)
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise Unsupported("functorch-tensor", source=source.name)
    tracked = tx.output.fakes.tensor(value, source)
    sizes = [n if isinstance(n, int) else None for n in tracked.sizes]
    strides = [n if isinstance(n, int) else None for n in tracked.strides]
    tx.guard(make.tensor(source, value, tuple(sizes), tuple(strides)))
    node = tx.output.add_input(source, graph_name(source), tracked.fake)
    tracker = TensorVariable(node, tracked.fake, source)
    tx.output.tensors_by_fake[id(tracked.fake)] = tracker
    return tracker


def graph_name(source: Source) -> str:
    """A placeholder's name: the source's own, as an identifier (`self_blocks_0_weight`)."""
    text = source.name
    for prefix in ("L[", "G["):
        text = text.removeprefix(prefix)
    words = "".join(c if c.isalnum() else " " for c in text).split()
    name = "_".join(words) or "arg"
    return name if not name[0].isdigit() else f"arg_{name}"


# --- containers ---------------------------------------------------------------------------------------------


def _items(build: VariableBuilder, value: Any, source: Source) -> list[VariableTracker]:
    build.tx.guard(make.type_is(source, type(value)))
    build.tx.guard(make.length(source, len(value)))
    return [build.lazy(item, ItemSource(source, i)) for i, item in enumerate(value)]


@builds(list)
def _list(build: VariableBuilder, value: list[Any], source: Source) -> VariableTracker:
    return _registered(build, value, ListVariable(_items(build, value, source), source))


@builds(tuple)
def _tuple(build: VariableBuilder, value: tuple[Any, ...], source: Source) -> VariableTracker:
    return TupleVariable(_items(build, value, source), source)


@builds(torch.Size)
def _size(build: VariableBuilder, value: torch.Size, source: Source) -> VariableTracker:
    return SizeVariable(_items(build, value, source), source)


@builds(tuple, subclasses=True)
def _tuple_subclass(build: VariableBuilder, value: tuple[Any, ...], source: Source) -> VariableTracker:
    if not NamedTupleVariable.is_named(type(value)):
        return build_object(build, value, source)
    return NamedTupleVariable(_items(build, value, source), type(value), source)


@builds(collections.deque)
def _deque(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    items = _items(build, value, source)
    if value.maxlen is not None:
        build(value.maxlen, AttrSource(source, "maxlen"))
    return _registered(build, value, DequeVariable(items, value.maxlen, source))


@builds(range)
def _range(build: VariableBuilder, value: range, source: Source) -> VariableTracker:
    build.tx.guard(make.constant(source, value))
    return RangeVariable([ConstantVariable(n) for n in (value.start, value.stop, value.step)], source)


@builds(slice)
def _slice(build: VariableBuilder, value: slice, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, slice))
    return SliceVariable([build(getattr(value, n), AttrSource(source, n)) for n in ("start", "stop", "step")], source)


def _registered(build: VariableBuilder, value: Any, tracker: VariableTracker) -> VariableTracker:
    build.tx.output.trackers_by_object[id(value)] = tracker
    return tracker


def _entries(
    build: VariableBuilder, value: dict[Any, Any], source: Source
) -> list[tuple[VariableTracker, VariableTracker]]:
    entries = []
    for index, (key, item) in enumerate(value.items()):
        if ConstantVariable.holds(key) or (isinstance(key, tuple) and _literal_tuple(key)):
            key_tracker = build.tx.constant(key)
            at: Source = member_source(source, key) or ItemSource(source, key)
        else:
            key_tracker = build(key, DictKeySource(source, index))
            key_of(build.tx, key_tracker)
            at = DictValueSource(source, index)
        entries.append((key_tracker, build.lazy(item, at)))
    return entries


@builds(dict, collections.OrderedDict, collections.defaultdict)
def _dict(build: VariableBuilder, value: dict[Any, Any], source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    build.tx.guard(make.dict_keys_are(source, value))
    entries = _entries(build, value, source)
    factory = None
    if isinstance(value, collections.defaultdict) and value.default_factory is not None:
        factory = build(value.default_factory, AttrSource(source, "default_factory"))
    return _registered(build, value, DictVariable(entries, type(value), source, factory))


def _literal_tuple(key: tuple[Any, ...]) -> bool:
    return all(ConstantVariable.holds(item) or (isinstance(item, tuple) and _literal_tuple(item)) for item in key)


@builds(set, frozenset)
def _set(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if not all(ConstantVariable.holds(item) or (isinstance(item, tuple) and _literal_tuple(item)) for item in value):
        raise Unsupported("set-of-objects", source=source.name)
    build.tx.guard(make.type_is(source, type(value)))
    build.tx.guard(make.set_items_are(source, value))
    tracker = SetVariable([build.tx.constant(item) for item in value], type(value), source)
    return _registered(build, value, tracker)


# --- callables, classes, modules ----------------------------------------------------------------------------


def _pin(build: VariableBuilder, value: Any, source: Source) -> None:
    """Guard that this very object is there; not where torch's own namespaces hold it."""
    if isinstance(source, ConstSource) or _in_torch(source):
        return
    build.tx.guard(make.identity(source, value))


def _in_torch(source: Source) -> bool:
    root = source.root
    if isinstance(root, ConstSource):
        owner = root.value.value
        name = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(owner, "__module__", "") or ""
    elif isinstance(root, GlobalSource) and root.module is not None:
        name = str(root.module.value.get("__name__", ""))
    else:
        return False
    return name == "torch" or name.startswith(("torch.", "tracer_core.")) or name in _STDLIB


_STDLIB = frozenset(
    "builtins math operator functools itertools collections contextlib copy dataclasses typing enum abc types".split()
)


@builds(types.FunctionType)
def _function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    tracker = function_tracker(value, source)
    if value.__code__ in rules.FOLDED_CODES:
        _guard_dispatch(build, value, source)
    elif not isinstance(tracker, UserFunctionVariable):
        _pin(build, value, source)
    elif not isinstance(source, ConstSource) and not _in_torch(source):
        # The code, not the function: what else is used of it is guarded then, and reloading exchanges only the code.
        build.tx.guard(make.function_code(source, value))
    return tracker


def _guard_dispatch(build: VariableBuilder, value: Any, source: Source) -> None:
    """What a `singledispatch` function has registered; its dispatcher is called while tracing."""
    at = value.__code__.co_freevars.index("registry")
    registry, place = value.__closure__[at].cell_contents, CellContentsSource(ClosureSource(source, at))
    build.tx.guard(make.dict_keys_are(place, registry))
    for index, function in enumerate(registry.values()):
        build.tx.guard(make.identity(DictValueSource(place, index), function))


def function_tracker(value: Any, source: Source | None) -> VariableTracker:
    """The tracker for a callable by the rule for it."""
    if isinstance(value, types.FunctionType) and (value in rules.ANSWERS or handlers_for(value)):
        return BuiltinVariable(value, source)
    rule = rules.decide(value)
    if rule.action == "graph":
        return TorchFunctionVariable(value, source)
    if rule.action == "skip" and isinstance(value, types.FunctionType):
        return SkippedFunctionVariable(value, rule.why, source)
    if isinstance(value, types.FunctionType) and rule.action != "fold":
        return UserFunctionVariable(value, source)
    return BuiltinVariable(value, source)


@builds(
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, type(torch.ops.aten.add), type(torch.ops.aten.add.Tensor),
    torch._ops.OpOverloadPacket, torch._ops.OpOverload,
)  # fmt: skip
def _builtin_function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    owner = getattr(value, "__self__", None)
    if _is_bound(value, owner):
        build.tx.guard(make.type_is(source, type(value)))
        return BuiltinMethodVariable(build(owner, AttrSource(source, "__self__")), value.__name__, source)
    _pin(build, value, source)
    return function_tracker(value, source)


def _is_bound(value: Any, owner: Any) -> bool:
    """Whether a builtin is a method bound to an object (functions of C modules carry other things in `__self__`)."""
    if not isinstance(value, types.BuiltinFunctionType) or isinstance(owner, (types.ModuleType, type)):
        return False
    return isinstance(getattr(type(owner), value.__name__, None), types.MethodDescriptorType)


@builds(functools._lru_cache_wrapper)
def _cached_function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    _pin(build, value, source)
    rule = rules.decide(value.__wrapped__)
    if rule.action != "inline" or rules.is_graph_function(value):
        return function_tracker(value, source)
    return UserFunctionVariable(value.__wrapped__, AttrSource(source, "__wrapped__"))


@builds(types.MethodType)
def _method(build: VariableBuilder, value: types.MethodType, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, types.MethodType))
    function = build(value.__func__, AttrSource(source, "__func__"))
    return MethodVariable(function, build(value.__self__, AttrSource(source, "__self__")), source)


@builds(functools.partial)
def _partial(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, functools.partial))
    function = build(value.func, AttrSource(source, "func"))
    args = build(value.args, AttrSource(source, "args"))
    keywords = build(value.keywords, AttrSource(source, "keywords"))
    assert isinstance(args, SequenceVariable) and isinstance(keywords, DictVariable)
    named = {key.value(): item for key, item in keywords.entries(build.tx)}
    return PartialVariable(function, args.items, named, source)


@builds(type, subclasses=True)
def _class(build: VariableBuilder, value: type, source: Source) -> VariableTracker:
    _pin(build, value, source)
    return class_tracker(value, source)


def class_tracker(value: type, source: Source | None) -> VariableTracker:
    return ClassVariable(value, source)


@builds(types.ModuleType, subclasses=True)
def _python_module(build: VariableBuilder, value: types.ModuleType, source: Source) -> VariableTracker:
    _pin(build, value, source)
    return ModuleVariable(value, source)


@builds(types.GenericAlias, types.UnionType, types.CodeType)
def _typing_form(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    _pin(build, value, source)
    return BuiltinVariable(value, source)


# --- objects ------------------------------------------------------------------------------------------------


@builds(torch.nn.Module, subclasses=True)
def _nn_module(build: VariableBuilder, value: torch.nn.Module, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    guard_class(build.tx, type(value))
    return _registered(build, value, NNModuleVariable(type(value), value, source))


@builds(object)
def _bare_object(build: VariableBuilder, value: object, source: Source) -> VariableTracker:
    """A sentinel: all there is to it is which one it is."""
    _pin(build, value, source)
    return _registered(build, value, UserObjectVariable(object, value, source))


@builds(types.CellType)
def _cell(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    from tracer_core.variables.functions import cell_from_outside

    return cell_from_outside(build.tx, value, source)


_EXAMPLES: list[Any] = [
    iter([]), iter(()), iter(range(0)), iter(range(2**70)), iter({}), iter({}.values()), iter({}.items()),
    iter(set()), iter(""), iter(b""), reversed([]), reversed({}), zip(), enumerate(()), map(len, ()), filter(len, ()),
]  # fmt: skip
_ITERATORS = tuple({type(example) for example in _EXAMPLES})


@builds(*_ITERATORS, types.GeneratorType)
def _iterator(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    return _registered(build, value, OpaqueIterator(type(value), source))


@builds(BaseException, subclasses=True)
def _exception(build: VariableBuilder, value: BaseException, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    args = build(value.args, AttrSource(source, "args"))
    assert isinstance(args, SequenceVariable)
    tracker = ExceptionVariable(type(value), list(args.items), source)
    for name, item in vars(value).items():
        tracker.attributes[name] = build.lazy(item, AttrSource(source, name))
    for name in ("__cause__", "__context__", "__suppress_context__"):
        tracker.at_start[name] = build.lazy(getattr(value, name), AttrSource(source, name))
    return _registered(build, value, tracker)


_OPAQUE_BASES = (int, float, str, bytes, complex, frozenset)
# A class that overrides one of these runs code of its own where a guard would look at its items.
_LOOKED_AT = ("__getitem__", "__iter__", "__len__", "__contains__", "keys", "items", "values")


def build_object(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """An instance of a class of the user's (or of a library's, written in Python)."""
    cls = type(value)
    for opaque in _OPAQUE_BASES:
        if issubclass(cls, opaque):
            raise Unsupported("builtin-subclass", cls=cls.__qualname__, base=opaque.__name__)
    base = base_of(cls)
    if base is not None:
        return _object_with_part(build, value, source, base)
    if not cls.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE: a class made in C tells nothing of its state
        if callable(value) and rules.is_graph_function(value):
            return TorchFunctionVariable(value, source)
        raise Unsupported("unknown-object", type=cls.__qualname__, source=source.name)
    guard_class(build.tx, cls)
    if not isinstance(source, ConstSource):
        build.tx.guard(make.type_is(source, cls))
    return _registered(build, value, UserObjectVariable(cls, value, source))


def _raw_entries(
    build: VariableBuilder, value: dict[Any, Any], source: Source
) -> list[tuple[VariableTracker, VariableTracker]]:
    """The entries by position, past what the class overrides."""
    entries = []
    for index, (key, item) in enumerate(zip(dict_keys(value), dict_values(value), strict=True)):
        literal = ConstantVariable.holds(key) or (isinstance(key, tuple) and _literal_tuple(key))
        at = build.tx.constant(key) if literal else build(key, DictKeySource(source, index))
        key_of(build.tx, at)
        entries.append((at, build.lazy(item, DictValueSource(source, index))))
    return entries


def _object_with_part(build: VariableBuilder, value: Any, source: Source, base: type) -> VariableTracker:
    """An instance of a class that inherits from a builtin container."""
    cls = type(value)
    overridden = any(getattr(cls, name, None) is not getattr(base, name, None) for name in _LOOKED_AT)
    if base is set or (overridden and not issubclass(base, dict)):
        raise Unsupported("builtin-subclass", cls=cls.__qualname__, base=base.__name__)
    tracker = UserObjectVariable(cls, value, source)
    _registered(build, value, tracker)
    if not isinstance(source, ConstSource):
        build.tx.guard(make.type_is(source, cls))
    if issubclass(base, dict):
        build.tx.guard(make.dict_keys_are(source, value))
        tracker.part = DictPart(_raw_entries(build, value, source), base, source)
        if base is collections.defaultdict and value.default_factory is not None:
            tracker.part.default_factory = build(value.default_factory, AttrSource(source, "default_factory"))
    elif base is list:
        tracker.part = ListPart(_items(build, value, source), source)
    elif base is collections.deque:
        tracker.part = DequePart(_items(build, value, source), value.maxlen, source)
    else:
        tracker.part = TupleVariable(_items(build, value, source), source)
    if isinstance(tracker.part, PARTS):
        tracker.part.whole = tracker
    return tracker


class SourcelessBuilder:
    """Trackers for what the trace itself made: no source, no guard."""

    def __init__(self, tx: Tracing) -> None:
        self.tx = tx

    def __call__(self, value: Any) -> VariableTracker:
        """The tracker of a value that folding gave.

        Raises:
            Unsupported: nothing is known of such values.
        """
        if ConstantVariable.holds(value):
            return ConstantVariable(value)
        make = _SOURCELESS.get(type(value))
        if make is not None:
            made: VariableTracker = make(self, value)
            return made
        if isinstance(value, type):
            return class_tracker(value, None)
        if isinstance(value, types.ModuleType):
            return ModuleVariable(value)
        if isinstance(value, tuple) and NamedTupleVariable.is_named(type(value)):
            return NamedTupleVariable([self(item) for item in value], type(value))
        if callable(value) and not isinstance(value, (torch.nn.Module, torch.Tensor)):
            if isinstance(
                value,
                (
                    types.FunctionType,
                    types.BuiltinFunctionType,
                    types.MethodDescriptorType,
                    types.WrapperDescriptorType,
                ),
            ):
                return function_tracker(value, None)
        if isinstance(value, (types.GenericAlias, types.UnionType)) or type(value).__module__ == "typing":
            return BuiltinVariable(value)
        if dataclasses.is_dataclass(value) or type(value) in (torch.finfo, torch.iinfo):
            return self.tx.build(value, ConstSource.of_object(value, type(value).__name__))
        raise Unsupported("unknown-object", type=type(value).__qualname__, source="a value made while tracing")


def _each(cls: Any) -> Any:
    return lambda build, value: cls([build(item) for item in value])


_SOURCELESS: dict[type, Any] = {
    list: _each(ListVariable),
    tuple: _each(TupleVariable),
    torch.Size: _each(SizeVariable),
    set: lambda build, value: SetVariable([build(item) for item in value], set),
    frozenset: lambda build, value: SetVariable([build(item) for item in value], frozenset),
    dict: lambda build, value: DictVariable([(build(k), build(v)) for k, v in value.items()]),
    collections.OrderedDict: lambda build, value: DictVariable(
        [(build(k), build(v)) for k, v in value.items()], collections.OrderedDict
    ),
    slice: lambda build, value: SliceVariable([build(n) for n in (value.start, value.stop, value.step)]),
    range: lambda build, value: RangeVariable([build(n) for n in (value.start, value.stop, value.step)]),
    types.CodeType: lambda build, value: BuiltinVariable(value),
}


@builds(torch.finfo, torch.iinfo)
def _number_info(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    return BuiltinVariable(value, source)

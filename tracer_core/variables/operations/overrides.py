"""`__torch_function__`: calls of torch's functions that the class of an argument overrides.

Which function an operation comes down to (`x + y` to `torch.Tensor.add`), with which arguments, and whose override is
tried first, torch itself tells: the operation is called on stand-ins, of classes that inherit from each other as the
real ones do, and whose `__torch_function__` notes how it is called and declines. What was noted is then traced.
"""

from __future__ import annotations

import contextlib
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.sources import ConstantSource
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import (
    ListVariable,
    RangeVariable,
    SequenceVariable,
    SliceVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import Args, Kwargs, NotConstant, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.objects.builtin_parts import part_of
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.classes import KnownVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_DISABLED = torch._C._disabled_torch_function_impl


def overrides(tracker: VariableTracker) -> bool:
    """Return whether the class of an object has a say in calls of torch's functions."""
    if not isinstance(tracker, UserDefinedObjectVariable):
        return False
    found, owner = static_lookup(tracker.cls, "__torch_function__")
    return owner is not None and found is not _DISABLED


def any_overrides(trackers: Iterable[VariableTracker]) -> bool:
    """Return whether the class of one of these, or of an item of a list or tuple, overrides torch's functions, and
    overrides are not disabled."""
    for tracker in trackers:
        if isinstance(tracker, (UserDefinedObjectVariable, SequenceVariable)):
            inside = tracker.items if isinstance(tracker, SequenceVariable) else [tracker]
            if any(overrides(each.realize()) for each in inside):
                return torch._C._is_torch_function_enabled()
    return False


def call_overridden(tx: Tracing, function: Callable[..., Any], args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """Return the result of `function(*args, **kwargs)` by the overrides of its arguments' classes; None where torch
    calls none.

    Raises:
        Unsupported: what torch would call cannot be told, or all overrides decline.
    """
    standing = _StandIns()
    name = str(getattr(function, "__name__", function))
    try:
        noted, refused = _calls_on(
            function, list(map(standing.of, args)), {k: standing.of(v) for k, v in kwargs.items()}
        )
    except NotConstant as error:
        raise Unsupported("graph-argument", what=name, argument=str(error)) from None
    if noted and isinstance(function, types.FunctionType) and noted[0][1][0] is not function:
        # It is Python code that does not dispatch itself, but calls functions that do.
        return tx.call(UserFunctionVariable(function, ConstantSource.of_object(function)), args, kwargs)
    for override, given in noted:
        method = tx.get_attr(standing.first_of(override), "__torch_function__")
        result = tx.call(method, [standing.tracker(tx, each) for each in given]).realize()
        if not (isinstance(result, ConstantVariable) and result.value() is NotImplemented):
            return result
    if noted or refused:
        raise Unsupported("graph-argument", what=name, argument="an object whose class overrides torch's functions")
    return None


def is_subclass_of_tensor(tracker: VariableTracker) -> bool:
    """Return whether it is an instance of a subclass of `torch.Tensor`, with a plain tensor as its part."""
    return isinstance(tracker, UserDefinedObjectVariable) and isinstance(tracker.part, TensorVariable)


def plain_part(tracker: VariableTracker) -> VariableTracker:
    """Return the plain tensor that an instance of a subclass is; others as they are."""
    return part_of(tracker) if is_subclass_of_tensor(tracker) else tracker


def call_by_override(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """Call a function of torch's by the override of an argument's class, or, where overrides are disabled, on the
    plain tensors that instances of subclasses are; None for all other calls."""
    if _may_override((*args, *kwargs.values())) and _is_overridable(function.known):
        return _by_override(tx, function.known, args, kwargs, lambda args, kwargs: tx.call(function, args, kwargs))
    return None


def method_by_override(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """As `call_by_override`, for a method of a tensor."""
    if not _may_override((obj, *args, *kwargs.values())) or not isinstance(plain_part(obj), TensorVariable):
        return None
    found, owner = static_lookup(torch.Tensor, name)
    if owner is None or owner is object:
        return None

    def call_plainly(args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        return tx.call_method(args[0], name, args[1:], kwargs)

    return _by_override(tx, found, [obj, *args], kwargs, call_plainly)


_Call = Callable[[list[VariableTracker], dict[str, VariableTracker]], VariableTracker]


def _by_override(
    tx: Tracing, function: Any, args: Args, kwargs: Kwargs, call_plainly: _Call
) -> VariableTracker | None:
    given = (*args, *kwargs.values())
    done = call_overridden(tx, function, args, kwargs) if any_overrides(given) else None
    wholes = {id(plain_part(each)): each for each in given if is_subclass_of_tensor(each)}
    if done is not None or not wholes:
        return done
    result = call_plainly(list(map(plain_part, args)), {name: plain_part(each) for name, each in kwargs.items()})
    return wholes.get(id(result), result)  # an argument that is given back stays itself


def _may_override(given: Sequence[VariableTracker]) -> bool:
    return any(isinstance(each, (UserDefinedObjectVariable, SequenceVariable)) for each in given)


def _is_overridable(known: Any) -> bool:
    """Return whether it is a function of torch's for the graph, or a method of tensors."""
    if rules.is_graph_function(known):
        return True
    name = getattr(known, "__name__", None)
    found, owner = static_lookup(torch.Tensor, name) if isinstance(name, str) else (None, None)
    return owner is not None and owner is not object and found is known


# --- stand-ins ------------------------------------------------------------------------------------------------

_STANDS_FOR = "__stands_for__"
_notes = threading.local()
_classes: weakref.WeakKeyDictionary[type, type] = weakref.WeakKeyDictionary()


def _note(cls: type, *given: Any) -> Any:
    _notes.calls.append((cls, given))
    return NotImplemented


def _stand_in_class(cls: type) -> type:
    """Return the class of stand-ins for instances of `cls`, which inherits from those for its bases."""
    if cls is torch.Tensor:
        return cls
    known = _classes.get(cls)
    if known is None:
        bases = [_stand_in_class(base) for base in cls.__bases__ if hasattr(base, "__torch_function__")]
        contents = {"__torch_function__": classmethod(_note), _STANDS_FOR: weakref.ref(cls)}
        known = _classes[cls] = type(cls.__name__, tuple(bases), contents)
    return known


def _calls_on(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[tuple[type, Any]], bool]:
    """Return how the overrides of stand-ins are called, in torch's order (the class, and the arguments), and whether
    the call was refused."""
    _notes.calls = []
    refused = True
    with contextlib.suppress(Exception):
        function(*args, **kwargs)
        refused = False
    return _notes.calls, refused


@dataclass(slots=True)
class _StandIns:
    """Stand-ins for trackers, and the way back. What stands in is kept, so that its `id` stays its own."""

    kept: list[Any] = field(default_factory=list)
    trackers: dict[int, VariableTracker] = field(default_factory=dict)

    def of(self, tracker: VariableTracker) -> Any:
        """Return what stands in for `tracker`.

        Raises:
            NotConstant: nothing can.
        """
        tracker = tracker.realize()
        if isinstance(tracker, ConstantVariable):
            return tracker.value()
        made = self._made(tracker)
        self.kept.append(made)
        self.trackers[id(made)] = tracker
        return made

    def _made(self, tracker: VariableTracker) -> Any:
        if overrides(tracker):
            assert isinstance(tracker, UserDefinedObjectVariable)
            cls = _stand_in_class(tracker.cls)
            return torch.empty(0).as_subclass(cls) if issubclass(cls, torch.Tensor) else object.__new__(cls)
        if isinstance(tracker, InGraphVariable):
            return tracker.fake
        if isinstance(tracker, UserDefinedObjectVariable) and isinstance(tracker.part, InGraphVariable):
            return tracker.part.fake
        if isinstance(tracker, SliceVariable):
            return slice(*(self.of(part) for part in tracker.items))
        if isinstance(tracker, SequenceVariable) and not isinstance(tracker, RangeVariable):
            return tracker.make([self.of(item) for item in tracker.items])
        if isinstance(tracker, ConstDictVariable):
            return {key.value(): self.of(item) for key, item in tracker.entries(None)}
        return tracker.value()

    def first_of(self, cls: type) -> VariableTracker:
        """Return the first tracker whose stand-in is of the class."""
        return next(self.trackers[id(made)] for made in self.kept if type(made) is cls)

    def tracker(self, tx: Tracing, value: Any) -> VariableTracker:
        """Return the tracker that `value` stands in for, or that holds such."""
        known = self.trackers.get(id(value))
        if known is not None:
            return known
        if isinstance(value, type) and _STANDS_FOR in vars(value):
            return tx.constant(vars(value)[_STANDS_FOR]())
        if type(value) is tuple:
            return TupleVariable([self.tracker(tx, item) for item in value])
        if type(value) is list:
            return ListVariable([self.tracker(tx, item) for item in value])
        if type(value) is dict:
            made = ConstDictVariable()
            for key, item in value.items():
                tx.set_item(made, tx.constant(key), self.tracker(tx, item))
            return made
        return tx.constant(value)

"""Callables in C around a Python function that is inlined: caches of `functools`, scripted functions."""

from __future__ import annotations

import functools
from typing import Any

import torch

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.guards.kinds.containers import is_filled
from tracer_core.names.public import name_of
from tracer_core.sources import AttrSource, ConstantSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.callables import function_tracker, pin
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker, all_constant, constant_or
from tracer_core.variables.core.registry import builds
from tracer_core.variables.core.tracing import Tracing


class WrapperUserFunctionVariable(VariableTracker):
    """A callable `wrapper` around the Python function in its attribute `inside`, which the trace inlines."""

    __slots__ = ("inside", "wrapper")
    kind = "wrapped function"
    mutable = True

    def __init__(self, wrapper: Any, inside: str, source: Source) -> None:
        super().__init__(source)
        self.wrapper = wrapper
        self.inside = inside

    def python_type(self) -> type:
        return type(self.wrapper)

    def describe(self) -> str:
        return f"function {name_of(self.wrapper)}"

    def value(self) -> Any:
        return self.wrapper

    def truth(self, tx: Tracing) -> bool:
        return True

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        assert self.source is not None
        if not hasattr(self.wrapper, name):
            tx.guard(make.lacks_attr(self.source, name))
            return None
        return tx.build(getattr(self.wrapper, name), AttrSource(self.source, name))

    def call(self, tx: Tracing, args: Args, kwargs: Kwargs) -> VariableTracker:
        function = self.attribute(tx, self.inside)
        assert function is not None
        return tx.call(function, args, kwargs)


class CachedFunctionVariable(WrapperUserFunctionVariable):
    """An `lru_cache`. The function is inlined: one that mutates anything but objects of its own would do so once, and
    not at each call of the compiled code, so it breaks the graph.

    If arguments and result are Python values, the cache itself is then called, and its result is used until the cache
    is cleared: an earlier result remains valid whatever the function reads by now. A result computed by the graph is
    computed in each call; within the trace the same arguments give the same object.
    """

    __slots__ = ("results",)

    def __init__(self, wrapper: Any, source: Source) -> None:
        super().__init__(wrapper, "__wrapped__", source)
        self.results: dict[Any, VariableTracker] = {}

    def call(self, tx: Tracing, args: Args, kwargs: Kwargs) -> VariableTracker:
        key = (tuple(map(_key, args)), tuple(sorted((name, _key(value)) for name, value in kwargs.items())))
        if key not in self.results:
            changes = tx.trace.side_effects.count
            result = super().call(tx, args, kwargs)
            if tx.trace.side_effects.count != changes:
                raise Unsupported("cached-effect", name=name_of(self.wrapper))
            known = all_constant([*args, *kwargs.values()]) and not _has_nodes(result)
            result = self._held(tx, args, kwargs) if known else result
            tx.trace.journal.save(self)
            self.results[key] = result
        return self.results[key]

    def _held(self, tx: Tracing, args: Args, kwargs: Kwargs) -> VariableTracker:
        """Return the cache's result for these arguments, which it may have to compute now."""
        assert self.source is not None
        if _reads_what_changed(tx, self.wrapper.__wrapped__):
            raise Unsupported("cached-after-change", name=name_of(self.wrapper))
        values = {name: value.realize().value() for name, value in kwargs.items()}
        try:
            result = self.wrapper(*(arg.realize().value() for arg in args), **values)
        except Exception:  # noqa: BLE001 - it did not raise when it was inlined
            raise Unsupported("cached-after-change", name=name_of(self.wrapper)) from None
        tx.guard(make.filled(self.source, self.wrapper.cache_info().currsize))
        return tx.build(result, ConstantSource.of_object(result))


def _reads_what_changed(tx: Tracing, function: Any) -> bool:
    """Return whether the trace wrote one of the function's cells or globals, or changed the value of one."""
    code, effects = getattr(function, "__code__", None), tx.trace.side_effects
    if code is None:
        return False
    cells = [cell for cell in function.__closure__ or () if is_filled(cell)]
    names = [name for name in code.co_names if name in function.__globals__]
    held = [*(cell.cell_contents for cell in cells), *(function.__globals__[name] for name in names)]
    met = (tx.trace.trackers_by_object.get(id(each)) for each in (*(function.__closure__ or ()), *held))
    wrote = any((id(function.__globals__), name) in effects.globals_ for name in code.co_names)
    return wrote or any(tracker in effects.changed for tracker in met if tracker is not None)


def _has_nodes(tracker: VariableTracker) -> bool:
    """Return whether the graph computes the value, or a part of it."""
    seen, waiting = set(), [tracker.realize()]
    while waiting:
        at = waiting.pop()
        if at.node is not None:
            return True
        if at not in seen:
            seen.add(at)
            waiting.extend(part.realize() for _, part in at.parts())
    return False


def _key(argument: VariableTracker) -> Any:
    """Return the part of an argument that a cache compares: a plain value, or the object's identity."""
    argument = argument.realize()
    value = constant_or(argument, None)
    return ("value", value) if isinstance(value, (bool, int, float, str, bytes)) else ("object", argument.uid)


@builds(functools._lru_cache_wrapper)
def _cached_function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    pin(build, value, source)
    wrapped = getattr(value, "__wrapped__", value)  # the program may have deleted it
    if rules.decide(wrapped).action != "inline" or rules.is_graph_function(value):
        return function_tracker(value, source)
    return CachedFunctionVariable(value, source)


@builds(torch.jit.ScriptFunction)
def _scripted_function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Inline the function that was scripted, which torch keeps for this."""
    if not hasattr(value, "_torchdynamo_inline"):
        raise Unsupported("unknown-object", type="ScriptFunction", source=source.written)
    pin(build, value, source)
    return WrapperUserFunctionVariable(value, "_torchdynamo_inline", source)

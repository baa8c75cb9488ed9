"""All that an attempt knows, field by field: what the way back to a mark has to leave as it was."""

from __future__ import annotations

import array
import functools
import random
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tracer_core.graph.output import OutputGraph
from tracer_core.interpreter.machine import Interpreter
from tracer_core.sources import Source
from tracer_core.variables.containers.dicts import SetVariable
from tracer_core.variables.core.journal import Journal

_OURS = ("tracer_core.variables", "tracer_core.interpreter", "tracer_core.guards.kinds.libraries")
_NOT_WALKED = (Interpreter, OutputGraph, Journal, Source, type)
_OF_THE_PROGRAM: dict[str, Callable[[Any], Iterable[Any]]] = {
    "real": lambda real: [real],
    "globals": lambda held: [held],
    "kept_alive": lambda held: held,
    "globals_": lambda written: [part for key, (_, value) in written.items() for part in (*key, value)],
}
"""Fields with objects of the program's: which ones they are is all that is looked at."""
_PLAIN = (float, str, bytes, bool, type(None), complex)


class State:
    """`fields` has what each object holds: tables item by item, other objects as they are. Objects are kept alive, so
    that none is taken for another."""

    def __init__(self, tx: Interpreter) -> None:
        self.fields: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._alive: list[Any] = []
        waiting = deque[Any]([tx.trace])
        frame: Any = tx.frame
        while frame is not None:
            waiting.append(frame)
            frame = frame.parent
        while waiting:
            each = waiting.popleft()
            if id(each) not in self.fields:
                self.fields[id(each)] = each, {}
                held = dict(_fields(each))
                self.fields[id(each)] = each, {name: self._shown(value, waiting) for name, value in held.items()}
        output = tx.output
        self.graph = {
            "nodes": [str(node.format_node()) for tracer in output.stack() for node in tracer.graph.nodes],
            "guards": [repr(key) for key in output.guards],
            "symbols": list(output.fakes.symbols),
            "settings": [repr(output.settings.start), len(output.settings.entered), output.settings.held],
        }

    def _shown(self, value: Any, waiting: deque[Any]) -> Any:
        """What can be compared of a value. What it leads to is looked at as well. (Objects of the program's are not
        asked for anything: they might answer by code.)"""
        kind = type(value)
        if kind in (list, tuple, deque):
            return kind.__name__, [self._shown(item, waiting) for item in value]
        if kind is dict:
            return "dict", [(self._shown(key, waiting), self._shown(item, waiting)) for key, item in value.items()]
        if kind in (set, frozenset):
            return kind.__name__, sorted(repr(self._shown(item, waiting)) for item in value)
        if kind is int:
            return "int", hex(value)  # (Of any length.)
        if kind in _PLAIN or kind in (bytearray, array.array):
            return kind.__name__, repr(value)
        if kind is random.Random:
            return "stream", value.getstate()
        if kind is types.MethodType:
            return self._shown(value.__func__, waiting), self._shown(value.__self__, waiting)
        if _is_ours(value):
            waiting.append(value)
        self._alive.append(value)
        return id(value)

    def differences(self, other: State) -> Iterator[str]:
        """What is not as in the other, in words."""
        for name, mine in self.graph.items():
            if mine != other.graph[name]:
                yield f"{name}: {mine} and then {other.graph[name]}"
        for key, (holder, fields) in self.fields.items():
            _, now = other.fields.get(key, (holder, {}))
            for name in fields:
                if key in other.fields and fields[name] != now.get(name):
                    yield f"{type(holder).__name__}.{name}: {fields[name]} and then {now.get(name)}"
            if key not in other.fields:
                yield f"a {type(holder).__name__} is gone"
        for key in other.fields.keys() - self.fields.keys():
            yield f"a {type(other.fields[key][0]).__name__} has come"


def _is_ours(value: Any) -> bool:
    kind = type(value)
    if kind is types.FunctionType:
        return (value.__module__ or "").startswith(_OURS)
    return kind is functools.partial or (str(kind.__module__).startswith(_OURS) and not issubclass(kind, _NOT_WALKED))


def _fields(holder: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(holder, types.FunctionType):
        for name, cell in zip(holder.__code__.co_freevars, holder.__closure__ or (), strict=True):
            yield name, cell.cell_contents
        return
    if isinstance(holder, functools.partial):
        yield from (("func", holder.func), ("args", holder.args), ("keywords", holder.keywords))
        return
    if isinstance(holder, SetVariable):
        yield "order", list(holder.real or ())
    if isinstance(holder, dict):  # a namespace of the interpreter's
        yield "items", dict(holder)
    slots = [name for cls in type(holder).__mro__ for name in vars(cls).get("__slots__", ())]
    held = {name: getattr(holder, name) for name in slots if name != "__weakref__" and hasattr(holder, name)}
    held |= vars(holder) if hasattr(holder, "__dict__") else {}
    for name, value in held.items():
        yield name, [id(item) for item in _OF_THE_PROGRAM[name](value)] if name in _OF_THE_PROGRAM else value

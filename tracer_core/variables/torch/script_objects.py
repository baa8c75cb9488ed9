"""Script objects: objects of classes that C++ code registers with torch (`torch.classes`).

One is an input of the graph, and a call of its method the operator `call_torchbind`, as with torch's compiler. The
fake class that is registered for its class computes results, from the state that the object has when the frame
starts. The state is guarded: of tensors in it, all but the data.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import torch
from torch._higher_order_ops.torchbind import call_torchbind
from torch._library.fake_class_registry import FakeScriptObject, global_fake_class_registry, maybe_to_fake_obj
from torch.utils._pytree import tree_leaves

from tracer_core.errors import Unsupported
from tracer_core.graph.memory import storage_of
from tracer_core.guards import make
from tracer_core.guards.constants import is_constant
from tracer_core.sources import ConvertedSource, Source
from tracer_core.sources.base import ById
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.values import graph_name
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import builds, handles
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import call_in_graph


class ScriptObjectVariable(InGraphVariable):
    """A script object: an input of the graph, and its fake."""

    __slots__ = ()
    kind = "script object"
    mutable = True

    def python_type(self) -> type:
        return torch.ScriptObject

    def describe(self) -> str:
        return f"script object {_class_name(self.fake)}"

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        method = getattr(self.fake.wrapped_obj, name, None)
        real: Any = tx.trace.real_value(self)
        if name not in real._method_names() or name.startswith("__") or not callable(method):
            raise Unsupported("script-object-attribute", cls=_class_name(self.fake), name=name)
        return ScriptMethodVariable(self, name)


class ScriptMethodVariable(VariableTracker):
    """A method bound to a script object."""

    __slots__ = ("name", "self_")
    kind = "script method"

    def __init__(self, self_: ScriptObjectVariable, name: str) -> None:
        super().__init__()
        self.self_ = self_
        self.name = name

    def python_type(self) -> type:
        return torch.ScriptMethod

    def describe(self) -> str:
        return f"method {_class_name(self.self_.fake)}.{self.name}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("self", self.self_)]

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        _refuse(tx, self.self_, self.name, [*args, *kwargs.values()])
        return call_in_graph(tx, "call_function", call_torchbind, [self.self_, tx.constant(self.name), *args], kwargs)


@handles(call_torchbind)
def _call_operator(
    tx: Tracing, object_: VariableTracker, name: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker | None:
    object_ = object_.realize()
    if not isinstance(object_, ScriptObjectVariable) or not name.is_constant():
        return None
    return tx.call(tx.get_attr(object_, name.value()), list(args), kwargs)


def _refuse(tx: Tracing, object_: ScriptObjectVariable, name: str, args: list[VariableTracker]) -> None:
    """Check that the operator does in the graph what the method does."""
    called = f"{_class_name(object_.fake)}.{name}"
    if tx.output.current is not tx.output.root or tx.trace.journal.is_kept(object_.uid):
        raise Unsupported("script-method", method=called, why="inside a function that an operator calls")
    tensors = [each.fake for each in (arg.realize() for arg in args) if isinstance(each, TensorVariable)]
    if any(each.requires_grad for each in (*tensors, *_tensors_in(object_.fake))):
        raise Unsupported("script-method", method=called, why="on tensors that require gradients")


def _tensors_in(fake: FakeScriptObject) -> Iterator[torch.Tensor]:
    return (each for each in tree_leaves(vars(fake.wrapped_obj)) if isinstance(each, torch.Tensor))


@builds(torch.ScriptObject)
def _script_object(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    name = _class_name(value)
    if not global_fake_class_registry.has_impl(value._type().qualified_name()):
        raise Unsupported("script-class", cls=name, source=source.written)
    state = state_of(value)
    if not is_constant(state):
        raise Unsupported("unknown-object", type=name, source=source.written)
    build.tx.guard(make.type_is(source, torch.ScriptObject))
    build.tx.guard(make.constant(ConvertedSource(source, ById(state_of), "state"), state))
    output = build.tx.output
    if not output.runs_as_it_is and output.fakes.operations.clock:
        raise Unsupported("lost-by-back-ends", what=f"writes to tensors that a {name} may hold")
    fake = _fake(output.fakes.mode, value)
    output.fakes.held_elsewhere = name
    node = output.root.add_input(source, graph_name(source), fake)
    return build.register(value, ScriptObjectVariable(node, fake, source))


def _fake(mode: Any, value: Any) -> Any:
    """Return the fake of a script object, without torch's warnings about methods that its fake class leaves out: a
    call of one breaks the graph."""
    log = logging.getLogger(maybe_to_fake_obj.__module__)
    before = log.disabled
    log.disabled = True
    try:
        return maybe_to_fake_obj(mode, value)
    finally:
        log.disabled = before


def state_of(value: Any) -> tuple[Any, ...]:
    """Return the class and the state of a script object, as a constant: of tensors, all but the data. Storages that
    several tensors share are numbered."""
    storages: dict[int, int] = {}
    return value._type().qualified_name(), _constant(value.__obj_flatten__(), storages)


def _constant(part: Any, storages: dict[int, int]) -> Any:
    if isinstance(part, torch.Tensor):
        shared = storages.setdefault(storage_of(part), len(storages))
        return (
            *(part.dtype, part.device, part.layout, part.shape, part.stride()),
            *(part.storage_offset(), part.requires_grad, shared),
        )
    if isinstance(part, (tuple, list)):
        return type(part).__name__, *(_constant(each, storages) for each in part)
    if isinstance(part, dict):
        return "dict", *((key, _constant(each, storages)) for key, each in part.items())
    return part


def _class_name(value: Any) -> str:
    """Return `torch.classes.library.Class` of a script object or its fake."""
    qualified = value.script_class_name if isinstance(value, FakeScriptObject) else value._type().qualified_name()
    return str(qualified).removeprefix("__torch__.")

"""Checks of what operators are given and of what their bodies return: kinds, dtypes, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from tracer_core.errors import Unsupported
from tracer_core.graph.memory import storage_of
from tracer_core.higher_order.names import name_of_node
from tracer_core.higher_order.structure import flatten
from tracer_core.variables.containers.sequences import ListVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.calling import callable_type


def refuse(operator: str, why: str) -> Unsupported:
    """Return the reason that `operator` does not take its arguments."""
    return Unsupported("operator-refuses", operator=operator, why=why)


def check_callable(operator: str, **functions: VariableTracker) -> None:
    """Check that these arguments can be called."""
    for name, function in functions.items():
        if not callable_type(function.realize()):
            raise refuse(operator, f"{name} is an object of type {function.python_type_name()}")


def check_sequence(tx: Tracing, operator: str, name: str, given: VariableTracker) -> list[VariableTracker]:
    """Return the items of an argument, which must be a list or tuple of tensors, numbers, and containers of them."""
    given = given.realize()
    if not isinstance(given, (ListVariable, TupleVariable)):
        raise refuse(operator, f"{name} is an object of type {given.python_type_name()}, not a list or tuple")
    for leaf in flatten(tx, given)[0]:
        if not isinstance(leaf, InGraphVariable) and not isinstance(constant_or(leaf, None), (int, float)):
            raise refuse(operator, f"{name} has an object of type {leaf.python_type_name()}")
    return tx.unpack(given)


def refuse_shared(tx: Tracing, operands: Sequence[Any]) -> None:
    """Check, for back ends that refuse it, that no two of these nodes give tensors that share memory."""
    if tx.output.runs_as_it_is:
        return
    seen: dict[int, Node] = {}
    for node in operands:
        if isinstance(node, Node) and isinstance(fake := node.meta["example_value"], torch.Tensor):
            if storage_of(fake) in seen:
                one, other = name_of_node(seen[storage_of(fake)]), name_of_node(node)
                raise Unsupported("body-inputs-alias", one=one, other=other)
            seen[storage_of(fake)] = node


def check_tensors(operator: str, name: str, leaves: Sequence[VariableTracker]) -> list[TensorVariable]:
    """Return leaves of an argument, which must be tensors."""
    for leaf in leaves:
        if not isinstance(leaf, TensorVariable):
            raise refuse(operator, f"{name} has an object of type {leaf.python_type_name()}, not tensors alone")
    return [leaf for leaf in leaves if isinstance(leaf, TensorVariable)]


def difference(one: VariableTracker, other: VariableTracker, fields: Sequence[str]) -> tuple[str, str, str] | None:
    """Return in what two leaves differ, and what each is in this; of tensors, these fields are compared."""
    if isinstance(one, TensorVariable) and isinstance(other, TensorVariable):
        for field in fields:
            a, b = (_read(each.fake, field) for each in (one, other))
            if not _equal(a, b):
                return _PLURALS[field], _shown(a), _shown(b)
        return None
    return None if _kind(one) == _kind(other) else ("types", _kind(one), _kind(other))


def _equal(a: Any, b: Any) -> bool:
    """Return whether two values are equal; sizes that only the running program knows, only if they are the same."""
    try:
        return bool(a == b)
    except GuardOnDataDependentSymNode:
        return False


def _read(fake: torch.Tensor, field: str) -> Any:
    value = getattr(fake, field)
    return value() if callable(value) else value


def _kind(leaf: VariableTracker) -> str:
    return "Tensor" if isinstance(leaf, TensorVariable) else leaf.python_type_name()


def _shown(value: Any) -> str:
    return str(tuple(value)) if isinstance(value, tuple) else str(value).removeprefix("torch.")


_PLURALS = {
    "dtype": "dtypes",
    "device": "devices",
    "layout": "layouts",
    "dim": "numbers of dimensions",
    "shape": "sizes",
    "stride": "strides",
}

"""Rules by which the arguments of a body are made: which become placeholders, and what the body is called with.

Values created before the body that it uses, and that no rule made a placeholder, are lifted when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.fakes import outside_transforms
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order.structure import flatten, unflatten
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing

Inputs = Callable[[Tracing, SubgraphTracer, Sequence[VariableTracker]], list[VariableTracker]]
"""A rule: makes the placeholders of a body in its graph, and returns what the body is called with."""


def automatic(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
    """Pass the arguments as they are: those that the body uses are lifted, in the order of use."""
    return list(args)


def automatic_with_forced_inputs(
    tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]
) -> list[VariableTracker]:
    """Each tensor becomes a placeholder, used or not; all else is passed as it is."""
    return [_placeholder(tx, tracer, arg) if isinstance(arg.realize(), TensorVariable) else arg for arg in args]


def lifted_first(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
    """Lift the tensors and symbolic numbers among the arguments, used or not, before all else; pass all as it is."""
    for arg in args:
        value = arg.realize()
        if isinstance(value, InGraphVariable):
            tracer.lift(value.node)
    return list(args)


def semi_automatic(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
    """Each tensor and symbolic number becomes a placeholder, used or not; all else is passed as it is."""
    return [_placeholder(tx, tracer, arg) if isinstance(arg.realize(), InGraphVariable) else arg for arg in args]


def manual(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
    """Each argument becomes a placeholder: tensors, symbolic numbers, and constants, which the body knows.

    Raises:
        Unsupported: an argument is nothing of these.
    """
    return [_placeholder(tx, tracer, arg) for arg in args]


def flatten_manual(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
    """As `manual`, for each leaf of the arguments; the body is called with the containers built again."""
    leaves, structure = flatten(tx, TupleVariable(list(args)))
    made = manual(tx, tracer, leaves)
    return tx.unpack(unflatten(tx, iter(made), structure))


def standing_for(fakes: Sequence[Any]) -> Inputs:
    """As `flatten_manual`, but the placeholder of each leaf has the fake at its place here: it is not the argument
    itself that the operator passes, but a part of it, or what an earlier call returned."""

    def inputs(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
        leaves, structure = flatten(tx, TupleVariable(list(args)))
        made = [_standing_for(tx, tracer, leaf, fake) for leaf, fake in zip(leaves, fakes, strict=True)]
        return tx.unpack(unflatten(tx, iter(made), structure))

    return inputs


def _placeholder(tx: Tracing, tracer: SubgraphTracer, arg: VariableTracker) -> VariableTracker:
    arg = arg.realize()
    if isinstance(arg, InGraphVariable):
        fake = like(tx, arg.fake)
        return wrap_fx_proxy(tx, tracer.add_argument(arg.node.name, fake), fake)
    if not arg.is_constant():
        raise Unsupported("body-argument", type=arg.python_type_name())
    tracer.add_argument("unused", arg.value())
    return arg


def _standing_for(tx: Tracing, tracer: SubgraphTracer, leaf: VariableTracker, fake: Any) -> VariableTracker:
    node = tracer.add_argument(leaf.node.name if isinstance(leaf, InGraphVariable) else "number", fake)
    return leaf if isinstance(fake, (int, float)) else wrap_fx_proxy(tx, node, fake)


def any_int(tx: Tracing) -> Any:
    """Return a symbol for an int of which the body knows nothing, which may be a size in it."""
    number = tx.output.fakes.unknown(int)
    tx.output.fakes.given |= number.node.expr.free_symbols
    return number


def like(tx: Tracing, fake: Any) -> Any:
    """Return a fake for a value of the same kind in a body: of the same sizes, dtype and layout, but a tensor of its
    own."""
    if not isinstance(fake, torch.Tensor):
        return fake

    def made() -> torch.Tensor:
        with torch.no_grad():
            alone = torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype, device=fake.device)
        return alone.requires_grad_(fake.requires_grad)

    with outside_transforms():  # which refuse to let a tensor require a gradient
        return tx.output.run_fake(made, (), {})


def first_row(tx: Tracing, fake: torch.Tensor) -> Any:
    """Return a fake for a row of a tensor, which lies in memory as rows of it do."""
    return like(tx, tx.output.run_fake(torch.select, (fake, 0, 0), {}))


def first_slice(tx: Tracing, fake: torch.Tensor) -> Any:
    """Return a fake for a copy of a row of a tensor."""
    return like(tx, tx.output.run_fake(torch.select_copy, (fake, 0, 0), {}))

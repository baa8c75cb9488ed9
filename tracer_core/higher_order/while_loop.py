"""`torch.while_loop`: a function is called again and again on what it returned, while another one says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from tracer_core.graph.memory import storage_of
from tracer_core.higher_order.carried import check_carried
from tracer_core.higher_order.effects import inputs_of
from tracer_core.higher_order.inputs import any_int, like, standing_for
from tracer_core.higher_order.merge import merge_inputs
from tracer_core.higher_order.metadata import check_callable, check_sequence, refuse, refuse_shared
from tracer_core.higher_order.results import add_module, new_results
from tracer_core.higher_order.speculate import Body, Rules, speculate_subgraph
from tracer_core.higher_order.structure import flatten
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing

_NAME = "torch.while_loop"
_STACKING = torch.ops.higher_order.while_loop_stack_output


@handles(torch.while_loop)
def while_loop(
    tx: Tracing, cond_fn: VariableTracker, body_fn: VariableTracker, carried_inputs: VariableTracker
) -> VariableTracker:
    return _loop(tx, torch.ops.higher_order.while_loop, cond_fn, body_fn, carried_inputs, TupleVariable([]))


@handles(torch.ops.higher_order.while_loop)
def while_loop_operator(
    tx: Tracing,
    cond_fn: VariableTracker,
    body_fn: VariableTracker,
    carried_inputs: VariableTracker,
    additional_inputs: VariableTracker,
    /,
) -> VariableTracker:
    return _loop(tx, torch.ops.higher_order.while_loop, cond_fn, body_fn, carried_inputs, additional_inputs)


@handles(_STACKING)
def while_loop_stack_output(
    tx: Tracing,
    cond_fn: VariableTracker,
    body_fn: VariableTracker,
    carried_inputs: VariableTracker,
    additional_inputs: VariableTracker,
    /,
) -> VariableTracker:
    return _loop(tx, _STACKING, cond_fn, body_fn, carried_inputs, additional_inputs)


def _loop(
    tx: Tracing,
    operator: Any,
    cond_fn: VariableTracker,
    body_fn: VariableTracker,
    carried_inputs: VariableTracker,
    additional_inputs: VariableTracker,
) -> VariableTracker:
    check_callable(_NAME, cond_fn=cond_fn, body_fn=body_fn)
    carried = check_sequence(tx, _NAME, "carried_inputs", carried_inputs)
    additional = check_sequence(tx, _NAME, "additional_inputs", additional_inputs)
    leaves, more = (flatten(tx, TupleVariable(each))[0] for each in (carried, additional))
    _check_carried_inputs(leaves)
    in_place = operator is not _STACKING and not torch.is_grad_enabled()

    def traced(function: VariableTracker) -> Body:
        fakes = [_any_like(tx, leaf) for leaf in leaves]
        fakes += [like(tx, leaf.fake) if isinstance(leaf, InGraphVariable) else leaf.value() for leaf in more]
        rules = Rules(standing_for(fakes), in_place, aliases=False)
        body = speculate_subgraph(tx, _NAME, function, [*carried, *additional], rules=rules)
        for node in body.written:
            if node in body.tracer.arguments[: len(leaves)]:
                written = tx.output.last_written_at(node.meta["example_value"])
                raise refuse(_NAME, f"{body.function} writes to a value that is carried").at(written)
        return body

    condition = traced(cond_fn)
    goes_on = _check_condition(condition)
    if goes_on is False:
        return TupleVariable(leaves)
    if goes_on is True:
        why = "cond_fn returns True whatever it is given, so the loop never ends"
        raise refuse(_NAME, why).at(condition.returned)
    body = traced(body_fn)
    check_carried(_NAME, body, leaves, body.leaves)
    results = [each.nodes((int,)) for each in (condition, body)]
    lifted = merge_inputs((condition.tracer, "_cond_fn"), (body.tracer, "_body_fn"))
    operands, others = ([_operand(leaf) for leaf in each] for each in (leaves, more))
    refuse_shared(tx, operands)
    written = _written(condition, body, [*operands, *others, *lifted])
    kwargs = {"mutated_arg_indices": written} if written else {}
    modules = [
        add_module(tx, "cond_fn", condition.close(results[0][0])),
        add_module(tx, "body_fn", body.close(results[1])),
    ]
    return new_results(tx, operator, (*modules, tuple(operands), (*others, *lifted)), kwargs, body.structure)


def _check_carried_inputs(leaves: Sequence[VariableTracker]) -> None:
    if not leaves:
        raise refuse(_NAME, "carried_inputs is empty")
    for leaf in leaves:
        if not isinstance(leaf, TensorVariable) and leaf.python_type() is not int:
            raise refuse(_NAME, f"carried_inputs has an object of type {leaf.python_type_name()}")


def _any_like(tx: Tracing, leaf: VariableTracker) -> Any:
    """Return a fake for a value that is carried: in a later call it is another one."""
    return like(tx, leaf.fake) if isinstance(leaf, TensorVariable) else any_int(tx)


def _operand(leaf: VariableTracker) -> Any:
    return leaf.node if isinstance(leaf, InGraphVariable) else leaf.value()


def _check_condition(condition: Body) -> bool | None:
    """Return what the condition always is, None where that depends on what it is given."""
    result = condition.result
    if isinstance(result, TensorVariable):
        if result.fake.dtype is torch.bool and result.fake.dim() == 0:
            return None
    elif isinstance(result, SymNodeVariable):
        if result.python_type() is bool:
            return None
    elif isinstance(value := constant_or(result, None), (bool, int)):
        return bool(value)
    why = f"{condition.function} returns {result.describe()}, not a bool or a tensor with one bool"
    raise refuse(_NAME, why).at(condition.returned)


def _written(condition: Body, body: Body, operands: Sequence[Any]) -> str:
    """Write the places of the operands whose memory the bodies write to."""
    memory = {
        storage_of(operands[place].meta["example_value"])
        for each in (condition, body)
        for place, node in enumerate(inputs_of(each.tracer))
        if node in each.written
    }

    def is_written(operand: Any) -> bool:
        fake = operand.meta["example_value"] if isinstance(operand, Node) else None
        return isinstance(fake, torch.Tensor) and storage_of(fake) in memory

    return ",".join(str(place) for place, operand in enumerate(operands) if is_written(operand))

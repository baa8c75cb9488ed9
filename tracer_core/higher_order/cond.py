"""`torch.cond`: one of two functions is called, as a tensor says."""

from __future__ import annotations

from types import NoneType

import torch

from tracer_core.errors import Unsupported
from tracer_core.higher_order.merge import merge_inputs
from tracer_core.higher_order.metadata import check_callable, check_sequence, difference, refuse
from tracer_core.higher_order.results import add_module, new_results
from tracer_core.higher_order.speculate import Body, Rules, name_of_body, speculate_subgraph
from tracer_core.names.code import short
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing

_NAME = "torch.cond"


@handles(torch.cond)
@handles(torch.ops.higher_order.cond)
def cond(
    tx: Tracing,
    pred: VariableTracker,
    true_fn: VariableTracker,
    false_fn: VariableTracker,
    operands: VariableTracker | None = None,
) -> VariableTracker:
    pred = pred.realize()
    operands = TupleVariable([]) if operands is None else operands
    if not isinstance(pred, InGraphVariable):
        chosen = true_fn if _constant(tx, pred) else false_fn
        function = short(name_of_body(chosen))
        tx.output.notice(Unsupported("constant-predicate", value=pred.describe(), function=function))
        return tx.call(chosen, tx.unpack(operands))
    if isinstance(pred, TensorVariable) and pred.fake.numel() != 1:
        raise refuse(_NAME, f"the predicate {pred.describe()} is not a single element")
    check_callable(_NAME, true_fn=true_fn, false_fn=false_fn)
    given = check_sequence(tx, _NAME, "operands", operands)
    in_place = not torch.is_grad_enabled()
    rules = Rules(writes=in_place, aliases=in_place)
    on_true, on_false = (speculate_subgraph(tx, _NAME, branch, given, rules=rules) for branch in (true_fn, false_fn))
    constants = (int,) if _has_gradient(on_true, on_false) else (int, NoneType)
    results = [body.nodes(constants) for body in (on_true, on_false)]
    _check_results(on_true, on_false)
    inputs = merge_inputs((on_true.tracer, "_true_branch"), (on_false.tracer, "_false_branch"))
    modules = [
        add_module(tx, name, body.close(nodes))
        for name, body, nodes in zip(("cond_true", "cond_false"), (on_true, on_false), results, strict=True)
    ]
    arguments = (pred.node, *modules, tuple(inputs))
    return new_results(tx, torch.ops.higher_order.cond, arguments, {}, on_true.structure)


def _has_gradient(*bodies: Body) -> bool:
    """Return whether the operator is differentiated, which takes no None among its results."""
    inputs = (node.meta["example_value"] for body in bodies for node in body.tracer.lifted)
    given = any(isinstance(fake, torch.Tensor) and fake.requires_grad for fake in inputs)
    return given and torch.is_grad_enabled()


def _constant(tx: Tracing, pred: VariableTracker) -> bool:
    if not isinstance(constant_or(pred, None), (bool, int, float)):
        raise refuse(_NAME, f"the predicate is an object of type {pred.python_type_name()}, not a bool or a tensor")
    return tx.truth(pred)


def _check_results(on_true: Body, on_false: Body) -> None:
    """Check that the results of the branches can be merged. (Sizes may differ.)"""
    if on_true.structure != on_false.structure:
        raise _differ(on_true, on_false, "structures", on_true.structure.describe(), on_false.structure.describe())
    for a, b in zip(on_true.leaves, on_false.leaves, strict=True):
        differing = difference(a, b, ("dtype", "device", "layout", "dim"))
        if differing is not None:
            raise _differ(on_true, on_false, *differing)
        for body, leaf in ((on_true, a), (on_false, b)):
            if isinstance(leaf, SymNodeVariable):
                raise body.refused(f"{leaf.python_type_name()} that depends on a size")


def _differ(on_true: Body, on_false: Body, what: str, one: str, other: str) -> Unsupported:
    functions = {"first": on_true.function, "second": on_false.function}
    return Unsupported("branches-differ", what=what, one=one, other=other, **functions).at(on_true.returned)

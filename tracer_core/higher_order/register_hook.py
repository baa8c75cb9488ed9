"""`Tensor.register_hook` and `Tensor.register_post_accumulate_grad_hook`.

A hook on an external tensor is registered when the graph has run, as no backward pass begins before: it may do
whatever it likes. A hook on a tensor that the graph computes is a body of the operator `register_hook`, so that back
ends see what it does with the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch._higher_order_ops.register_hook import register_hook_op
from torch.fx import Node

from tracer_core.errors import Unsupported
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order.inputs import like
from tracer_core.higher_order.names import name_of_node
from tracer_core.higher_order.results import add_module
from tracer_core.higher_order.speculate import Body, Rules, speculate_subgraph
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.registry import method
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.torch.hook_handles import HookHandleVariable, register_after_graph


def _gradient_first(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
    """Make a placeholder for the gradient of the one argument."""
    (tensor,) = args
    fake = like(tx, tensor.fake.detach())
    return [wrap_fx_proxy(tx, tracer.add_argument("grad", fake), fake)]


# A backward pass runs without gradients, unless it is to be differentiated itself.
_RULES = Rules(_gradient_first, writes=False, strides=False, grad_mode=False)


@method(TensorVariable, "register_hook")
def register_hook(tx: Tracing, self: TensorVariable, hook: VariableTracker) -> VariableTracker:
    _check_requires_gradient(tx, self)
    if self.source is not None:
        return register_after_graph(tx, self, "register_hook", hook)
    if self.node.graph is not tx.output.current.graph:
        name = name_of_node(self.node)
        raise Unsupported("body-changes", what=f"registers a hook on {name}, a tensor that was created outside of it")
    body = speculate_subgraph(tx, "Tensor.register_hook", hook, [self], rules=_RULES)
    if any(node.target is torch._C._set_grad_enabled for node in body.tracer.graph.nodes):
        # It would set back the mode of this trace, not that of the backward pass.
        raise Unsupported("body-changes", what="sets whether autograd records operations")
    module = body.close(_gradient(body))
    given = (self.node, add_module(tx, "hook_body", module), *body.tracer.operands)
    hooked = tx.output.add_node("call_function", register_hook_op, given, {}, self.fake)
    tx.trace.journal.save(self)
    self.move_to(hooked)
    return HookHandleVariable(tx.root_step)


def _check_requires_gradient(tx: Tracing, tensor: TensorVariable) -> None:
    if not tensor.fake.requires_grad:
        tx.raise_(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient")


def _gradient(body: Body) -> Node | None:
    """Return the node of what a hook returns: a gradient in the place of the one it is passed, or None."""
    if not isinstance(body.result, TensorVariable) and constant_or(body.result, body) is not None:
        raise body.refused(body.result.python_type_name())
    node: Node | None
    (node,) = body.nodes()
    return node


@method(TensorVariable, "register_post_accumulate_grad_hook")
def register_post_accumulate_grad_hook(tx: Tracing, self: TensorVariable, hook: VariableTracker) -> VariableTracker:
    _check_requires_gradient(tx, self)
    if not tx.get_attr(self, "is_leaf").value():
        tx.raise_(RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors")
    if self.source is None:
        raise Unsupported("hook-registered", name="Tensor.register_post_accumulate_grad_hook")
    return register_after_graph(tx, self, "register_post_accumulate_grad_hook", hook)

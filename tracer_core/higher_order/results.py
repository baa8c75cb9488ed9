"""The node of a higher-order operator's call, and the trackers of what it returns."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch._C._functorch import TransformType
from torch.fx import Node, map_arg
from torch.utils._pytree import tree_leaves

from tracer_core.errors import TraceAgain, Unsupported
from tracer_core.graph.fakes import CONSTANT
from tracer_core.graph.subgraph import SYMBOLIC
from tracer_core.higher_order.speculate import Body
from tracer_core.higher_order.structure import Structure, unflatten
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tensors import InGraphVariable, unbacked
from tracer_core.variables.core.tracing import Tracing


def add_module(tx: Tracing, name: str, module: torch.fx.GraphModule) -> Node:
    """Add a node for a body's module, called `name` with a number."""
    node = tx.output.current.add_attribute(f"{name}_0", module, module)
    node.meta["draws"] = any(each.meta.get("draws") for each in module.graph.nodes)
    return node


def new_results(
    tx: Tracing, target: Any, args: Sequence[Any], kwargs: dict[str, Any], structure: Structure
) -> VariableTracker:
    """Call an operator that computes something else than its bodies did while they were traced (it chooses one, or
    calls one again and again). Return its results, which are new values, in containers of this structure.

    Raises:
        Unsupported: the operator refuses these bodies or arguments.
    """
    values = map_arg(tuple(args), _fake), map_arg(kwargs, _fake)
    _have_floats_constant(tx, values)
    fake = run_operator(tx, target, *values)
    node = tx.output.add_node("call_function", target, tuple(args), kwargs, fake)
    results = tx.unpack(wrap_fx_proxy(tx, node, fake))
    _note_symbols(tx, results)
    return unflatten(tx, iter(results), structure)


def _have_floats_constant(tx: Tracing, values: Any) -> None:
    """Check that there are no floats among what an operator is passed, which takes only tensors and integers. A float
    of the frame that varied is traced as a constant from now on, with a version for each.

    Raises:
        TraceAgain: there are such floats.
    """
    floats = [each for each in tree_leaves(values) if isinstance(each, torch.SymFloat)]
    names = {str(symbol) for each in floats for symbol in each.node.expr.free_symbols}
    sources = [tx.output.fakes.symbols[name].sources[0] for name in names & tx.output.fakes.symbols.keys()]
    if sources:
        tx.output.frame.history.update({source.exact: CONSTANT for source in sources})
        raise TraceAgain("A function that an operator calls uses a float that varies.")


def _note_symbols(tx: Tracing, results: Sequence[VariableTracker]) -> None:
    """Note the unbacked symbols that are new in these results. Sizes get nodes, for whatever reads them later."""
    fakes = tx.output.fakes
    for result in results:
        if not isinstance(result, InGraphVariable):
            continue
        sizes = enumerate(result.fake.shape) if isinstance(result.fake, torch.Tensor) else [(None, result.fake)]
        for dim, size in sizes:
            new = isinstance(size, SYMBOLIC) and size.node.expr.free_symbols & unbacked(tx) - fakes.given
            if new:
                fakes.given |= new
                if dim is not None:
                    tx.output.add_node("call_function", torch.ops.aten.sym_size.int, (result.node, dim), {}, size)


def run_operator(tx: Tracing, target: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator on fakes and modules."""
    run = partial(tx.output.run_fake, target, args, kwargs)
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of functions of torch's own that its rules call
            if torch.is_grad_enabled() and any(each.requires_grad for each in tensors):
                return tuple(_WithoutBackward.apply(run, *tensors))  # type: ignore[no-untyped-call]
            return run()
    except Unsupported:
        raise
    except Exception as error:
        transform = _transform_around()
        if transform is not None:
            why = f"torch has no rule for it inside {transform}"
            raise Unsupported("operator-refuses", operator=target.name(), why=why) from error
        text = next(iter(str(error).splitlines()), type(error).__name__)
        raise Unsupported("operation-fails", what=target.name(), error=f"{type(error).__name__}: {text}") from error


_TRANSFORMS = {
    TransformType.Grad: "torch.func.grad, vjp or jacrev",
    TransformType.Jvp: "torch.func.jvp or jacfwd",
    TransformType.Vmap: "torch.func.vmap",
    TransformType.Functionalize: "torch.func.functionalize",
}


def _transform_around() -> str | None:
    """Return the innermost transform of `torch.func` that the trace is in."""
    level = torch._C._functorch.peek_interpreter_stack()
    return None if level is None else _TRANSFORMS[level.key()]


class _WithoutBackward(torch.autograd.Function):
    """Computes results that require gradients, as those of an operator do if a tensor among its arguments does, but
    not the graphs of its backward pass, which take long and which the back end makes."""

    @staticmethod
    def forward(ctx: Any, run: Callable[[], Sequence[Any]], *tensors: torch.Tensor) -> tuple[Any, ...]:
        return tuple(run())

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError("fakes have no gradients")


def _fake(node: Node) -> Any:
    return node.meta["example_value"]


def same_results(tx: Tracing, body: Body, call: Callable[[tuple[Any, ...]], Node]) -> VariableTracker:
    """Call an operator that computes what its body did while it was traced. Return what the body returned: what its
    graph computed is from now on what the operator gives. `call` adds the operator's node, whose fake results it is
    passed."""
    leaves = body.computed
    give_out(tx, call(tuple(leaf.fake for leaf in leaves)), leaves)
    return body.result


def give_out(tx: Tracing, node: Node, leaves: Sequence[InGraphVariable]) -> None:
    """Have an operator's node give these values, in order: what its body computed, and what it wrote to. They go on
    in the graph that is being built."""
    around = [tracer.graph for tracer in tx.output.stack()]
    for place, leaf in enumerate(leaves):
        outer = tx.output.add_node("call_function", operator.getitem, (node, place), {}, leaf.fake)
        if leaf.node.graph in around[1:]:
            continue  # It was written to, and is known farther out by its own node.
        if leaf.node.graph not in around:
            tx.output.leads_to(leaf.node, outer)
        tx.trace.journal.save(leaf)
        leaf.move_to(outer)

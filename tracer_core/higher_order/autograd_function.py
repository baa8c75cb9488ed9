"""`torch.autograd.Function.apply`: an operation whose forward and backward are both written by the program.

Where the result can be differentiated, both are traced, each into a graph of its own, and `autograd_function_apply`
runs them. Backward's graph is traced inside forward's, so that what it uses of forward is lifted from there: it
becomes the second part of what forward's graph returns, and the last arguments of backward's. Elsewhere, forward is
inlined.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._functorch.autograd_function import autograd_function_apply
from torch.autograd.function import _SingleLevelFunction
from torch.fx import Node

from tracer_core.errors import Unsupported
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order import functions_in_transforms
from tracer_core.higher_order.autograd_context import AutogradContextVariable, requires_grad
from tracer_core.higher_order.inputs import like
from tracer_core.higher_order.reach import changed_since, reachable
from tracer_core.higher_order.results import add_module, give_out
from tracer_core.higher_order.speculate import Body, Rules, speculate_subgraph
from tracer_core.polyfills import autograd as polyfill
from tracer_core.runtime import gradients as at_run_time
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import Kwargs, VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.trace_state import TraceMark
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.classes import ClassVariable


@handles(torch.autograd.Function.apply.__func__, ClassVariable)  # type: ignore[attr-defined]
def apply(tx: Tracing, cls: ClassVariable, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    call = _call_of(tx, cls, list(args), kwargs)
    if functions_in_transforms.are_around():
        _check_transforms(tx, call)
    if not torch.is_grad_enabled() or not any(_requires_grad(each) for each in call.inputs):
        return call.inlined(tx)
    _check_class(tx, call)
    mark = tx.trace.mark()
    try:
        result = _captured(tx, call, mark)
    except (ObservedException, _NotDifferentiable):
        # (Where forward raises, the program may handle what it raises.)
        tx.trace.roll_back(mark)
        return call.inlined(tx)
    except BaseException:
        tx.trace.roll_back(mark)
        raise
    tx.trace.keep(mark)
    return result


def _check_class(tx: Tracing, call: _Call) -> None:
    """Check that backward alone says how the Function is differentiated."""
    for name in ("vjp", "jvp"):
        if not _is_inherited(call.cls, name):
            raise call.refused(f"it has a {name} of its own")
    if tx.truth(tx.get_attr(call.cls, "clear_saved_tensors_on_access")):
        raise call.refused("it has clear_saved_tensors_on_access set")


class _NotDifferentiable(Exception):
    """Forward returned nothing that has a gradient."""


def _is_none(tracker: VariableTracker) -> bool:
    return constant_or(tracker, tracker) is None


def _is_tensor(tracker: VariableTracker) -> bool:
    return isinstance(tracker, TensorVariable)


def _check_transforms(tx: Tracing, call: _Call) -> None:
    """Check that the transforms around map and differentiate the Function by its forward and backward."""
    generates_rule = tx.truth(tx.get_attr(call.cls, "generate_vmap_rule"))
    why = functions_in_transforms.why_refused(call.setup_context is not NONE, generates_rule)
    if why is not None:
        raise call.refused(why)


def _requires_grad(tracker: VariableTracker) -> bool:
    return isinstance(tracker, TensorVariable) and requires_grad(tracker.fake)


# --- the call -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Call:
    """`cls.apply(*inputs)`. `setup_context` is the tracker of None where forward takes the context itself."""

    cls: ClassVariable
    forward: VariableTracker
    setup_context: VariableTracker
    inputs: list[VariableTracker]

    @property
    def function(self) -> str:
        return str(self.cls.known.__qualname__)

    @property
    def operator(self) -> str:
        return f"{self.function}.apply"

    @property
    def repeated(self) -> tuple[tuple[int, int], ...]:
        """The places of tensors that were passed before, each after the place where that was."""
        firsts = [(self.inputs.index(each), at) for at, each in enumerate(self.inputs)]
        return tuple((first, at) for first, at in firsts if first < at and _is_tensor(self.inputs[at]))

    def refused(self, why: str) -> Unsupported:
        return Unsupported("autograd-function", name=self.operator, why=why)

    def arguments(self, ctx: AutogradContextVariable) -> list[VariableTracker]:
        return [self.forward, self.setup_context, ctx, *self.inputs]

    def inlined(self, tx: Tracing) -> VariableTracker:
        """Call forward, of which nothing can be differentiated."""
        ctx = AutogradContextVariable(self.cls.known, self.inputs)
        # (Backward may run with gradients enabled, though it is traced without.)
        enabled = torch.is_grad_enabled() or tx.output.layouts_vary
        forward = polyfill.forward if enabled else polyfill.forward_alone
        return tx.call_python(forward, *self.arguments(ctx))


def _call_of(tx: Tracing, cls: ClassVariable, args: list[VariableTracker], kwargs: Kwargs) -> _Call:
    separate = not _is_inherited(cls, "setup_context")
    setup_context = tx.get_attr(cls, "setup_context") if separate else NONE
    call = _Call(cls, tx.get_attr(cls, "forward"), setup_context, [])
    call.inputs.extend(each.realize() for each in _bound(tx, call, args, kwargs))
    return call


def _is_inherited(cls: ClassVariable, name: str) -> bool:
    """Return whether an attribute is the one that every Function has."""
    return static_lookup(cls.known, name)[1] is _SingleLevelFunction


def _bound(tx: Tracing, call: _Call, args: list[VariableTracker], kwargs: Kwargs) -> list[VariableTracker]:
    """Return all arguments by position, those that have defaults included if forward takes no context."""
    separate = call.setup_context is not NONE
    if not kwargs and not separate:
        return args
    signature = inspect.signature(call.cls.known.forward)
    first = () if separate else (NONE,)
    try:
        bound = signature.bind(*first, *args, **kwargs)
    except TypeError as error:
        raise call.refused(f"its arguments do not fit: {error}") from None
    if any(each.kind is inspect.Parameter.KEYWORD_ONLY for each in signature.parameters.values()):
        raise call.refused("its forward has arguments that are passed by name alone")
    given = list(bound.args)[len(first) :]
    if not separate:
        return given
    missing = [each for name, each in signature.parameters.items() if name not in bound.arguments]
    by_position = [each for each in missing if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    defaults = tx.unpack(tx.get_attr(call.forward, "__defaults__")) if by_position else []
    return given + defaults[len(defaults) - len(by_position) :]


def _of_ours(function: Any) -> VariableTracker:
    return UserFunctionVariable(function, None)


# --- forward ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Results:
    """`items` are what forward returned, as autograd counts it; `leaves` the values that its graph gives: tensors
    among the items, and what else the program can get at. Those are not differentiated."""

    items: list[VariableTracker]
    leaves: list[InGraphVariable]
    dirty: list[VariableTracker]
    not_differentiable: list[VariableTracker]

    def places(self, wanted: Sequence[VariableTracker]) -> list[int]:
        return [place for place, leaf in enumerate(self.leaves) if leaf in wanted]

    def gets_gradient(self, leaf: VariableTracker, fills: bool) -> bool:
        """Return whether backward is passed a gradient for it: where autograd `fills` them, also one that there is
        not."""
        if not isinstance(leaf, TensorVariable) or leaf not in self.items:
            return False
        return fills or (_has_gradient(leaf) and leaf not in self.not_differentiable)


def _forward(tx: Tracing, call: _Call, ctx: AutogradContextVariable) -> Body:
    body = speculate_subgraph(
        tx,
        call.operator,
        _of_ours(polyfill.forward),
        call.arguments(ctx),
        rules=Rules(once=True),
        name=f"{call.function}.forward",
    )
    for each in call.inputs:
        if isinstance(each, TensorVariable):
            body.tracer.lift(each.node)
    return body


def _results_of(tx: Tracing, call: _Call, ctx: AutogradContextVariable, forward: Body, mark: TraceMark) -> _Results:
    result, dirty = forward.result, ctx.marked("dirty_tensors")
    items = [each.realize() for each in result.items] if isinstance(result, TupleVariable) else [result]
    tensors = [each for each in items if isinstance(each, TensorVariable)]
    inside = forward.tracer.graph
    _check(call, ctx, [each for each in tensors if each.node.graph is not inside], tensors)
    seen = reachable([result, *changed_since(tx, mark)])
    if ctx in seen:
        raise call.refused("its forward keeps ctx, which autograd creates")
    leaves = [
        each for each in seen if isinstance(each, InGraphVariable) and (each.node.graph is inside or each in dirty)
    ]
    hidden = [each for each in leaves if isinstance(each, TensorVariable) and each not in items]
    results = _Results(items, leaves, dirty, [*ctx.marked("non_differentiable"), *hidden])
    if not any(_has_gradient(each) for each in tensors if each not in results.not_differentiable):
        raise _NotDifferentiable
    return results


def _has_gradient(tensor: TensorVariable) -> bool:
    dtype: torch.dtype = tensor.fake.dtype
    return dtype.is_floating_point or dtype.is_complex


def _check(
    call: _Call, ctx: AutogradContextVariable, outside: list[TensorVariable], tensors: list[TensorVariable]
) -> None:
    """Check what forward returned and told its context."""
    dirty = ctx.marked("dirty_tensors")
    if any(each not in tensors or each not in call.inputs for each in dirty):
        raise call.refused("its forward marks a tensor as dirty that is no argument, or that it does not return")
    if any(each not in dirty for each in outside):
        raise call.refused("its forward returns a tensor that is none of its arguments, and not computed there")
    if len(set(tensors)) < len(tensors):
        raise call.refused("its forward returns one tensor twice")
    if not all(isinstance(each, TensorVariable) or _is_none(each) for each in ctx.marked("to_save")):
        raise call.refused("its forward saves something other than tensors with save_for_backward")
    fixed = ctx.marked("non_differentiable")
    if not ctx.fills_gradients() and sum(_has_gradient(each) and each not in fixed for each in tensors) > 1:
        raise call.refused("its forward calls ctx.set_materialize_grads(False) for more than one result")


@handles(polyfill.refuse_saved)
def _refuse_saved(tx: Tracing, ctx: VariableTracker) -> VariableTracker:
    assert isinstance(ctx, AutogradContextVariable)
    why = "its setup_context saves an input that its forward returns"
    raise Unsupported("autograd-function", name=f"{ctx.function}.apply", why=why)


# --- backward -----------------------------------------------------------------------------------------------


def _backward(
    tx: Tracing, call: _Call, ctx: AutogradContextVariable, results: _Results, contiguous: bool = False
) -> Body:
    """Trace backward; the tracer at work is forward's."""
    fills = ctx.fills_gradients()
    backward, boxed = tx.get_attr(call.cls, "backward"), tx.get_attr(call.cls, "boxed_grads_call")

    def gradients(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
        tracer.layouts_vary = True
        made = {leaf: _gradient(tx, tracer, leaf, results.gets_gradient(leaf, fills)) for leaf in results.leaves}
        return [*args, *(made.get(item, NONE) for item in results.items)]  # type: ignore[call-overload]

    mark, asked, attributes = tx.trace.mark(), tx.output.stride_questions, dict(ctx.attributes)
    body = speculate_subgraph(
        tx,
        call.operator,
        _of_ours(polyfill.backward),
        [backward, ctx, tx.constant(contiguous), boxed, tx.constant(call.repeated)],
        rules=Rules(inputs=gradients, grad_mode=False, keeps=(ctx,)),
        name=f"{call.function}.backward",
    )
    if any(attributes.get(name) is not value and not _is_none(value) for name, value in ctx.attributes.items()):
        raise call.refused("its backward sets an attribute of ctx, which a second backward pass would read")
    if tx.output.stride_questions > asked and not contiguous:
        tx.trace.roll_back(mark)
        return _backward(tx, call, ctx, results, contiguous=True)
    tx.trace.keep(mark)
    return body


def _gradient(tx: Tracing, tracer: SubgraphTracer, leaf: InGraphVariable, is_used: bool) -> VariableTracker:
    """Add the argument for the gradient of a value that forward's graph gives."""
    if not is_used:
        tracer.add_argument("unused", None)
        return NONE
    fake = like(tx, leaf.fake.detach())
    return wrap_fx_proxy(tx, tracer.add_argument(f"grad_{leaf.node.name}", fake), fake)


def _gradients_by_input(tx: Tracing, call: _Call, backward: Body) -> dict[Node, Node | None]:
    """Return what backward's graph gives for each tensor that is an argument."""
    result, inputs = backward.result, call.inputs
    given = [each.realize() for each in result.items] if isinstance(result, TupleVariable) else [result]
    if len(given) < len(inputs) or not all(map(_is_none, given[len(inputs) :])):
        raise call.refused(f"its backward returns {len(given)} gradients for {len(inputs)} arguments")
    found: dict[Node, Node | None] = {}
    for each, gradient in zip(inputs, given, strict=False):
        if isinstance(gradient, TensorVariable) and isinstance(each, TensorVariable):
            node = backward.tracer.lift(gradient.node)
        elif _is_none(gradient):
            node = None
        else:
            raise call.refused(f"its backward returns a {gradient.python_type_name()} as a gradient")
        if isinstance(each, TensorVariable):
            found.setdefault(tx.output.current.lift(each.node), node)
    return found


def _is_differentiable(node: Node) -> bool:
    fake = node.meta["example_value"]
    return isinstance(fake, torch.Tensor) and (fake.is_floating_point() or fake.is_complex())


def _differentiable_once(tx: Tracing, backward: Body, given: list[Node | None]) -> list[Node | None]:
    """Return nodes that give these gradients, and have their own gradients refused where the graph would give others
    than plain Python: what disables gradients for a while enables them again only if they were when it was traced."""
    graph = backward.tracer.graph
    changes_mode = graph.find_nodes(op="call_function", target=torch._C._set_grad_enabled)
    nodes = [node for node in given if node is not None]
    if not tx.output.runs_as_it_is or not changes_mode or not nodes:
        return given  # Other back ends refuse to differentiate twice.
    with graph.inserting_before(next(iter(changes_mode))):
        enabled = graph.call_function(torch.is_grad_enabled)
    fakes = tuple(node.meta["example_value"] for node in nodes)
    add = backward.tracer.add_node
    given_tensors = [node for node in graph.find_nodes(op="placeholder") if _is_differentiable(node)]
    args = enabled, tuple(nodes), tuple(given_tensors)
    apart = add("call_function", at_run_time.differentiable_once, args, {}, fakes)
    items = (add("call_function", operator.getitem, (apart, at), {}, fake) for at, fake in enumerate(fakes))
    return [None if node is None else next(items) for node in given]


# --- both ---------------------------------------------------------------------------------------------------


def _captured(tx: Tracing, call: _Call, mark: TraceMark) -> VariableTracker:
    ctx = AutogradContextVariable(call.cls.known, call.inputs)
    forward = _forward(tx, call, ctx)
    results = _results_of(tx, call, ctx, forward, mark)
    ctx.finish_forward(tx)
    with tx.output.inside(forward.tracer):
        backward = _backward(tx, call, ctx, results)
    gradients = _gradients_by_input(tx, call, backward)
    saved = list(backward.tracer.lifted)
    given = [gradients.get(outer) for outer in forward.tracer.lifted]
    inner = backward.close(_differentiable_once(tx, backward, given))
    outer = forward.close([tuple(forward.tracer.lift(leaf.node) for leaf in results.leaves), tuple(saved)])
    if not functions_in_transforms.are_around():
        _differentiate(tx, call, forward.tracer.operands, results)
    options: dict[str, Any] = {
        "non_differentiable_idx": results.places(results.not_differentiable),
        "saved_for_backward_idx": [place for place, node in enumerate(saved) if _is_one_of(node, ctx.saved)],
    }
    modules = add_module(tx, "fwd_body", outer), add_module(tx, "bwd_body", inner)
    args = *modules, *forward.tracer.operands
    if functions_in_transforms.are_around():
        return _in_transforms(tx, call, ctx, forward, args, results, saved)
    if results.dirty:
        options["dirty_idx"] = results.places(results.dirty)
    if tx.output.runs_as_it_is and not ctx.fills_gradients():
        options["fills_gradients"] = False
    fakes = tuple(leaf.fake for leaf in results.leaves)
    operator = at_run_time.autograd_function_apply if tx.output.runs_as_it_is else autograd_function_apply
    give_out(tx, tx.output.add_node("call_function", operator, args, options, fakes), results.leaves)
    return forward.result


def _in_transforms(
    tx: Tracing,
    call: _Call,
    ctx: AutogradContextVariable,
    forward: Body,
    args: tuple[Node, ...],
    results: _Results,
    saved: list[Node],
) -> VariableTracker:
    """Add the node of a call inside transforms, and return its result."""
    nodes = [leaf.node for leaf in results.leaves]
    places = functions_in_transforms.places_of(saved, list(forward.tracer.lifted.values()), nodes)
    if places is None or not ctx.fills_gradients() or results.dirty or len(results.items) < len(nodes):
        raise call.refused(
            "inside torch.func, its forward may not change its arguments, nor its setup_context compute anything"
        )
    options = {"non_differentiable_idx": results.places(results.not_differentiable), "saved": places}
    return functions_in_transforms.results_in_transforms(tx, args, options, forward, results.leaves)


def _is_one_of(node: Node, saved: Sequence[VariableTracker]) -> bool:
    return any(node.meta["example_value"] is each.fake for each in saved)


def _differentiate(tx: Tracing, call: _Call, operands: Sequence[Node], results: _Results) -> None:
    """Have the fakes that forward gave be results of an autograd function with these operands."""
    fakes = [leaf.fake for leaf in results.leaves]
    dirty, fixed = results.places(results.dirty), results.places(results.not_differentiable)

    class Applied(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *operands: Any) -> Any:
            ctx.mark_dirty(*(fakes[place] for place in dirty))
            ctx.mark_non_differentiable(*(fakes[place] for place in fixed))
            return tuple(fakes)

    try:
        given = tx.output.run_fake(Applied.apply, [node.meta["example_value"] for node in operands], {})
    except RuntimeError as error:
        raise call.refused(str(error).partition("\n")[0]) from error
    assert all(one is other for one, other in zip(given, fakes, strict=True))

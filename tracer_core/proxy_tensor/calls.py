"""One operator call as it reaches the proxy mode: decomposed, folded to a value, or added to the graph."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.utils._pytree as pytree
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Proxy
from torch.types import py_sym_types
from torch.utils._python_dispatch import autograd_would_have_decomposed

from tracer_core import observer
from tracer_core.proxy_tensor.constants import (
    all_known,
    compute_known,
    forget_written,
    is_known,
    known_result,
)
from tracer_core.proxy_tensor.data_dependent import read_of_real, reads_real_tensors
from tracer_core.proxy_tensor.numbers import proxy_of_number
from tracer_core.proxy_tensor.slots import get_proxy_slot, is_object
from tracer_core.proxy_tensor.tracking import track_tensor_tree

aten = torch.ops.aten
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_KNOWN_TYPES = frozenset((Tensor, torch.nn.Parameter, FakeTensor))
_SYMBOLIC = frozenset(py_sym_types)
_PLAIN = frozenset((
    int, float, bool, str, complex, type(None), type(...),
    torch.dtype, torch.device, torch.layout, torch.memory_format,
))  # fmt: skip
"""The types whose values are written into the graph as they are."""
_READS_LAYOUT = (aten.size.default, aten.stride.default, aten.storage_offset.default)


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of an operator that its calls need."""

    func: Any
    name: str
    """For the name of the node."""
    data_dependent: bool
    random: bool
    composite: bool
    """Does torch have a decomposition of it that runs below autograd?"""
    writes: tuple[tuple[int, str], ...]
    """The places and names of the arguments that it writes to."""


@functools.lru_cache(maxsize=8192)
def _facts(func: OpOverload) -> Facts:
    name = torch.fx.Graph()._target_to_str(func.overloadpacket.__name__)
    return Facts(
        func,
        name,
        torch.Tag.data_dependent_output in func.tags,
        torch.Tag.nondeterministic_seeded in func.tags,
        # The dispatcher has no operators that read the layout: only the mode sees them.
        func not in _READS_LAYOUT and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), _COMPOSITE),  # type: ignore[no-untyped-call]
        tuple(
            (index, argument.name)
            for index, argument in enumerate(func._schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ),
    )


def _leaves(values: Iterable[Any], tensors: list[Tensor], others: list[Any]) -> None:
    """Sort the values of a call's arguments into tensors and into numbers and objects that may have slots."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            continue
        if isinstance(value, Tensor):
            tensors.append(value)
        elif kind in _SYMBOLIC:
            others.append(value)
        elif isinstance(value, (list, tuple)):
            _leaves(value, tensors, others)
        elif isinstance(value, dict):
            _leaves(value.values(), tensors, others)
        elif is_object(value):
            others.append(value)


def _argument(value: Any, tracer: Any) -> Any:
    """Return the argument of a node that stands for `value`."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, Tensor):
        slot = tracer.tensor_tracker.get(value)
        return tracer.create_arg(value) if slot is None else slot.proxy.node
    if kind in _SYMBOLIC:
        proxy = proxy_of_number(value, tracer)
        return proxy.node if isinstance(proxy, Proxy) else proxy
    if kind is list:
        return [_argument(part, tracer) for part in value]
    if kind is tuple or kind is torch.Size:
        return tuple([_argument(part, tracer) for part in value])
    if is_object(value):
        return tracer.create_arg(get_proxy_slot(value, tracer, value))
    return tracer.create_arg(pytree.tree_map(tracer.unwrap_proxy, value))


def proxy_call(mode: Any, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of `func(*args, **kwargs)`, and have the graph of `mode` compute it too.

    Return NotImplemented where an argument is of a class of tensors that this trace does not know.
    """
    seen = observer.current()
    if seen is None:
        return _call(mode, func, args, kwargs, _say_nothing)
    seen.on_dispatch_enter(func, args, kwargs, modes_at(mode))
    try:
        result = _call(mode, func, args, kwargs, seen.on_dispatch_decision)
    except BaseException as error:
        seen.on_dispatch_exit(None, error)
        raise
    seen.on_dispatch_exit(result, None)
    return result


def modes_at(mode: Any) -> tuple[str, ...]:
    """Return the names of the active modes, from the one that handles the call to the bottom of the stack."""
    below = [torch._C._get_dispatch_stack_at(i) for i in range(torch._C._len_torch_dispatch_stack())]
    return tuple(type(each).__name__ for each in (mode, *reversed(below)) if each is not None)


def _say_nothing(decision: str, reason: str) -> None:
    pass


def _call(mode: Any, func: OpOverload, args: Any, kwargs: Any, say: Any) -> Any:
    tracer = mode.tracer
    tracker = tracer.tensor_tracker
    tensors: list[Tensor] = []
    others: list[Any] = []
    _leaves(args, tensors, others)
    if kwargs:
        _leaves(kwargs.values(), tensors, others)
    for tensor in tensors:
        if type(tensor) not in _KNOWN_TYPES and tensor not in tracker:
            say("leave", f"`{type(tensor).__name__}` is a class of tensors with rules of its own, which come first.")
            return NotImplemented

    result = _decomposed(mode, func, args, kwargs, tensors, say)
    if result is not NotImplemented:
        return result

    facts = _facts(func)
    slots = [slot for slot in map(tracker.get, tensors) if slot is not None]
    numbers = [value for value in others if type(value) in _SYMBOLIC]
    for number in numbers:
        proxy_of_number(number, tracer)  # Here, because its node comes before those of untracked tensors.
    known = not numbers and all_known(slots)
    if facts.data_dependent:
        if known:
            say("fold", "Its input is a constant of one element, so its result is known while tracing.")
            return compute_known(func, args, kwargs, tracker)
        if mode._error_on_data_dependent_ops and reads_real_tensors(tensors):
            raise read_of_real(func)
    return _emit(mode, facts, args, kwargs, slots if known else [], say)


def _decomposed(mode: Any, func: OpOverload, args: Any, kwargs: Any, tensors: list[Tensor], say: Any) -> Any:
    """Return the result of a decomposition, whose operators reach the mode one by one; or NotImplemented."""
    if func in mode.decomposition_table:
        say("decompose", "The table of decompositions given to `make_fx` has it.")
        result = decompose_by_table(mode, func, args, kwargs)
        if result is not NotImplemented and mode.emulate_precision_casts:
            mode.note_low_precision(func)
        return result
    if (
        not mode.pre_dispatch
        and (_facts(func).composite or _COMPOSITE in func.py_kernels)
        and func not in _READS_LAYOUT
        and autograd_would_have_decomposed(func, tensors)
    ):
        say("decompose", "Torch defines it by other operators, and autograd would have done so (CompositeImplicit).")
        with mode:
            result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result
    if func is aten.is_nonzero.default:
        say("decompose", "The truth of a tensor is whether its one element differs from zero.")
        with mode:
            torch._check(  # type: ignore[no-untyped-call]
                args[0].numel() == 1, lambda: "Boolean value of Tensor with more than one value is ambiguous"
            )
            return (args[0] != 0).item()
    return NotImplemented


def decompose_by_table(mode: Any, func: OpOverload, args: Any, kwargs: Any) -> Any:
    """Return the result of the table's decomposition of `func`, traced by `mode`; or NotImplemented."""
    decomposition = mode.decomposition_table.get(func)
    if decomposition is None:
        return NotImplemented
    with mode:
        mode.decomp_layers += 1
        try:
            return decomposition(*args, **kwargs)
        finally:
            mode.decomp_layers -= 1


def _emit(mode: Any, facts: Facts, args: Any, kwargs: Any, constants: list[Any], say: Any) -> Any:
    """Add a node for the call, compute its result, and let the node stand for it. The value of the result is known
    while tracing if those of the arguments are, whose slots are then `constants`."""
    tracer, func = mode.tracer, facts.func
    if func is aten.lift_fresh.default:
        # The graph keeps the constant as an attribute. A copy of it is as fresh, so that operators in place do not
        # change the attribute.
        func = aten.lift_fresh_copy.default
        facts = _facts(func)
        say("emit", "A constant becomes an attribute of the graph, and each run starts from a copy of it.")
    else:
        say("emit", "No decomposition of it applies, so it becomes a node.")
    node_args = tuple([_argument(value, tracer) for value in args])
    node_kwargs = {name: _argument(value, tracer) for name, value in kwargs.items()} if kwargs else {}
    node = tracer.create_node("call_function", func, node_args, node_kwargs, facts.name)
    proxy = tracer.proxy(node)

    before, tracer.enable_thunkify = tracer.enable_thunkify, True
    try:
        result = func(*args, **kwargs)
    finally:
        tracer.enable_thunkify = before
    constant = None
    if (constants or func is aten.lift_fresh_copy.default) and is_known(facts, constants, result):
        constant = known_result(facts, args, kwargs, tracer.tensor_tracker)
        if constant is not None:
            say("fold", "Its inputs are constants of one element, so the value of its result is known while tracing.")
    elif facts.writes:
        forget_written(facts, args, kwargs, tracer.tensor_tracker)
    track_tensor_tree(result, proxy, constant=constant, tracer=tracer)
    if mode.emulate_precision_casts:
        mode.note_low_precision(func)
    return cast(Any, result)

"""Collectives of `torch.distributed`: operations on tensors of all processes of a group.

The functions that people call write their result into a tensor that they are given. In the graph they become torch's
functional collectives, which return it, and a copy. Functional collectives that the program calls itself are traced.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist

from tracer_core.errors import Unsupported
from tracer_core.names.public import name_of
from tracer_core.variables.containers.sequences import ListVariable, SliceVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE, is_none
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.torch.process_groups import ProcessGroupVariable


class Call:
    """A call of a collective: its arguments by name, and the group."""

    def __init__(self, tx: Tracing, function: Any, given: dict[str, VariableTracker]) -> None:
        self.tx = tx
        self.name = name_of(function)
        self.given = given
        if tx.truth(given.get("async_op", NONE)):
            raise self.refused("with async_op=True it returns a handle of work that goes on")
        group = given.get("group", NONE).realize()
        if is_none(group):
            group = tx.get_attr(tx.constant(dist.GroupMember), "WORLD")
        if not isinstance(group, ProcessGroupVariable):
            raise self.refused("this process is in no such group")
        self.group = group.real

    def refused(self, why: str) -> Unsupported:
        return Unsupported("collective", name=self.name, why=why)

    def checked(self, tensor: VariableTracker) -> TensorVariable:
        """Return an argument that is a tensor, and needs no gradient through the call."""
        tensor = tensor.realize()
        if not isinstance(tensor, TensorVariable):
            raise self.refused(f"it is given an object of type {tensor.python_type_name()} for a tensor")
        if torch.is_grad_enabled() and tensor.fake.requires_grad:
            raise self.refused("a tensor requires a gradient, which plain Python does not compute through the call")
        return tensor

    def tensor(self, name: str) -> TensorVariable:
        return self.checked(self.given[name])

    def reduction(self) -> str:
        given = self.given.get("op")
        op = dist.ReduceOp.SUM if given is None else constant_or(given.realize(), None)
        name = functional.REDUCE_OP_TO_STR.get(op) if type(op) is dist.ReduceOp.RedOpType else None
        if name is None:
            raise self.refused("there is no functional collective with this reduction")
        return name

    def result(self, operator: str, tensor: VariableTracker, *args: Any) -> VariableTracker:
        """Add the functional collective, and wait for its result."""
        operators = torch.ops._c10d_functional
        given = [arg if isinstance(arg, VariableTracker) else self.tx.constant(arg) for arg in args]
        group = self.tx.constant(self.group.group_name)
        pending = self.tx.call(self.tx.constant(getattr(operators, operator)), [tensor, *given, group])
        return self.tx.call(self.tx.constant(operators.wait_tensor), [pending])

    def write(self, output: TensorVariable, result: VariableTracker) -> None:
        """Copy a result into the tensor that is given for it, which plain Python wants to be like it."""
        assert isinstance(result, TensorVariable)
        if output.fake.dtype != result.fake.dtype or output.fake.shape != result.fake.shape:
            raise self.refused("the tensor for the result is not of the dtype and the sizes of the result")
        self.tx.call(self.tx.get_attr(output, "copy_"), [result])


def _all_reduce(call: Call) -> None:
    tensor = call.tensor("tensor")
    call.write(tensor, call.result("all_reduce", tensor, call.reduction()))


def _all_gather_single(call: Call) -> None:
    output = call.tensor("output_tensor")
    call.write(output, call.result("all_gather_into_tensor", call.tensor("input_tensor"), call.group.size()))


def _all_gather(call: Call) -> None:
    tensor = call.tensor("tensor")
    outputs = [call.checked(each) for each in call.tx.unpack(call.given["tensor_list"])]
    if len(outputs) != call.group.size() or any(each.fake.shape != tensor.fake.shape for each in outputs):
        raise call.refused("the tensors for the results are not as many as the processes, or of other sizes")
    result = call.result("all_gather_into_tensor", tensor, call.group.size())
    for output, part in zip(outputs, _parts(call.tx, result, tensor, len(outputs)), strict=True):
        call.write(output, part)


def _parts(tx: Tracing, whole: VariableTracker, like: TensorVariable, count: int) -> Sequence[VariableTracker]:
    """Cut a tensor into `count` parts, each as large as `like`."""
    if like.fake.dim() == 0:
        return [tx.get_item(whole, tx.constant(place)) for place in range(count)]
    parts, start, length = [], tx.constant(0), _length(tx, like)
    for _ in range(count):
        end = tx.binary("+", start, length)
        parts.append(tx.get_item(whole, SliceVariable([start, end, NONE])))
        start = end
    return parts


def _length(tx: Tracing, tensor: TensorVariable) -> VariableTracker:
    return tx.call(tx.get_attr(tensor, "size"), [tx.constant(0)])


def _reduce_scatter_single(call: Call) -> None:
    output, tensor = call.tensor("output"), call.tensor("input")
    call.write(output, call.result("reduce_scatter_tensor", tensor, call.reduction(), call.group.size()))


def _all_to_all_single(call: Call) -> None:
    output, tensor = call.tensor("output"), call.tensor("input")
    splits = [call.given.get(name, NONE).realize() for name in ("output_split_sizes", "input_split_sizes")]
    if all(map(is_none, splits)):
        count = call.group.size()
        part = call.tx.binary("//", _length(call.tx, tensor), call.tx.constant(count))
        splits = [ListVariable([part] * count)] * 2
    elif any(map(is_none, splits)):
        raise call.refused("it is given the sizes of the parts for one of the two tensors alone")
    call.write(output, call.result("all_to_all_single", tensor, *splits))


def _no_functional_one(call: Call) -> None:
    raise call.refused("torch has no functional collective that does the same")


_FUNCTIONS: dict[Callable[[Call], None], str] = {
    _all_reduce: "all_reduce",
    _all_gather: "all_gather",
    _all_gather_single: "all_gather_into_tensor all_gather_single _all_gather_base",
    _reduce_scatter_single: "reduce_scatter_tensor reduce_scatter_single _reduce_scatter_base",
    _all_to_all_single: "all_to_all_single",
    _no_functional_one: (
        "broadcast reduce gather scatter reduce_scatter all_to_all barrier monitored_barrier send recv isend irecv "
        "batch_isend_irecv all_reduce_coalesced all_gather_coalesced all_gather_object gather_object "
        "broadcast_object_list scatter_object_list send_object_list recv_object_list"
    ),
}


def _register(function: Any, add: Callable[[Call], None]) -> None:
    signature = inspect.signature(function)

    @handles(function)
    def collective(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return None  # plain Python raises it
        add(Call(tx, function, given))
        return NONE


def _traces(tx: Tracing) -> VariableTracker:
    """Answer whether functional collectives are traced, on which it depends what they return: always the same, also
    where the graph breaks later, since a result that waits when it is used cannot leave a graph."""
    return tx.constant(True)


if dist.is_available():
    import torch.distributed._functional_collectives as functional

    handles(functional._are_we_tracing)(_traces)
    for _add, _names in _FUNCTIONS.items():
        for _each in _names.split():
            if hasattr(dist.distributed_c10d, _each):
                _register(getattr(dist.distributed_c10d, _each), _add)

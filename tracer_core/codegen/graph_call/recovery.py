"""Recover when the compiled graph raises: run plain Python from the start, if that shows no difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
import torch.fx
from torch._higher_order_ops.print import print as print_operator

from tracer_core.bytecode import CodeBuilder, Instruction, make
from tracer_core.graph.fakes import TrackedFake
from tracer_core.graph.output import OutputGraph
from tracer_core.graph.root import GraphArg
from tracer_core.graph.script_objects import uses_script_object
from tracer_core.runtime.gradients import autograd_function_apply
from tracer_core.runtime.graphs import is_of_the_graph

KEPT_BYTES = 1 << 20
"""Inputs are copied up to so many bytes in all: about what the call of a small graph takes."""


@dataclass(slots=True)
class Undo:
    """State saved before a graph runs, so that plain Python can run from the start if it raises: torch's generator if
    the graph draws, and the inputs that it changes."""

    torch_stream: bool = False
    inputs: list[GraphArg] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.torch_stream or bool(self.inputs)


def undo_of(output: OutputGraph) -> Undo | None:
    """Return the state to save; None if a graph that raises is not undone.

    Copies of what it changes are made only where one of its operations may fail on its data, or find that NumPy would
    warn: that happens in programs that work, and plain Python has to continue from their state before.
    """
    drawing = [node for node in output.root.graph.nodes if may_draw(node)]
    if any(_on_other_devices(node) for node in drawing) or any(map(_acts_outside, output.root.graph.nodes)):
        return None
    changed = [tracked for tracked in output.fakes.inputs.values() if tracked.mutated]
    warns = any(getattr(node.target, "may_warn", False) for node in output.root.graph.nodes)
    if changed and not warns and not _worth_undoing(output, changed):
        return None
    return Undo(bool(drawing), changed_inputs(output))


def changed_inputs(output: OutputGraph) -> list[GraphArg]:
    """Return the inputs of the graph that its operations change."""
    fakes = {id(tracked.fake) for tracked in output.fakes.inputs.values() if tracked.mutated}
    return [each for each in output.root.inputs if id(each.fake) in fakes]


def _acts_outside(node: torch.fx.Node) -> bool:
    """Return whether an operation changes more than tensors: an object of C++, or what is printed."""
    return node.target is print_operator or uses_script_object(node)


def _worth_undoing(output: OutputGraph, changed: Sequence[TrackedFake]) -> bool:
    """Return whether an operation may fail on its data, and copies that cost little can undo earlier changes."""
    if sum(_bytes(tracked.fake) for tracked in changed) > KEPT_BYTES:
        return False
    return all(map(_can_be_put_back, changed)) and any(map(_may_fail, output.root.graph.nodes))


def _may_fail(node: torch.fx.Node) -> bool:
    """Return whether the graph may raise for the values of its arguments: an operation may, or numbers are
    divided."""
    return _calls_functions(node) or bool(node.meta.get("may_raise_on_data") or node.meta.get("may_raise"))


def _can_be_put_back(tracked: TrackedFake) -> bool:
    """Return whether writing the old values undoes every change of the tensor."""
    fake = tracked.fake
    return fake.layout is torch.strided and not fake.is_inference() and not _has_new_history(tracked)


def _has_new_history(tracked: TrackedFake) -> bool:
    """Return whether autograd may have recorded the change: a leaf changes only outside autograd."""
    fake = tracked.fake
    still_a_leaf = tracked.is_leaf and fake.is_leaf and fake._base is None
    return fake.requires_grad and not still_a_leaf


def _bytes(fake: torch.Tensor) -> float:
    sizes = [size if isinstance(size, int) else size.node.hint or math.inf for size in fake.shape]
    return math.prod(sizes) * fake.element_size()


def may_draw(node: torch.fx.Node) -> bool:
    """Return whether the graph may advance a random generator of torch: one of its operations may."""
    return bool(node.meta.get("draws")) or _calls_functions(node)


def _calls_functions(node: torch.fx.Node) -> bool:
    """Return whether an operation calls functions, which are graphs of their own."""
    return isinstance(node.target, torch._ops.HigherOrderOperator) or node.target is autograd_function_apply


def _on_other_devices(node: torch.fx.Node) -> bool:
    fake = node.meta.get("example_value")
    fakes = fake if isinstance(fake, (tuple, list)) else (fake,)
    return any(isinstance(each, torch.Tensor) and each.device.type != "cpu" for each in fakes)


def recovery_code(
    otherwise: Instruction,
    put_back: Callable[[CodeBuilder], None],
    report: Callable[[BaseException], None] | None,
) -> list[Instruction]:
    """Return the handler of the graph's exception: for an ordinary one, `put_back` emits the undoing of the graph's
    changes, `report` is called with the exception, and plain Python runs instead."""
    code, again = CodeBuilder(), make("RERAISE", 0)
    code.call_with_top(is_of_the_graph)
    code.emit("POP_JUMP_IF_FALSE", target=again)
    put_back(code)
    if report is not None:
        code.call_with_top(report)
        code.pop()
    code.pop()
    code.emit("JUMP", target=otherwise)
    return [*code.instructions, again]

"""What happens when the compiled graph raises: plain Python runs from the start, if that shows no difference."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.fx

from tracer_core.bytecode import Instruction, make
from tracer_core.graph.output import GraphArg, OutputGraph

_DRAWS = (
    "rand",
    "dropout",
    "bernoulli",
    "multinomial",
    "normal",
    "uniform",
    "sample",
    "exponential",
    "poisson",
    "cauchy",
    "rrelu",
    "gumbel",
    "geometric",
    "fractional",
    "binomial",
    "gamma",
    "dirichlet",
    "attention",
    "lstm",
    "gru",
    "rnn",
)


@dataclass(slots=True)
class Undo:
    """What is kept before a graph runs, so that plain Python can run from the start should it raise: torch's
    generator where it draws, and inputs that it changes."""

    torch_stream: bool = False
    inputs: list[GraphArg] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.torch_stream or bool(self.inputs)


def undo_of(output: OutputGraph) -> Undo | None:
    """What to keep; None where a graph that raises is not undone.

    Copies of what it changes are made only where the graph may find that NumPy would warn: that happens in programs
    that work, and plain Python has to go on from where they stood.
    """
    drawing = [node for node in output.graph.nodes if _may_draw(node)]
    if any(_on_other_devices(node) for node in drawing):
        return None
    changed = [tracked for tracked in output.fakes.tracked if tracked.mutated]
    if changed and not any(getattr(node.target, "may_warn", False) for node in output.graph.nodes):
        return None
    fakes = {id(tracked.fake) for tracked in changed}
    return Undo(bool(drawing), [each for each in output.inputs if id(each.fake) in fakes])


def _may_draw(node: torch.fx.Node) -> bool:
    if node.op not in ("call_function", "call_method"):
        return False
    name = str(getattr(node.target, "__name__", node.target))
    return isinstance(node.target, torch._ops.HigherOrderOperator) or any(word in name for word in _DRAWS)


def _on_other_devices(node: torch.fx.Node) -> bool:
    fake = node.meta.get("example_value")
    fakes = fake if isinstance(fake, (tuple, list)) else (fake,)
    return any(isinstance(each, torch.Tensor) and each.device.type != "cpu" for each in fakes)


def recovery_code(otherwise: Instruction, back: list[Instruction]) -> list[Instruction]:
    """Where the graph's exception goes: an ordinary one is dropped, `back` done, and plain Python runs instead."""
    again = make("RERAISE", 0)
    return [
        make("LOAD_CONST", Exception),
        make("CHECK_EXC_MATCH"),
        make("POP_JUMP_IF_FALSE", target=again),
        make("POP_TOP"),
        *back,
        make("JUMP", target=otherwise),
        again,
    ]

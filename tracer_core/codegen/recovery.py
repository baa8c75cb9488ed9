"""What happens when the compiled graph raises: plain Python runs from the start, if that shows no difference."""

from __future__ import annotations

from tracer_core.bytecode import Instruction, make
from tracer_core.graph.output import OutputGraph

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
)


def can_run_again(output: OutputGraph) -> bool:
    """Whether a graph that failed halfway has left no trace: it changes no input and draws no random numbers."""
    if any(tracked.mutated for tracked in output.fakes.tracked):
        return False
    names = (str(getattr(node.target, "__name__", node.target)) for node in output.graph.nodes)
    return not any(word in name for name in names for word in _DRAWS)


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

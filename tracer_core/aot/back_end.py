"""`tracer_aot`: the back end that runs a captured graph as functional operators, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any

import torch
import torch.fx

from tracer_core import observer as observers
from tracer_core.aot.effects import observe
from tracer_core.aot.functional import functionalizing, wrap
from tracer_core.aot.inputs import check_numbers, check_recurrent_dropout, function_of, inputs_of
from tracer_core.aot.lowered import CannotLower, Lowered
from tracer_core.aot.partition import PARTITIONERS, split
from tracer_core.aot.provenance import link_backward_to_forward
from tracer_core.aot.running import Program, forward_only, with_backward
from tracer_core.aot.tracing import Lowering
from tracer_core.errors import BackendWarning, FloatsMustBeConstants
from tracer_core.host.program_line import warn

OPTIONS = ("decompositions", "on_lowered", "partitioner")


def tracer_aot(
    graph: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """Lower a captured graph to operators, and return the function that runs them. A graph that cannot be lowered
    runs eagerly, and a warning says why.

    Args:
        graph: the captured graph.
        example_inputs: its inputs, as fakes.
        options: `partitioner` is `"default"` (nothing is computed twice) or `"min_cut"` (computes again in the
            backward pass what is cheaper to compute than to keep); `decompositions` is a table as `make_fx` takes it;
            `on_lowered` is called with the `Lowered` graphs.
    """
    given = dict(options or {})
    check_options(given)
    try:
        with torch.autograd.set_detect_anomaly(False):  # which would read values from the gradients that are traced
            lowered, run = _lower(
                graph, example_inputs, given.get("partitioner", "default"), given.get("decompositions")
            )
    except FloatsMustBeConstants:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is: the graph runs as it was captured
        text = str(error) if isinstance(error, CannotLower) else observers.said(error).partition("\n")[0]
        reason = text.removesuffix(".")
        lowered, run = Lowered(graph, reason=reason), graph.forward
        warn(f"The back end 'tracer_aot' runs a graph eagerly, not as operators: {reason}.", BackendWarning)
    observer = observers.current()
    if observer is not None:
        observer.on_lowered(lowered)
    if "on_lowered" in given:
        given["on_lowered"](lowered)
    return run


def check_options(options: Mapping[str, Any]) -> None:
    """Check options as a user gave them.

    Raises:
        ValueError: for one that the back end does not have, or a partitioner that there is not.
        TypeError: for a value of the wrong type.
    """
    for name, value in options.items():
        if name not in OPTIONS:
            raise ValueError(f"the back end 'tracer_aot' has no option {name!r}. There are: {', '.join(OPTIONS)}.")
        if name == "partitioner" and value not in PARTITIONERS:
            raise ValueError(f"partitioner must be one of {', '.join(map(repr, PARTITIONERS))}, not {value!r}")
        if name == "decompositions" and not isinstance(value, (Mapping, NoneType)):
            raise TypeError(f"decompositions must be a table of functions by operator, not {value!r}")
        if name == "on_lowered" and not callable(value):
            raise TypeError(f"on_lowered must be a function of the lowered graphs, not {value!r}")


def _lower(
    graph: torch.fx.GraphModule,
    examples: Sequence[Any],
    partitioner: str,
    decompositions: dict[Any, Any] | None,
) -> tuple[Lowered, Callable[..., Any]]:
    check_numbers(graph)
    check_recurrent_dropout(graph)
    inputs = inputs_of(graph, examples)
    run = function_of(graph, inputs)
    with functionalizing(inputs.fake_mode):
        effects = observe(run, [wrap(fake) for fake in inputs.fakes])
    lowering = Lowering(run, inputs, effects, decompositions)
    if not lowering.sources:
        forward = lowering.trace_forward()
        return Lowered(graph, forward), Program(graph, effects, forward_only(forward.forward), inputs.held)
    joint = lowering.trace_joint()
    link_backward_to_forward(joint)
    halves = split(joint, list(inputs.fakes), len(effects.results), partitioner)
    program = Program(graph, effects, with_backward(halves, effects, lowering.wanted), inputs.held)
    return Lowered(graph, halves.forward, halves.backward, joint), program

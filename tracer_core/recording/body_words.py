"""Say in words what bodies lifted and why, and what became of them."""

from __future__ import annotations

from collections.abc import Callable

from tracer_core.recording import schema

LineNear = Callable[[int, int | None], tuple[str, int | None]]
"""Returns the function and line of a step, as seen from another step: calls of the functions that run there count as
lines of theirs."""


def describe(
    bodies: list[schema.Body], nodes: list[schema.Node], graphs: list[schema.Graph], line_of: LineNear
) -> None:
    """Fill in the texts of the bodies, and of what they lifted."""
    origins: dict[int, int] = {}
    for body in bodies:  # Those around precede those inside.
        for lift in body.lifted:
            origins[lift.inner] = origins.get(lift.outer, lift.outer)
            origin = nodes[origins[lift.inner]]
            lift.name = lift.name or origin.source or origin.name
            lift.text = _lifted(body, lift, origin, nodes[lift.inner].name, line_of)
        body.text = _body(body, nodes, graphs)


def _lifted(body: schema.Body, lift: schema.Lift, origin: schema.Node, inner: str, line_of: LineNearNear) -> str:
    value = f"`{lift.name}`, {_origin(body, lift, origin, line_of)},"
    where = f"the body `{_short(body.function)}` of {body.operator}"
    becomes = f"it becomes its input `{inner}`"
    if lift.reason == "used":
        return f"{value} is used in {where}{_by_line(lift, line_of)}: {becomes}."
    if lift.reason == "inside":
        return f"{value} is used in a body inside {where}{_by_line(lift, line_of)}: {becomes}, too."
    if lift.reason == "returned":
        return f"{value} is returned by {where}: {becomes}."
    return f"{value} is used in another body of {body.operator}: all bodies get the same inputs, so {where} has it as its input `{inner}`, and does not use it."


def _by_line(lift: schema.Lift, line_of: LineNearNear) -> str:
    line = None if lift.step is None else line_of(lift.step, lift.step)[1]
    return "" if line is None else f" by line {line}"


def _origin(body: schema.Body, lift: schema.Lift, origin: schema.Node, line_of: LineNearNear) -> str:
    """Return where a value comes from, in words."""
    if origin.op == "placeholder":
        source = origin.source or ""
        return "an input of the graph" if source in ("", lift.name) else f"the input {source} of the graph"
    if origin.op == "get_attr":
        return "an attribute of the graph"
    if origin.step is None:
        return f"computed by the node `{origin.name}`"
    function, line = line_of(origin.step, body.step)
    here = None if body.step is None else line_of(body.step, body.step)[0]
    return f"computed by line {line}" + ("" if function == here else f" of {_short(function)}")


def _body(body: schema.Body, nodes: list[schema.Node], graphs: list[schema.Graph]) -> str:
    name = f"`{_short(body.function)}`, the body of {body.operator},"
    if body.outcome == "abandoned":
        return f"{name} could not be traced ({body.message.rstrip('.')}): its graph was abandoned, and the trace is as it was before the call."
    record = None if body.graph is None else graphs[body.graph]
    numbers = [] if record is None else record.nodes
    operations = sum(nodes[number].op.startswith("call") and nodes[number].live for number in numbers)
    traced = f"{name} was traced into a graph of its own, with {_count(operations, 'operation')} and {_count(len(body.lifted), 'lifted value')}"
    if body.outcome == "unused":
        return f"{traced}; the operator was not added to the graph."
    callers = " and ".join(f"`{nodes[number].name}`" for number in body.calls)
    return f"{traced}, which the node {callers} runs."


def _short(function: str) -> str:
    """Return a function's name without the functions that it is defined in."""
    return function.rpartition("<locals>.")[2]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

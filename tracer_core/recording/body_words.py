"""Say in words what became an input of a body and why, and what became of the body."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracer_core.names.code import short
from tracer_core.names.symbols import SYMBOL
from tracer_core.recording import schema

LineNear = Callable[[int, int | None], tuple[str, int | None]]
"""Returns the function and line of a step, as seen from another step: calls of the functions that run there count as
lines of theirs."""


def describe(
    bodies: list[schema.Body],
    nodes: list[schema.Node],
    graphs: list[schema.Graph],
    symbols: Mapping[tuple[int, str], str],
    line_near: LineNear,
) -> None:
    """Fill in the texts of bodies and of what they lifted. `symbols` has the meaning of each attempt's symbols."""
    origins: dict[int, int] = {}
    called = {body.id: _called(body, bodies) for body in bodies}
    for body in bodies:  # Those around precede those inside.
        for lift in body.lifted:
            origins[lift.inner] = origins.get(lift.outer, lift.outer)
            origin = nodes[origins[lift.inner]]
            lift.name = lift.name or origin.label or origin.name
            meaning = symbols.get((body.attempt, _symbol(origin)))
            came = f"which is {meaning}" if meaning is not None else _origin(body, lift, origin, line_near)
            also = "" if meaning is None else ", or is a size of a tensor that is used there"
            lift.text = _lifted(
                called[body.id], body.operator, lift, came, nodes[lift.inner].name, _by_line(lift, line_near), also
            )
        body.text = _body(body, called, bodies, nodes, graphs)


def _symbol(node: schema.Node) -> str:
    """Return the symbol that a node gives the value of; empty if it is another value."""
    fake = node.fakes[0] if node.fakes else None
    symbol = fake is not None and fake.type.startswith("Sym") and SYMBOL.fullmatch(fake.shape[0])
    return fake.shape[0] if fake is not None and symbol else ""


_ROLES = {"cond": ("true branch", "false branch"), "while_loop": ("condition", "body")}
"""What the bodies of operators are for, in their order: as in `bodies.ts`."""


def _called(body: schema.Body, bodies: list[schema.Body]) -> str:
    """Return "body `grow`"; or "true branch", for a lambda of torch.cond: all have one name."""
    if short(body.function) == "<lambda>":
        key = body.step, body.attempt, body.operator, body.parent
        beside = [one.id for one in bodies if (one.step, one.attempt, one.operator, one.parent) == key]
        roles = _ROLES.get(body.operator.rpartition(".")[2], ())
        if beside.index(body.id) < len(roles):
            return roles[beside.index(body.id)]
    return f"body `{short(body.function)}`"


def _lifted(called: str, operator: str, lift: schema.Lift, came: str, inner: str, by_line: str, also: str) -> str:
    value, where = f"`{lift.name}`, {came},", f"the {called} of {operator}"
    becomes = f"it becomes its input `{inner}`"
    if lift.reason == "used":
        return f"{value} is used in {where}{by_line}{also}: {becomes}."
    if lift.reason == "inside":
        return f"{value} is used in a body inside {where}{by_line}{also}: {becomes}, too."
    if lift.reason == "returned":
        return f"{value} is returned by {where}: {becomes}."
    return (
        f"{value} is used in another body of {operator}. All its bodies get the same inputs, so it is the input "
        f"`{inner}` of {where}, which does not use it."
    )


def _by_line(lift: schema.Lift, line_near: LineNear) -> str:
    line = None if lift.step is None else line_near(lift.step, lift.step)[1]
    return "" if line is None else f" by line {line}"


def _origin(body: schema.Body, lift: schema.Lift, origin: schema.Node, line_near: LineNear) -> str:
    """Return where a value comes from."""
    if origin.op == "placeholder":
        named = origin.label not in ("", lift.name)
        return f"the input {origin.label} of the graph" if named else "an input of the graph"
    if origin.op == "get_attr":
        return "an attribute of the graph"
    if origin.step is None:
        return f"computed by the node `{origin.name}`"
    function, line = line_near(origin.step, body.step)
    here = None if body.step is None else line_near(body.step, body.step)[0]
    return f"computed by line {line}" + ("" if function == here else f" of {short(function)}")


def _body(
    body: schema.Body,
    called: dict[int, str],
    bodies: list[schema.Body],
    nodes: list[schema.Node],
    graphs: list[schema.Graph],
) -> str:
    others = sum((one.attempt, one.step, one.parent) == (body.attempt, body.step, body.parent) for one in bodies) > 1
    name = f"`{short(body.function)}`, {'a' if others else 'the'} body of {body.operator},"
    if not called[body.id].startswith("body "):
        name = f"The {called[body.id]} of {body.operator}"
    if body.outcome == "abandoned" and not body.message and body.parent is not None:
        return f"{name} was abandoned with the {called[body.parent]} around it."
    if body.outcome == "abandoned":
        why = body.message[:1].lower() + body.message[1:].removesuffix(".")
        return f"{name} could not be traced ({why}). Its graph was abandoned: the trace is as it was before the call."
    numbers = [] if body.graph is None else graphs[body.graph].nodes
    operations = sum(nodes[number].op.startswith("call") and nodes[number].live for number in numbers)
    traced = (
        f"{name} was traced into a graph of its own with {_count(operations, 'operation')} and "
        f"{_count(len(body.lifted), 'lifted value')}"
    )
    if body.outcome == "unused":
        return f"{traced}. The operator was not added to the graph."
    callers = dict.fromkeys(nodes[number].name for number in body.calls)
    return f"{traced}. It is run by the node {' and '.join(f'`{caller}`' for caller in callers)}."


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"

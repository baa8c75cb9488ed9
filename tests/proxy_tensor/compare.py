"""Say in what two outcomes of tracing one case differ: theirs, of torch's make_fx, and ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import is_fake

from tests.proxy_tensor.describe import describe
from tests.proxy_tensor.tracing import Outcome

RUN_BASED = {"seq_nr", "from_node"}
"""Metadata that counts through the process: `seq_nr` is compared by its steps within a graph, `from_node` by kind."""


@dataclass(frozen=True, slots=True)
class Difference:
    aspect: str
    """What differs, as `target` or `meta.val`."""
    place: str
    theirs: str
    ours: str

    def __str__(self) -> str:
        return f"{self.aspect} at {self.place}: torch {self.theirs}, ours {self.ours}"


def differences(theirs: Outcome, ours: Outcome) -> list[Difference]:
    if theirs.error is not None or ours.error is not None:
        return list(of_errors(theirs.error, ours.error))
    assert theirs.graph is not None and ours.graph is not None
    found = [*of_modules(theirs.graph, ours.graph, "graph"), *of_shapes(theirs.graph, ours.graph)]
    found += of_values("results", (theirs.result,), (ours.result,))
    found += of_values("arguments after tracing", theirs.arguments, ours.arguments)
    found += of_values("random state after tracing", theirs.random_state, ours.random_state)
    return found


def of_errors(theirs: Exception | None, ours: Exception | None) -> Iterator[Difference]:
    """An error of ours may say more, as an error of a class of its own that is torch's class too."""
    if theirs is None or ours is None or not isinstance(ours, type(theirs)):
        yield Difference("error", "tracing", error_text(theirs), error_text(ours))


def error_text(error: Exception | None) -> str:
    return "none" if error is None else f"{type(error).__name__}: {str(error).strip()[:300]}"


def of_modules(theirs: torch.fx.GraphModule, ours: torch.fx.GraphModule, place: str) -> Iterator[Difference]:
    """Nodes, attributes, the code, and what the graph says of itself. Nodes that follow one with another operation
    are not compared."""
    yield from of_texts("class name", place, type(theirs).__name__, type(ours).__name__)
    nodes = list(of_nodes(theirs.graph, ours.graph, place))
    yield from nodes
    if any(each.aspect in ("target", "nodes") for each in nodes):
        return
    yield from of_attributes(theirs, ours, place)
    yield from of_texts("code", place, theirs.code, ours.code)
    yield from of_texts("graph's meta", place, describe(theirs.meta), describe(ours.meta))


def of_nodes(theirs: torch.fx.Graph, ours: torch.fx.Graph, place: str) -> Iterator[Difference]:
    pairs = list(zip(theirs.nodes, ours.nodes, strict=False))
    for one, other in pairs:
        at = f"{place}.{one.name}"
        targets = [f"{node.op} {describe(node.target)}" for node in (one, other)]
        if targets[0] != targets[1]:
            yield Difference("target", at, *targets)
            return
        yield from of_texts("name", at, one.name, other.name)
        yield from of_texts("args", at, describe(one.args), describe(other.args))
        yield from of_texts("kwargs", at, describe(one.kwargs), describe(other.kwargs))
        yield from of_texts("type", at, describe(one.type), describe(other.type))
        for key in dict.fromkeys([*one.meta, *other.meta]):
            yield from of_texts(f"meta.{key}", at, metadata(one, key, theirs), metadata(other, key, ours))
    if len(theirs.nodes) != len(ours.nodes):
        rest = [
            ", ".join(node.name for node in list(graph.nodes)[len(pairs) :]) or "none" for graph in (theirs, ours)
        ]
        yield Difference("nodes", f"{place}, after node {len(pairs)}", *rest)
        return
    yield from of_texts("aliases", place, aliases(theirs), aliases(ours))


def metadata(node: torch.fx.Node, key: str, graph: torch.fx.Graph) -> str:
    if key not in node.meta:
        return "absent"
    value = node.meta[key]
    if key == "seq_nr":
        return str(value - min(each.meta["seq_nr"] for each in graph.nodes if "seq_nr" in each.meta))
    if key == "from_node":
        return str([each.name for each in value])
    return describe(value)


def aliases(graph: torch.fx.Graph) -> str:
    """Which nodes' values share memory: the first node of each storage, for each node."""
    first: dict[int, str] = {}
    found = []
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.layout is torch.strided and type(value).__name__ == "FakeTensor":
            owner = first.setdefault(value.untyped_storage()._cdata, node.name)
            found += [f"{node.name} of {owner}"] if owner != node.name else []
    return ", ".join(found) or "none"


def of_attributes(theirs: torch.fx.GraphModule, ours: torch.fx.GraphModule, place: str) -> Iterator[Difference]:
    """Values that nodes get, and the names of all that the graph module holds. Graphs in it are compared in full."""
    yield from of_texts("attributes", place, held(theirs), held(ours))
    for name in dict.fromkeys(node.target for node in theirs.graph.nodes if node.op == "get_attr"):
        one, other = (attribute(module, name) for module in (theirs, ours))
        if isinstance(one, torch.fx.GraphModule) and isinstance(other, torch.fx.GraphModule):
            yield from of_modules(one, other, f"{place}.{name}")
        else:
            yield from of_values(f"value of {name}", one, other)


def attribute(module: torch.fx.GraphModule, path: str) -> Any:
    value: Any = module
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def held(module: torch.fx.GraphModule) -> str:
    parameters, buffers = (
        sorted(name for name, _ in each()) for each in (module.named_parameters, module.named_buffers)
    )
    modules = sorted(f"{name} {type(each).__name__}" for name, each in module.named_modules() if name)
    others = sorted(name for name, each in vars(module).items() if isinstance(each, torch.Tensor))
    return f"parameters {parameters}, buffers {buffers}, modules {modules}, others {others}"


def of_shapes(theirs: torch.fx.GraphModule, ours: torch.fx.GraphModule) -> Iterator[Difference]:
    """What tracing found out about shapes: guards, replaced symbols, ranges, asserts for the time of running."""
    envs = [getattr(module, "shape_env", None) for module in (theirs, ours)]
    if None in envs:
        yield from of_texts("shape_env", "graph", *(type(env).__name__ for env in envs))
        return
    guards = [{str(guard.expr) for guard in env.guards} for env in envs]
    for aspect, more, less in (("guards of torch alone", *guards), ("guards of ours alone", *reversed(guards))):
        if more - less:
            yield Difference(aspect, "graph", *(str(sorted(each - (more & less))) for each in guards))
    for name, text in SHAPE_FACTS.items():
        yield from of_texts(name, "graph", *(text(env) for env in envs))


def by_name(facts: dict[Any, Any]) -> list[tuple[str, Any]]:
    """Facts about symbols. Where several symbols are replaced at once, which comes first is up to their hashes."""
    return sorted((str(symbol), fact) for symbol, fact in facts.items())


SHAPE_FACTS: dict[str, Any] = {
    "replacements": lambda env: str({k: str(v) for k, v in by_name(env.replacements)}),
    "hints": lambda env: str({k: str(v) for k, v in by_name(env.backed_var_to_val)}),
    "ranges": lambda env: str({k: str(v) for k, v in by_name(env.var_to_range)}),
    "deferred asserts": lambda env: str(
        {k: [str(a.expr) for a in v] for k, v in by_name(env.deferred_runtime_asserts)}
    ),
}


def of_texts(aspect: str, place: str, theirs: str, ours: str) -> Iterator[Difference]:
    if theirs != ours:
        yield Difference(aspect, place, theirs, ours)


def of_values(aspect: str, theirs: Any, ours: Any) -> Iterator[Difference]:
    """Two trees of values, equal to the bit; tensors in them, with what they are besides."""
    (one, structure), (other, its) = (pytree.tree_flatten(value) for value in (theirs, ours))
    if structure != its:
        yield Difference(aspect, "structure", str(structure), str(its))
        return
    for number, (a, b) in enumerate(zip(one, other, strict=True)):
        if not equal(a, b):
            yield Difference(aspect, f"leaf {number}", short(a), short(b))


def short(value: Any) -> str:
    text = f"{describe(value)} {value}" if isinstance(value, torch.Tensor) else describe(value)
    return text if len(text) < 400 else f"{text[:400]}..."


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, Exception):
        return type(one) is type(other) and str(one) == str(other)
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return describe(one) == describe(other)
    if describe(one) != describe(other):
        return False
    if torch._C._functorch.is_functorch_wrapped_tensor(one):
        return equal(*map(torch._C._functorch.get_unwrapped, (one, other)))
    return equal_data(one.detach(), other.detach())


def equal_data(one: torch.Tensor, other: torch.Tensor) -> bool:
    if torch.utils._python_dispatch.is_traceable_wrapper_subclass(one):
        names, _ = one.__tensor_flatten__()  # type: ignore[attr-defined]
        return all(equal_data(getattr(one, name), getattr(other, name)) for name in names)
    if one.is_meta or is_fake(one):
        return True
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    return bool(torch.isclose(one, other, rtol=0, atol=0, equal_nan=True).all())

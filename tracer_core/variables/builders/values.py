"""Trackers of external literals, numbers and tensors."""

from __future__ import annotations

import math
import re
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import ConstantSource, DefaultsSource, KwDefaultsSource, LocalSource, Source, UpcomingSource
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import LITERAL_TYPES, ConstantVariable
from tracer_core.variables.core.registry import builds
from tracer_core.variables.objects.classes import BuiltinVariable


def _constant(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if value is None:
        build.tx.guard(make.is_none(source))
    elif not isinstance(source, ConstantSource):
        build.tx.guard(make.constant(source, value))
    return ConstantVariable(value, source)


for _type in LITERAL_TYPES:
    builds(_type)(_constant)


@builds(int)
def _int(build: VariableBuilder, value: int, source: Source) -> VariableTracker:
    """Build a plain number as a constant, until it differs between calls in a place where numbers vary."""
    output = build.tx.output
    if not _wants_symbol(build, value, source):
        return _constant(build, value, source)
    build.tx.guard(make.type_is(source, int))
    number = output.fakes.number(value, source)
    return wrap_fx_proxy(build.tx, output.symbol_node(number), number, source)


@builds(float)
def _float(build: VariableBuilder, value: float, source: Source) -> VariableTracker:
    """Build a number as for ints; as a symbol it enters the graph in a tensor, so that back ends that take only
    tensors can compile it.

    Zeros stay numbers, since a symbol does not tell -0.0 from 0.0.
    """
    output = build.tx.output
    if not math.isfinite(value) or value == 0.0 or not _wants_symbol(build, value, source):
        return _constant(build, value, source)
    build.tx.guard(make.type_is(source, float))
    number = output.fakes.number(value, source)
    assert isinstance(number, torch.SymFloat)
    return wrap_fx_proxy(build.tx, output.root.float_node(number, graph_name(source)), number, source)


def _wants_symbol(build: VariableBuilder, value: int | float, source: Source) -> bool:
    """Return whether a number is to be a symbol: it varies, and is reached from a variable of the frame, but not as a
    default of a function or through a module, where numbers are settings. Globals stay numbers, but items of their
    iterators do not."""
    path = source.path()
    given = any(isinstance(step, UpcomingSource) for step in path)
    if not (given or isinstance(path[0], LocalSource)) or any(
        isinstance(step, (DefaultsSource, KwDefaultsSource)) for step in path
    ):
        return False
    output = build.tx.output
    return output.fakes.wants_symbol(value, source) and not output.is_of_module(source)


@builds(torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
def tensor_tracker(build: VariableBuilder, value: torch.Tensor, source: Source) -> VariableTracker:
    tx = build.tx
    if value.is_quantized:
        raise Unsupported("tensor-quantized", source=source.written)
    if value.layout is not torch.strided or value.is_nested:
        layout = "nested" if value.is_nested else str(value.layout)
        raise Unsupported("tensor-layout", layout=layout, source=source.written)
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise Unsupported("functorch-tensor", source=source.written)
    node, fake = tx.output.add_tensor(source, graph_name(source), value)
    return wrap_fx_proxy(tx, node, fake, source)


MOST_WORDS = 5
"""How many words of a phrase become the name of a placeholder."""


def graph_name(source: Source) -> str:
    """Return a placeholder's name: the source's own, as an identifier (`self_blocks_0_weight`)."""
    text = source.name
    for prefix in ("L[", "G["):
        text = text.removeprefix(prefix)
    words = re.findall(r"[^\W_]+", text)
    if any(step.in_words for step in source.path()):
        words = words[:MOST_WORDS]
    name = "_".join(words) or "arg"
    # A graph's function takes its module as `self`.
    return name if not name[0].isdigit() and name != "self" else f"arg_{name}"


@builds(torch.finfo, torch.iinfo)
def _number_info(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    return BuiltinVariable(value, source)

"""Report facts about a finished graph: sizes that the user marked as dynamic but the program specializes (warn about
them or, if configured, raise), and operators without torch's tag for compilers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.output import OutputGraph
from tracer_core.sources import SizeSource


def report_fixed_marks(output: OutputGraph) -> None:
    """Report each marked size that has one value to the observer, and warn, at the line that specialized it.

    Raises:
        Unsupported: with the option `strict_mark_dynamic`.
    """
    for notice in _fixed(output):
        assert notice.where is not None
        if output.frame.config.is_on("strict_mark_dynamic"):
            raise notice.placed()
        if output.observer is not None:
            output.observer.on_notice(notice)
        place = notice.where.place
        file = output.frame.code.co_filename if place.code is None else place.code.co_filename
        warnings.warn_explicit(str(notice.placed()), RuntimeWarning, file, place.line)


def report_untagged_operators(output: OutputGraph) -> None:
    """Tell the observer of each operator in the graph without torch's tag for compilers."""
    if output.observer is not None:
        for operator, where in output.untagged.items():
            notice = Unsupported("operator-not-tagged", operator=operator)
            notice.where = where
            output.observer.on_notice(notice)


def _fixed(output: OutputGraph) -> Iterator[Unsupported]:
    for tracked in output.fakes.inputs.values():
        for dim, size in enumerate(tracked.sizes):
            if dim in tracked.marked and isinstance(size, torch.SymInt):
                binding = output.fakes.symbols[str(size.node._expr)]
                if binding.fixed is not None:
                    source = SizeSource(tracked.source, dim).name
                    notice = Unsupported("marked-size-fixed", source=source, size=binding.hint)
                    notice.where = binding.fixed
                    yield notice

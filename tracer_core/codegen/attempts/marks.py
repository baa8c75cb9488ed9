"""Report notices, which tell the user of something when a frame is compiled though the graph does not break.

The graph keeps some (`OutputGraph.notices`). Others are facts about it once it is finished: sizes that the user
marked as dynamic but the program specializes (warn about them or, if configured, raise), and operators without
torch's tag for compilers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import torch

from tracer_core.errors import NoticeWarning, Unsupported
from tracer_core.graph.output import OutputGraph
from tracer_core.sources import SizeSource


def report_notices(output: OutputGraph) -> None:
    """Report to the observer what was noted, and each marked size that has one value; and warn, at the line that each
    is about.

    Raises:
        Unsupported: of a marked size that has one value, with the option `strict_mark_dynamic`.
    """
    for notice in output.notices:
        _tell(output, notice, NoticeWarning)
    for notice in _fixed(output):
        if output.frame.config.is_on("strict_mark_dynamic"):
            raise notice.placed()
        _tell(output, notice, RuntimeWarning)


def _tell(output: OutputGraph, notice: Unsupported, category: type[Warning]) -> None:
    assert notice.where is not None
    if output.observer is not None:
        output.observer.on_notice(notice)
    place = notice.where.place
    file = output.frame.code.co_filename if place.code is None else place.code.co_filename
    warnings.warn_explicit(str(notice.placed()), category, file, place.line)


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
                    source = SizeSource(tracked.source, dim).quoted
                    notice = Unsupported("marked-size-fixed", source=source, size=binding.hint)
                    notice.where = binding.fixed
                    yield notice

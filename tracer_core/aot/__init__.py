"""Ahead-of-time lowering: from a captured graph to functional graphs of operators, forward and backward.

In: a captured `GraphModule` and its example inputs. Out: a function that computes the same, with the graphs that it
runs (`Lowered`). `effects` finds out what the graph does besides computing (mutations, aliases, settings), `tracing`
traces it to operators with `make_fx`, `partition` splits forward from backward, and `running` calls the two, copies
mutations back and rebuilds aliases. `back_end` puts them together as the back end `"tracer_aot"`.
"""

from tracer_core.aot.back_end import check_options, tracer_aot
from tracer_core.aot.lowered import CannotLower, Lowered

__all__ = ["CannotLower", "Lowered", "check_options", "tracer_aot"]

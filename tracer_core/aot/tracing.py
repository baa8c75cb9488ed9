"""Trace a captured graph to functional operators: the forward alone, or forward and backward jointly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx

from tracer_core.aot.effects import Effects, Mutation, run_with_settings_restored
from tracer_core.aot.functional import functionalizing, unwrap, wrap_leaf
from tracer_core.aot.inputs import Inputs
from tracer_core.aot.provenance import backward_of, tag_forward
from tracer_core.proxy_tensor import get_proxy_mode, make_fx

Decompositions = dict[Any, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Lowering:
    """How to trace one captured graph: its function, the inputs and the effects that it was found to have."""

    run: Callable[..., list[Any]]
    inputs: Inputs
    effects: Effects
    decompositions: Decompositions | None = None

    @property
    def wanted(self) -> list[int]:
        """Return the places of the inputs that may get a gradient."""
        return [
            i for i, fake in enumerate(self.inputs.fakes) if isinstance(fake, torch.Tensor) and fake.requires_grad
        ]

    @property
    def sources(self) -> list[int]:
        """Return the places of the results that gradients come from."""
        return [i for i, required in enumerate(self.effects.requires_grad) if required]

    def trace_forward(self) -> torch.fx.GraphModule:
        """Return the graph from inputs to results."""

        def forward(primals: list[Any]) -> list[Any]:
            with functionalizing(self.inputs.fake_mode):
                return [unwrap(result) for result in self._results([wrap_leaf(each, False) for each in primals])]

        return self._trace(forward, self._primals())

    def trace_joint(self) -> torch.fx.GraphModule:
        """Return the graph from inputs, and gradients of results, to results and gradients of inputs. Its inputs have
        the names by which torch's partitioner knows them: `primals_1`, ..., `tangents_1`, ..."""
        wanted, sources = self.wanted, self.sources

        def joint(primals: list[Any], tangents: list[torch.Tensor]) -> list[Any]:
            with functionalizing(self.inputs.fake_mode):
                leaves = [wrap_leaf(each, place in wanted) for place, each in enumerate(primals)]
                results = self._results([self._argument(place, leaf) for place, leaf in enumerate(leaves)])
                tag_forward(_graph())
                with backward_of(results[i].grad_fn for i in sources), torch._C._DisableAutocast():
                    gradients = torch.autograd.grad(
                        [results[i] for i in sources],
                        [leaves[i] for i in wanted],
                        [wrap_leaf(each, False) for each in tangents],
                        allow_unused=True,
                    )
                return [unwrap(each) for each in (*results, *gradients)]

        return self._trace(joint, self._primals(), self._tangents())

    def _argument(self, place: int, leaf: Any) -> Any:
        """Return what stands for an input in the traced run: a copy if it is changed under autograd, which does not
        allow that for leaves."""
        recorded = self.effects.mutations.get(place) is Mutation.RECORDED and leaf.requires_grad
        return leaf.clone() if recorded else leaf

    def _results(self, args: Sequence[Any]) -> list[Any]:
        outputs, _ = run_with_settings_restored(self.run, args)
        return [pick(args, outputs) for pick in self.effects.results]

    def _primals(self) -> list[Any]:
        return [each.detach() if isinstance(each, torch.Tensor) else each for each in self.inputs.fakes]

    def _tangents(self) -> list[torch.Tensor]:
        """Return fakes for gradients of the results: they lie in memory as the results do."""
        return [self.effects.examples[i].clone() for i in self.sources]

    def _trace(self, function: Callable[..., list[Any]], *args: Any) -> torch.fx.GraphModule:
        module: torch.fx.GraphModule = make_fx(function, decomposition_table=self.decompositions)(*args)
        module.graph.set_codegen(torch.fx.graph.CodeGen())  # the inputs one by one, not in lists
        module.graph.eliminate_dead_code()
        module.recompile()
        return module


def _graph() -> torch.fx.Graph:
    """Return the graph that is being traced."""
    mode = get_proxy_mode()
    assert mode is not None
    graph: torch.fx.Graph = mode.tracer.graph
    return graph

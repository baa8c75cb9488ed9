"""Find out what a captured graph does besides computing: it mutates inputs, returns tensors that share memory, leaves
settings changed.

The graph runs once on functional fakes. What it did is kept as data: `Effects`, which says what the lowered function
returns (`results`) and how the outputs of the captured graph are rebuilt from that (`outputs`).
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.functional_tensor import FunctionalTensor

from tracer_core.aot.functional import is_mutated, is_reshaped, storage_of, unwrap
from tracer_core.aot.lowered import CannotLower
from tracer_core.aot.outputs import (
    Base,
    Constant,
    Detached,
    Given,
    Output,
    Place,
    Region,
    View,
    are_equal,
    has_elements_in_one_place,
    is_same_kind,
    is_same_region,
    numbers_of,
)
from tracer_core.graph.settings import Change, TracedSettings
from tracer_core.host.global_state import PROPERTIES


class Mutation(enum.Enum):
    """How the graph wrote to an input."""

    RECORDED = "autograd recorded it"
    UNRECORDED = "in a block without gradients, or through a detached tensor"
    HIDDEN = "through .data, which does not even count as a change"


@dataclass(slots=True)
class Effects:
    """What a graph does.

    Args:
        mutations: how it writes to inputs, by their place.
        settings: those that it leaves changed.
        outputs: how to build its outputs from inputs and results.
        results: what the lowered function returns, each picked from a run of the captured graph.
        requires_grad: whether the results require gradients.
        examples: fakes of the results that do, by their place.
    """

    mutations: dict[int, Mutation] = field(default_factory=dict)
    settings: list[Change] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    results: list[Pick] = field(default_factory=list)
    requires_grad: list[bool] = field(default_factory=list)
    examples: dict[int, torch.Tensor] = field(default_factory=dict)

    def add(self, pick: Pick, requires_grad: bool) -> Place:
        """Return the place of a result."""
        if pick in self.results:
            return Place(self.results.index(pick))
        self.results.append(pick)
        self.requires_grad.append(requires_grad)
        return Place(len(self.results) - 1)

    def places_of_mutations(self) -> dict[int, Place]:
        """Return where the new values of mutated inputs are."""
        return {each: Place(self.results.index(Pick("input", each))) for each in self.mutations}


@dataclass(frozen=True, slots=True)
class Pick:
    """Takes a value from a run of the captured graph: an `input` after the run, an `output`, the `base` of which an
    output is a view, or a `number` that the view needs (`item` says which)."""

    kind: str
    index: int
    item: int = 0

    def __call__(self, args: Sequence[Any], outputs: Sequence[Any]) -> Any:
        if self.kind == "input":
            return args[self.index]
        output = outputs[self.index]
        if self.kind == "base":
            return output._base
        if self.kind == "number":
            return numbers_of(output)[self.item]
        return output


def observe(run: Callable[..., list[Any]], args: Sequence[Any]) -> Effects:
    """Run the graph on functional tensors that have the history of the real inputs, and note its effects.

    Raises:
        CannotLower: for an effect that cannot be expressed.
    """
    effects = Effects()
    before = [_History.of(each) if isinstance(each, torch.Tensor) else None for each in args]
    strides = [each.stride() if isinstance(each, torch.Tensor) else () for each in args]
    outputs, effects.settings = run_with_settings_restored(run, args)
    for index, (arg, known) in enumerate(zip(args, before, strict=True)):
        if known is not None:
            _note_mutation(effects, index, arg, known)
    _Aliases(effects, args, outputs, strides).note()
    effects.examples = {
        i: unwrap(pick(args, outputs)).detach()
        for i, (pick, required) in enumerate(zip(effects.results, effects.requires_grad, strict=True))
        if required
    }
    return effects


def run_with_settings_restored(run: Callable[..., list[Any]], args: Sequence[Any]) -> tuple[list[Any], list[Change]]:
    """Return what the graph returns, and the settings of torch that it leaves changed, which are put back."""
    settings = TracedSettings()
    settings.touch(*PROPERTIES)
    try:
        outputs = run(*args)
        for name in settings.differing():
            if PROPERTIES[name].write is None:
                raise CannotLower(f"it leaves a setting of torch changed: {PROPERTIES[name].text}")
        settings.finish()
        return outputs, settings.left
    finally:
        settings.restore()


@dataclass(frozen=True, slots=True)
class _History:
    """What autograd knows of an input before the run."""

    grad_fn: Any
    version: int
    requires_grad: bool

    @classmethod
    def of(cls, tensor: torch.Tensor) -> _History:
        return cls(tensor.grad_fn, _version(tensor), tensor.requires_grad)


def _version(tensor: torch.Tensor) -> int:
    """Return how often the tensor was changed; tensors of inference mode do not count that."""
    return 0 if tensor.is_inference() else tensor._version


def _note_mutation(effects: Effects, index: int, arg: FunctionalTensor, before: _History) -> None:
    if is_reshaped(arg):
        raise CannotLower("it changes the sizes, the strides or the storage of an input")
    if arg.is_leaf and (before.grad_fn is not None or arg.requires_grad != before.requires_grad):
        raise CannotLower("it changes whether an input requires a gradient, or detaches it in place")
    if arg.is_leaf and arg.grad is not None:
        raise CannotLower("it computes gradients and stores them in an input")
    if arg.grad_fn is not before.grad_fn:
        effects.mutations[index] = Mutation.RECORDED
    elif is_mutated(arg):
        counted = arg.is_inference() or _version(arg) != before.version
        effects.mutations[index] = Mutation.UNRECORDED if counted else Mutation.HIDDEN
    else:
        return
    if has_elements_in_one_place(arg):
        raise CannotLower("it writes to an input that is expanded")
    effects.add(Pick("input", index), effects.mutations[index] is Mutation.RECORDED and arg.requires_grad)


class _Aliases:
    """Express each output of the graph by inputs and results."""

    def __init__(
        self, effects: Effects, args: Sequence[Any], outputs: Sequence[Any], strides: Sequence[Sequence[Any]]
    ) -> None:
        self.effects = effects
        self.strides = strides
        self.args = args
        self.outputs = outputs
        self.inputs = {storage_of(arg): i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)}
        different = {id(out): out for out in outputs if isinstance(out, torch.Tensor)}
        self.shared = Counter(map(storage_of, different.values()))
        self.bases: dict[int, tuple[Base, torch.Tensor]] = {}

    def note(self) -> None:
        # (What an output is a view of may be another output, which may come later.)
        self.effects.outputs = [self._output(index, out) for index, out in enumerate(self.outputs)]

    def _output(self, index: int, out: Any) -> Output:
        if isinstance(out, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.effects.add(Pick("output", index), False)
        if not isinstance(out, torch.Tensor):
            return Constant(out)
        if not isinstance(out, FunctionalTensor):
            raise CannotLower("an output is a tensor that was not computed from its inputs")
        storage = storage_of(out)
        if storage in self.inputs:
            place = self.inputs[storage]
            return self._alias(index, out, Given(place), self.args[place], place in self.effects.mutations)
        if out.requires_grad and out.is_leaf:
            raise CannotLower("an output is a leaf, to which gradients are to flow")
        if self.shared[storage] == 1:
            first = next(i for i, each in enumerate(self.outputs) if each is out)
            return self.effects.add(Pick("output", first), out.requires_grad)
        base, tensor = self._base(storage, out)
        return self._alias(index, out, base, tensor, False)

    def _base(self, storage: int, out: FunctionalTensor) -> tuple[Base, torch.Tensor]:
        """Return the tensor of which the outputs with this storage are views: an output, or one that is not."""
        if storage not in self.bases:
            group = [i for i, each in enumerate(self.outputs) if isinstance(each, FunctionalTensor)]
            group = [i for i in group if storage_of(self.outputs[i]) == storage]
            # Autograd knows a view's base; what is detached is a base of its own, and comes last.
            first = min(group, key=lambda i: not (self.outputs[i].requires_grad or self.outputs[i]._is_view()))
            tensor: torch.Tensor = self.outputs[first]
            pick = Pick("output", first)
            if tensor._is_view():
                assert tensor._base is not None
                tensor, pick = tensor._base, Pick("base", first)
                pick = next((Pick("output", i) for i in group if self.outputs[i] is tensor), pick)
            self.bases[storage] = self.effects.add(pick, tensor.requires_grad), tensor
        return self.bases[storage]

    def _alias(self, index: int, out: FunctionalTensor, base: Base, tensor: Any, mutated: bool) -> Output:
        if out is tensor:
            return base
        if out._is_view() and out._base is tensor:
            numbers = numbers_of(out)
            symbolic = [i for i, each in enumerate(numbers) if not isinstance(each, int)]
            places = {i: self.effects.add(Pick("number", index, i), False) for i in symbolic}
            return View(base, out, tuple(numbers), places, out.grad_fn is not None)
        if out.requires_grad:
            raise CannotLower("an output requires a gradient and shares memory, which autograd does not know")
        if is_same_region(out, tensor):
            return Detached(base)
        written = self.effects.places_of_mutations()[base.index] if mutated else None
        # (A mutated input keeps its strides; its new value may have others, if there are gaps between its elements.)
        moved = mutated and not are_equal(unwrap(tensor).stride(), self.strides[base.index])
        if moved or not is_same_kind(out, tensor):
            raise CannotLower("an output is a detached view that cannot be rebuilt")
        return Region(base, self.effects.add(Pick("output", index), False), written)

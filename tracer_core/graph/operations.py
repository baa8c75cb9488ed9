"""What each operation that a trace runs on fakes does besides giving its result, as torch says of its operators:
whether it writes to its arguments (the schema says to which), or draws random numbers (the tags say so).

The fake mode sees every operation that Python's calls come down to, so that nothing here depends on how the program
spells a write: directly, through a view, `out=`, `.data`, or in a function of torch's that calls others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tracer_core.graph.memory import storage_of


@dataclass(frozen=True, slots=True)
class Facts:
    """`written`: the arguments, by position and name, that an operator writes to; with `only_if`, where that argument
    is true."""

    written: tuple[tuple[int, str], ...]
    draws: bool
    only_if: tuple[int, str] | None = None


# Operators that, in training, write to running statistics without a word in their schemas.
_STATISTICS = frozenset({"aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm"})
_BUILT_IN = frozenset({"aten", "prim", "prims"})

_UNKNOWN = Facts((), draws=True)
_known: dict[Any, Facts | None] = {}


def facts_of(operator: Any) -> Facts | None:
    """What is to be noted of an operator; None where it only computes."""
    facts = _known.get(operator, _UNKNOWN)
    if facts is _UNKNOWN:
        facts = _known[operator] = _facts_of(operator)
    return facts


def _facts_of(operator: Any) -> Facts | None:
    schema = getattr(operator, "_schema", None)
    if schema is None:
        return Facts((), draws=True)  # one that runs functions: what these do is noted when they run
    places = {argument.name: (place, argument.name) for place, argument in enumerate(schema.arguments)}
    written = [places[a.name] for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    only_if = None
    if schema.name in _STATISTICS and not written:
        written, only_if = [places["running_mean"], places["running_var"]], places["training"]
    # Operators of other libraries need not say that they draw.
    draws = torch.Tag.nondeterministic_seeded in operator.tags or operator.namespace not in _BUILT_IN
    return Facts(tuple(written), draws, only_if) if written or draws else None


class Operations:
    """What the operations of one attempt did. `clock` counts those that wrote to anything, `draws` those that may
    have drawn random numbers."""

    def __init__(self) -> None:
        self.clock = 0
        self.draws = 0
        self._last: dict[int | None, int] = {}

    def note(self, facts: Facts, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.draws += facts.draws
        if facts.only_if is None or _argument(facts.only_if, args, kwargs):
            for place in facts.written:
                self._wrote(_argument(place, args, kwargs))

    def _wrote(self, argument: Any) -> None:
        if isinstance(argument, torch.Tensor):
            self.clock += 1
            self._last[_storage(argument)] = self.clock
        elif isinstance(argument, (list, tuple)):
            for each in argument:
                self._wrote(each)

    def last_write(self, fake: torch.Tensor) -> int:
        """The clock at the last write to the memory that `fake` looks at, through whatever tensor; 0 if there was
        none. Where it has parts in several memories, as sparse tensors do, any write may have been to it."""
        storage = _storage(fake)
        return self.clock if storage is None else self._last.get(storage, 0)


def _argument(place: tuple[int, str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    index, name = place
    return args[index] if index < len(args) else kwargs.get(name)


def _storage(fake: torch.Tensor) -> int | None:
    return storage_of(fake) if fake.layout is torch.strided else None


def share_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether both look at one memory, as far as can be told."""
    return _storage(a) is None or _storage(a) == _storage(b)


class ObservingFakeMode(FakeTensorMode):  # type: ignore[no-untyped-call]
    """A fake mode that has what its operations do noted in `operations`."""

    def __init__(self, operations: Operations, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operations = operations

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> object:
        result = super().__torch_dispatch__(func, types, args, kwargs or {})
        facts = facts_of(func)
        if facts is not None:
            self.operations.note(facts, args, kwargs or {})
        return result

"""Effects of each operation that a trace runs on fakes, besides its result, as torch declares its operators:
whether it writes to its arguments (by the schema), draws random numbers (by the tags), or may raise
for what is in its arguments.

The fake mode sees every operation that Python's calls come down to, so that nothing here depends on how the program
spells a write: directly, through a view, `out=`, `.data`, or in a function of torch's that calls others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import torch
from torch._higher_order_ops.utils import registered_hop_fake_fns
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import _DISPATCH_META_HANDLERS, FakeTensorMode
from torch.fx import GraphModule
from torch.utils._pytree import tree_leaves

from tracer_core.graph.memory import storage_of
from tracer_core.graph.tried_operators import refuses_some
from tracer_core.host.signals import call_waiting, waiting


class Raises(Enum):
    """When an operator may raise for arguments that fakes accept."""

    NEVER = 0
    BY_ELEMENT = 1  # where it has no code for a dtype, or refuses an integer, as division does
    BY_INDEX = 2  # where an integer or a mask among its arguments is an index
    PERHAPS = 3


@dataclass(frozen=True, slots=True)
class Facts:
    """`written`: the arguments, by position and name, that an operator writes to; with `only_if`, where that argument
    is true. With `chance`, it draws only where that argument is given and not zero."""

    written: tuple[tuple[int, str], ...]
    draws: bool
    raises: Raises
    only_if: tuple[int, str] | None = None
    chance: tuple[int, str] | None = None


# Operators that, in training, write to running statistics, which their schemas do not declare.
_STATISTICS = frozenset({"aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm"})
_BUILT_IN = frozenset({"aten", "prim", "prims"})
_SAY_WHETHER_THEY_DRAW = _BUILT_IN | {"_c10d_functional"}

_UNKNOWN = Facts((), True, Raises.PERHAPS)
_known: dict[Any, Facts | None] = {}


def facts_of(operator: Any) -> Facts | None:
    """Return the effects of an operator to note; None if it only computes."""
    facts = _known.get(operator, _UNKNOWN)
    if facts is _UNKNOWN:
        facts = _known[operator] = _facts_of(operator)
    return facts


def _facts_of(operator: Any) -> Facts | None:
    schema = getattr(operator, "_schema", None)
    if schema is None:
        return Facts((), True, Raises.PERHAPS)  # one that runs functions: their effects are noted when they run
    places = {argument.name: (place, argument.name) for place, argument in enumerate(schema.arguments)}
    written = [places[a.name] for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    raises, only_if = _raises(operator), None
    if schema.name in _STATISTICS:
        raises = Raises.NEVER
        if not written:
            written, only_if = [places["running_mean"], places["running_var"]], places["training"]
    # Operators of other libraries need not declare that they draw.
    draws = torch.Tag.nondeterministic_seeded in operator.tags or operator.namespace not in _SAY_WHETHER_THEY_DRAW
    if written or draws or raises is not Raises.NEVER:
        return Facts(tuple(written), draws, raises, only_if, places.get("dropout_p"))
    return None


def _raises(operator: Any) -> Raises:
    """Return when an operator raises, by its tags and its schema. Operators tagged `core` compute a result for any
    floats; of others, as of those of linear algebra, nothing is known."""
    schema, tags = operator._schema, operator.tags
    if operator.namespace not in _BUILT_IN:
        return Raises.PERHAPS
    if torch.Tag.data_dependent_output in tags or torch.Tag.dynamic_output_shape in tags:
        return Raises.PERHAPS
    if schema.returns and (_is_factory_or_view(schema) or _needs_no_data(schema)):
        return Raises.NEVER
    if torch.Tag.pointwise in tags and torch.Tag.nondeterministic_seeded not in tags:
        return Raises.BY_ELEMENT
    if torch.Tag.core in tags or torch.Tag.reduction in tags:
        return Raises.BY_INDEX
    same = _same_without_writing(operator)
    return Raises.PERHAPS if same is None else _raises(same)


def _is_factory_or_view(schema: Any) -> bool:
    arguments = [argument for argument in schema.arguments if "Tensor" in str(argument.type)]
    return all(a.alias_info is not None and not a.alias_info.is_write for a in arguments)


def _needs_no_data(schema: Any) -> bool:
    """Return whether the operator returns no tensor but a size, a device, ..."""
    return not any("Tensor" in str(each.type) for each in schema.returns)


def _same_without_writing(operator: Any) -> Any:
    """Return the operator that computes the same and that torch describes better: for an in-place one, or one on
    lists of tensors, the one that returns a new tensor."""
    name: str = operator._schema.name.rpartition("::")[2]
    plain = name.removeprefix("_foreach_").removesuffix("_")
    packet = getattr(torch.ops.aten, plain, None)
    if plain == name or not isinstance(packet, torch._ops.OpOverloadPacket):
        return None
    overloads = packet.overloads()  # type: ignore[no-untyped-call]
    return getattr(packet, operator._overloadname if operator._overloadname in overloads else overloads[0])


class Counts(NamedTuple):
    """How many operations wrote to anything, may have drawn random numbers, may raise because of the values of their
    arguments; and how many lists without tensors were to be written to."""

    clock: int
    draws: int
    may_raise: int
    empty_lists: int


@dataclass(frozen=True, slots=True)
class OperationsMark:
    counts: Counts
    last: Mapping[int | None, int]


class Operations:
    """The effects of the operations of one attempt: the counts (`Counts`), and the last write to each memory."""

    def __init__(self) -> None:
        self.clock = 0
        self.draws = 0
        self.may_raise = 0
        self.empty_lists = 0
        self._last: dict[int | None, int] = {}

    @property
    def counts(self) -> Counts:
        return Counts(self.clock, self.draws, self.may_raise, self.empty_lists)

    def mark(self) -> OperationsMark:
        return OperationsMark(self.counts, dict(self._last))

    def roll_back(self, mark: OperationsMark) -> None:
        """Forget the operations since the mark."""
        self.clock, self.draws, self.may_raise, self.empty_lists = mark.counts
        self._last = dict(mark.last)

    def note(self, operator: Any, facts: Facts, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.draws += facts.draws and _may_draw(facts, args, kwargs)
        self.may_raise += _may_raise(operator, facts.raises, args, kwargs)
        if facts.only_if is None or _argument(facts.only_if, args, kwargs):
            for place in facts.written:
                self.note_write(_argument(place, args, kwargs))

    def note_write(self, argument: Any) -> None:
        """Note that a tensor, or each of a list, was written to."""
        if isinstance(argument, torch.Tensor):
            self.clock += 1
            self._last[_storage(argument)] = self.clock
        elif isinstance(argument, (list, tuple)):
            self.empty_lists += not argument
            for each in argument:
                self.note_write(each)

    def last_write(self, fake: torch.Tensor) -> int:
        """Return the clock at the last write to the memory of `fake`, through whatever tensor; 0 if there was none.
        If it has parts in several memories, as sparse tensors do, any write may have been to it."""
        storage = _storage(fake)
        return self.clock if storage is None else self._last.get(storage, 0)


def _may_draw(facts: Facts, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    bodies = [each for each in args if isinstance(each, GraphModule)]
    if bodies:  # of a higher-order operator, which draws where they do
        return any(node.meta.get("draws") for body in bodies for node in body.graph.nodes)
    return facts.chance is None or _argument(facts.chance, args, kwargs) not in (None, 0)


def _may_raise(operator: Any, raises: Raises, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    if raises is Raises.NEVER or raises is Raises.PERHAPS:
        return raises is Raises.PERHAPS
    if raises is Raises.BY_ELEMENT:
        return refuses_some(operator, args, kwargs)
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    return not all(each.is_floating_point() or each.is_complex() for each in tensors)


def _argument(place: tuple[int, str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    index, name = place
    return args[index] if index < len(args) else kwargs.get(name)


def _storage(fake: torch.Tensor) -> int | None:
    return storage_of(fake) if fake.layout is torch.strided else None


def share_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Return whether both tensors may use the same memory."""
    return _storage(a) is None or _storage(a) == _storage(b)


class ObservingFakeMode(FakeTensorMode):  # type: ignore[no-untyped-call]
    """A fake mode that notes the effects of its operations in `operations`."""

    supports_higher_order_operators = True

    def __init__(self, operations: Operations, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operations = operations

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> object:
        if waiting:
            call_waiting()
        question: Any = _DISPATCH_META_HANDLERS.get(func)
        if question is not None:
            return question(args)
        if isinstance(func, HigherOrderOperator) and func not in registered_hop_fake_fns:
            return self._run_higher_order(func, args, kwargs or {})
        # Not the method of this name: torch wraps each in one that switches its frame hook off, which ours did.
        result = self.dispatch(func, types, args, kwargs or {})
        facts = facts_of(func)
        if facts is not None:
            self.operations.note(func, facts, args, kwargs or {})
        return result

    def _run_higher_order(
        self, operator: HigherOrderOperator, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> object:
        """Run torch's rule for the operator on fakes. (Those of the operators in `registered_hop_fake_fns` are found
        by the mode that this one is.)"""
        rule = operator.python_key_table.get(FakeTensorMode)
        if rule is None:
            raise NotImplementedError(f"{operator} has no rule for fake tensors")
        return rule(self, *args, **kwargs)

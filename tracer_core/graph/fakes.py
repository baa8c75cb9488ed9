"""Fake tensors for a frame's real ones, with sizes as symbols where they varied or were marked so."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._guards import Source as TorchSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from tracer_core.errors import TraceAgain
from tracer_core.graph.memory import Number, idle_dims, storage_of
from tracer_core.graph.operations import ObservingFakeMode, Operations, share_storage
from tracer_core.graph.seen import Over, Seen, inside_out, note, relative
from tracer_core.guards import Guard, make
from tracer_core.names.where import Where
from tracer_core.sources import AttrSource, ById, ConvertedSource, OffsetSource, SizeSource, Source, StrideSource


class _NamedForTorch(TorchSource):
    """The few attributes that torch's shape environment needs of a source: a name for symbols."""

    _text: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_text", name)

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _NamedForTorch) and self._text == other._text

    @property
    def _name_template(self) -> str:
        return self._text


#: In a history: the number found there is never to be a symbol.
CONSTANT = object()

# In a history: the program reads strides.
_STRIDES_ASKED = "strides asked"

# Where torch notes on a tensor which of its sizes a person wants as symbols.
_MARKS = ("_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices", "_dynamo_unbacked_indices")


@dataclass(slots=True)
class TrackedFake:
    """A real input's stand-in: the fake, where the real one is found, which sizes and strides are symbols, of which
    dimensions the strides are not guarded, when the fake was created (by the clock of `operations`), and what
    autograd knew of the real one then."""

    fake: torch.Tensor
    source: Source
    sizes: list[Number]
    strides: list[Number]
    idle: list[int]
    operations: Operations
    created: int
    requires_grad: bool
    is_leaf: bool
    base_is_leaf: bool | None
    creation: int
    # Where the program first looked at it, its dimensions that a person marked as dynamic, and those that were to be
    # symbols but have a size of 0 or 1.
    where: Where
    marked: frozenset[int]
    special: tuple[int, ...]

    @property
    def mutated(self) -> bool:
        """Whether the trace wrote to the tensor's memory."""
        return self.operations.last_write(self.fake) > self.created

    @property
    def reshaped(self) -> bool:
        """Whether the trace changed more of the tensor than its data."""
        lost_history = self.requires_grad and not self.fake.requires_grad
        return lost_history or [*self.fake.shape] != self.sizes or [*self.fake.stride()] != self.strides

    def history_guards(self) -> list[Guard]:
        """Guards on what autograd checks before a change in place: whether the tensor, and its base, are leaves, and
        how the view was created (one of several that one call gave may not be changed)."""
        if not (self.mutated and self.requires_grad):
            return []
        base = AttrSource(self.source, "_base")
        guards = [make.constant(AttrSource(self.source, "is_leaf"), self.is_leaf)]
        if self.base_is_leaf is None:
            guards.append(make.is_none(base))
        else:
            base_is_leaf = make.constant(AttrSource(base, "is_leaf"), self.base_is_leaf)
            creation = ConvertedSource(self.source, ById(creation_of), "how it was made a view")
            guards += [make.is_not_none(base), base_is_leaf, make.constant(creation, self.creation)]
        return [guard.asked_at(self.where) for guard in guards]


@dataclass(slots=True)
class SymbolBinding:
    """A symbol, and every source known to give its value (the first is the one it is read from). The generated code
    is for values from `least` on, whatever was learnt of it. `where` it was created, what is known of its `range`,
    and where each bound was needed, and that it has but one value (None: nowhere)."""

    name: str
    value: torch.SymInt | torch.SymFloat
    hint: int | float
    where: Where
    range: Any
    sources: list[Source] = field(default_factory=list)
    least: int | None = None
    lower: Where | None = None
    upper: Where | None = None
    fixed: Where | None = None

    def learn(self, env: ShapeEnv, where: Where) -> None:
        """Attribute to that place what the environment has learnt of it since the last call."""
        symbol = self.value.node._expr
        now = env.var_to_range[symbol]
        if now is not self.range:
            self.lower = where if now.lower != self.range.lower else self.lower
            self.upper = where if now.upper != self.range.upper else self.upper
            self.range = now
        if self.fixed is None and env.replace(symbol).is_number:
            self.fixed = where


def creation_of(view: torch.Tensor) -> int:
    """Return how autograd notes that a view was created: ordinarily, as one of several, without gradients, ..."""
    creation: Any = torch._C._autograd._get_creation_meta(view)
    return int(creation)


def base_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return the base of a view; other tensors themselves."""
    return tensor if tensor._base is None else tensor._base


def version_of(fake: torch.Tensor) -> int | None:
    """Return the counter of in-place changes; inference tensors have none."""
    return None if fake.is_inference() else fake._version


class Fakes:
    """The fake mode and shape environment of one attempt.

    Args:
        history: per source name, the sizes (or the number) seen before; belongs to the code and outlives the
            attempt. A size that differs from the one noted becomes dynamic from then on (`None`).
        dynamic: False makes no size symbolic, None those that varied, True all but those of tensors of modules that
            did not.
        where: tells what is running.
        lays_out: whether the back end builds on all strides, also those that do not affect where elements lie.
    """

    def __init__(
        self, history: dict[str, Any], dynamic: bool | None, where: Callable[[], Where], lays_out: bool = True
    ) -> None:
        self.shape_env = ShapeEnv()
        self.operations = Operations()
        self.mode = ObservingFakeMode(self.operations, shape_env=self.shape_env, allow_non_fake_inputs=True)
        self.history = history
        self.dynamic = dynamic
        self.where = where
        self.needs_all_strides = lays_out or bool(dynamic) or _STRIDES_ASKED in history
        self.symbols: dict[str, SymbolBinding] = {}
        # By the ids of the fakes.
        self.inputs: dict[int, TrackedFake] = {}
        # Symbols of numbers that only the running program knows.
        self.unknowns: set[Any] = set()
        # Unbacked symbols of sizes and numbers that operators give, which may be sizes of what is computed from them.
        self.given: set[Any] = set()

    def tensor(self, real: torch.Tensor, source: Source, *, settled: bool = False) -> TrackedFake:
        """Return a fake for `real`, found at `source`. With `settled`, `dynamic=True` does not count."""
        seen = note(self.history, source.name, real.shape, real.stride())
        wants = self._dynamic_dims(real, seen, settled)
        unbacked = getattr(real, "_dynamo_unbacked_indices", ())
        sizes = [
            self.symbol(int(n), SizeSource(source, dim), may_be_one=dim in unbacked) if want else int(n)
            for dim, (n, want) in enumerate(zip(real.shape, wants, strict=True))
        ]
        varied = seen.varying_strides if seen is not None and self.dynamic is None else []
        loose = list(range(real.dim())) if any(wants) else varied
        strides = self._strides(real, source, sizes, varied, loose)
        idle = [] if loose or self.needs_all_strides else idle_dims(real)
        offset = self._offset(real, source)
        # Guards from creating the fake are not the program's.
        with self.mode, torch.inference_mode(real.is_inference()), self.shape_env.suppress_guards():
            fake = _like(real, sizes, strides, offset)
        if isinstance(real, torch.nn.Parameter):
            fake._is_param = True
        base_is_leaf = real._base.is_leaf if real._base is not None else None
        requires_grad, is_leaf = real.requires_grad, real.is_leaf
        tracked = TrackedFake(
            fake,
            source,
            sizes,
            strides,
            idle,
            self.operations,
            self.operations.clock,
            requires_grad,
            is_leaf,
            base_is_leaf,
            creation_of(real) if base_is_leaf is not None else 0,
            self.where(),
            frozenset(getattr(real, "_dynamo_dynamic_indices", ())),
            tuple(dim for dim, want in enumerate(wants) if want and isinstance(sizes[dim], int)),
        )
        self.inputs[id(fake)] = tracked
        return tracked

    def written_since(self, fake: torch.Tensor, moment: int) -> bool:
        """Return whether the memory of `fake` was written to after `moment`, or may have been: inputs may lie one
        over the other in memory, in this call or in a later one."""
        inputs = [tracked.fake for tracked in self.inputs.values()]
        looked_at = inputs if any(share_storage(fake, each) for each in inputs) else [fake]
        return any(self.operations.last_write(each) > moment for each in looked_at)

    def symbol(self, value: int, source: Source, *, may_be_one: bool = False) -> Number:
        """Return a symbol for `value` read from `source`; 0 and 1 stay numbers, unless `may_be_one` lets 1 be one.
        Equal values share one where all sizes are to be symbols; those that vary have one each."""
        kind = DimDynamic.DUCK if self.dynamic and not may_be_one else DimDynamic.DYNAMIC
        named, general = _NamedForTorch(source.name), may_be_one and value > 0
        expr = self.shape_env.create_symbol(value, source=named, dynamic_dim=kind, do_not_specialize_zero_one=general)
        if expr.is_number:
            return int(expr)
        name = str(expr)
        binding = self.symbols.get(name)
        if binding is None:
            made = self.shape_env.create_symintnode(expr, hint=value, source=named)
            assert isinstance(made, torch.SymInt)
            binding = self._bind(made, value)
        binding.sources.append(source)
        assert isinstance(binding.value, torch.SymInt)
        if may_be_one:
            binding.least = 1
        return binding.value

    def number(self, value: int | float, source: Source) -> torch.SymInt | torch.SymFloat:
        """Return a symbol of its own for the plain number at `source`, whatever its value and sign."""
        named = _NamedForTorch(source.name)
        expr = self.shape_env.create_unspecified_symbol(value, source=named, dynamic_dim=DimDynamic.DYNAMIC)
        create = self.shape_env.create_symfloatnode if isinstance(value, float) else self.shape_env.create_symintnode
        made = create(expr, hint=value, source=named)
        assert isinstance(made, (torch.SymInt, torch.SymFloat))
        self._bind(made, value).sources.append(source)
        return made

    def _bind(self, made: torch.SymInt | torch.SymFloat, hint: int | float) -> SymbolBinding:
        symbol = made.node._expr
        range_ = self.shape_env.var_to_range[symbol]
        binding = self.symbols[str(symbol)] = SymbolBinding(str(symbol), made, hint, self.where(), range_)
        return binding

    def unknown(self, cls: type) -> Any:
        """Return a symbol for a bool, int or float whose value only the running program has: no guard can be added
        on it, and asking for its value fails."""
        env = self.shape_env
        create: dict[type, Callable[[], Any]] = {
            bool: env.create_unbacked_symbool,
            int: env.create_unbacked_symint,
            float: env.create_unbacked_symfloat,
        }
        with env.ignore_fresh_unbacked_symbols():
            value = create[cls]()
        self.unknowns |= value.node.expr.free_symbols
        return value

    def wants_symbol(self, value: int | float, source: Source) -> bool:
        """Return whether the plain number at `source` is to be a symbol: it differed in an earlier call."""
        if self.dynamic is False or self.history.get(source.name) is CONSTANT:
            return False
        if self.dynamic:
            return value not in (0, 1)
        seen = self.history.setdefault(source.name, value)
        if seen is not None and seen != value:
            self.history[source.name] = None
        return self.history[source.name] is None

    def all_strides(self) -> list[Guard]:
        """From here on, guard also strides that do not affect where elements lie; the guards on those of before."""
        guards = [
            make.constant(StrideSource(tracked.source, dim), tracked.strides[dim])
            for tracked in self.inputs.values()
            for dim in tracked.idle
        ]
        for tracked in self.inputs.values():
            tracked.idle = []
        self.needs_all_strides = self.history[_STRIDES_ASKED] = True
        return guards

    def offset_of(self, fake: torch.Tensor) -> Number:
        """Return the storage offset of a tensor.

        Raises:
            TraceAgain: it depends on where an input starts, which is a number so far.
        """
        over = [each for each in self.inputs.values() if storage_of(each.fake) == storage_of(fake)]
        below = [OffsetSource(each.source).name for each in over]
        asked = dict.fromkeys(name for name in below if name not in self.history)
        if asked:
            self.history.update(asked)
            raise TraceAgain("The program asks where a tensor starts in its memory.")
        return fake.storage_offset()

    def _dynamic_dims(self, real: torch.Tensor, seen: Seen | None, settled: bool) -> list[bool]:
        if self.dynamic is False:
            varied = [False] * real.dim()
        elif seen is None or (self.dynamic and not settled):
            varied = [True] * real.dim()
        else:
            varied = [n is None for n in seen.sizes]
        marked = {dim for marks in _MARKS for dim in getattr(real, marks, ())}
        static = getattr(real, "_dynamo_static_indices", ())
        return [dim not in static and (dim in marked or varied[dim]) for dim in range(real.dim())]

    def _strides(
        self,
        real: torch.Tensor,
        source: Source,
        sizes: list[Number],
        varied: Collection[int],
        loose: Collection[int],
    ) -> list[Number]:
        """Strides in terms of sizes and other strides where the real ones are products of these, but for those that
        varied. The others are symbols, where `loose`, and numbers."""
        numbers = real.stride()
        strides: list[Number] = list(numbers)
        if not loose:
            return strides
        products = relative(real.shape, numbers, over_one=True)
        for dim in inside_out(real.shape, numbers):
            product = products[dim]
            if isinstance(product, Over) and dim not in varied:
                strides[dim] = sizes[product.dim] * strides[product.dim]
            elif dim in loose:
                strides[dim] = self.symbol(numbers[dim], StrideSource(source, dim))
        return strides

    def _offset(self, real: torch.Tensor, source: Source) -> Number:
        """Return the storage offset of a tensor: a symbol where the program reads it, else a number, not guarded."""
        offset, at = int(real.storage_offset()), OffsetSource(source)
        if at.name not in self.history:
            return offset
        symbol = self.number(offset, at)
        assert isinstance(symbol, torch.SymInt)
        return symbol


def _like(real: torch.Tensor, sizes: list[Number], strides: list[Number], offset: Number) -> torch.Tensor:
    """Return an empty tensor with the metadata of `real`, also that which autograd checks before a change in
    place."""
    with torch.no_grad():
        fake = torch.empty_strided(sizes, strides, dtype=real.dtype, device=real.device)
        if isinstance(offset, torch.SymInt) or offset != 0:
            fake.set_(fake.untyped_storage(), offset, sizes, strides)
        if real.is_conj():
            fake = torch._conj(fake)
        if real.is_neg():
            fake = torch._neg_view(fake)
    base = real._base if real._is_view() else None
    if base is None:
        return _with_history(fake, leaf=real.is_leaf) if real.requires_grad else fake
    if base.requires_grad:
        fake = _with_history(fake, leaf=base.is_leaf)
    elif not real.is_leaf:
        fake = _view(fake).requires_grad_()
    with torch.set_grad_enabled(not real.is_leaf):
        view = _view(fake)
    torch._C._autograd._set_creation_meta(view, torch._C._autograd._get_creation_meta(real))
    return view if view.requires_grad == real.requires_grad else view.requires_grad_(real.requires_grad)


def _view(fake: torch.Tensor) -> torch.Tensor:
    """Return all of it as a view; without elements, `view_as` would choose other strides."""
    if 0 in fake.shape:
        return fake.as_strided(fake.shape, fake.stride())
    return fake.view_as(fake)


def _with_history(fake: torch.Tensor, *, leaf: bool) -> torch.Tensor:
    """`fake` as a tensor that requires a gradient: as one the user created, or as the result of an operation."""
    with torch.enable_grad():
        return fake.requires_grad_() if leaf else _as_result(fake.detach().requires_grad_(), fake)


class _Result(torch.autograd.Function):
    """An operation on its first argument, with the second as its result."""

    @staticmethod
    def forward(ctx: Any, of: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
        return result.detach()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradient, None


_as_result: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = _Result.apply

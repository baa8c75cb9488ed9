"""Fake tensors for a frame's real ones, with sizes as symbols where they varied or were marked so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch._guards import Source as TorchSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._sympy.symbol import SymT, symbol_is_type

from tracer_core.errors import TraceAgain
from tracer_core.graph.earlier_calls import SeenMetadata, StrideOver, inside_out, note, relative
from tracer_core.graph.fake_copy import creation_of, like
from tracer_core.graph.memory import Number, idle_dims, storage_of
from tracer_core.graph.operations import ObservingFakeMode, Operations, share_storage
from tracer_core.guards import Guard, make
from tracer_core.names.where import Where
from tracer_core.sources import AttrSource, ById, ConvertedSource, OffsetSource, SizeSource, Source, StrideSource


def outside_transforms() -> contextlib.AbstractContextManager[Any]:
    """Inside the block, transforms of `torch.func` that the program is in wrap no tensor."""
    if torch._C._functorch.peek_interpreter_stack() is None:
        return contextlib.nullcontext()
    return temporarily_clear_interpreter_stack()


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


#: In a history: the number found there must never become a symbol.
CONSTANT = object()

# In a history: the program reads strides.
_STRIDES_READ = "strides read"

# The attributes in which torch records which sizes of a tensor a person wants as symbols.
_MARKS = ("_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices", "_dynamo_unbacked_indices")


@dataclass(slots=True)
class TrackedFake:
    """The fake of a real input: where the real one is found, which sizes and strides are symbols, which strides are
    not guarded, when the fake was created (by the clock of `operations`), and what autograd knew of the real one
    then."""

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
    # Where the program first used it, its dimensions that a person marked as dynamic, and those that were to be
    # symbols but have a size of 0 or 1.
    where: Where
    marked: frozenset[int]
    special: tuple[int, ...]

    @property
    def mutated(self) -> bool:
        """Return whether the trace wrote to the tensor's memory."""
        return self.operations.last_write(self.fake) > self.created

    @property
    def reshaped(self) -> bool:
        """Return whether the trace changed more of the tensor than its data."""
        lost_history = self.requires_grad and not self.fake.requires_grad
        return lost_history or [*self.fake.shape] != self.sizes or [*self.fake.stride()] != self.strides

    def history_guards(self) -> list[Guard]:
        """Return guards on what autograd checks before a change in place: whether the tensor, and its base, are
        leaves, and how the view was created (one of several views from one call may not be changed)."""
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
        return [guard.installed_at(self.where) for guard in guards]


@dataclass(slots=True)
class SymbolBinding:
    """A symbol, and every source known to give its value (the first is the one it is read from). `where` it was
    created, its known `range`, and where each bound, and its specialization to one value, was needed (None:
    nowhere)."""

    name: str
    value: torch.SymInt | torch.SymFloat
    hint: int | float
    where: Where
    range: Any
    sources: list[Source] = field(default_factory=list)
    lower: Where | None = None
    upper: Where | None = None
    fixed: Where | None = None

    @property
    def is_unbacked(self) -> bool:
        """Whether no guard may depend on its value: what is known of it, the graph asserts."""
        return symbol_is_type(self.value.node._expr, SymT.UNBACKED_INT)

    def learn(self, env: ShapeEnv, where: Where) -> None:
        """Attribute to that place the facts that the environment has learned about the symbol since the last call."""
        symbol = self.value.node._expr
        now = env.var_to_range[symbol]
        if now is not self.range:
            self.lower = where if now.lower != self.range.lower else self.lower
            self.upper = where if now.upper != self.range.upper else self.upper
            self.range = now
        if self.fixed is None and env.replace(symbol).is_number:
            self.fixed = where


class Fakes:
    """The fake mode and shape environment of one attempt.

    Args:
        history: per source name, the sizes (or the number) seen before; belongs to the code and outlives the
            attempt. A size that differs from the one noted becomes dynamic from then on (`None`).
        dynamic: False makes no size symbolic, None those that varied, True all but those of tensors of modules that
            did not.
        where: returns the running code.
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
        self.needs_all_strides = lays_out or bool(dynamic) or _STRIDES_READ in history
        self.symbols: dict[str, SymbolBinding] = {}
        # By the ids of the fakes.
        self.inputs: dict[int, TrackedFake] = {}
        # Symbols of numbers that only the running program knows.
        self.unknowns: set[Any] = set()
        # Unbacked symbols of sizes and numbers that operators give, which may be sizes of what is computed from them.
        self.given: set[Any] = set()
        # The class of a script object in the graph, which may hold tensors that the graph computes; else "".
        self.held_elsewhere = ""

    def tensor(self, real: torch.Tensor, source: Source, *, static: bool = False) -> TrackedFake:
        """Return a fake for `real`, found at `source`. With `static`, its sizes are
        static even where `dynamic=True`."""
        seen = note(self.history, source.exact, real.shape, real.stride())
        wants = self._dynamic_dims(real, seen, static)
        unbacked = getattr(real, "_dynamo_unbacked_indices", ())
        sizes: list[Number] = [
            self.unbacked(int(n), SizeSource(source, dim))
            if dim in unbacked
            else self.symbol(int(n), SizeSource(source, dim))
            if want
            else int(n)
            for dim, (n, want) in enumerate(zip(real.shape, wants, strict=True))
        ]
        varied = seen.varying_strides if seen is not None and self.dynamic is None else []
        loose = list(range(real.dim())) if any(wants) else varied
        strides = self._strides(real, source, sizes, varied, loose)
        idle = [] if loose or self.needs_all_strides else idle_dims(real)
        offset = self._offset(real, source)
        # Guards from creating the fake are not the program's.
        with outside_transforms(), torch.inference_mode(real.is_inference()), self.shape_env.suppress_guards():
            fake = like(self.mode, real, sizes, strides, offset)
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
        """Return whether the memory of `fake` was written to after `moment`, or may have been: inputs may overlap in
        memory, in this call or in a later one."""
        inputs = [tracked.fake for tracked in self.inputs.values()]
        compared = inputs if any(share_storage(fake, each) for each in inputs) else [fake]
        return any(self.operations.last_write(each) > moment for each in compared)

    def symbol(self, value: int, source: Source) -> Number:
        """Return a symbol for `value` read from `source`; 0 and 1 stay numbers. Equal values share one symbol if all
        sizes are to be symbols; sizes that vary get one each."""
        kind = DimDynamic.DUCK if self.dynamic else DimDynamic.DYNAMIC
        named = _NamedForTorch(source.exact)
        expr = self.shape_env.create_symbol(value, source=named, dynamic_dim=kind)
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
        return binding.value

    def unbacked(self, value: int, source: Source) -> torch.SymInt:
        """Return a symbol of its own for the size at `source`, whose value no guard may depend on."""
        named = _NamedForTorch(source.exact)
        with self.shape_env.ignore_fresh_unbacked_symbols():
            expr = self.shape_env.create_symbol(value, source=named, dynamic_dim=DimDynamic.UNBACKED)
        made = self.shape_env.create_symintnode(expr, hint=None, source=named)
        assert isinstance(made, torch.SymInt)
        self._bind(made, value).sources.append(source)
        return made

    def number(self, value: int | float, source: Source) -> torch.SymInt | torch.SymFloat:
        """Return a symbol of its own for the plain number at `source`, whatever its value and sign."""
        named = _NamedForTorch(source.exact)
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
        """Return a symbol for a bool, int or float whose value only the running program has: no guard can depend on
        it, and reading its value fails."""
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
        if self.dynamic is False or self.history.get(source.exact) is CONSTANT:
            return False
        if self.dynamic:
            return value not in (0, 1)
        seen = self.history.setdefault(source.exact, value)
        if seen is not None and seen != value:
            self.history[source.exact] = None
        return self.history[source.exact] is None

    def all_strides(self) -> list[Guard]:
        """From now on, guard also strides that do not affect where elements lie; return the guards for the inputs so
        far."""
        guards = [
            make.constant(StrideSource(tracked.source, dim), tracked.strides[dim])
            for tracked in self.inputs.values()
            for dim in tracked.idle
        ]
        for tracked in self.inputs.values():
            tracked.idle = []
        self.needs_all_strides = self.history[_STRIDES_READ] = True
        return guards

    def offset_of(self, fake: torch.Tensor) -> Number:
        """Return the storage offset of a tensor.

        Raises:
            TraceAgain: it depends on where an input starts, which is a number so far.
        """
        over = [each for each in self.inputs.values() if storage_of(each.fake) == storage_of(fake)]
        below = [OffsetSource(each.source).exact for each in over]
        wanted = dict.fromkeys(name for name in below if name not in self.history)
        if wanted:
            self.history.update(wanted)
            raise TraceAgain("The program reads a storage offset, which later calls may change.")
        return fake.storage_offset()

    def _dynamic_dims(self, real: torch.Tensor, seen: SeenMetadata | None, static: bool) -> list[bool]:
        if self.dynamic is False:
            varied = [False] * real.dim()
        elif seen is None or (self.dynamic and not static):
            varied = [True] * real.dim()
        else:
            varied = [n is None for n in seen.sizes]
        marked = {dim for marks in _MARKS for dim in getattr(real, marks, ())}
        kept = getattr(real, "_dynamo_static_indices", ())
        return [dim not in kept and (dim in marked or varied[dim]) for dim in range(real.dim())]

    def _strides(
        self,
        real: torch.Tensor,
        source: Source,
        sizes: list[Number],
        varied: Collection[int],
        loose: Collection[int],
    ) -> list[Number]:
        """Return strides in terms of sizes and other strides where the real ones are products of these, except those
        that varied. The others are symbols, where `loose`, and numbers."""
        numbers = real.stride()
        strides: list[Number] = list(numbers)
        if not loose:
            return strides
        products = relative(real.shape, numbers, over_one=True)
        for dim in inside_out(real.shape, numbers):
            product = products[dim]
            if isinstance(product, StrideOver) and dim not in varied:
                strides[dim] = sizes[product.dim] * strides[product.dim]
            elif dim in loose:
                strides[dim] = self.symbol(numbers[dim], StrideSource(source, dim))
        return strides

    def _offset(self, real: torch.Tensor, source: Source) -> Number:
        """Return the storage offset of a tensor: a symbol where the program reads it, else a number, not guarded."""
        offset, at = int(real.storage_offset()), OffsetSource(source)
        if at.exact not in self.history:
            return offset
        symbol = self.number(offset, at)
        assert isinstance(symbol, torch.SymInt)
        return symbol

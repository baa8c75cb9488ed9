"""Random generators of Python: drawn from while tracing where their state is known, else when the code runs.

A generator that the trace seeded itself is kept as a real one. Of any other the values differ from call to call, so
its draws become calls that the generated code makes before the graph, and the drawn numbers inputs of the graph.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.runtime.streams import shuffled
from tracer_core.sources import ConstantSource, DrawnSource, GetItemSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.containers.sequences import ListVariable, RangeVariable, SequenceVariable, SliceVariable
from tracer_core.variables.core.base import Kwargs, VariableTracker, all_constant, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.draws import Draw
from tracer_core.variables.core.registry import builds, handles, method
from tracer_core.variables.core.tensors import SymNodeVariable
from tracer_core.variables.core.tracing import Tracing

# Drawn ints enter the graph as 64-bit numbers.
MAX_BITS = 62


class RandomStreamVariable(VariableTracker):
    """A random generator. `known` is a real one in the present state, if it was created in the trace."""

    __slots__ = ("cls", "known")
    kind = "random generator"
    mutable = True

    def __init__(self, cls: type, source: Source | None = None, known: Any = None) -> None:
        super().__init__(source)
        self.cls = cls
        self.known = known

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.cls.__name__} generator"

    def truth(self, tx: Tracing) -> bool:
        return True

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if not hasattr(self.cls, name):
            raise Unsupported("attribute", name=name, type=self.cls.__name__)
        return None


class DrawnObjectVariable(VariableTracker):
    """The result of a draw that is not a number (the state of a generator): it can only be passed on."""

    __slots__ = ("cls",)
    kind = "drawn object"

    def __init__(self, cls: type, source: Source) -> None:
        super().__init__(source)
        self.cls = cls

    def python_type(self) -> type:
        return self.cls

    def _refuse(self) -> Any:
        assert self.source is not None
        raise Unsupported("random-number", what=self.source.quoted)

    def truth(self, tx: Tracing) -> bool | None:
        self._refuse()
        return None

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        self._refuse()
        return None

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        self._refuse()
        return None


@builds(random.Random)
def _stream(build: VariableBuilder, value: random.Random, source: Source) -> VariableTracker:
    if value is random._inst:
        source = ConstantSource.of_object(value, "random")
    else:
        build.tx.guard(make.type_is(source, random.Random))
    return RandomStreamVariable(random.Random, source)


@handles(random.Random)
def new_stream(tx: Tracing, seed: VariableTracker = NONE) -> VariableTracker:
    seed = seed.realize()
    value = constant_or(seed, None)
    if type(value) in (int, float, str, bytes, bool):
        return RandomStreamVariable(random.Random, None, random.Random(value))
    seeds = [] if seed.python_type() is NoneType else [seed]
    return RandomStreamVariable(random.Random, made(tx, random.Random, seeds))


# --- draws ----------------------------------------------------------------------------------------------------


def drawn(
    tx: Tracing,
    stream: RandomStreamVariable | None,
    name: str,
    args: Sequence[VariableTracker],
    kwargs: Kwargs,
    function: Any = None,
) -> DrawnSource:
    """Defer the call to the start of the generated code."""
    if tx.trace.side_effects.calls:
        raise Unsupported("random-state", name=name)  # a replayed call, which may draw too, comes after the graph
    return tx.trace.draw(Draw(stream, name, list(args), kwargs, function))


def made(tx: Tracing, function: Any, args: list[VariableTracker]) -> DrawnSource:
    """Make the generated code create a generator, or its parts, where draws happen.

    Raises:
        Unsupported: an argument is not there before the graph, or is refused: plain Python shall raise.
    """
    name = function.__name__
    if all_constant(args):
        try:
            function(*(arg.value() for arg in args))
        except Exception as error:  # noqa: BLE001
            raise Unsupported("operation-fails", what=name, error=f"{type(error).__name__}: {error}") from None
    elif not all(arg.is_constant() or _is_drawn(arg) or _from_source(arg) for arg in args):
        raise Unsupported("random-state", name=name)
    return drawn(tx, None, name, args, {}, function)


def _is_drawn(tracker: VariableTracker) -> bool:
    return isinstance(tracker.source, DrawnSource)


def drawn_number(tx: Tracing, source: Source, cls: type) -> VariableTracker:
    node, value = tx.output.root.unknown_number(source, cls)
    return wrap_fx_proxy(tx, node, value, source)


def _from_source(tracker: VariableTracker) -> bool:
    """Return whether it is a number found, or drawn, before the graph runs."""
    return isinstance(tracker, SymNodeVariable) and tracker.source is not None


_FLOATS = (
    "random uniform triangular gauss normalvariate lognormvariate expovariate vonmisesvariate gammavariate "
    "betavariate paretovariate weibullvariate"
).split()
_INTS = "randint randrange getrandbits".split()
# The result is a float for any two numbers.
_OF_ANY_NUMBERS = ("uniform", "gauss", "normalvariate")


def _number_method(name: str) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, self: RandomStreamVariable, /, *args: Any, **kwargs: Any) -> VariableTracker:
        given = [*args, *kwargs.values()]
        if self.known is not None:
            return _from_known(tx, self, name, list(args), kwargs)
        if all_constant(given):
            cls = _type_of_result(tx, name, args, kwargs)
        elif name in _OF_ANY_NUMBERS and all(_from_source(each) or _is_number(each) for each in given):
            cls = float
        else:
            raise Unsupported("random-state", name=f"random.{name}")
        return drawn_number(tx, drawn(tx, self, name, args, kwargs), cls)

    return handler


def _is_number(tracker: VariableTracker) -> bool:
    return type(constant_or(tracker, None)) in (int, float)


def _type_of_result(tx: Tracing, name: str, args: Any, kwargs: Any) -> type:
    """Return the type of the method's result for these constants, tried on a generator of our own."""
    values, named = [arg.value() for arg in args], {key: arg.value() for key, arg in kwargs.items()}
    try:
        cls = type(getattr(random.Random(0), name)(*values, **named))
    except Exception as error:  # noqa: BLE001 - plain Python shall raise it, at its place
        raise Unsupported("operation-fails", what=name, error=f"{type(error).__name__}: {error}") from None
    numbers = [v for v in values if isinstance(v, int)]
    bits = values[0] if name == "getrandbits" else max((abs(v).bit_length() for v in numbers), default=0)
    if cls not in (int, float) or (cls is int and bits > MAX_BITS):
        raise Unsupported("random-state", name=f"random.{name}")
    return cls


def _from_known(
    tx: Tracing,
    self: RandomStreamVariable,
    name: str,
    args: list[VariableTracker],
    kwargs: dict[str, VariableTracker],
) -> VariableTracker:
    """Call the real generator now; if it raises, break, with the state as it was, so that plain Python raises."""
    if not all_constant([*args, *kwargs.values()]):
        raise Unsupported("random-state", name=f"random.{name}")
    values, named = [arg.value() for arg in args], {key: arg.value() for key, arg in kwargs.items()}
    return tx.constant(_ask(tx, self, name, values, named))


def _ask(tx: Tracing, self: RandomStreamVariable, name: str, values: list[Any], named: dict[str, Any]) -> Any:
    tx.trace.journal.save(self)
    before = self.known.getstate()
    try:
        return getattr(self.known, name)(*values, **named)
    except Exception as error:  # noqa: BLE001
        self.known.setstate(before)
        raise Unsupported("operation-fails", what=name, error=f"{type(error).__name__}: {error}") from None


for _name in (*_FLOATS, *_INTS):
    _found = getattr(random.Random, _name)
    _handler = _number_method(_name)
    method(RandomStreamVariable, _name)(_handler)
    handles(_found, RandomStreamVariable)(_handler)


# --- the state ------------------------------------------------------------------------------------------------


@handles(random.Random.seed, RandomStreamVariable)
def seed(
    tx: Tracing, self: RandomStreamVariable, a: VariableTracker = NONE, version: VariableTracker = ConstantVariable(2)
) -> VariableTracker:
    value = constant_or(a.realize())
    if type(value) not in (int, float, str, bytes, bool) or constant_or(version.realize()) != 2:
        raise Unsupported("random-state", name="random.seed")
    if self.known is not None:
        tx.trace.journal.save(self)
        self.known.seed(value)
    else:
        drawn(tx, self, "seed", [a.realize()], {})
    return NONE


@handles(random.Random.getstate, RandomStreamVariable)
def get_state(tx: Tracing, self: RandomStreamVariable) -> VariableTracker:
    if self.known is not None:
        return tx.constant(self.known.getstate())
    return DrawnObjectVariable(tuple, drawn(tx, self, "getstate", [], {}))


@handles(random.Random.setstate, RandomStreamVariable)
def set_state(tx: Tracing, self: RandomStreamVariable, state: VariableTracker) -> VariableTracker:
    state = state.realize()
    if self.known is not None:
        return _from_known(tx, self, "setstate", [state], {})
    if not isinstance(state, DrawnObjectVariable):
        raise Unsupported("random-state", name="random.setstate")
    drawn(tx, self, "setstate", [state], {})
    return NONE


# --- draws from sequences -------------------------------------------------------------------------------------


def _population(tracker: VariableTracker) -> list[VariableTracker]:
    tracker = tracker.realize()
    if isinstance(tracker, SequenceVariable) and not isinstance(tracker, (RangeVariable, SliceVariable)):
        return tracker.items
    if isinstance(tracker, RangeVariable) and tracker.is_constant():
        return [ConstantVariable(n) for n in tracker.value()]
    raise Unsupported("random-state", name="a choice from something other than a list, tuple or range")


def _common_type(items: Sequence[VariableTracker]) -> type:
    """Return the type of numbers that all items have: only then is the type of a drawn one known."""
    realized = [item.realize() for item in items]
    types = {item.python_type() for item in realized}
    known = all(_is_number(item) or _from_source(item) for item in realized)
    fits = all(abs(constant_or(item, 0)).bit_length() <= MAX_BITS for item in realized) if types == {int} else True
    if not known or not fits or types not in ({int}, {float}):
        raise Unsupported("random-choice")
    return types.pop()


def _count(tracker: VariableTracker) -> int:
    count = constant_or(tracker.realize(), None)
    if type(count) is not int or count < 0:
        raise Unsupported("random-state", name="a sample of a size that is not known")
    return count


@handles(random.Random.choice, RandomStreamVariable)
def choice(tx: Tracing, self: RandomStreamVariable, seq: VariableTracker) -> VariableTracker:
    items = _population(seq)
    if self.known is not None:
        chosen: VariableTracker = _ask(tx, self, "choice", [items], {})
        return chosen
    cls = _common_type(items)
    return drawn_number(tx, drawn(tx, self, "choice", [_list_of(items)], {}), cls)


def _list_of(items: Sequence[VariableTracker]) -> VariableTracker:
    return ListVariable([item.realize() for item in items])


def _drawn_list(tx: Tracing, source: Source, cls: type, count: int) -> VariableTracker:
    return ListVariable([drawn_number(tx, GetItemSource(source, i), cls) for i in range(count)])


@handles(random.Random.sample, RandomStreamVariable)
def sample(
    tx: Tracing, self: RandomStreamVariable, population: VariableTracker, k: VariableTracker
) -> VariableTracker:
    items, count = _population(population), _count(k)
    if self.known is not None:
        return ListVariable(_ask(tx, self, "sample", [items, count], {}))
    if count > len(items):
        raise Unsupported(
            "operation-fails", what="sample", error="ValueError: the sample is larger than the population"
        )
    cls = _common_type(items)
    return _drawn_list(tx, drawn(tx, self, "sample", [_list_of(items), k.realize()], {}), cls, count)


@handles(random.Random.choices, RandomStreamVariable)
def choices(
    tx: Tracing,
    self: RandomStreamVariable,
    population: VariableTracker,
    weights: VariableTracker = NONE,
    *,
    cum_weights: VariableTracker = NONE,
    k: VariableTracker = ConstantVariable(1),
) -> VariableTracker:
    items, count = _population(population), _count(k)
    named = {"weights": weights.realize(), "cum_weights": cum_weights.realize(), "k": k.realize()}
    if not all_constant(list(named.values())):
        raise Unsupported("random-state", name="random.choices")
    if self.known is not None:
        values = {name: value.value() for name, value in named.items()}
        return ListVariable(_ask(tx, self, "choices", [items], values))
    cls = _common_type(items)
    try:
        random.Random(0).choices([0] * len(items), **{name: value.value() for name, value in named.items()})
    except Exception as error:  # noqa: BLE001 - plain Python shall raise it, at its place
        raise Unsupported("operation-fails", what="choices", error=f"{type(error).__name__}: {error}") from None
    return _drawn_list(tx, drawn(tx, self, "choices", [_list_of(items)], named), cls, count)


@handles(random.Random.shuffle, RandomStreamVariable)
def shuffle(tx: Tracing, self: RandomStreamVariable, x: ListVariable) -> VariableTracker:
    if self.known is not None:
        tx.trace.side_effects.changes(x, "list", "a list is shuffled")
        tx.trace.journal.save(self)
        self.known.shuffle(x.items)
        return NONE
    cls = _common_type(x.items) if x.items else int
    source = drawn(tx, self, "shuffle", [_list_of(x.items)], {}, shuffled)
    tx.trace.side_effects.changes(x, "list", "a list is shuffled")
    x.items[:] = [drawn_number(tx, GetItemSource(source, i), cls) for i in range(len(x.items))]
    return NONE

"""NumPy's random generators: their draws become calls in the generated code, before the graph.

The kind of a draw's result (a number, a scalar, an array, its dtype and shape) depends on its arguments alone, and is
found by making the same call on a generator of our own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.runtime.streams import seed_legacy, shuffled_array
from tracer_core.sources import ConstantSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.callables import pin
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import builds, handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.numpy.arrays import NumpyNdarrayVariable
from tracer_core.variables.numpy.calls import changed
from tracer_core.variables.objects.classes import BuiltinVariable
from tracer_core.variables.random.drawn_arrays import before_the_graph, drawn_value
from tracer_core.variables.random.python_streams import (
    DrawnObjectVariable,
    RandomStreamVariable,
    drawn,
    made,
)

LEGACY: Any = getattr(np.random.rand, "__self__")  # noqa: B009
"""The generator behind the functions of `numpy.random`."""


class NumpyStreamVariable(RandomStreamVariable):
    __slots__ = ()
    kind = "numpy random generator"


@builds(np.random.RandomState, np.random.Generator)
def _stream(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if value is LEGACY:
        source = ConstantSource.of_object(value, "numpy.random")
    else:
        build.tx.guard(make.type_is(source, type(value)))
    return NumpyStreamVariable(type(value), source)


@builds(type(np.random.seed))
def _function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    pin(build, value, source)
    return BuiltinVariable(value, source)


# --- generators created in the trace --------------------------------------------------------------------------

_BIT_GENERATORS = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)


def _seeds(given: tuple[VariableTracker, ...]) -> list[VariableTracker]:
    seeds = [each.realize() for each in given]
    return [] if len(seeds) == 1 and seeds[0].python_type() is NoneType else seeds


@handles(np.random.default_rng)
def default_rng(tx: Tracing, *seed: VariableTracker) -> VariableTracker:
    seeds = _seeds(seed)
    if len(seeds) == 1 and seeds[0].python_type() is np.random.Generator:
        return seeds[0]
    return NumpyStreamVariable(np.random.Generator, made(tx, np.random.default_rng, seeds))


@handles(np.random.Generator)
def new_generator(tx: Tracing, bits: VariableTracker) -> VariableTracker:
    return NumpyStreamVariable(np.random.Generator, made(tx, np.random.Generator, [bits.realize()]))


@handles(np.random.RandomState)
def new_legacy(tx: Tracing, *seed: VariableTracker) -> VariableTracker:
    return NumpyStreamVariable(np.random.RandomState, made(tx, np.random.RandomState, _seeds(seed)))


for _bits in _BIT_GENERATORS:

    @handles(_bits)
    def new_bits(tx: Tracing, *seed: VariableTracker, cls: type = _bits) -> VariableTracker:
        return DrawnObjectVariable(cls, made(tx, cls, _seeds(seed)))


# --- draws ----------------------------------------------------------------------------------------------------

_DRAWS = (
    "rand randn random random_sample randint integers uniform normal standard_normal exponential choice permutation "
    "standard_exponential standard_gamma standard_t beta binomial chisquare dirichlet gamma geometric gumbel laplace "
    "logistic lognormal multinomial multivariate_normal pareto poisson power rayleigh triangular vonmises wald "
    "weibull"
).split()


def _draw(name: str) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, self: NumpyStreamVariable, /, *args: Any, **kwargs: Any) -> VariableTracker:
        given = [_given(tx, name, arg) for arg in args]
        named = {key: _given(tx, name, value) for key, value in kwargs.items()}
        example = _try_out(self.cls, name, [pair[1] for pair in given], {key: pair[1] for key, pair in named.items()})
        parts, options = [pair[0] for pair in given], {key: pair[0] for key, pair in named.items()}
        value = drawn_value(tx, drawn(tx, self, name, parts, options), example)
        if value is None:
            raise Unsupported("random-state", name=f"numpy.random.{name}")
        return value

    return handler


def _given(tx: Tracing, name: str, tracker: VariableTracker) -> tuple[VariableTracker, Any]:
    found = before_the_graph(tx, tracker)
    if found is None:
        raise Unsupported("random-state", name=f"numpy.random.{name}")
    return found


def _try_out(cls: type, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    stream = np.random.RandomState(0) if cls is np.random.RandomState else np.random.default_rng(0)
    try:
        return getattr(stream, name)(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - plain Python shall raise it, at its place
        raise Unsupported("operation-fails", what=name, error=f"{type(error).__name__}: {error}") from None


for _name in _DRAWS:
    method(NumpyStreamVariable, _name)(_draw(_name))
    for _class in (np.random.RandomState, np.random.Generator):
        if hasattr(_class, _name):
            handles(getattr(_class, _name), NumpyStreamVariable)(_draw(_name))


def shuffle(tx: Tracing, self: NumpyStreamVariable, x: VariableTracker) -> VariableTracker:
    x = x.realize()
    if not isinstance(x, NumpyNdarrayVariable) or not x.shadow.flags.writeable:
        raise Unsupported("random-state", name="numpy.random.shuffle")
    array, _ = _given(tx, "shuffle", x)
    value = drawn_value(
        tx, drawn(tx, self, "shuffle", [array], {}, shuffled_array), np.zeros(x.shadow.shape, x.shadow.dtype)
    )
    assert value is not None
    changed(tx, "setitem", operator.setitem, x, [ConstantVariable(...), value])
    return NONE


method(NumpyStreamVariable, "shuffle")(shuffle)
handles(np.random.RandomState.shuffle, NumpyStreamVariable)(shuffle)
handles(np.random.Generator.shuffle, NumpyStreamVariable)(shuffle)


# --- the state ------------------------------------------------------------------------------------------------


@handles(np.random.seed)
def seed(tx: Tracing, value: VariableTracker = NONE) -> VariableTracker:
    number = constant_or(value.realize(), None)
    if type(number) is not int or not 0 <= number < 2**32:
        raise Unsupported("random-state", name="numpy.random.seed")
    stream = tx.build(LEGACY, ConstantSource.of_object(LEGACY, "numpy.random"))
    assert isinstance(stream, NumpyStreamVariable)
    drawn(tx, stream, "seed", [value.realize()], {}, seed_legacy)
    return NONE


@handles(np.random.RandomState.get_state, NumpyStreamVariable)
def get_state(tx: Tracing, self: NumpyStreamVariable) -> VariableTracker:
    return DrawnObjectVariable(tuple, drawn(tx, self, "get_state", [], {}))


@handles(np.random.RandomState.set_state, NumpyStreamVariable)
def set_state(tx: Tracing, self: NumpyStreamVariable, state: VariableTracker) -> VariableTracker:
    if not isinstance(state.realize(), DrawnObjectVariable):
        raise Unsupported("random-state", name="numpy.random.set_state")
    drawn(tx, self, "set_state", [state.realize()], {})
    return NONE


for _owner, _names in (
    (np.random.RandomState, "seed bytes tomaxint"),
    (np.random.Generator, "bytes spawn permuted"),
):
    for _name in _names.split():

        @handles(getattr(_owner, _name), NumpyStreamVariable)
        def left(
            tx: Tracing, *args: VariableTracker, name: str = _name, **kwargs: VariableTracker
        ) -> VariableTracker:
            raise Unsupported("random-state", name=f"numpy.random.{name}")


method(NumpyStreamVariable, "get_state")(get_state)
method(NumpyStreamVariable, "set_state")(set_state)
for _name in ("seed", "bytes", "tomaxint", "spawn", "permuted"):
    method(NumpyStreamVariable, _name)(left)

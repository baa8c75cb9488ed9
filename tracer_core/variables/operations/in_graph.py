"""Add calls as nodes: the arguments as nodes and as fakes, the fake result, the new tracker."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch._subclasses import fake_tensor
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from tracer_core.errors import Unsupported
from tracer_core.graph.compliance import untagged
from tracer_core.graph.defaults import device_to_name, dtype_to_name
from tracer_core.graph.fakes import version_of
from tracer_core.graph.number_errors import may_be_huge
from tracer_core.graph.numpy_calls import NAMES_OF_NUMPY
from tracer_core.graph.repeated_calls import CalledMethod
from tracer_core.graph.script_objects import anew_of_script_objects
from tracer_core.operator_table import WRITTEN
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import ListVariable, RangeVariable, SequenceVariable, SliceVariable
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.plain_packages import runs_as_plain
from tracer_core.variables.core.tensors import InGraphVariable, specialized, unbacked
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.in_place import refuse_writes


def as_argument(tracker: VariableTracker) -> tuple[Any, Any]:
    """Return `tracker` as a node's argument, and as the fake value to run the operation on.

    Raises:
        NotConstant: the value cannot be part of a graph.
    """
    tracker = tracker.realize()
    if isinstance(tracker, InGraphVariable):
        return tracker.node, tracker.fake
    if isinstance(tracker, SliceVariable):
        pairs = [as_argument(part) for part in tracker.items]
        return slice(*(p[0] for p in pairs)), slice(*(p[1] for p in pairs))
    if isinstance(tracker, SequenceVariable) and not isinstance(tracker, RangeVariable):
        pairs = [as_argument(item) for item in tracker.items]
        return tracker.graph_value([p[0] for p in pairs]), tracker.make([p[1] for p in pairs])
    if isinstance(tracker, ConstDictVariable):
        entries = {key.value(): as_argument(item) for key, item in tracker.entries(None)}
        return {k: v[0] for k, v in entries.items()}, {k: v[1] for k, v in entries.items()}
    if isinstance(tracker, UserDefinedObjectVariable) and tracker.part is not None:
        return as_argument(tracker.part)
    value = tracker.value()
    if isinstance(value, (np.generic, np.dtype, type)) or (isinstance(value, torch.dtype) and value in _QUANTIZED):
        raise NotConstant(tracker.describe())
    return value, value


#: Fake tensors have no quantization: they would behave as if nothing had been quantized.
_QUANTIZED = frozenset({torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4})

#: Python's types where torch takes a dtype. A graph's code cannot name a type.
_AS_DTYPE: dict[Any, torch.dtype] = {
    bool: torch.bool,
    int: torch.int64,
    float: torch.float64,
    complex: torch.complex128,
}


def _argument_of(target: Any, tracker: VariableTracker) -> tuple[Any, Any]:
    """Return the same as `as_argument`; torch's own functions accept Python's number types as dtypes."""
    tracker = tracker.realize()
    if tracker.python_type() is type and _is_of_torch(target):
        dtype = _AS_DTYPE.get(tracker.value())
        if dtype is not None:
            return dtype, dtype
    return as_argument(tracker)


_AS_WRITTEN = {"_unique2": "unique"}
"""The names that people use for functions that torch calls for them."""


def _name_of(target: Any) -> str:
    """Return the operation as people write it."""
    if isinstance(target, str):
        return target
    name = str(NAMES_OF_NUMPY.get(target) or WRITTEN.get(target) or getattr(target, "__name__", target))
    return _AS_WRITTEN.get(name, name)


def _is_of_torch(target: Any) -> bool:
    return isinstance(target, str) or str(getattr(target, "__module__", None) or "torch").startswith("torch")


def call_in_graph(
    tx: Tracing,
    op: str,
    target: Any,
    args: list[VariableTracker],
    kwargs: dict[str, VariableTracker],
    run: Callable[..., Any] | None = None,
) -> VariableTracker:
    """Add a node for `target(*args, **kwargs)` and return the tracker of its result.

    Raises:
        Unsupported: an argument cannot be in a graph, or the operation needs real data, or it fails on fakes (then
            plain Python shall run it and raise what it raises).
    """
    name = _name_of(target)
    try:
        pairs = [_argument_of(target, arg) for arg in args]
        named = {key: _argument_of(target, arg) for key, arg in kwargs.items()}
    except NotConstant as error:
        raise Unsupported("graph-argument", what=name, argument=str(error)) from None
    if not tx.output.runs_as_it_is:
        if named.get("requires_grad", (False,))[0] is True:
            raise Unsupported("lost-by-back-ends", what=f"a leaf tensor created by {name} with requires_grad=True")
    if any(type(pair[1]) is torch.memory_format for pair in (*pairs, *named.values())):
        # Whether a tensor already has a memory format, and is returned as it is, depends on all strides.
        tx.output.note_strides_read()
    settings = tx.output.settings
    device = device_to_name(settings, target, {k: p[1] for k, p in named.items()})
    if device is not None:
        named["device"] = (device, device)
    function = run if run is not None else _runner(op, target)
    empty_lists = tx.output.fakes.operations.empty_lists
    fakes = [p[1] for p in pairs], {key: p[1] for key, p in named.items()}
    fake = _run(tx, target, function, *fakes)
    if tx.output.fakes.held_elsewhere:
        fake = anew_of_script_objects(fake, *fakes)
    if not tx.output.runs_as_it_is and tx.output.fakes.operations.empty_lists != empty_lists:
        # Functionalization refuses lists that are written to and empty.
        raise Unsupported("lost-by-back-ends", what=f"the writes of {name} into several lists, one of them empty")
    _note_untagged(tx, target, *fakes)
    if _has_unbacked_size(tx, fake):
        raise Unsupported("data-dependent-op", what=name, error="the size of its result depends on the data")
    dtype = dtype_to_name(settings, target, [p[1] for p in pairs], {k: p[1] for k, p in named.items()}, fake)
    if dtype is not None:
        named["dtype"] = (dtype, dtype)
    node = tx.output.add_node(op, target, tuple(p[0] for p in pairs), {k: p[0] for k, p in named.items()}, fake)
    # (An optimizer uses all results, so a back end omits none of them.)
    left_out = node.meta.get("may_raise") and not tx.output.runs_as_it_is and not runs_as_plain(tx)
    done = _done_now(tx, node, args) if left_out else None
    return wrap_fx_proxy(tx, node, fake) if done is None else done


def _note_untagged(tx: Tracing, target: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    operator = untagged(target, args, kwargs)
    if operator is None:
        return
    name = operator._schema.name
    if tx.output.frame.config.is_on("only_allow_pt2_compliant_ops"):
        raise Unsupported("operator-not-tagged", operator=name)
    tx.output.untagged.setdefault(name, tx.output.where())


def _done_now(tx: Tracing, node: torch.fx.Node, args: list[VariableTracker]) -> VariableTracker | None:
    """Compute arithmetic that may raise, and that a back end would omit if its result is unused, on the present
    numbers, which are guarded. None if tensors decide."""
    if any(may_be_huge(each.meta["example_value"]) for each in node.all_input_nodes):
        raise Unsupported("huge-constant", what="an integer that may be too large for a float")
    fixed = [specialized(tx, arg) for arg in args]
    result = fold(tx, node.target, fixed, {})
    if result is not None:
        node.graph.erase_node(node)
    return result


def _has_unbacked_size(tx: Tracing, fake: Any) -> bool:
    """Return whether a size in a result is known only when the graph has run, and no operator gave it."""
    if isinstance(fake, (tuple, list)):
        return any(_has_unbacked_size(tx, item) for item in fake)
    sizes = fake.shape if isinstance(fake, torch.Tensor) else (fake,)
    symbols = {s for n in sizes if isinstance(n, torch.SymInt) for s in n.node.expr.free_symbols}
    symbols -= tx.output.fakes.given
    if not isinstance(fake, torch.Tensor):
        symbols -= tx.output.fakes.unknowns
    of_inputs = tx.output.fakes.symbols
    return any(str(symbol) not in of_inputs for symbol in symbols & unbacked(tx))


def _runner(op: str, target: Any) -> Callable[..., Any]:
    return CalledMethod(target) if op == "call_method" else target


def _run(tx: Tracing, target: Any, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    name = _name_of(target)
    tensors = list(_tensors([*args, *kwargs.values()]))
    versions = [version_of(tensor) for tensor in tensors]
    try:
        result = tx.output.run_fake(function, args, kwargs)
        if not tx.output.runs_as_it_is:
            _refuse_to_reshape_inputs(tx, name, tensors)
        refuse_writes(tx, target, name, args, tensors, versions)
        return result
    except Unsupported:
        raise
    except Exception as error:
        raise _refusal(target, error, tensors) from error


def _refusal(target: Any, error: Exception, tensors: list[torch.Tensor]) -> Unsupported:
    """Return why an operation could not run on fakes, which may not be the fault of its arguments."""
    name = _name_of(target)
    for kinds, why in _DEPENDS_ON_DATA:
        if isinstance(error, kinds):
            return Unsupported("data-dependent-op", what=name, error=why)
    if target in NAMES_OF_NUMPY:
        # NumPy itself has accepted the arguments.
        return Unsupported("numpy-function", name=name)
    text = _first_line(error)
    # (In transforms that are nested deeply, torch itself mixes fakes with the meta tensors that they are made of.)
    has_meta = any(tensor.device.type == "meta" for tensor in tensors)
    of_devices = isinstance(error, fake_tensor.FakeTensorDeviceMismatchError) and (has_meta or "meta" not in text)
    if isinstance(error, _OF_FAKES_ALONE) or (not of_devices and _SAID_OF_FAKES.search(text)):
        return Unsupported("fake-tensors", what=name)
    # The operation itself refuses these arguments: plain Python will show the user the same error.
    return Unsupported("operation-fails", what=name, error=f"{_public_class(error)}: {text}")


_DEPENDS_ON_DATA: tuple[tuple[Any, str], ...] = (
    (fake_tensor.DataDependentOutputException, "it reads a number from a tensor"),
    (fake_tensor.DynamicOutputShapeException, "the size of its result depends on the data"),
    (GuardOnDataDependentSymNode, "it needs a size or number that depends on the data"),
)
_OF_FAKES_ALONE = (
    fake_tensor.UnsupportedFakeTensorException,
    fake_tensor.UnsupportedOperatorException,
    fake_tensor.UnsupportedMutationAliasingException,
)
_SAID_OF_FAKES = re.compile(
    r"data is not allocate[d]|INTERNAL ASSER[T]|report a bu[g]|\bSym(?:Int|Float|Bool|Node)\b|\b[Ff]ake(?:Tensor|\b)"
    r"|\b[Mm]eta\b|\.(?:cpp|h|cu)\b"
)
"""Errors that only fakes raise mention: memory without data, symbols, the device of fakes, places in C++. (It does
not match itself: the program may look into the cache of `re`.)"""


def _public_class(error: Exception) -> str:
    """Return the class of an error as people know it: fakes raise classes of their own where real tensors raise
    Python's."""
    return next(cls.__name__ for cls in type(error).__mro__ if not cls.__module__.startswith("torch._"))


def _refuse_to_reshape_inputs(tx: Tracing, name: str, tensors: list[torch.Tensor]) -> None:
    """Check that inputs keep their sizes, and their histories: back ends that rewrite graphs support no other changes
    of inputs."""
    for tensor in tensors:
        tracked = tx.output.fakes.inputs.get(id(tensor))
        if tracked is not None and tracked.reshaped:
            raise Unsupported("lost-by-back-ends", what=f"the change that {name} makes to {tracked.source.written}")


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors(value)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def is_in_graph(tracker: VariableTracker) -> bool:
    """Return whether `tracker` contains a tensor or symbolic number."""
    tracker = tracker.realize()
    if isinstance(tracker, InGraphVariable):
        return True
    if isinstance(tracker, (ListVariable, SequenceVariable)):
        return any(is_in_graph(item) for item in tracker.items)
    return False

"""Triton kernels: a launch is a node `triton_kernel_wrapper_mutation`, as with torch's compiler.

The kernel, and arguments that no graph can hold, are in torch's side table, and the node has their numbers. Kernels
of the interpreter (`TRITON_INTERPRET=1`) are captured, too: the node launches them.
"""

from __future__ import annotations

import inspect
import operator
from typing import Any

import torch
from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table, triton_kernel_wrapper_mutation

from tracer_core.errors import Unsupported
from tracer_core.graph.memory import storage_of
from tracer_core.guards import make
from tracer_core.sources import AttrSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import NotConstant, VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import builds_named, handles
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, specialized
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.in_graph import as_argument

_AUTOTUNER = "triton.runtime.autotuner.Autotuner"
_IN_GRAPHS = (int, float, bool, str, type(None), torch.dtype)

# Options of a launch that are no arguments of the kernel.
_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg", "warmup", "stream"})


class TritonKernelVariable(VariableTracker):
    """A kernel, or an autotuner that chooses the configuration of one."""

    __slots__ = ("real",)
    kind = "Triton kernel"
    mutable = True

    def __init__(self, real: Any, source: Source) -> None:
        super().__init__(source)
        self.real = real

    def python_type(self) -> type:
        return type(self.real)

    def describe(self) -> str:
        return f"Triton kernel {_name(self.real)}"

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name != "run":
            raise Unsupported("triton-kernel", kernel=_name(self.real), why=f"the code reads {name} of it")
        return LaunchVariable(self)


class LaunchVariable(VariableTracker):
    """A kernel with its grid, which is called with the kernel's arguments: `kernel[grid]`, or `kernel.run`, which is
    called with the grid, too."""

    __slots__ = ("grid", "kernel")
    kind = "launch of a Triton kernel"

    def __init__(self, kernel: TritonKernelVariable, grid: VariableTracker | None = None) -> None:
        super().__init__()
        self.kernel = kernel
        self.grid = grid

    def python_type(self) -> type:
        return type(self.kernel.real.run)

    def describe(self) -> str:
        return f"launch of {_name(self.kernel.real)}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("kernel", self.kernel)] + ([] if self.grid is None else [("grid", self.grid)])

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        if self.grid is None:
            kwargs = dict(kwargs)
            warmup = kwargs.pop("warmup", ConstantVariable(False))
            grid = kwargs.pop("grid", None)
            if grid is None or constant_or(warmup, None) is not False:
                why = "it is not launched with a grid"
                raise Unsupported("triton-kernel", kernel=_name(self.kernel.real), why=why)
        else:
            grid = self.grid
        return _launch(tx, self.kernel.real, grid.realize(), args, kwargs)


@builds_named("triton.runtime.jit.JITFunction", "triton.runtime.interpreter.InterpretedFunction", _AUTOTUNER)
def _kernel(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.identity(source, value))
    return build.register(value, TritonKernelVariable(value, source))


@builds_named("triton.runtime.jit.ConstexprFunction")
def _helper(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Build the tracker of `triton.cdiv` and the like, which outside kernels are Python functions."""
    build.tx.guard(make.identity(source, value))
    return build(value.fn, AttrSource(source, "fn"))


@handles(operator.getitem, TritonKernelVariable)
def _with_grid(tx: Tracing, kernel: TritonKernelVariable, grid: VariableTracker, /) -> VariableTracker:
    return LaunchVariable(kernel, grid)


@handles(torch.library.wrap_triton)
def _wrap(tx: Tracing, kernel: VariableTracker, /) -> VariableTracker | None:
    kernel = kernel.realize()
    return kernel if isinstance(kernel, TritonKernelVariable) else None


def _launch(
    tx: Tracing, kernel: Any, grid: VariableTracker, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    _refuse(kernel, args, kwargs)
    function = kernel.fn if isinstance(kernel.fn, type(_launch)) else kernel.fn.fn
    given = dict(zip(kernel.arg_names, args, strict=False)) | kwargs
    parameters = inspect.signature(function).parameters
    given = {
        name: specialized(tx, value) if "constexpr" in str(parameters[name].annotation) else value.realize()
        for name, value in given.items()
    }
    configs = [each.kwargs for each in kernel.configs] if _is_tuned(kernel) else [{}]
    grids = [_grid(tx, _name(kernel), grid, given, config) for config in configs]
    in_graph, constants = _split(tx, _name(kernel), given)
    _note_writes(tx, _name(kernel), [each.fake for each in given.values() if isinstance(each, TensorVariable)])
    target = {
        "kernel_idx": kernel_side_table.add_kernel(kernel),
        "constant_args_idx": kernel_side_table.add_constant_args(constants),
        "grid": grids,
        "tma_descriptor_metadata": {},
        "kwargs": in_graph,
    }
    tx.output.add_node("call_function", triton_kernel_wrapper_mutation, (), target, None)
    return NONE


def _note_writes(tx: Tracing, name: str, tensors: list[torch.Tensor]) -> None:
    """Note that the kernel may write to all tensors: to which, only Triton knows."""
    for tensor in tensors:
        tx.output.fakes.operations.note_write(tensor)
    if not tx.output.runs_as_it_is and len(set(map(storage_of, tensors))) < len(tensors):
        raise Unsupported(
            "lost-by-back-ends", what=f"writes of the Triton kernel {name}, two of whose arguments overlap"
        )


def _refuse(kernel: Any, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> None:
    """Check that the node launches the kernel as the program does."""
    inner = kernel.fn if _is_tuned(kernel) else kernel
    options = sorted(_OPTIONS & set(kwargs) - set(kernel.arg_names))
    unknown = [name for name in kwargs if name not in kernel.arg_names]
    tuned = ("user_defined_pre_hook", "user_defined_post_hook", "reset_to_zero", "restore_value", "perf_model",
             "early_config_prune")  # fmt: skip
    why = None
    if options:
        why = f"it is launched with the option {options[0]}"
    elif unknown or len(args) > len(kernel.arg_names):
        why = "it does not take these arguments"
    elif not isinstance(inner.fn, type(_refuse)):
        why = "another decorator is between the kernel and its autotuner"
    elif getattr(inner, "pre_run_hooks", None):
        why = "it has hooks"
    elif _is_tuned(kernel) and any(getattr(kernel, name, None) for name in tuned):
        why = "its autotuner has more than configurations and keys"
    if why is not None:
        raise Unsupported("triton-kernel", kernel=_name(kernel), why=why)


def _grid(
    tx: Tracing, name: str, grid: VariableTracker, given: dict[str, VariableTracker], config: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the three numbers of a grid, which may be a function of the arguments and the configuration."""
    if not isinstance(grid, TupleVariable):
        meta = given | {key: tx.constant(value) for key, value in config.items()}
        grid = tx.call(grid, [ConstDictVariable([(tx.constant(key), value) for key, value in meta.items()])], {})
    sizes = [each.realize() for each in tx.unpack(grid.realize())]
    if not 1 <= len(sizes) <= 3 or not all(isinstance(each, (ConstantVariable, SymNodeVariable)) for each in sizes):
        raise Unsupported("triton-kernel", kernel=name, why="its grid is not a tuple of one to three integers")
    return *(as_argument(size)[0] for size in sizes), *[1] * (3 - len(sizes))


def _split(tx: Tracing, name: str, given: dict[str, VariableTracker]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split arguments into those of the node and those of the side table."""
    in_graph: dict[str, Any] = {}
    constants: dict[str, Any] = {}
    for key, value in given.items():
        if isinstance(value, UserDefinedObjectVariable) and value.cls.__module__.startswith("triton.language"):
            assert value.source is not None
            tx.guard(make.identity(value.source, value.real))  # a type of Triton's, as tl.float32
            constants[key] = value.real
            continue
        try:
            argument = as_argument(value)[0]
        except NotConstant:
            raise Unsupported("triton-kernel", kernel=name, why=f"its argument {key} is {value.describe()}") from None
        fits = isinstance(argument, (torch.fx.Node, *_IN_GRAPHS))
        (in_graph if fits else constants)[key] = argument
    return in_graph, constants


def _is_tuned(kernel: Any) -> bool:
    return f"{type(kernel).__module__}.{type(kernel).__qualname__}" == _AUTOTUNER


def _name(kernel: Any) -> str:
    while not hasattr(kernel, "__name__"):
        kernel = kernel.fn
    return str(kernel.__name__)

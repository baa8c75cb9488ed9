"""`make_fx`: which modes a trace enters, with what arguments it calls the function, and what becomes of the graph."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import Tensor
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import GuardSource, detect_fake_mode
from torch._guards import Source as TorchSource
from torch._library.fake_class_registry import FakeScriptObject, maybe_to_fake_obj
from torch._library.opaque_object import OpaqueBase, is_opaque_value, is_opaque_value_type
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule, Tracer
from torch.fx._lazy_graph_module import _make_graph_module
from torch.fx._symbolic_trace import PH
from torch.fx.passes.runtime_assert import insert_deferred_runtime_asserts
from torch.types import py_sym_types

import tracer_core.proxy_tensor.restoring  # noqa: F401  which registers the state that ProcessState restores
from tracer_core.host.process_state import ProcessState
from tracer_core.proxy_tensor.cleanup import merge_symbols, remove_dead_code
from tracer_core.proxy_tensor.data_dependent import explained
from tracer_core.proxy_tensor.fake_mode import fake_mode_for
from tracer_core.proxy_tensor.function_modes import PreDispatchTorchFunctionMode, TorchFunctionMetadataMode
from tracer_core.proxy_tensor.modes import (
    PreDispatchProxyMode,
    ProxyTorchDispatchMode,
    Table,
    disable_proxy_modes_tracing,
)
from tracer_core.proxy_tensor.module_stack import ModuleStackTracer
from tracer_core.proxy_tensor.numbers import thunk_of
from tracer_core.proxy_tensor.slots import SCRIPT_OBJECTS, get_proxy_slot
from tracer_core.proxy_tensor.torch_adapter import current_trace
from tracer_core.proxy_tensor.tracers import PythonKeyTracer
from tracer_core.proxy_tensor.tracking import track_tensor_tree

TRACING_MODES = ("real", "fake", "symbolic")


@dataclass(frozen=True)
class InputSource(TorchSource):
    """The name by which symbols of an input are known."""

    text: str

    @functools.cached_property
    def guard_source(self) -> GuardSource:
        return GuardSource.CONSTANT

    @property
    def _name_template(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `make_fx`."""

    decomposition_table: Table
    tracing_mode: str = "real"
    allow_non_fake_inputs: bool = False
    pre_dispatch: bool = False
    record_module_stack: bool = False
    allow_fake_constant: bool = False
    error_on_data_dependent_ops: bool = True
    record_stack_traces: bool = False
    proxy_module_inputs: bool = False
    torch_function_names: bool = True


@dataclass(slots=True)
class Trace:
    """One graph being traced: its tracer and its fake mode. `parent` is the trace of the graph around it."""

    options: Options
    fx_tracer: Any = None
    fake_tensor_mode: FakeTensorMode | None = None
    parent: Trace | None = None

    # --- what a trace is set up with ----------------------------------------------------------------------
    @staticmethod
    def of(function: Callable[..., Any], args: tuple[Any, ...], options: Options) -> Trace:
        """Return a trace for `function` with a tracer and a fake mode of its own, or that of the arguments."""
        tracer: PythonKeyTracer
        if options.record_module_stack and hasattr(function, "_orig_mod"):
            tracer = ModuleStackTracer(function._orig_mod)
        else:
            tracer = PythonKeyTracer()
            if options.record_stack_traces and not torch.fx.config.do_not_emit_stack_traces:
                tracer.record_stack_traces = True
                tracer._record_forward_stack_traces_only = True
        return Trace(options, tracer, fake_mode_for(args, options.tracing_mode, options.allow_non_fake_inputs))

    def enter(self, stack: ExitStack) -> None:
        """Enter the modes of the trace, from the bottom to the top."""
        options, tracer = self.options, self.fx_tracer
        tracer.proxy_module_inputs = options.proxy_module_inputs
        if self.fake_tensor_mode is not None:
            stack.enter_context(self.fake_tensor_mode)
        if options.tracing_mode == "symbolic" or options.pre_dispatch:
            stack.enter_context(enable_python_dispatcher())
        if options.pre_dispatch:
            stack.enter_context(PreDispatchTorchFunctionMode(tracer))
        if options.torch_function_names:
            stack.enter_context(TorchFunctionMetadataMode(tracer))
        mode = PreDispatchProxyMode if options.pre_dispatch else ProxyTorchDispatchMode
        stack.enter_context(
            mode(
                tracer,
                options.tracing_mode,
                pre_dispatch=options.pre_dispatch,
                _allow_fake_constant=options.allow_fake_constant,
                _error_on_data_dependent_ops=options.error_on_data_dependent_ops,
                decomposition_table=options.decomposition_table,
            )
        )
        # The cache would hold converted parameters that have no slot.
        cached = torch.is_autocast_cache_enabled()
        torch.set_autocast_cache_enabled(False)
        stack.callback(torch.set_autocast_cache_enabled, cached)
        stack.enter_context(current_trace(self))

    # --- tracing --------------------------------------------------------------------------------------------
    def run(self, function: Callable[..., Any], *args: Any) -> GraphModule:
        """Return the graph of `function` called with `args`."""
        placeholders = pytree.tree_map(lambda _: PH, args)
        args = self._fakes_of(args)
        with ExitStack() as stack:
            self.enter(stack)
            module = dispatch_trace(
                wrap_key(_with_fixed_arity(function, len(args)), args, self.fx_tracer),
                tracer=self.fx_tracer,
                concrete_args=tuple(placeholders),
            )
        if self.parent is not None:
            fake_mode = detect_fake_mode(args)
            if fake_mode is not None and fake_mode.shape_env is not None:
                insert_deferred_runtime_asserts(module, fake_mode.shape_env, "body of a higher-order operator")
                module.recompile()
        if self.options.tracing_mode == "symbolic":
            assert self.fake_tensor_mode is not None
            module.shape_env = self.fake_tensor_mode.shape_env
        return module

    def trace_subgraph(self, f: Callable[..., Any], *args: Any) -> GraphModule:
        """Return the graph of a function that a higher-order operator calls, traced as this graph is."""
        return self._body(self.options.decomposition_table).run(f, *args)

    def trace_subgraph_custom_decomp(self, f: Callable[..., Any], decomp_table: Table, *args: Any) -> GraphModule:
        """Return the graph of such a function, decomposed by another table."""
        return self._body(_with_sym_numel(decomp_table)).run(f, *args)

    def _body(self, table: Table) -> Trace:
        ours = self.options
        options = Options(
            table,
            "real",  # The arguments are fake already.
            ours.allow_non_fake_inputs,
            ours.pre_dispatch,
            ours.record_module_stack,
            ours.allow_fake_constant,
            ours.error_on_data_dependent_ops,
        )
        return Trace(options, self.fx_tracer.for_body(), self.fake_tensor_mode, self)

    def _fakes_of(self, args: Any) -> Any:
        """Return the arguments as this trace passes them to the function: fake, with symbols for sizes and ints."""
        mode = self.fake_tensor_mode
        if self.options.tracing_mode == "real":
            return args
        assert mode is not None
        symbolic = self.options.tracing_mode == "symbolic"
        count = 0

        def fake_of(value: Any) -> Any:
            nonlocal count
            source = InputSource(f"input{count}")
            if isinstance(value, Tensor):
                count += 1
                return mode.from_tensor(value, source=source)
            if symbolic and type(value) is int:
                env = mode.shape_env
                assert env is not None
                symbol = env.create_symbol(value, source, positive=None)
                return env.create_symintnode(symbol, hint=value, source=source)
            if isinstance(value, FakeScriptObject):
                raise ValueError(f"the script object {value} is fake already, and cannot be traced with as an input")
            if isinstance(value, torch.ScriptObject) or is_opaque_value(value):
                return value if is_opaque_value_type(type(value)) else maybe_to_fake_obj(mode, value)
            return value

        return pytree.tree_map(fake_of, args)


def _with_fixed_arity(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a function of `count` named arguments, which fx needs, for one with `*args` or without code."""
    inner = inspect.unwrap(function)
    if hasattr(inner, "__code__") and not inner.__code__.co_flags & inspect.CO_VARARGS:
        return function
    names = ",".join(f"arg{i}" for i in range(count))
    fixed: Callable[..., Any] = eval(f"lambda {names}: fn({names})", {"fn": function})
    return fixed


def wrap_key(function: Callable[..., Any], args: Any, tracer: Any) -> Callable[..., Any]:
    """Return `function` for a tracer: called with proxies, it calls `function` with the `args` that they stand for,
    and returns the proxies of its results."""
    flat_args = pytree.tree_leaves(args)

    @functools.wraps(function)
    def wrapped(*proxies: Any, **_unused: Any) -> Any:
        flat_proxies = pytree.tree_leaves(proxies)
        if len(flat_proxies) != len(flat_args):
            raise RuntimeError(f"the function has {len(flat_args)} inputs, but the graph {len(flat_proxies)}")
        with disable_proxy_modes_tracing():
            track_tensor_tree(flat_args, flat_proxies, constant=None, tracer=tracer)
        called_with = args
        if tracer.proxy_module_inputs:
            called_with = [
                proxy if isinstance(value, torch.nn.Module) else value
                for value, proxy in zip(args, proxies, strict=True)
            ]
        return _proxies_of(function(*called_with), tracer)

    return wrapped


def _proxies_of(result: Any, tracer: Any) -> Any:
    """Return the result of a traced function with proxies in place of its values. Numbers come last, and become
    nodes here."""

    def of_value(value: Any) -> Any:
        if isinstance(value, Tensor):
            slot = tracer.tensor_tracker.get(value)
            return value if slot is None else slot.proxy
        if isinstance(value, (*SCRIPT_OBJECTS, OpaqueBase)):
            return get_proxy_slot(value, tracer, value)
        return value

    def of_number(value: Any) -> Any:
        return thunk_of(value, tracer).force() if isinstance(value, py_sym_types) else value

    return pytree.tree_map(of_number, pytree.tree_map(of_value, result))


@torch._disable_dynamo
def dispatch_trace(
    root: torch.nn.Module | Callable[..., Any], tracer: Tracer, concrete_args: tuple[Any, ...] | None = None
) -> GraphModule:
    """Return the module of the graph that `tracer` builds of `root`, without dead code and equal symbols."""
    graph: Graph = tracer.trace(root, concrete_args)  # type: ignore[arg-type]
    remove_dead_code(graph)
    merge_symbols(graph)
    name = type(root).__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)


# --- entry points -------------------------------------------------------------------------------------------
def make_fx(
    f: Callable[..., Any],
    decomposition_table: Table | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
    record_stack_traces: bool = False,
    proxy_module_inputs: bool = False,
    _disable_torch_fn_metadata_mode: bool = False,
) -> Callable[..., GraphModule]:
    """Return a function that calls `f` with its arguments, and returns the graph of the operators that `f` called.

    Args:
        decomposition_table: functions that compute operators by others. An operator in it is not in the graph.
        tracing_mode: `real` runs `f` on the arguments; `fake` on fake tensors, which have no values; `symbolic` on
            fake tensors whose sizes are symbols, with ints as symbols too.
        _allow_non_fake_inputs: let `f` use real tensors beside its arguments, where those are fake.
        pre_dispatch: trace above autograd, where composite operators are whole. Changes of grad mode and autocast
            become nodes.
        record_module_stack: note in each node which modules called the operator. `f` must have the module as
            `_orig_mod`.
        _allow_fake_constant: let `f` use fake tensors beside its arguments.
        _error_on_data_dependent_ops: raise an error where `f` reads a number from a real tensor.
        record_stack_traces: note in each node the lines of the `forward` methods that called the operator.
        proxy_module_inputs: pass proxies to `f` for arguments that are modules.
    """
    if tracing_mode not in TRACING_MODES:
        raise ValueError(f"tracing_mode must be one of {', '.join(TRACING_MODES)}, but is {tracing_mode!r}")
    inductor = sys.modules.get("torch._inductor.config")
    options = Options(
        _with_sym_numel(decomposition_table or {}),
        tracing_mode,
        _allow_non_fake_inputs,
        pre_dispatch,
        record_module_stack,
        _allow_fake_constant,
        _error_on_data_dependent_ops,
        record_stack_traces or (inductor is not None and inductor.trace.provenance_tracking_level == 1),
        proxy_module_inputs,
        not _disable_torch_fn_metadata_mode,
    )

    @functools.wraps(f)
    def traced(*args: Any) -> GraphModule:
        _import_now()
        found = ProcessState()
        trace: Trace | None = None
        done = False
        try:
            try:
                trace = Trace.of(f, args, options)
                module = trace.run(f, *args)
                done = True
            finally:
                if not done:
                    found.put_back()
            return module
        except BaseException as error:
            found.put_back()  # Ctrl-C may come in the midst of that, too.
            interruption = _interruption(error)
            if interruption is not None and interruption is not error:
                raise interruption from None
            told = explained(error, None if trace is None else getattr(trace.fx_tracer, "graph", None))
            if told is error:
                raise
            raise told from error

    return traced


def _interruption(error: BaseException) -> BaseException | None:
    """Return the Ctrl-C, or other exception that is no error, in whose wake `error` was raised: blocks that it
    interrupted in the midst of entering or leaving them cannot be left."""
    seen: BaseException | None = error
    while isinstance(seen, Exception):
        seen = seen.__context__
    return seen


@torch._disable_dynamo
def _import_now() -> None:
    """Have torch's compiler imported, which torch does when the first mode is called: its import calls torch's
    functions, and must not do that under the modes of a trace."""


def _with_sym_numel(table: Table) -> Table:
    operator = torch.ops.aten.sym_numel.default
    return table if operator in table else {**table, operator: torch._decomp.decompositions.sym_numel}


def wrapper_and_args_for_make_fx(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """Return a function of one list, and that list, for a call with keywords and nested arguments."""
    flat, spec = pytree.tree_flatten((args, kwargs))

    def wrapped(flat_args: list[Any]) -> Any:
        fn_args, fn_kwargs = pytree.tree_unflatten(flat_args, spec)
        return func(*fn_args, **fn_kwargs)

    return wrapped, flat


def get_isolated_graphmodule(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    tracing_mode: str = "real",
    decomposition_table: Table | None = None,
) -> GraphModule:
    """Return the graph of a call, apart from the trace that is active."""
    wrapped, flat = wrapper_and_args_for_make_fx(func, args, kwargs)
    with disable_proxy_modes_tracing():
        return make_fx(wrapped, decomposition_table=decomposition_table, tracing_mode=tracing_mode)(flat)

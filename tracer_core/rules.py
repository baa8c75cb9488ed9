"""Decide how to treat a function that the traced program calls: one table, read in one place.

- `inline`: trace its Python code;
- `graph`: a node in the graph;
- `nonstrict`: a node in the graph, to which containers are passed by their leaves;
- `fold`: call it now, on constants;
- `higher-order`: call a handler; without one, break with the operator's name (`higher_order_table`);
- `skip`: break the graph, so that the call runs as plain Python, with the reason.
"""

from __future__ import annotations

import binascii
import cmath
import functools
import inspect
import logging
import math
import operator
import struct
import sys
import types
import typing
import unicodedata
import weakref
from dataclasses import dataclass
from typing import Any

import torch
import torch.overrides

from tracer_core.higher_order_table import higher_order, undecorated


@dataclass(frozen=True, slots=True)
class Rule:
    action: str  # inline | graph | nonstrict | fold | higher-order | skip
    why: str = ""


INLINE = Rule("inline")
GRAPH = Rule("graph")
NONSTRICT = Rule("nonstrict")
FOLD = Rule("fold")
HIGHER_ORDER = Rule("higher-order")

# Modules whose Python functions are not inlined, by prefix, and why.
SKIPPED_MODULES: dict[str, str] = {
    "torch._dynamo": "it belongs to torch's own compiler",
    "torch._inductor": "it belongs to torch's own compiler",
    "torch._functorch": "it belongs to torch's own compiler",
    "torch._subclasses": "it belongs to torch's own compiler",
    "torch.fx": "it works on graphs, not on tensors",
    "torch.onnx": "it exports models",
    "torch.export": "it exports models",
    "torch.profiler": "it measures the running program",
    "torch.utils.data": "it reads data",
    "torch.multiprocessing": "it starts processes",
    "torch.serialization": "it reads or writes files",
    "torch._tensor_str": "it prints the values of tensors",
    "torch.testing": "it compares the values of tensors",
    "torch.hub": "it downloads files",
    "triton.runtime": "it launches a Triton kernel",
    "torch.random": "it changes the state of random generators",
    "torch.cuda": "it controls a device",
    "torch.autograd.grad_check": "it runs functions many times",
    "numpy": "NumPy is not traced",
    "logging": "it passes records to handlers, which are not traced",
    "warnings": "it changes the warning filters, which are not traced",
    "_warnings": "it issues a warning, or changes the warning filters",
    "gc": "it works on all objects of the process",
    "threading": "it starts or waits for threads",
    "_thread": "it starts or waits for threads",
    "multiprocessing": "it starts processes",
    "subprocess": "it starts processes",
    "asyncio": "it runs an event loop",
    "posix": "it calls the operating system",
    "nt": "it calls the operating system",
    "_io": "it reads or writes files",
    "io": "it reads or writes files",
    "pathlib": "it calls the operating system",
    "pickle": "it converts objects to or from bytes",
    "_pickle": "it converts objects to or from bytes",
    "importlib": "it loads code",
    "traceback": "it inspects the Python stack",
    "inspect": "it inspects Python objects",
    "random": "it reads or changes the state of a random generator",
    "time": "it reads the clock",
    "pdb": "it stops the program",
    "pytest": "it belongs to a test runner",
    "unittest": "it belongs to a test runner",
    "IPython": "it belongs to the notebook",
    "ipykernel": "it belongs to the notebook",
    "tracer_core.frame_eval.api": "it was compiled on its own",
    "tracer_core.frame_eval.modules": "it was compiled on its own",
    "tracer_core": "it belongs to tracewalk",
    "tracewalk": "it belongs to tracewalk",
}

# Functions of these modules for which another reason holds.
SKIPPED_FUNCTIONS: dict[Any, str] = dict.fromkeys(
    (torch.initial_seed, torch.get_rng_state), "it reads the state of a random generator"
)

# Python functions inlined although a prefix above says otherwise.
INLINED_MODULES = (
    "tracer_core.polyfills",
    "torch._dynamo.comptime",
    "torch._dynamo.mutation_guard",
    "torch._dynamo._trace_wrapped_higher_order_op",
    # Transforms of functions: what they are made of is in the graph.
    "torch._functorch.apis",
    "torch._functorch.deprecated",
    "torch._functorch.eager_transforms",
    "torch._functorch.functional_call",
    "torch._functorch.utils",
    "torch._functorch.vmap",
    # Its functions for symbolic numbers: in the program these are plain numbers.
    "torch.fx.experimental.symbolic_shapes",
)
INLINED_FUNCTIONS = frozenset({
    inspect.isclass, inspect.isfunction, inspect.ismethod, inspect.isbuiltin, inspect.isroutine, inspect.ismodule,
    inspect.isgenerator, inspect.isabstract, inspect.isawaitable, inspect.iscoroutine, inspect.isasyncgen,
    inspect.ismethoddescriptor, inspect.isdatadescriptor, inspect.isgetsetdescriptor, inspect.ismemberdescriptor,
    inspect.getmro, inspect.cleandoc, inspect.getfullargspec, inspect.Signature.bind, inspect.Signature.bind_partial,
    inspect.Signature._bind,  # type: ignore[attr-defined]
    inspect.BoundArguments.__init__, inspect.BoundArguments.apply_defaults, inspect.BoundArguments.__eq__,
    *(part.fget for part in vars(inspect.BoundArguments).values() if isinstance(part, property)),
    *(part.fget for part in vars(inspect.Parameter).values() if isinstance(part, property)),
    *(part.fget for part in vars(inspect.Signature).values() if isinstance(part, property)),
    logging.Logger.isEnabledFor, logging.Logger.getEffectiveLevel,
    logging.Manager.disable.fget,  # type: ignore[attr-defined]
    torch.cuda.device.__init__, torch.cuda.device.__enter__, torch.cuda.device.__exit__,
    torch.cuda._exchange_device, torch.cuda._maybe_exchange_device,
    torch.cuda.stream, torch.cuda.StreamContext.__init__, torch.cuda.StreamContext.__enter__,
    torch.cuda.StreamContext.__exit__, torch.cuda._utils._get_device_index,
})  # fmt: skip

# The same by module and name, for modules that are not imported here.
INLINED_BY_NAME = frozenset(
    {
        ("torch._dynamo.external_utils", "is_compiling"),
        *(
            ("torch._subclasses.meta_utils", name)
            for name in ("is_sparse_any", "is_sparse_coo", "is_sparse_compressed", "is_sparse_compressed_layout")
        ),
    }
)

# Builtin functions without side effects whose result depends on their arguments alone.
_FOLDED: set[Any] = {
    abs, ascii, bin, bool, bytes, chr, complex, divmod, float, format, hash, hex, int, oct, ord, pow, repr, round,
    str, len, min, max, sum, sorted, any, all, callable, isinstance, issubclass, slice, tuple, frozenset, range,
    torch.is_tensor, torch.finfo, torch.iinfo, torch.promote_types, torch.result_type, torch.can_cast,
    torch.device, torch.Size, torch.get_default_dtype, torch.typename,
    sys.intern, str.maketrans, bytes.maketrans, bytes.fromhex, float.fromhex, int.from_bytes, dict.fromkeys,
    struct.pack, struct.unpack, struct.calcsize, unicodedata.name, unicodedata.normalize,
    unicodedata.category,
}  # fmt: skip
# Reads only type variables; `typing_extensions` replaces it by a function that inspects the stack.
_FOLDED.add(typing._collect_parameters)  # type: ignore[attr-defined]
for _module in (math, cmath, operator, binascii):
    _FOLDED.update(f for f in vars(_module).values() if isinstance(f, types.BuiltinFunctionType))

# Predicates that always return the same, traced or not.
ANSWERS: dict[Any, Any] = {torch.jit.is_scripting: False, torch._jit_internal.is_scripting: False}


@functools.cache
def graph_functions() -> frozenset[Any]:
    """Return the functions that torch lists as overridable for tensors, without those that only inspect them."""
    overridable = {f for group in torch.overrides.get_overridable_functions().values() for f in group}
    made = {f for f in _CREATORS if f is not None}
    return frozenset(f for f in overridable | made if _hashable(f)) - frozenset(ANSWERS)


_CREATORS = [
    getattr(torch, name, None)
    for name in (
        "arange bartlett_window blackman_window empty empty_strided eye fft full hamming_window hann_window "
        "kaiser_window "
        "linspace logspace ones rand randint randn randperm range tril_indices triu_indices zeros tensor as_tensor "
        "scalar_tensor complex polar normal bernoulli sym_max sym_min sym_not sym_int sym_float sym_ite sym_sqrt "
        "from_numpy sparse_coo_tensor asarray"
    ).split()
]


def is_overridable(function: Any) -> bool:
    """Return whether torch itself lists the function as an operation on tensors."""
    return _hashable(function) and function in graph_functions()


def is_graph_function(function: Any) -> bool:
    """Return whether a call of the function is a node: an overridable function, a C function of torch's operator
    namespaces, or an operator of the registry."""
    if not _hashable(function):
        return False
    if function in graph_functions():
        return True
    if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return True
    module = getattr(function, "__module__", None) or ""
    if not isinstance(function, types.BuiltinFunctionType):
        return False
    return function.__qualname__.startswith("_VariableFunctionsClass.") or module.startswith(
        ("torch._C._nn", "torch._C._fft", "torch._C._linalg", "torch._C._special", "torch._C._VariableFunctions")
    )


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def decide(function: Any) -> Rule:
    """Return the rule for calling `function` (a Python function, builtin or class)."""
    marked = _by_mark(function)
    if marked is not None:
        return marked
    if isinstance(function, _REMEMBERED):
        rule = _decided.get(function)
        if rule is None:
            rule = _decided[function] = _decide(function)
        return rule
    return _decide(function)


_DISALLOWED = Rule("skip", "it is marked with torch._dynamo.disallow_in_graph")


def _by_mark(function: Any) -> Rule | None:
    """Return the rule that the user set by `torch.compiler.allow_in_graph` and the like, which torch records in a
    module of its own compiler; if that is not imported, there is no such rule."""
    marks: Any = sys.modules.get("torch._dynamo.trace_rules")
    if marks is None:
        return None
    module = getattr(type(function), "__module__", None)
    own = function.__module__ if isinstance(function, types.FunctionType) else None
    if not isinstance(module, str) or not isinstance(own, str | None):
        return None  # a class with code for it, or a name that the program set: torch would fail
    if marks.is_callable_disallowed(function):
        return _DISALLOWED
    if isinstance(function, types.FunctionType):
        if marks.is_nonstrict_trace_callable(function):
            return NONSTRICT
        if marks.is_callable_allowed(function):
            return GRAPH
    return None


# Compared by identity and weakly referable, so that a decision goes with its function.
_REMEMBERED = (types.FunctionType, types.BuiltinFunctionType)
_decided: weakref.WeakKeyDictionary[Any, Rule] = weakref.WeakKeyDictionary()


def fold(function: Any) -> Any:
    """Have `function` called at trace time where its arguments are constants (it must have no side effects)."""
    _FOLDED.add(function)
    _decided.pop(function, None)
    return function


def fold_code(code: types.CodeType) -> None:
    """Do `fold` for every function that has this code."""
    FOLDED_CODES.add(code)


FOLDED_CODES: set[types.CodeType] = set()


def _decide(function: Any) -> Rule:
    if isinstance(function, types.FunctionType) and function.__code__ in FOLDED_CODES:
        return FOLD
    if _hashable(function) and function in _FOLDED:
        return FOLD
    if is_graph_function(function):
        return GRAPH
    entry = higher_order(function)
    if entry is not None and not entry.is_inlined:
        return HIGHER_ORDER
    if isinstance(function, types.FunctionType):
        if undecorated(function) is not function:
            return Rule("skip", "torch marks it as not to be compiled")
        marker = getattr(function, "_torchdynamo_disable", False) or getattr(function, "_tracewalk_disable", False)
        if marker:
            said = getattr(function, "_torchdynamo_disable_msg", None)
            return Rule("skip", "it is marked as not to be compiled" + (f" ({said})" if said else ""))
        return _by_module(function)
    if isinstance(function, types.BuiltinFunctionType) or inspect.isbuiltin(function):
        why = _why_skip_module(getattr(function, "__module__", None) or "")
        return Rule("skip", why or "it is implemented in C, and what it does is not known")
    return INLINE


def _by_module(function: types.FunctionType) -> Rule:
    named = function.__globals__.get("__name__") or function.__module__
    module = named if isinstance(named, str) else ""
    if function in INLINED_FUNCTIONS or (module, function.__qualname__) in INLINED_BY_NAME:
        return INLINE
    why = None if module.startswith(INLINED_MODULES) else SKIPPED_FUNCTIONS.get(function) or _why_skip_module(module)
    return INLINE if why is None else Rule("skip", why)


def _why_skip_module(module: str) -> str | None:
    """Return why functions of the module, or of a package it is part of, run as plain Python."""
    while module:
        why = SKIPPED_MODULES.get(module)
        if why is not None:
            return why
        module = module.rpartition(".")[0]
    return None

"""Find the names by which users know functions and classes: the module to import them from, and their name there."""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import Any

from tracer_core.names.code import function_name


def name_of(function: Any) -> str:
    """Return `module.qualname` of any callable, as far as it has them."""
    given = function
    if type(function) is FunctionType:
        function = vars(function).get(
            "_torchdynamo_orig_callable", function
        )  # functions that torch excludes from its compiler
    module = getattr(function, "__module__", None)
    name = function_name(function) or getattr(function, "__name__", None) or type(function).__name__
    name = name.removeprefix("_VariableFunctionsClass.")
    if module in (None, "builtins", "__main__"):
        return name
    return _NAMES.get((module, name)) or f"{_public(module, name, given)}.{name}"


def _public(module: str, name: str, function: Any) -> str:
    """Return the module from which people import what `module` defines under `name`: a package around it, or the
    Python module that wraps one in C."""
    inner = module.rpartition(".")[2]
    parts = _PUBLIC.get(module, module).split(".")
    around = (".".join(parts[:count]) for count in range(1, len(parts)))
    for candidate in (*around, _WRITTEN_IN_C.get(module) or inner.lstrip("_")):
        found: Any = sys.modules.get(candidate)
        outermost = name.partition(".")[0]
        held = vars(found).get(outermost) if type(found) is ModuleType else None
        if held is not None and (
            _is_or_wraps(held, function) or (isinstance(held, type) and held.__module__ == module)
        ):
            return candidate
    return ".".join(parts)


def _is_or_wraps(held: object, function: object) -> bool:
    """Loading torch's compiler puts a wrapper in the place of `torch.manual_seed`; a program may hold either."""
    return held is function or (type(held) is FunctionType and vars(held).get("__wrapped__") is function)


_WRITTEN_IN_C = {"posix": "os", "nt": "os", "_thread": "threading", "_pydatetime": "datetime"}
_NAMES = {
    ("_thread", "allocate_lock"): "threading.Lock",
    ("_thread", "RLock"): "threading.RLock",
    ("tracer_core.frame_eval.modules", "CompiledModule.__call__"): "a compiled module",
}
_PUBLIC = {
    "_operator": "operator",
    "torch._C": "torch",
    "torch._C._VariableFunctions": "torch",
    "torch._C._nn": "torch.nn.functional",
}
"""The public modules for what torch's or Python's internal modules define."""

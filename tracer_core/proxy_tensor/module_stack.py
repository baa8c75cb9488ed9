"""`ModuleStackTracer`: notes in each node which modules called its operator.

A module that is registered under several names is reached by several paths, and a call must say by which. So while
such a module tree is traced, attributes give *views* of modules: objects that behave as the module, share its state,
and know the path by which they were reached.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.fx import Graph, GraphModule, Node, Proxy, Tracer

from tracer_core.proxy_tensor.tracers import PythonKeyTracer


class ModuleView:
    """A module as it is reached by one path. Each class of modules has a class of views."""

    _views: Views


class Views:
    """The views of the modules of one trace."""

    def __init__(self) -> None:
        self._by_path: dict[tuple[int, str], ModuleView] = {}
        self._known: dict[int, tuple[str, nn.Module]] = {}
        self._classes: dict[type, type] = {}

    def path(self, view: ModuleView) -> str:
        return self._known[id(view)][0]

    def original(self, module: Any) -> Any:
        """Return the module that a view shows; a module that is no view as it is."""
        return self._known[id(module)][1] if isinstance(module, ModuleView) else module

    def at(self, module: Any, path: str) -> Any:
        """Return the view of a module, or of the module that a view shows, at `path`."""
        module = self.original(module)
        view = self._by_path.get((id(module), path))
        if view is None:
            view = object.__new__(self._class_for(type(module)))
            view.__dict__ = module.__dict__
            self._by_path[id(module), path] = view
            self._known[id(view)] = (path, module)
        return view

    def _class_for(self, kind: type) -> type:
        if kind not in self._classes:
            names = {"_views": self, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
            self._classes[kind] = type(kind.__name__, (_Showing, kind), names)
        return self._classes[kind]


class _Showing(ModuleView):
    """The methods of a view that lead to other modules."""

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)  # type: ignore[misc]
        if not isinstance(value, nn.Module):
            return value
        return self._views.at(value, f"{self._views.path(self)}.{name}")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) and isinstance(self, (nn.Sequential, nn.ModuleList)):
            part = self._views.original(self)[index]
            return self._views.at(part, f"{self._views.path(self)}.{index}")
        return super().__getitem__(index)  # type: ignore[misc]

    @property
    def _modules(self) -> dict[str, Any]:
        path = self._views.path(self)
        return {
            name: child if child is None else self._views.at(child, f"{path}.{name}")
            for name, child in self.__dict__["_modules"].items()
        }


class _NotInTheTree(NameError):
    """A module is called that is not registered under the root."""


class ModuleStackTracer(PythonKeyTracer):
    """Note in each node the modules, of those in `scope_root`, whose calls led to it."""

    def __init__(self, scope_root: nn.Module) -> None:
        super().__init__()
        self.record_stack_traces = not torch.fx.config.do_not_emit_stack_traces
        self._record_forward_stack_traces_only = True
        self.scope_root = scope_root
        self.views = Views()
        self.submodule_paths: Any = {}
        self.shares_modules = False
        for name, module in scope_root.named_modules(remove_duplicate=False):
            if self.submodule_paths.setdefault(module, name) != name:
                self.shares_modules = True

    def for_body(self) -> PythonKeyTracer:
        return ModuleStackTracer(self.scope_root)

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        graph = super().trace(root, concrete_args)
        # Bodies of higher-order operators may have registered views.
        for name, module in list(self.root.named_modules()):
            if isinstance(module, ModuleView):
                holder, _, last = name.rpartition(".")
                self.root.get_submodule(holder).add_module(last, self.views.original(module))
        return graph

    def path_of_module(self, mod: nn.Module) -> str:
        if mod is self.scope_root:
            return ""
        if isinstance(mod, ModuleView):
            return self.views.path(mod)
        try:
            return super().path_of_module(mod)
        except NameError as error:
            raise _NotInTheTree(str(error)) from error

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        if (
            not self.shares_modules
            or not isinstance(attr_val, nn.Module)
            or isinstance(attr_val, (GraphModule, ModuleView))
        ):
            return attr_val
        return self.views.at(attr_val, attr)

    def call_module(self, m: Any, forward: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        # Graphs, and what `torch.compile` returned (which wraps the module in another), are no part of the tree.
        if isinstance(m, GraphModule) or hasattr(m, "_torchdynamo_orig_callable"):
            return forward(*args, **kwargs)
        try:
            self.path_of_module(m)
        except _NotInTheTree:
            return forward(*args, **kwargs)
        return Tracer.call_module(self, m, forward, args, kwargs)

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return False

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None
    ) -> Node:
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if kind in ("placeholder", "output"):
            return node
        stack = node.meta.get("nn_module_stack")
        node.meta["nn_module_stack"] = OrderedDict(
            (key, (path, f"{of.__module__}.{of.__qualname__}" if isinstance(of, type) else of))
            for key, (path, of) in (self.module_stack if stack is None else stack).items()
        )
        function = self.torch_fn_metadata
        if kind == "call_function" and function is not None:
            name = function.__name__
            node.meta.setdefault(
                "torch_fn", (f"{name}_{self.torch_fn_counts[function]}", f"{type(function).__name__}.{name}")
            )
        return node

"""Guards on objects of `torch.nn.Module`."""

from __future__ import annotations

from operator import itemgetter

import torch

from tracer_core.guards.guard import Const, Kind, kind

HOOKS = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")
"""The dicts of hooks in a module's `__dict__`."""
CALLED = ("_compiled_call_impl", "_call_impl", "forward")
"""Attributes by which a call of a module goes, and which its `__dict__` may have instead of its class."""

_hooks_of = itemgetter(*HOOKS)


@kind("CALLS_FORWARD", rank=4)
class CallsForward(Kind):
    """A module whose call is one of the `forward` of its class: it has no hooks, nor a `forward` of its own."""

    verbs = ("had", "has")

    def holds(self, value: torch.nn.Module, expected: None) -> bool:
        held = value.__dict__
        return not any(name in held for name in CALLED) and not any(map(dict.__len__, _hooks_of(held)))

    def condition(self, value: str, expected: None, const: Const) -> str:
        lacks = " and ".join(f"{name!r} not in {value}.__dict__" for name in CALLED)
        return f"{lacks} and not any(map({const(dict.__len__)}, {const(_hooks_of)}({value}.__dict__)))"

    def text(self, name: str, expected: None) -> str:
        return f"{name} has no hooks, and the methods of its class"

    def expected_text(self, expected: None) -> str:
        return "no hooks, and the methods of its class"

    def seen_text(self, value: torch.nn.Module, expected: None) -> str:
        held = value.__dict__
        own = [f"{name} of its own" for name in CALLED if name in held]
        return ", ".join([*own, *(f"a hook in {name}" for name in HOOKS if held[name])])

    def advice(self, name: str, expected: None, value: torch.nn.Module) -> str:
        return f"register the hooks of {name}, and set its methods, once, before the first call"

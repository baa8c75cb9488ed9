"""The kinds of guards, each registered under its name in `tracer_core.guards.guard.KINDS`."""

from tracer_core.guards.kinds import containers, identity, libraries, modules, relations, state, tensors, values

__all__ = ["containers", "identity", "libraries", "modules", "relations", "state", "tensors", "values"]

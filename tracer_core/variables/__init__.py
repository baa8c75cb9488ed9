"""VariableTrackers: what the interpreter knows of each value, one small module per kind of Python value.

In: real values with their sources (`builder`), and trackers made by the trace. Out: new trackers, nodes in the
graph, guards. Behaviour is found by table: `@builds(type)` makes trackers, `@handles(function, kinds...)` calls a
function, `@method(kind, name)` a method.
"""

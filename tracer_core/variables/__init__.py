"""VariableTrackers: the interpreter's knowledge of each value. Each folder holds one idea, and imports only from the
folders before it in this list:

`core`, `containers`, `exceptions`, `functions`, `objects`, `builders`, `iterators` hold the kinds of value;
`operations` Python's operations on any of them; `torch`, `builtins`, `library`, `numpy`, `random` the functions and
methods that programs call.

In: real values with their sources (`builders`), and trackers that the trace creates. Out: new trackers, nodes in the
graph, guards. Behaviour is found by table: `@builds(type)` builds trackers, `@handles(function, kinds...)` calls a
function, `@method(kind, name)` a method, `@getter(kind, name)` reads an attribute.
"""

"""All functions of ours that generated code calls while it runs: the contract between compiled frames and the engine.

Code that replaces a frame calls builtins, methods of the standard library's and torch's classes, the setters of
torch's settings (`tracer_core.host.global_state`), classes of `tracer_core.polyfills`, functions of the program, the
`tell` of its graph's `Blame` once that graph has raised (it runs the graph again, and warns), and functions of this
folder. It calls nothing else; `tests/runtime/test_contract.py` checks that.

For all of it holds: it runs in the program's threads, in the middle of the program's own instructions; it is never
traced, as code of ours; it knows no tracker and no graph, and is given what it needs as arguments, by position.
Unless the table says otherwise, it raises nothing of its own, only what an argument of the program's raises.

| module | it is called | it may raise |
| --- | --- | --- |
| `numbers`, `arrays` | where values become inputs of the graph, and results arrays | as torch and NumPy |
| `streams` | before the graph, and when it gives way to plain Python | |
| `graphs` | in place of the operations in a graph, and where that raised | `BackendError`; as the graph |
| `containers`, `objects` | where side effects are written back, and values built | |
| `iterators`, `generators` | the same, for what the trace has moved on | as their items |
| `upcoming` | where guards or code look at items that an iterator has yet to give | `NotReadable`, `IndexError` |
| `hooks` | where a hook that the trace registered and removed left a handle | |
| `flat_calls`, `gradients` | in graphs, as operations | as the functions that they call |
| `tracebacks` | where an exception that the trace has raised leaves it | |
| `resuming` | where the function resumes after a break | as the rest of the function |

It stands beside `bytecode`, below all else: sources name functions here to rebuild values, guards and trackers call
them while tracing, codegen writes calls of them.
"""

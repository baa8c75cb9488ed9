"""Reasons about calls: methods, functions in C, recursion, imports, cached functions, instructions."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "call",
    "The code calls {what}, which is not traced.",
    "It is implemented in C, so what it does is not known while tracing.",
    "Call it outside the compiled function, or write the step in plain Python.",
)
reason(
    "method",
    "The code calls the method {name} of a {type}, which is not traced with these arguments.",
    "It is implemented in C, so what it does is not known while tracing.",
    "Call it outside the compiled function, or write the step in plain Python.",
)
reason(
    "skipped-function",
    "The code calls {what}, which runs as plain Python: {why}.",
    "The call runs between two graphs.",
    "Move the call out of the compiled function, if the graph break costs too much.",
)
reason(
    "coroutine",
    "The code calls {name}, an async function.",
    "An async function runs in an event loop, outside this call.",
    "Await it outside the compiled function.",
)
reason(
    "too-deep",
    "Calls are nested more than {depth} deep (in {name}).",
    "Each call is inlined into its caller, so very deep recursion runs as plain Python.",
    "Use a loop instead of recursion.",
)
reason(
    "recursion-limit",
    "Python's recursion limit was reached while {function} was traced.",
    "Tracing needs several Python calls for each call of the program, in addition to the calls that are already "
    "running.",
    "Call the compiled function from less deeply nested calls.",
    "Raise the limit with sys.setrecursionlimit().",
)
reason(
    "told-otherwise",
    "The code calls {question}, which returns True while tracing, and then the graph ends: {failure} The function "
    "is traced again, and the call returns False, as in plain Python.",
    "The part that runs as plain Python calls the same function, and gets False. Where the function raises an "
    "exception, or is captured in one graph even so, the call returns False in the whole function.",
    "Let the function compute the same result, whether it is compiled or not.",
)
reason(
    "cached-effect",
    "The code calls {name}, which is cached and changes something outside itself.",
    "A cached function has its side effect once for each set of arguments, but compiled code would repeat it in "
    "each call.",
    "Move the side effect out of the cached function, or do without the cache.",
)
reason(
    "cached-after-change",
    "The code calls {name}, which is cached and reads something that the code has just changed.",
    "The cached result would be computed while tracing, before the change reaches the real object.",
    "Pass the value that the function needs as an argument, or do without the cache.",
)
reason(
    "import",
    "The code imports {name} for the first time.",
    "The first import runs the module's code, and only once.",
    "Import it at the top of the file.",
)
reason(
    "exec",
    "The code compiles or runs text as Python.",
    "What the text does is known only when it runs.",
    "Write the text as an ordinary function.",
)
reason(
    "frame-namespace",
    "The code reads a namespace as a whole (`locals()`, `globals()` or `dir()`).",
    "The variables of a traced function do not exist as a dict while tracing.",
    "Use the names of the variables that you need.",
)
reason(
    "instruction",
    "The bytecode instruction {name} is not supported.",
    "This step of the code cannot be traced.",
    "Write the step in another way.",
)
reason(
    "comptime",
    "The function given to comptime() breaks the graph ({what}).",
    "It runs while the program is traced, and has called graph_break(), has failed, or cannot be called then. The "
    "line runs as plain Python instead, where comptime() does nothing.",
    "Give it a function without free variables; it reads local variables by ctx.get_local(name).",
)

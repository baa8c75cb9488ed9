"""Reasons about frames that are not traced at all."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "frame-library",
    "{function} belongs to Python or to an installed library ({file}), whose functions are not traced on their own.",
    "A graph starts only in your own code and in torch's modules.",
    "Call it from a function of yours: there it can be part of the graph.",
)
reason(
    "frame-disabled",
    "{function} is marked as not to be compiled, but the functions that it calls are not.",
    "It was passed to torch.compiler.disable(recursive=False).",
    "Remove the mark if you do not need it.",
)
reason(
    "frame-generator",
    "{function} is a generator, which is not traced on its own.",
    "A generator's frame is suspended at each yield, while compiled code runs from start to end.",
    "Collect the items in a list, and compile the function that uses them.",
)
reason(
    "frame-async",
    "{function} is a coroutine, which is not traced.",
    "A coroutine's frame is suspended at each await, while compiled code runs from start to end.",
    "Move the tensor code into an ordinary function, and compile that.",
)
reason(
    "frame-not-function",
    "{function} is the code of a module or a class body, not of a function.",
    "Such code runs once, so compiling it would save nothing.",
    "Move the tensor code into a function.",
)
reason(
    "frame-looks-at-stack",
    "The graph of {function} breaks, and {function} inspects the Python stack, so it runs as plain Python.",
    "After a break, the rest of the function runs one frame deeper, and code that counts frames would notice.",
    "Inspect the stack in a separate function, outside the compiled one.",
)
reason(
    "frame-watches-lifetimes",
    "The graph of {function} breaks, and {function} can notice when objects are freed, so it runs as plain Python.",
    "After a break, objects that the function has dropped stay alive until it returns: a weak reference would still "
    "return the object, and a finalizer would run late.",
    "Create weak references, and objects with __del__, in a separate function.",
)
reason(
    "no-tensor-work",
    "{name} does nothing with tensors, so it runs as plain Python.",
    "Its graph would be empty.",
    "Nothing to do.",
)
reason(
    "no-tensor-work-before-break",
    "{name} does nothing with tensors before its graph would break ({why}), so it runs as plain Python.",
    "The graph up to the break would be empty. The functions that it calls are traced on their own.",
    "Nothing to do, unless the function works on tensors later: then see the reason of the break.",
)
reason(
    "no-tensor-work-before-exception",
    "{name} raises an exception ({what}) before it does anything with tensors, so it runs as plain Python.",
    "Its graph would be empty. As plain Python, the exception and its traceback are the usual ones.",
    "Nothing to do if you expect the exception.",
)
reason(
    "no-tensor-work-in-rest",
    "After line {line}, {function} did nothing more with tensors when it was first called, so the rest runs as plain "
    "Python.",
    "The graph of the rest would be empty. Later calls are not traced again, whatever they do.",
    "Nothing to do, unless later calls do more: then make the first call one of those.",
)
reason(
    "no-tensors-in-sight",
    "{name} can reach no tensor, and an earlier call of it gave an empty graph, so it runs as plain Python.",
    "Tracing each such call again would cost more time than it saves.",
    "Nothing to do.",
)

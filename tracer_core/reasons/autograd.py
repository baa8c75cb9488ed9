"""Reasons about autograd: its functions, hooks, and the attributes that belong to its graph."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "autograd-function",
    "The code calls {name} of a torch.autograd.Function, which cannot be in the graph: {why}.",
    "In the graph, its forward and its backward are graphs of their own, which take and give tensors. This call runs "
    "as plain Python, between two graphs.",
    "Write the operation with torch's own functions, if their derivatives are the ones you need.",
    "Call it outside the compiled function.",
)
reason(
    "autograd-attribute",
    "The code reads the attribute {name} of a tensor.",
    "The attribute belongs to the autograd graph of real tensors, which does not exist while tracing.",
    "Read it outside the compiled function.",
)
reason(
    "autograd-context",
    "The code reads ctx.{name} in {cls}, a torch.autograd.Function.",
    "Autograd stores it in C++, where it cannot be read while tracing. It is read as plain Python, between two "
    "graphs.",
    "Nothing to do: the code after it becomes another graph.",
)
reason(
    "autograd-flag",
    "The code calls {name} of a tensor.",
    "The call changes how autograd treats the real tensor, which does not exist while tracing.",
    "Call it before the compiled function runs, or on the tensor that the function returns.",
)
reason(
    "autograd-call",
    "The code calls {name}.",
    "The call works on the autograd graph of real tensors, which does not exist while tracing.",
    "Call it after the compiled function has returned.",
)
reason(
    "backward-hooks",
    "The code calls a {cls} module that has backward hooks, which are not traced.",
    "The hooks are part of the autograd graph of real tensors, which does not exist while tracing.",
    "Compile the module's forward instead of the code that calls the module: the hooks then run around the compiled "
    "code.",
    "Remove the hooks if you no longer need them: registering a hook returns a handle with remove().",
)
reason(
    "saved-tensors-hooks",
    "The code {does} a with block of {name}, which is not traced.",
    "In the block, autograd calls the hooks on each tensor that it saves for the backward pass.",
    "Enter the block outside the compiled function, around its call.",
)
reason(
    "hook-registered",
    "The code registers a hook ({name}).",
    "Its handle can remove the hook at any time, also after the compiled function has returned.",
    "Register hooks before the compiled function runs.",
)
reason(
    "hook-handle",
    "The code uses the handle of a hook on a tensor that the graph computes.",
    "The graph registers the hook each time it runs, so there is no handle while tracing. The graph ends before the "
    "hook is registered.",
    "Leave the handle out: register the hook only where it is wanted.",
    "Register the hook on an input of the compiled function: handles of these can be kept, and removed.",
)
reason(
    "checkpoint-without-gradient",
    "The code calls torch.utils.checkpoint.checkpoint with use_reentrant=True, and passes no tensor that requires a "
    "gradient.",
    "This kind of checkpoint then returns results that require none, even where the function uses parameters. The "
    "call runs as plain Python, between two graphs.",
    "Pass use_reentrant=False.",
)
reason(
    "checkpoint-kind",
    "The code calls torch.utils.checkpoint.checkpoint without use_reentrant.",
    "The graph does not break here: the call is captured as one with use_reentrant=True, the default. Plain Python "
    "warns that the default may be removed.",
    "Pass use_reentrant=False, which torch recommends, or use_reentrant=True.",
)

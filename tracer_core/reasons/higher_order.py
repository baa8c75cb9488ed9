"""Reasons about transforms, higher-order operators and modes, which change how functions on tensors run."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

_TRANSFORM = (
    "A transform calls the given function with tensors that it has wrapped. The call, with everything that it "
    "calls, runs as plain Python, between two graphs."
)
reason(
    "transform-called",
    "{name} is called outside compiled code, so it runs as plain Python, with everything that it calls.",
    "A transform calls the given function with tensors that it has wrapped, and a graph that starts there holds only "
    "plain tensors. Called in compiled code, the transform is part of the graph.",
    "Compile a function that calls the transform.",
)
reason(
    "function-transform",
    "The code calls {name}, which is not traced.",
    _TRANSFORM,
    "Call it outside the compiled function.",
)

_INSIDE_TRANSFORM = "The transform has wrapped the tensors, and a graph holds only plain tensors."
reason(
    "inside-vmap",
    "{function} is called inside {transform}, so it runs as plain Python.",
    _INSIDE_TRANSFORM,
    "Write the function for a whole batch, and compile that.",
)
reason(
    "inside-derivative",
    "{function} is called inside {transform}, so it runs as plain Python.",
    _INSIDE_TRANSFORM,
    "Call torch.autograd.grad on the result of the compiled function instead.",
)
reason(
    "inside-transform",
    "{function} is called inside {transform}, so it runs as plain Python.",
    _INSIDE_TRANSFORM,
    "Call the transformed function without the transform, and compile that call.",
)

reason(
    "inside-torch-mode",
    "{function} is called while the mode {mode} is active, so it runs as plain Python.",
    "torch passes each call, or each operation, to the mode, which may count it, change its result, or raise. As "
    "plain Python, the function makes the same calls as without a compiler.",
    "To see the graph, call the function once outside the mode.",
    "To count operations of the compiled code, look at the nodes of its graphs.",
)
reason(
    "torch-mode",
    "The code enters {mode}, a mode that sees each operation on tensors.",
    "While the mode is active, it can change each call of torch. So the code inside its block runs as plain Python.",
    "Enter the mode outside the compiled function, or only when you need what it records.",
)

reason(
    "control-flow-operator",
    "The code calls {name}, which is not traced yet.",
    "The operator calls the given functions, and how often depends on the data. The call runs as plain Python, "
    "between two graphs.",
    "Use torch.where instead of a condition, where both outcomes may be computed.",
    "Use a Python loop, where the number of iterations is known while tracing: its iterations become part of the "
    "graph.",
)
reason(
    "higher-order-operator",
    "The code calls {name}, which is not traced yet.",
    "It is an operator that takes functions or graphs. The call runs as plain Python, between two graphs.",
    "Call the given function directly, if that computes the same.",
    "Call it outside the compiled function.",
)

reason(
    "operator-of-compilers",
    "The code calls {name}, which compilers add to graphs: {origin}.",
    "Captured code does not call the operator by itself, so it is not traced. The call runs as plain Python, between "
    "two graphs.",
    "Call the function that it stands for, and let the back end put the operator in its place.",
)

reason(
    "triton-kernel",
    "The launch of the Triton kernel {kernel} cannot be in a graph: {why}.",
    "A graph holds launches of kernels on tensors, numbers and constants, with a grid of up to three dimensions. The "
    "kernel may have an autotuner with configurations and keys. Any other launch runs as plain Python.",
    "Put the launch into an operator of yours: torch.library.triton_op, or torch.library.custom_op.",
)

# --- the functions that an operator calls ---
reason(
    "body-breaks",
    "{operator} needs {function} as one graph, which it cannot be: {why}.",
    "The operator decides, when the graph runs, whether and how often the function is called. So the function is "
    "traced into a graph of its own, which cannot break. The call runs as plain Python, between two graphs.",
    "Move the code that cannot be traced out of the function.",
)
reason(
    "branches-differ",
    "The branches of torch.cond return different {what}: {one} ({first}) and {other} ({second}).",
    "The data decides which branch runs, and the code after it must fit the result of either.",
    "Return the same containers from both branches, with tensors of the same dtype, device and number of dimensions.",
)
reason(
    "carried-differs",
    "{operator} needs {function} to return what it can be called with next, but {what} differ: {one} given, {other} "
    "returned.",
    "The operator calls the function again on what it returned, with the same code: types, dtypes and sizes stay.",
    "Return values of the kinds, dtypes and sizes that the function is given.",
)
reason(
    "constant-predicate",
    "The predicate of torch.cond is {value} while tracing, so only {function} is in the graph.",
    "The graph does not break here. A number or bool of Python is a constant in the graph; for another value, the "
    "function is compiled anew.",
    "Pass a tensor with one element, or compare a size that is dynamic, to have both branches in the graph.",
    "Use a plain if statement, where a constant decides.",
)
reason(
    "operator-refuses",
    "{operator} does not take these arguments: {why}.",
    "The operator takes only tensors, numbers and functions, each in its place. The call runs as plain Python, which "
    "raises the operator's own error.",
    "Check the arguments of the operator at this line.",
)
reason(
    "body-inputs-alias",
    "The function uses two tensors that share memory: {one} and {other}.",
    "Back ends that change code for in-place operations into code without them refuse such a function. The back end "
    "'eager' takes it.",
    "Copy one of the tensors before the call: x.clone().",
)
reason(
    "body-changes",
    "The function {what}.",
    "An operator may call the function several times, or not at all, when the graph runs. While tracing it is called "
    "once, so its side effects cannot be those of plain Python.",
    "Return the values that the function computes, and change objects with the result of the operator.",
)
reason(
    "body-reads-strides",
    "The function reads the strides of a gradient.",
    "That is known only in the backward pass, when the gradient exists.",
    "Do not read them: operations give the same results for any strides.",
)
reason(
    "body-returns-alias",
    "The function returns a tensor that shares memory with {what}.",
    "The results of the operator are tensors with memory of their own.",
    "Return a copy: x.clone().",
)
reason(
    "body-result",
    "{operator} cannot return an object of type {type}, as {function} does.",
    "The graph computes the results of the operator, and it holds only tensors and numbers.",
    "Return tensors, or lists, tuples and dicts of them.",
)
reason(
    "body-argument",
    "A value of type {type} is passed to the function.",
    "The operator passes only tensors and numbers on.",
    "Use the value in the function without passing it: functions may use variables of the code around them.",
)
reason(
    "leaves-its-body",
    "The code uses a tensor ({name}) outside of the function that computed it, which was passed to an operator.",
    "The operator returns only the results of the function.",
    "Return the tensor from the function.",
)
reason(
    "option-not-constant",
    "{operator} needs a value while tracing that is known only when the graph runs: {what}.",
    "The value is an option, which becomes part of the graph.",
    "Compute it before the compiled function runs, from plain Python values.",
)

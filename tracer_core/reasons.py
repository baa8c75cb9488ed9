"""Every reason to end a graph: an id, a sentence about the user's code, why it is so, and what to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracer_core.names.sentences import filled


@dataclass(frozen=True, slots=True)
class Reason:
    """`sentence` is a format string over the details given where the reason is raised."""

    id: str
    sentence: str
    explanation: str
    hints: tuple[str, ...]

    def filled(self, details: Mapping[str, Any]) -> str:
        """The sentence about one case."""
        return filled(self.sentence, details)


REASONS: dict[str, Reason] = {}


def _reason(id: str, sentence: str, explanation: str, *hints: str) -> None:
    REASONS[id] = Reason(id, sentence, explanation, hints)


_reason(
    "tensor-branch",
    "The code branches on the value of a tensor ({what}).",
    "The value is known only when the graph has run, so which branch to trace cannot be decided.",
    "Use torch.where to keep both outcomes in the graph.",
    "Compute the condition from shapes or plain Python numbers, if that is what is meant.",
)

_reason(
    "cache-limit",
    "{function} was compiled {limit} times already; calls that none of its versions fits run as plain Python. "
    "This call does not fit the last of them: {failure}.",
    "Each version is tried at each call, so an endless number of them would cost more than it gains.",
    "See in the failed guards what varies from call to call, and pass it as a tensor or keep it the same.",
    "Compile with dynamic=True if sizes vary.",
    "Raise the limit with options={'cache_size_limit': n}.",
)
_reason(
    "marked-size-fixed",
    "{source} is marked with mark_dynamic, but the program fixes it to {size}.",
    "The graph does not break here, but its code is for this size alone, and each other one is compiled anew. A size "
    "is fixed where it is compared with a number, where only a plain number will do, and by tensors of fixed sizes.",
    "Change the line so that it does not depend on what the size is.",
    "Mark it with torch._dynamo.maybe_mark_dynamic, or not at all, if it may be fixed.",
    "Compile with options={'strict_mark_dynamic': True} to have this raised, as torch.compile does.",
)
_reason(
    "back-end-raises",
    "What the back end {backend!r} compiled for {function} raises {error}. The graph itself does not, so the call "
    "runs as plain Python.",
    "Results are those of plain Python, but calls for which this happens are slower than without a compiler: the "
    "back end's function is tried each time. A warning says so once for each function.",
    "Compile with backend='eager', which runs graphs as they are.",
    "If the back end is yours, call what it returns with the inputs of the graph and see it fail.",
)
_reason(
    "frame-library",
    "{function} belongs to Python or to an installed library ({file}), whose functions are not traced on their own.",
    "Only your own code, and torch's modules, can be where a graph starts.",
    "Call it from a function of yours: there it may be part of the graph.",
)
_reason(
    "frame-disabled",
    "{function} is marked as not to be compiled, but not what it calls.",
    "It was given to torch.compiler.disable(recursive=False).",
    "Take the mark off if it need not be there.",
)
_reason(
    "frame-generator",
    "{function} is a generator, which is not traced on its own.",
    "A generator's frame stops and goes on at each item, while compiled code runs from start to end.",
    "Collect the items in a list, and compile the function that uses them.",
)
_reason(
    "frame-looks-at-stack",
    "The graph of {function} breaks, and {function} looks at the Python stack, so it runs as plain Python.",
    "After a break the rest of a function runs one frame deeper, which code that counts frames would see.",
    "Look at the stack in a function of its own, outside the compiled one.",
)
_reason(
    "frame-watches-lifetimes",
    "The graph of {function} breaks, and {function} can see when objects go, so it runs as plain Python.",
    "After a break, what a function drops is held until it returns: a weak reference would find it alive, and a"
    " finalizer would run late.",
    "Make weak references, and objects with __del__, in a function of their own.",
)
_reason(
    "frame-async",
    "{function} is a coroutine, which is not traced.",
    "A coroutine's frame stops at each await, while compiled code runs from start to end.",
    "Move the tensor code into an ordinary function, and compile that.",
)
_reason(
    "frame-not-function",
    "{function} is the code of a module or a class body, not of a function.",
    "Such code runs once, so that compiling it gains nothing.",
    "Move the tensor code into a function.",
)

# --- values ---------------------------------------------------------------------------------------------------

_reason(
    "tensor-data",
    "The code reads the data of a tensor ({name} on {what}).",
    "Data exists only when the graph runs; while tracing only shapes, types and devices are known.",
    "Keep the computation on tensors, and read numbers out after the compiled function has returned.",
)
_reason(
    "tensor-memory",
    "The code calls {name} on a tensor ({what}).",
    "It tells of the tensor's memory, which exists only when the graph runs.",
    "Call it outside the compiled function.",
)
_reason(
    "free-strides",
    "The code reads strides of a computed tensor that no element is found by ({what}).",
    "Strides of dimensions of size 1, and of tensors without elements, lead nowhere, and each operation leaves other "
    "ones there; only the tensor itself can tell.",
    "Ask for the shape, or only for strides of dimensions that have more than one element.",
)
_reason(
    "tensor-metadata",
    "The code changes the shape or storage of a tensor in place ({name} on {what}).",
    "What the graph's inputs look like is fixed when it is made.",
    "Make a new tensor (unsqueeze, t, reshape, ...) instead of changing one in place.",
)
_reason(
    "shared-history",
    "The code writes in place to a tensor that another argument is a view of, and the write needs gradients.",
    "Both require gradients from then on, but inputs of a graph are looked at one by one.",
    "Pass one of the two and make the view inside, or write under torch.no_grad().",
)
_reason(
    "tensor-index",
    "A value of the graph ({what}) is used where Python needs a number known while tracing.",
    "Its value is known only when the graph has run.",
    "Index tensors with tensors and arrays with arrays, or take the number from a shape or an argument.",
)
_reason(
    "data-dependent-number",
    "The code needs the value of {what}, which only the data can tell.",
    "The number comes out of a tensor, so it is not known while tracing.",
    "Use the number in tensor operations only, or compute it outside the compiled function.",
)
_reason(
    "data-dependent-op",
    "The result of {what} depends on the data ({error}).",
    "Its result's size or value is known only when it runs, so what follows cannot be traced.",
    "Use an operation whose result has a fixed size, such as torch.where with three arguments or a mask.",
)
_reason(
    "default-dtype",
    "{what} gives the default dtype, which the code has changed before.",
    "Back ends compile such an operation for the default dtype that the function is called with.",
    "Call torch.set_default_dtype() before the compiled function, or convert the numbers with .to(dtype) first.",
)
_reason(
    "operation-fails",
    "{what} refuses these arguments: {error}",
    "The operation fails already on the shapes and types of its arguments. It is run as it stands, so the error is "
    "the one that plain Python gives.",
    "Look at the shapes and dtypes of the arguments at this line.",
)
_reason(
    "fake-tensors",
    "{what} cannot be traced on fake tensors.",
    "While tracing, operations run on tensors that have shapes, types and devices, but no data. This one needs the "
    "data, or torch does not say what it gives for them. It runs as plain Python, between two graphs.",
    "Call it outside the compiled function.",
    "If the operation is yours, register what it gives for fake tensors (torch.library.register_fake).",
)
_reason(
    "graph-argument",
    "An argument of {what} cannot be part of a graph: {argument}.",
    "A graph holds tensors, numbers, strings, dtypes (but not those of quantized tensors), devices, and lists, "
    "tuples and dicts of them.",
    "Pass the tensors inside the object one by one.",
    "Call it outside the compiled function.",
)
_reason(
    "graph-result",
    "{what} returned a {type}, which a graph cannot hold.",
    "Results of graph operations are tensors, numbers, and tuples or lists of them.",
    "Call it outside the compiled function.",
)
_reason(
    "shared-instance-dict",
    "The __dict__ of {source} is that of another object, too, or is used as a dict of its own.",
    "An attribute set on the one appears on the other, which is not followed while tracing.",
    "Keep what is shared in an attribute of the class instead.",
)
_reason(
    "tensor-subclass",
    "{source} is a tensor subclass ({cls}).",
    "Its operations run Python of its own, which is not traced yet.",
    "Use plain tensors inside the compiled function.",
)
_reason(
    "tensor-layout",
    "{source} is a tensor with layout {layout}.",
    "Only dense (strided) tensors are traced.",
    "Convert it with .to_dense() before the call.",
)
_reason(
    "tensor-quantized",
    "{source} is a quantized tensor.",
    "While tracing, tensors stand for real ones without their data, and those know nothing of quantization.",
    "Call .dequantize() before the compiled function, or quantize after it.",
)
_reason(
    "functorch-tensor",
    "{source} was created inside a torch.func transform that has ended.",
    "It is still wrapped for the transform, and a graph holds plain tensors alone.",
    "Let the function that is transformed return the tensor (with has_aux=True beside the result).",
)
_reason(
    "lost-by-back-ends",
    "In a graph, most back ends would lose {what}.",
    "They rewrite graphs without changes of memory and without leaves made inside.",
    "Move it out of the compiled function.",
    "Use backend='eager', or, with a back end of yours that runs the graph's operations as they stand, "
    "options={'graph_runs_as_it_is': True}.",
)
_reason(
    "tensor-created",
    "The code creates a {cls} by calling the class.",
    "Such a tensor has an identity of its own, which a graph cannot give it.",
    "Create parameters before the compiled function runs; use torch.tensor or torch.zeros for plain tensors.",
)
_reason(
    "autograd-function",
    "The code calls {name}, of a torch.autograd.Function, which is not traced yet.",
    "Its forward and backward are called by autograd. The call runs as plain Python, between two graphs.",
    "Write the operation with torch's own functions, if their derivatives are what is meant.",
    "Call it outside the compiled function.",
)
_reason(
    "autograd-attribute",
    "The code reads the attribute {name} of a tensor.",
    "It belongs to the autograd graph of real tensors, which does not exist while tracing.",
    "Read it outside the compiled function.",
)
_reason(
    "autograd-context",
    "The code reads ctx.{name} in {cls}, a torch.autograd.Function.",
    "Autograd keeps it, out of Python's sight. It is read as plain Python, between two graphs.",
    "Nothing to do: what follows becomes a graph of its own.",
)
_reason(
    "autograd-flag",
    "The code calls {name} of a tensor.",
    "From then on autograd treats the real tensor in another way, and there is none while tracing.",
    "Call it before the compiled function runs, or on what the function returns.",
)
_reason(
    "autograd-call",
    "The code calls {name}.",
    "It works on the autograd graph of real tensors, which does not exist while tracing.",
    "Call it after the compiled function has returned.",
)
_reason(
    "backward-hooks",
    "The code calls a {cls} module that has backward hooks, which are not traced.",
    "They are part of the autograd graph of real tensors, which does not exist while tracing.",
    "Compile the module's forward instead of what calls the module: hooks then run around the compiled code.",
    "Remove the hooks if they are no longer needed: the handle that registering returned has remove().",
)
_reason(
    "saved-tensors-hooks",
    "The code {does} a with block of {name}, which is not traced.",
    "It has functions called on each tensor that autograd saves for the backward pass.",
    "Enter the block outside the compiled function, around its call.",
)
_reason(
    "hook-registered",
    "The code registers a hook ({name}).",
    "It returns a handle that removes the hook at any time, and holds what the hook is registered on weakly.",
    "Register hooks before the compiled function runs.",
)
_reason(
    "checkpoint",
    "The code calls {name}, which is not traced yet.",
    "Checkpointing runs a function again in the backward pass. The call runs as plain Python, between two graphs.",
    "Compile the function that is checkpointed, and call torch.utils.checkpoint outside compiled code.",
)
_TRANSFORM = (
    "A transform runs the function it is given on tensors that it has wrapped. The call runs as plain Python, with "
    "all that it calls, between two graphs."
)
_reason(
    "vmap",
    "The code calls {name}, which is not traced yet.",
    _TRANSFORM,
    "Write the function for a whole batch: operations that broadcast are traced.",
    "Call it outside the compiled function.",
)
_reason(
    "derivative",
    "The code calls {name}, which is not traced yet.",
    _TRANSFORM,
    "Compile the function alone, and call torch.autograd.grad on its result, outside compiled code.",
)
_reason(
    "function-transform",
    "The code calls {name}, which is not traced yet.",
    _TRANSFORM,
    "Call it outside the compiled function.",
)
_INSIDE_TRANSFORM = "The tensors there are wrapped for the transform, and a graph holds plain tensors alone."
_reason(
    "inside-vmap",
    "{function} is called inside {transform}, so it runs as plain Python.",
    _INSIDE_TRANSFORM,
    "Write the function for a whole batch, and compile that.",
)
_reason(
    "inside-derivative",
    "{function} is called inside {transform}, so it runs as plain Python.",
    _INSIDE_TRANSFORM,
    "Call torch.autograd.grad on the result of the compiled function instead.",
)
_reason(
    "inside-transform",
    "{function} is called inside {transform}, so it runs as plain Python.",
    _INSIDE_TRANSFORM,
    "Call the function that is transformed by itself, and compile that.",
)
_reason(
    "inside-torch-mode",
    "{function} is called while the mode {mode} is active, so it runs as plain Python.",
    "torch shows the mode each call, or each operation, and the mode decides what becomes of it: it may count, "
    "change results, or raise. So it is shown what plain Python does, and nothing else.",
    "To see the graph, call the function once outside the mode.",
    "To count operations of the compiled code, look at the nodes of its graphs.",
)
_reason(
    "torch-mode",
    "The code enters {mode}, a mode that sees what is done with tensors.",
    "While it is active, the mode decides what becomes of each call, so the code inside its block runs as plain "
    "Python.",
    "Enter the mode outside the compiled function, or only while you look at what it sees.",
)
_reason(
    "control-flow-operator",
    "The code calls {name}, which is not traced yet.",
    "It calls functions that it is given, as often as the data says. The call runs as plain Python, between two "
    "graphs.",
    "Use torch.where instead of a condition, where both outcomes may be computed.",
    "Use a Python loop, where the number of rounds is known while tracing: its rounds become part of the graph.",
)
_reason(
    "body-breaks",
    "{operator} needs {function} as one graph, which it cannot be: {why}.",
    "The operator decides, when the graph runs, whether and how often the function is called. So the function is "
    "traced into a graph of its own, which cannot break. The call runs as plain Python, between two graphs.",
    "Move what cannot be traced out of the function.",
)
_reason(
    "branches-differ",
    "The branches of torch.cond return different {what}: {one} and {other}.",
    "The result is that of one branch or the other, as the data says, and the code after it must fit both.",
    "Return the same containers from both branches, with tensors of the same dtype, device and number of dimensions.",
)
_reason(
    "carried-differs",
    "{operator} needs {function} to return what it can be called with next, but {what} differ: {one} and {other}.",
    "The operator calls the function again on what it returned, with the same code: types, dtypes and sizes stay.",
    "Return values of the kinds, dtypes and sizes that the function is given.",
)
_reason(
    "constant-predicate",
    "The predicate of torch.cond is {value} while tracing, so only {function} is in the graph.",
    "The graph does not break here. A number or bool of Python is a constant in the graph's code; another value is "
    "compiled anew.",
    "Pass a tensor with one element, or compare a size that is dynamic, to have both branches in the graph.",
    "Use a plain if statement, where the choice is made by a constant.",
)
_reason(
    "operator-refuses",
    "{operator} does not take these arguments: {why}.",
    "The operator takes tensors, numbers and functions in certain places alone. The call runs as plain Python, which "
    "raises what the operator raises.",
    "Look at the arguments of the operator at this line.",
)
_reason(
    "body-changes",
    "The function {what}.",
    "An operator may call the function several times, or not at all, when the graph runs. While tracing it is called "
    "once, so its side effects cannot be those of plain Python.",
    "Return what the function computes, and change things with the result of the operator.",
)
_reason(
    "body-returns-alias",
    "The function returns a tensor that shares memory with {what}.",
    "The results of the operator are tensors of their own.",
    "Return a copy: x.clone().",
)
_reason(
    "body-inputs-alias",
    "The function uses two tensors that share memory: {one} and {other}.",
    "Back ends that change code for in-place operations into code without them refuse such a function. The back end "
    "'eager' takes it.",
    "Copy one of them before the call: x.clone().",
)
_reason(
    "body-result",
    "{operator} cannot return an object of type {type}, as {function} does.",
    "The results of the operator are computed by the graph, which holds tensors and numbers.",
    "Return tensors, or lists, tuples and dicts of them.",
)
_reason(
    "body-argument",
    "A value of type {type} is passed to the function.",
    "The operator passes on tensors and numbers alone.",
    "Use the value in the function without passing it: functions may use variables of the code around them.",
)
_reason(
    "leaves-its-body",
    "A tensor that was computed inside a function given to an operator ({name}) is used outside of it.",
    "The operator returns only what the function returns.",
    "Return the tensor from the function.",
)
_reason(
    "flex-attention",
    "The code calls {name}, which is not traced yet.",
    "It calls functions that it is given, to mask or change scores. The call runs as plain Python, between two "
    "graphs.",
    "Use torch.nn.functional.scaled_dot_product_attention, where scores are only masked.",
    "Create masks before the compiled function runs.",
)
_reason(
    "higher-order-operator",
    "The code calls {name}, which is not traced yet.",
    "It is an operator on functions or graphs. The call runs as plain Python, between two graphs.",
    "Call the function that it is given, if that computes the same.",
    "Call it outside the compiled function.",
)
_reason(
    "torch-check",
    "The condition of a torch._check does not hold, or depends on data.",
    "Whether it holds is known only when the graph has run.",
    "Check shapes rather than data inside the compiled function.",
)
_reason(
    "random-state",
    "The code changes the state of a random generator ({name}).",
    "The order in which random numbers are drawn must stay that of plain Python.",
    "Seed generators before the compiled function runs.",
)
_reason(
    "random-number",
    "The code needs to know {what}, which is drawn when the compiled code runs.",
    "A random number differs from call to call, so nothing that is done now may depend on it.",
    "Use the number in arithmetic and tensor operations only, or draw it outside the compiled function.",
)
_reason(
    "random-choice",
    "The code draws from a list whose items are not all ints or all floats.",
    "Which object comes out is known only when the code runs, and what follows may depend on it.",
    "Draw the position with random.randrange outside the compiled function, or draw before it is called.",
)
_reason(
    "numpy-array",
    "{source} is a NumPy value that no tensor stands for: {why}.",
    "Graphs hold tensors, which have fewer types and layouts than NumPy's arrays.",
    "Pass an ordinary array of bools, integers, float32 or float64, or convert it before the compiled function.",
)
_reason(
    "numpy-data",
    "The code needs the {name} of a NumPy value ({what}).",
    "Only the data can tell, and the data is there only when the graph has run.",
    "Compute with whole arrays, or look at values outside the compiled function.",
)
_reason(
    "numpy-differs",
    "NumPy gives {what} for {name}, where the graph would give something else.",
    "NumPy's operations become operations of torch, whose rules for types, scalars and memory differ here.",
    "Write the operation so that both agree (give the dtype, use arrays of one dtype), or leave it outside.",
)
_reason(
    "numpy-function",
    "The code uses {name} on these NumPy values, which is not traced.",
    "Only operations known to give the same values in torch as in NumPy become part of a graph.",
    "Use other operations, or call it outside the compiled function.",
)
_reason(
    "unknown-object",
    "{source} is a {type} object, which is not traced.",
    "It is implemented in C, or keeps state that Python code cannot see.",
    "Pass what is needed of it as plain numbers, strings, lists or tensors.",
)
_reason(
    "builtin-subclass",
    "{cls} is a subclass of {base}.",
    "Its instances hold data in the builtin part, which is not tracked for subclasses yet.",
    "Keep the builtin object in an attribute instead of inheriting from it.",
)
_reason(
    "hash-user-object",
    "A {cls} object with its own __hash__ or __eq__ is used as a key.",
    "Looking it up would run user code at places Python does not fix.",
    "Use a plain value, such as a string or a number, as the key.",
)
_reason(
    "set-of-objects",
    "{source} is a set of objects, whose order depends on their addresses.",
    "Addresses differ from run to run, so the set may be in another order in the next.",
    "Use a list or a dict, whose order is fixed.",
)
_reason(
    "set-order",
    "The code needs the order of {what}, which depends on objects' addresses.",
    "Addresses differ from run to run.",
    "Use a list or a dict, whose order is fixed.",
)
_reason(
    "set-kept",
    "A function that is handed to torch changes a {what} that was created outside of it.",
    "Should the rest of the function turn out not to be traceable, the set has to be as it was, in the same order.",
    "Create the set inside the function.",
    "Use a list or a dict.",
)
_reason(
    "dict-reshaped",
    "A {what} is iterated over while keys are put in and taken out.",
    "What comes next then depends on how Python keeps the keys in memory.",
    "Iterate over a copy: for key in list(d).",
)
_reason(
    "outside-iterator",
    "The code takes an item from a {type} that was started before this point.",
    "What it gives next is known only where that runs no code (an iterator over a list, say) and nothing here has "
    "changed what it goes over. Taking an item cannot be undone, so it is left to Python.",
    "Start the iteration inside the compiled function, or pass a list.",
)
_reason(
    "generator-dropped",
    "{name} is dropped before its end, while it is in a try or with block.",
    "Dropping it runs the rest of the block, at a time that is up to Python.",
    "Use all items of the generator, or close it.",
)
_reason(
    "identity",
    "The code compares {a} and {b} with `is`.",
    "Symbolic numbers are no objects of their own, and equal values that came in at two places may be one or two.",
    "Compare values with ==.",
)
_reason(
    "object-id",
    "The code needs the address of an object (id or hash).",
    "Objects created in the trace get their address later.",
    "Use a name or a counter instead of an address.",
)
_reason(
    "finalizer",
    "The code creates a {cls}, which has a __del__.",
    "When the object goes, and its __del__ runs, is known only when the program runs.",
    "Make the object before the compiled function runs.",
)
_reason(
    "weak-reference",
    "The code creates a weak reference to {what}.",
    "When the object dies is known only when the program runs.",
    "Make the reference before the compiled function runs.",
)
_reason(
    "weak-reference-after-change",
    "The code calls a weak reference after changing something that may have held the object.",
    "What a traced program drops goes when its graph has run. Only then is it known whether the object is there.",
    "Call the weak reference before the changes, or hold the object while it is used.",
)
_reason(
    "object-address",
    "The code turns {what} into text, which shows its address.",
    "Objects created in the trace get their address later.",
    "Give the class a __repr__ or __str__.",
)
_reason(
    "text",
    "The code turns {what} into text, which is not traced.",
    "The text is written by code in C, from values that are not known while tracing.",
    "Turn it into text outside the compiled function.",
)
_reason(
    "needs-constant",
    "The code needs a value known while tracing, but has {what}.",
    "What it does depends on the value itself, not only on its type or shape.",
    "Compute it from shapes or plain Python numbers, or outside the compiled function.",
)
_reason(
    "huge-constant",
    "The code makes {what}.",
    "Values that large are left for Python to make.",
    "Make it once, outside the compiled function.",
)
_reason(
    "cannot-rebuild",
    "The graph ends while {what} is alive, which cannot be handed on, so the function runs as plain Python.",
    "After a break the rest of the function needs all that is alive; this value cannot be made again by code.",
    "Use it up before the break: turn a generator into a list, for example.",
)

# --- attributes, calls, classes -------------------------------------------------------------------------------

_reason(
    "attribute",
    "The code reads the attribute {name} of a {type}, which is not traced.",
    "It is computed in C, from state that is not tracked.",
    "Read it before the compiled function runs and pass it in.",
)
_reason(
    "set-attribute",
    "The code sets the attribute {name} of a {type}.",
    "Changes of such objects are not tracked.",
    "Set it outside the compiled function.",
)
_reason(
    "set-special-attribute",
    "The code sets {name} of a {cls} object.",
    "Code in C keeps it, or the object has no place for it; what it takes is for Python to say.",
    "Set it outside the compiled function.",
)
_reason(
    "set-class-attribute",
    "The code sets a class attribute, {what}.",
    "It would change every instance, also those that other code relies on.",
    "Set it on the instance, or outside the compiled function.",
)
_reason(
    "descriptor",
    "The code uses {what}, whose code is in C and is not traced.",
    "What reading it gives, or does, is not known.",
    "Read it before the compiled function runs and pass it in.",
)
_reason(
    "method",
    "The code calls the method {name} of a {type}, which is not traced with these arguments.",
    "It is implemented in C, and what it does is not known.",
    "Call it outside the compiled function, or write the step in plain Python.",
)
_reason(
    "call",
    "The code calls {what}, which is not traced.",
    "It is implemented in C, and what it does is not known.",
    "Call it outside the compiled function, or write the step in plain Python.",
)
_reason(
    "skipped-function",
    "The code calls {what}, which is left to Python: {why}.",
    "The call runs as it stands, between two graphs.",
    "Move the call out of the compiled function if the break matters.",
)
_reason(
    "metaclass",
    "{cls} is made by a metaclass with its own __call__ ({meta}).",
    "Making an instance runs code that is not traced yet.",
    "Make the instance before the compiled function runs.",
)
_reason(
    "except-star",
    "An exception is matched by except*.",
    "CPython splits groups of exceptions by their tracebacks: the whole function runs as plain Python.",
    "Put what computes into a function of its own, and the try statement with except* around its call.",
)
_reason(
    "class-equality",
    "{meta}, the class of {cls}, says with code of its own which classes are equal.",
    "While tracing, classes are told apart by which objects they are.",
    "Keep == and hash of classes as they are, or leave the class out of the compiled function.",
)
_reason(
    "own-lookup",
    "Looking at an attribute of a {cls} object runs code of its class.",
    "Tracing, and the checks before each call, look at objects in many ways, each of which would run that code.",
    "Use __getattr__, which is asked only for what is not there, or leave it out of the compiled function.",
)
_reason(
    "class-created",
    "The code creates a class ({what}).",
    "A class created in the trace would be another one in each call.",
    "Define classes outside the compiled function.",
)
_reason(
    "context-manager",
    "The code enters a {type} as a context manager.",
    "What it does on entering and leaving happens in C.",
    "Enter it outside the compiled function.",
)
_reason(
    "left-elsewhere",
    "The code leaves a {type} that was not the last one entered since the graph began.",
    "What it goes back to is known only to the object itself.",
    "Enter and leave it by a with block.",
)
_reason(
    "left-open",
    "The graph ends inside a block of {type}, which is not entered again after a break.",
    "Such a block cannot be entered by one graph and left by another, so it is entered between two graphs.",
    "Take what breaks the graph out of the block.",
    "Enter torch's own context managers by a with statement in the function where the graph ends.",
)
_reason(
    "instance-dict-key",
    "The code uses {what} as a key of an object's __dict__.",
    "Only names known while tracing can be followed there.",
    "Use getattr and setattr with a string.",
)
_reason(
    "match",
    "A match statement looks into {what}.",
    "Its keys are not tracked.",
    "Use plain dicts in patterns.",
)
_reason(
    "import",
    "The code imports {name} for the first time.",
    "Importing runs the module's code, once.",
    "Import it at the top of the file.",
)
_reason(
    "instruction",
    "The bytecode instruction {name} is not supported.",
    "What the code does here is not traced.",
    "Write the step in another way.",
)
_reason(
    "coroutine",
    "The code calls {name}, an async function.",
    "Its steps run in an event loop, outside this call.",
    "Await it outside the compiled function.",
)
_reason(
    "too-deep",
    "Calls are nested more than {depth} deep (in {name}).",
    "Each call is traced into its caller; very deep recursion is left to Python.",
    "Use a loop instead of recursion.",
)
_reason(
    "recursion-limit",
    "Python's recursion limit was reached while {function} was traced.",
    "Tracing takes several Python calls for each call of the program, on top of those that are running already.",
    "Call the compiled function from fewer calls inside each other.",
    "Raise the limit with sys.setrecursionlimit().",
)
_reason(
    "exception-leaves",
    "The function is left by an exception: {what}.",
    "Plain Python raises it, so that it and its traceback are the real ones.",
    "Nothing to do if the exception is meant.",
)
_reason(
    "told-otherwise",
    "The code asks {question}, which a trace answers with True, and then the graph ends: {failure} It is traced again"
    " with False, which is what plain Python answers.",
    "What is left to Python gets the other answer. Where the function is left by an exception, or its graph loses"
    " nothing by it, all of it is told that it is not being compiled.",
    "Have the function give the same, whatever it is told.",
)
_reason(
    "cached-effect",
    "The code calls {name}, which is cached and changes something outside itself.",
    "Such a function acts once for each set of arguments, which compiled code would repeat at each call.",
    "Take the change out of the cached function, or do without the cache.",
)
_reason(
    "cached-after-change",
    "The code calls {name}, which is cached and reads what the code changed just before.",
    "What the cache keeps is computed while tracing, when that change is not made yet.",
    "Give the function what it needs as an argument, or do without the cache.",
)
_reason(
    "no-tensor-work",
    "{name} does nothing with tensors, so it runs as plain Python.",
    "A graph would be empty.",
    "Nothing to do.",
)
_reason(
    "no-tensor-work-before-break",
    "{name} does nothing with tensors before the place where its graph would break ({why}), so it runs as plain"
    " Python.",
    "The graph up to there would be empty. The functions that it calls are traced on their own.",
    "Nothing to do, unless the function works on tensors later: then see the reason of the break.",
)
_reason(
    "no-tensor-work-before-exception",
    "{name} is left by an exception ({what}) before it does anything with tensors, so it runs as plain Python.",
    "A graph would be empty, and plain Python raises the exception, so that it and its traceback are the real ones.",
    "Nothing to do if the exception is meant.",
)
_reason(
    "no-tensor-work-in-rest",
    "What is left of {function} after line {line} does nothing with tensors, so it runs as plain Python.",
    "A graph would be empty.",
    "Nothing to do.",
)
_reason(
    "no-tensors-in-sight",
    "{name} has no tensor at hand, and an earlier call of it came to nothing that a graph could hold, so it runs as"
    " plain Python.",
    "Looking at each such call again would cost more than it gains.",
    "Nothing to do.",
)

# --- functions with effects outside ---------------------------------------------------------------------------

_reason(
    "print",
    "The code prints.",
    "Output must come at its time and in its order, so the call runs between two graphs.",
    "Take the print out, or print after the compiled function has returned.",
    "Compile with options={'replay_prints': True}: then it prints after the graph has run, where nobody can tell.",
)
_reason(
    "gives-warning",
    "The code gives a warning: {warning}.",
    "Plain Python gives it, from its line, as often as the filters of warnings say.",
    "Do what the warning says.",
    "Ignore it: `warnings.filterwarnings('ignore', ...)`.",
)
_reason(
    "input",
    "The code reads from the keyboard.",
    "It waits for a person.",
    "Read input before the compiled function runs.",
)
_reason(
    "open-file",
    "The code opens a file.",
    "Files are outside what is traced.",
    "Read files before the compiled function runs.",
)
_reason(
    "breakpoint",
    "The code stops in a debugger.",
    "The debugger looks at a running Python frame.",
    "Take breakpoint() out, or step through the trace instead.",
)
_reason(
    "exec",
    "The code compiles or runs text as Python.",
    "What it will do is not known from its own code.",
    "Write the code out as a function.",
)
_reason(
    "frame-namespace",
    "The code reads a namespace as a whole (locals(), globals() or dir()).",
    "The namespace of a traced function exists only while tracing.",
    "Name the variables that are needed.",
)

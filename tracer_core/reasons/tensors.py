"""Reasons about tensors: their data, memory, metadata and kinds."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "tensor-branch",
    "The code branches on the value of a tensor ({what}).",
    "The value is known only when the graph runs, so the branch cannot be chosen while tracing.",
    "Use torch.where to compute both outcomes in the graph.",
    "Compute the condition from shapes or plain Python numbers, if it does not need the data.",
)
reason(
    "tensor-data",
    "The code reads the data of a tensor ({name} on {what}).",
    "The data exists only when the graph runs. While tracing, only shapes, dtypes and devices are known.",
    "Keep the computation on tensors, and read numbers after the compiled function has returned.",
)
reason(
    "tensor-memory",
    "The code calls {name} on a tensor ({what}).",
    "The call returns a fact about the tensor's memory, which exists only when the graph runs.",
    "Call it outside the compiled function.",
)
reason(
    "tensor-index",
    "The code uses a value of the graph ({what}) where Python needs a number known while tracing.",
    "The value is known only when the graph runs.",
    "Index tensors with tensors and arrays with arrays, or take the number from a shape or an argument.",
)
reason(
    "data-dependent-number",
    "The code needs the value of {what}, which depends on the data of a tensor.",
    "The data exists only when the graph runs, so the number is not known while tracing.",
    "Use the number in tensor operations only, or compute it outside the compiled function.",
)
reason(
    "data-dependent-op",
    "The result of {what} depends on the data ({error}).",
    "The size or value of the result is known only when the operation runs, so the code after it cannot be traced.",
    "Use an operation whose result has a fixed size, such as torch.where with three arguments or a mask.",
)
reason(
    "free-strides",
    "The code reads the strides of a computed tensor in dimensions where they have no effect ({what}).",
    "In a dimension of size 1, or in a tensor without elements, the stride is never used to find an element. Each "
    "operation leaves a different number there, which only the real tensor has.",
    "Read the shape, or only strides of dimensions with more than one element.",
)
reason(
    "tensor-metadata",
    "The code changes the shape or storage of a tensor in place ({name} on {what}).",
    "The shapes and strides of a graph's inputs are fixed when the graph is built.",
    "Create a new tensor (unsqueeze, t, reshape, ...) instead of changing one in place.",
)
reason(
    "tensor-created",
    "The code creates a {cls} by calling the class.",
    "Such a tensor is an object with an identity of its own, which the result of a graph does not have.",
    "Create parameters before the compiled function runs; use torch.tensor or torch.zeros for plain tensors.",
)
reason(
    "tensor-subclass",
    "{source} is a tensor of the subclass {cls}, which defines __torch_dispatch__.",
    "That method runs below autograd, for each operation that others consist of, and is not traced. The method "
    "__torch_function__ of a subclass is traced.",
    "Define __torch_function__ instead, if the subclass only adds to the results of operations.",
    "Use plain tensors inside the compiled function.",
)
reason(
    "tensor-layout",
    "{source} is a tensor with layout {layout}.",
    "Only dense (strided) tensors are traced.",
    "Convert it with .to_dense() before the call.",
)
reason(
    "tensor-quantized",
    "{source} is a quantized tensor.",
    "Tracing runs operations on fake tensors, which have shapes and dtypes but no quantization parameters.",
    "Call .dequantize() before the compiled function, or quantize after it.",
)
reason(
    "functorch-tensor",
    "{source} was created inside a torch.func transform that has ended.",
    "The tensor is still wrapped for the transform, and a graph holds only plain tensors.",
    "Return the tensor from the transformed function (with has_aux=True next to the result).",
)
reason(
    "operator-not-tagged",
    "The operator {operator} does not have the tag pt2_compliant_tag.",
    "By the tag, its authors say that its fake implementation agrees with it and that it works with compilers. The "
    "graph breaks there with the option only_allow_pt2_compliant_ops; without it, the operator is in the graph, and "
    "this is a notice.",
    "Define it with torch.library.custom_op, which adds the tag.",
    "Pass tags=torch.Tag.pt2_compliant_tag to torch.library.define, after torch.library.opcheck has passed.",
)
reason(
    "default-dtype",
    "{what} uses the default dtype, which the code has changed.",
    "Back ends compile such an operation for the default dtype that is set when the compiled function is called.",
    "Call torch.set_default_dtype() before the compiled function, or convert the numbers with .to(dtype) first.",
)

"""Blocks and calls that change torch's settings: dtype, device, determinism, kernels, profilers, back ends."""

import torch
import torch.autograd.forward_ad as fwAD

from tests.conformance.program import program, t


@program("I6 O3")
def dtype_switched_with_a_break(x):
    torch.set_default_dtype(torch.float64)
    y = torch.ones(2)
    print(y.dtype)
    z = torch.zeros(2)
    torch.set_default_dtype(torch.float32)
    return y, z, x + torch.ones(3)


@program(
    "I6 O3",
    lambda: [t(3, dtype=torch.int64)],
    differs="stricter",
    why="back ends compile the division for the default dtype of the call",
)
def division_of_ints_in_another_dtype(x):
    y = x / 2
    torch.set_default_dtype(torch.float64)
    z = x / 2
    torch.set_default_dtype(torch.float32)
    return y, z, torch.arange(2), torch.as_tensor([1.5])


@program("I6 O3")
def constructors_in_another_dtype(x):
    torch.set_default_dtype(torch.float64)
    made = [torch.arange(3), torch.arange(3.0), torch.tensor(2), torch.tensor([1.5]), torch.as_tensor(1.5), x.sum()]
    made += [torch.full((2,), 1), torch.full((2,), 1.5), torch.eye(2), torch.zeros(2, dtype=torch.int8)]
    torch.set_default_dtype(torch.float32)
    return made


@program("I6 O3", then=lambda r: torch.set_default_dtype(torch.float32))
def dtype_left_switched(x):
    torch.set_default_dtype(torch.float64)
    return x + 1, torch.ones(2)


@program(
    "I6 O3",
    then=lambda r: torch.set_default_device(None),
    differs="stricter",
    why="torch, whose operators look at overrides, makes a method of the addition",
)
def default_device_set(x):
    torch.set_default_device("meta")
    y = torch.ones(2)
    return y, x + 1


@program("I6 O3", lambda: [t(2, 3), t(2, 3)])
def default_device_set_and_reset(x):
    torch.set_default_device("meta")
    y = torch.ones(2)
    torch.set_default_device("cpu")
    z = torch.ones(2)
    torch.set_default_device(None)
    return y.device, z, x + 1


@program("I6", differs="fewer_breaks", why="torch does not know the manager")
def device_block_on_meta(x):
    with torch.device("meta"):
        y = torch.ones(3)
    z = torch.ones(3)
    return x + z, y


@program("I6 I14", differs="fewer_breaks", why="torch does not know the manager")
def device_block_with_a_break(x):
    with torch.device("meta"):
        y = torch.ones(3)
        print(y.device)
        z = torch.ones(3)
    return x + torch.ones(3), y, z


@program("I6 O3")
def deterministic_switched(x):
    torch.use_deterministic_algorithms(True)
    y = x + 1
    on = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    return y * 2, on


@program("I6 O3")
def deterministic_left_on(x):
    torch.use_deterministic_algorithms(True, warn_only=True)
    y = x + 1
    return y, torch.is_deterministic_algorithms_warn_only_enabled()


@program("I6 O3")
def deterministic_with_a_break(x):
    torch.use_deterministic_algorithms(True)
    y = x + 1
    print(torch.are_deterministic_algorithms_enabled())
    z = y * 2
    torch.use_deterministic_algorithms(False)
    return z


@program("I6 I14", differs="fewer_breaks", why="torch leaves what follows the break to Python")
def sdpa_kernel_with_a_break(x):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q = x.reshape(1, 1, 2, 3)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION]):
        y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
        print("inside", torch.backends.cuda.math_sdp_enabled())
        z = torch.nn.functional.scaled_dot_product_attention(y, q, q)
    return y, z


@program("I6 F3")
def sdpa_kernel_as_decorator(x):
    return attended(x.reshape(1, 1, 2, 3))


@torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
def attended(q):
    return torch.nn.functional.scaled_dot_product_attention(q, q, q)


@program("I6")
def sdpa_kernel_with_priority(x):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q = x.reshape(1, 1, 2, 3)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
        y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return y


@program("I6")
def autograd_record_function(x):
    with torch.autograd.profiler.record_function("part", "args"):
        y = x + 1
    return y * 2


@program("I6 I14")
def record_function_with_a_break(x):
    with torch.profiler.record_function("part"):
        y = x + 1
        print("inside")
        y = y * 3
    return y * 2


@program("I6 F3")
def record_function_as_decorator(x):
    return recorded(x) * 2


@torch.profiler.record_function("part")
def recorded(x):
    return x + 1


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def profiler_block(x):
    with torch.profiler.profile() as p:
        y = x + 1
    return y * 2, len(p.key_averages()) >= 0


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def autograd_profiler_block(x):
    with torch.autograd.profiler.profile(enabled=False) as p:
        y = x + 1
    return y * 2, p.enabled


@program("I6", differs="fewer_breaks", why="torch leaves the block to Python")
def saved_tensors_hooks(x):
    def pack(t):
        return t

    x = x.clone().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(pack, pack):
        y = x * x
    return y


@program("I6", lambda: [t(2, 3, grad=True)])
def saved_tensors_disabled(x):
    with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
        y = x * x
    return y


@program("I6", lambda: [t(2, 3, grad=True)], differs="fewer_breaks", why="torch leaves the frame to Python")
def save_on_cpu(x):
    with torch.autograd.graph.save_on_cpu():
        y = x * x
    return y


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def fork_rng(x):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        y = torch.rand(2)
    return x + 1, y, torch.rand(2)


@program("I6", differs="torch_differs", why="it fails inside")
def cuda_stream_of_none(x):
    with torch.cuda.stream(None):
        y = x + 1
    return y


@program("I6", differs="torch_differs", why="it fails inside")
def cuda_device_of_none(x):
    with torch.cuda.device(None):
        y = x + 1
    return y


# Loading them gives torch's own warnings, once a process.
fwAD._maybe_load_decompositions()


@program("I6")
def dual_level(x):
    with fwAD.dual_level():
        d = fwAD.make_dual(x, torch.ones_like(x))
        y = d * d
        p = fwAD.unpack_dual(y)
    return p.primal, p.tangent


@program("I6 O3", differs="fewer_breaks", why="torch leaves the frame to Python")
def cudnn_flags(x):
    with torch.backends.cudnn.flags(enabled=False):
        y = x + 1
        on = torch.backends.cudnn.enabled
    return y, on, torch.backends.cudnn.enabled


@program("I6 O3", differs="fewer_breaks", why="torch leaves the frame to Python")
def mkldnn_flags(x):
    with torch.backends.mkldnn.flags(enabled=False):
        y = x + 1
    return y * 2


@program("I6 O3")
def backend_flag_set(x):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    y = x + 1
    torch.backends.cuda.matmul.allow_tf32 = before
    return y * 2


@program("I6 O3", differs="fewer_breaks", why="torch breaks where the setting is asked for")
def matmul_precision(x):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    y = x + 1
    now = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(before)
    return y * 2, now


@program("I6")
def torch_function_disabled(x):
    with torch._C.DisableTorchFunctionSubclass():
        y = x + 1
    return y * 2


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def anomaly_detection(x):
    with torch.autograd.detect_anomaly(check_nan=False):
        y = x + 1
    return y * 2


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def multithreading_switch(x):
    with torch.autograd.set_multithreading_enabled(False):
        y = x + 1
    return y * 2


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def optimized_execution(x):
    with torch.jit.optimized_execution(False):
        y = x + 1
    return y * 2


@program("I6", lambda: [(t(2, 3), torch.nn.Linear(3, 3, bias=False).requires_grad_(False))], then=lambda r: None)
def parametrize_cached(x, module):
    with torch.nn.utils.parametrize.cached():
        y = module(x)
    return y.shape


@program("I6 O3")
def cudnn_flags_that_are_set(x):
    before = torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic
    torch.backends.cudnn.benchmark = not before[0]
    torch.backends.cudnn.deterministic = True
    y = x * 2
    seen = torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic
    torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = before
    return y, before, seen


@program("I6 O3")
def which_engine_and_device(x):
    engines = torch.backends.quantized.supported_engines
    return x * 2, torch.backends.quantized.engine in engines, engines, torch.cuda.is_initialized()


@program("I6 O3")
def threads_and_warnings(x):
    return x * 2, torch.get_num_interop_threads(), torch.is_warn_always_enabled()

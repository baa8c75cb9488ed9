"""torch's context managers beyond grad modes: profilers, saved tensors, random streams, devices, streams."""

import torch

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]


@program("I6", differs="stricter", why="torch leaves the profiler out, which then sees nothing")
def profiler_around_tensors(x):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        y = x * 2
    return y + 1


@program("I6 I14", differs="fewer_breaks", why="torch leaves the frame to Python")
def profiler_with_a_break(x):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        y = x * 2
        print("inside")
        z = y + 1
    return z * 3, type(profile).__name__


@program("I6", differs="stricter", why="torch leaves the profiler out, which then sees nothing")
def autograd_profiler(x):
    with torch.autograd.profiler.profile() as profile:
        y = x * 2
    return y + 1


@program("I6")
def autograd_profiler_off(x):
    with torch.autograd.profiler.profile(enabled=False) as profile:
        y = x * 2
    return y + 1


@program("I6 I14")
def record_function_with_a_break(x):
    with torch.autograd.profiler.record_function("part") as part:
        y = x * 2
        print("inside")
        z = y + 1
    return z * 3


@program("I6")
def record_function_from_the_profiler(x):
    with torch.profiler.record_function("part"), torch.profiler.record_function("inner"):
        y = x * 2
    return y + 1


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def what_the_profiler_saw(x):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        y = x * 2
        z = y.sin()
    seen = {event.key: event.count for event in profile.key_averages()}
    return z + 1, seen.get("aten::mul"), seen.get("aten::sin"), seen.get("aten::add")


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def nvtx(x):
    with torch.autograd.profiler.emit_nvtx(enabled=False):
        y = x * 2
    return y + 1


@program("I6 F12", G, then=lambda r: None, differs="stricter", why="torch's other graph is that of the hook")
def saved_tensors_hooks(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v * 2, lambda v: v):
        y = x * x
    return y.sum()


@program("I6 F12", G, differs="fewer_breaks", why="torch leaves the frame to Python")
def saved_tensors_hooks_and_a_break(x):
    seen = []

    def pack(v):
        seen.append(tuple(v.shape))
        return v

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda v: v):
        y = x * x
        print("inside")
        z = y * y
    return z.sum() * 2, seen


@program("I6 F12", G, differs="fewer_breaks", why="torch leaves the frame to Python")
def save_on_cpu(x):
    with torch.autograd.graph.save_on_cpu():
        y = x * x
    return y.sum() + 1


@program("I6 F12", G)
def disabled_saved_tensors_hooks(x):
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        y = x * x
    return y.sum() + 1


@program("I6 F12", G)
def allow_mutation_on_saved_tensors(x):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * x
    return y.sum() + 1


@program(
    "I6 O9",
    lambda: [t(2, 3)],
    then=lambda r: torch.rand(1),
    differs="fewer_breaks",
    why="torch leaves the frame to Python",
)
def fork_rng(x):
    torch.manual_seed(0)
    with torch.random.fork_rng():
        a = torch.rand(2)
    b = torch.rand(2)
    return a, b, x + 1


@program(
    "I6 O9 I14",
    lambda: [t(2, 3)],
    then=lambda r: torch.rand(1),
    differs="fewer_breaks",
    why="torch leaves the frame to Python",
)
def fork_rng_with_a_break(x):
    torch.manual_seed(0)
    y = x + 1
    with torch.random.fork_rng(devices=[]):
        a = torch.rand(2)
        print("inside")
        y = y * 2
    return a, torch.rand(2), y + 1


@program("I6", differs="stricter", why="torch has nodes that do nothing without a device")
def cuda_device_of_minus_one(x):
    with torch.cuda.device(-1):
        y = x * 2
    return y + 1


@program("I6", differs="stricter", why="the stream is made before the graph")
def stream_context(x):
    with torch.Stream(device="cpu"):
        y = x * 2
    return y + 1


@program("I6 I14")
def attention_kernels_with_a_break(x):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q = x.reshape(1, 1, 2, 3)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
        y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
        print("inside")
        z = torch.nn.functional.scaled_dot_product_attention(y, q, q)
    return z + 1


@program("I6")
def attention_kernels_as_decorator(x):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    @sdpa_kernel(SDPBackend.MATH)
    def attend(q):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    return attend(x.reshape(1, 1, 2, 3)) + 1


@program("I6 I14", differs="fewer_breaks", why="torch leaves the frame to Python")
def device_with_a_break(x):
    with torch.device("cpu"):
        y = torch.ones(3)
        print("inside")
        z = torch.zeros(3)
    return x + y + z


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def meta_device(x):
    with torch.device("meta"):
        y = torch.ones(3)
    return x + 1, y.device.type


@program(
    "I6 I14", then=lambda r: torch.ones(1).device.type, differs="fewer_breaks", why="torch leaves the frame to Python"
)
def default_device_set(x):
    torch.set_default_device("meta")
    try:
        y = torch.ones(2)
        print(y.device)
    finally:
        torch.set_default_device(None)
    return x + 1, y.device.type, torch.ones(1).device.type


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def anomaly_mode(x):
    with torch.autograd.detect_anomaly(check_nan=False):
        y = x * 2
    return y + 1


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def anomaly_set(x):
    with torch.autograd.set_detect_anomaly(False):
        y = x * 2
    return y + 1, torch.is_anomaly_enabled()


@program("I6", G, differs="fewer_breaks", why="torch leaves the frame to Python")
def multithreading_set(x):
    with torch.autograd.set_multithreading_enabled(False):
        y = x * 2
    return y + 1


@program("I6", G)
def forward_ad_level(x):
    with torch.autograd.forward_ad.dual_level():
        y = x * 2
    return y + 1


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def deterministic_flags(x):
    with torch.backends.cudnn.flags(enabled=False):
        y = x * 2
        print("inside")
        z = y + 1
    return z * 3, torch.backends.cudnn.enabled


@program("I6")
def parametrizations_cached(x):
    from torch.nn.utils import parametrize

    with parametrize.cached():
        y = x * 2
    return y + 1


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def fx_proxies_disabled(x):
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        y = x * 2
    return y + 1


@program("I6")
def torch_function_disabled(x):
    with torch._C.DisableTorchFunctionSubclass():
        y = x * 2
        print("inside")
        z = y + 1
    return z * 2


@program("I6", differs="fewer_breaks", why="torch leaves the frame to Python")
def mkldnn_and_anomaly_nested(x):
    with torch.backends.mkldnn.flags(enabled=False), torch.jit.optimized_execution(False):
        y = x * 2
        print("inside")
        z = y + 1
    return z * 2


@program("I6", G)
def grad_mode_forced_twice(x):
    with torch.no_grad(), torch.inference_mode(False):
        y = x * 2
        print(torch.is_grad_enabled())
        z = y * 3
    return z, x * 4

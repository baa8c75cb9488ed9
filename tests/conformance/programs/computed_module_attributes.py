"""Modules whose class computes attributes, as those of `torch.backends` do, and what torch says of the machine."""

import types

import torch

from tests.conformance.program import program, t


class Setting:
    """A data descriptor: read before the module's own namespace."""

    def __get__(self, module, cls):
        return module.__name__, cls.__name__, len(vars(module)["read"])

    def __set__(self, module, value):
        vars(module)["read"].append(value)


class Fallback:
    """A descriptor that the module's own namespace hides."""

    def __get__(self, module, cls):
        return f"{module.__name__} has none"


class Computing(types.ModuleType):
    setting = Setting()
    shown = Fallback()
    hidden = Fallback()

    @property
    def count(self):
        self.read.append(1)
        return len(self.read)

    @property
    def missing(self):
        raise AttributeError("not there")

    def __getattr__(self, name):
        return f"{name} found last"


computing = Computing("computing")
vars(computing).update(read=[], setting="never read", hidden="own")


@program(
    "I10 I13",
    lambda: [(t(2),), (t(2),)],
    differs="torch_differs",
    why="torch.compile raises an AssertionError: the property changes a list that its guards cover",
)
def attributes_of_a_module_in_python(x):
    found = [computing.count, computing.setting, computing.shown, computing.hidden, computing.count]
    return x + computing.count, found, list(computing.read)


@program("I10 I13")
def property_of_a_module_that_raises(x):
    y = x + 1
    return y * 2, computing.missing, computing.nothing


@program("F10 I13")
def settings_of_back_ends(x):
    cudnn, mkldnn = torch.backends.cudnn, torch.backends.mkldnn
    found = [cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, mkldnn.enabled, cudnn.__name__]
    return x + 1 if cudnn.enabled else x - 1, found


@program("F10")
def questions_about_the_machine(x):
    mps, cuda, cpu = torch.backends.mps, torch.backends.cuda, torch.backends.cpu
    device = "mps" if mps.is_available() else "cpu"
    found = [
        mps.is_built(),
        torch.mtia.is_available(),
        cuda.is_flash_attention_available(),
        cuda.is_ck_sdpa_available(),
    ]
    return x + (2 if device == "cpu" else 3), device, found, cpu.get_cpu_capability()


@program("F10", lambda: [(t(2, 3),), (t(2, dtype=torch.bool),)])
def kinds_of_a_tensor(x):
    found = [x.is_cpu, x.is_cuda, x.is_ipu, x.is_maia, x.is_meta, x.is_mkldnn, x.is_mps, x.is_mtia, x.is_nested]
    found += [x.is_quantized, x.is_sparse, x.is_sparse_csr, x.is_vulkan, x.is_xla, x.is_xpu]
    return x * 2 if x.is_xla else x + 1, found

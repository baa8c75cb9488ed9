"""What torch's own modules and tensors say of settings, machine and kind is read without a break."""

import pytest
import torch

import tracer_core


def whole(fn):
    return tracer_core.compile(fn, backend="eager", fullgraph=True)


def by_setting(x):
    return x + 1 if torch.backends.cudnn.enabled else x - 1


@pytest.mark.row("G1")
@pytest.mark.row("F10")
def test_a_setting_that_a_module_computes_is_read_in_one_graph_under_its_guard():
    function, x = whole(by_setting), torch.zeros(2)
    assert function(x)[0] == 1
    with torch.backends.cudnn.flags(enabled=False):
        assert function(x)[0] == -1
    assert function(x)[0] == 1


def by_machine(x):
    cuda, cpu = torch.backends.cuda, torch.backends.cpu
    on_mps = torch.backends.mps.is_available()
    said = torch.mtia.is_available(), cuda.is_flash_attention_available(), cuda.is_ck_sdpa_available()
    return x * 2, on_mps, said, cpu.get_cpu_capability()


@pytest.mark.row("F10")
def test_what_stays_the_same_on_a_machine_is_read_in_one_graph():
    x = torch.ones(2)
    assert whole(by_machine)(x)[1:] == by_machine(x)[1:]


KINDS = [
    name for name in dir(torch.Tensor) if name.startswith("is_") and isinstance(getattr(torch.ones(1), name), bool)
]


def by_kind(x):
    return x + 1, [getattr(x, name) for name in KINDS]


@pytest.mark.row("F10")
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_every_attribute_that_says_which_kind_a_tensor_is_of(device):
    x = torch.ones(2, device=device)
    assert {"is_xla", "is_sparse", "is_mtia", "is_leaf"} <= set(KINDS)
    assert whole(by_kind)(x)[1] == by_kind(x)[1]

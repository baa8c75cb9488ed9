"""Dtypes, devices, autocast and other states of the process."""

import torch

from tests.proxy_tensor.cases import floats, function, numbers


@function(floats(3))
def casts(x):
    return (
        x.double(),
        x.to(torch.int64),
        x.half().float(),
        x.bool(),
        x.to("cpu", torch.float64, copy=True),
        x.type_as(x),
    )


@function(floats(3), numbers(3))
def promotion(x, n):
    return x + n, n / 2, n + 1.5, n.bool() + n, torch.result_type(x, n), torch.where(n > 1, x, 0)


@function(floats(3, 3), floats(3, 3))
def autocast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = x @ y
        with torch.autocast("cpu", enabled=False):
            z = z.float() @ y
    return z, x @ y


@function(floats(3, 3))
def default_dtype_changed(x):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return x + torch.ones(3), torch.tensor(1.5)
    finally:
        torch.set_default_dtype(before)


@function(floats(3))
def meta_device(x):
    return torch.empty(3, device="meta") + 1, x.to("meta").sum()


@function(floats(3), floats(3), pre_dispatch=True)
def grad_mode_before_dispatch(x, y):
    with torch.no_grad():
        z = x * y
    with torch.enable_grad():
        z = z + torch.relu(x)
    torch.set_grad_enabled(True)
    return z


@function(floats(3, 3), floats(3, 3), pre_dispatch=True)
def autocast_before_dispatch(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = torch.nn.functional.linear(x, y)
    return z.float().softmax(-1)


@function(floats(2, 3, 8), pre_dispatch=True)
def composites_before_dispatch(x):
    return torch.nn.functional.layer_norm(x, (8,)), x.reshape(6, 8), torch.nn.functional.dropout(x, 0.5)


@function(floats(3))
def inference_mode(x):
    with torch.inference_mode():
        return x * 2


@function(floats(4, 4))
def sparse_and_back(x):
    return x.to_sparse().to_dense()


@function(floats(4))
def complex_numbers(x):
    z = torch.complex(x, x + 1)
    return z.abs(), z.conj() * z, torch.fft.fft(x), torch.view_as_real(z)

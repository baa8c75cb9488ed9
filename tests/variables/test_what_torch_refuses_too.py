"""Values that no graph holds: sparse tensors and generators, which torch's compiler refuses too; subclasses and modes
at `__torch_dispatch__`, distributed tensors, streams and events. Each breaks the graph by its own name, and the call
gives what plain Python gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, init_device_mesh
from torch.overrides import TorchFunctionMode
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode

import tracer_core

X = torch.arange(4.0)
Arguments = Callable[[], tuple[Any, ...]]


class CountsCalls(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class CountsOperations(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def calls_counted(x: Any) -> Any:
    with CountsCalls():
        return x.sin() + 1


def operations_counted(x: Any) -> Any:
    with CountsOperations():
        return x.sin() + 1


def multiplied(x: Any) -> Any:
    return torch.sparse.mm(x, torch.ones(4, 2)) + x.shape[0]


def drawn(x: Any, generator: Any) -> Any:
    return x + torch.rand(4, generator=generator)


def sparse(layout: Any) -> Arguments:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = torch.diag(X).to_sparse(layout=layout)
    return lambda: (given,)


CASES: dict[str, tuple[Callable[..., Any], Arguments, str, str]] = {
    "coo": (multiplied, sparse(torch.sparse_coo), "tensor-layout", "layout torch.sparse_coo"),
    "csr": (multiplied, sparse(torch.sparse_csr), "tensor-layout", "layout torch.sparse_csr"),
    "generator": (drawn, lambda: (X, torch.Generator().manual_seed(3)), "unknown-object", "a Generator object"),
    "subclass": (lambda x: x + 1, lambda: (TwoTensor(X, X + 1),), "tensor-subclass", "the subclass TwoTensor"),
    "function mode": (calls_counted, lambda: (X,), "torch-mode", "enters CountsCalls"),
    "dispatch mode": (operations_counted, lambda: (X,), "torch-mode", "enters CountsOperations"),
    "stream": (lambda x: (torch.Stream(), x + 1)[1], lambda: (X,), "call", "torch.Stream"),
    "event": (lambda x: (torch.Event(), x + 1)[1], lambda: (X,), "call", "torch.Event"),
}  # fmt: skip


def breaks_by_name(function: Callable[..., Any], arguments: Arguments, reason: str, text: str) -> None:
    tracer_core.reset()
    with pytest.raises(tracer_core.Unsupported) as error:
        tracer_core.compile(function, backend="eager", fullgraph=True)(*arguments())
    assert error.value.reason_id == reason
    assert text in error.value.message
    found = tracer_core.compile(function, backend="eager")(*arguments())
    assert str(found) == str(function(*arguments()))


@pytest.mark.row("F11", "B2", "B13", "O4")
@pytest.mark.parametrize("name", CASES)
def test_it_breaks_by_name_and_gives_what_plain_python_gives(name: str) -> None:
    breaks_by_name(*CASES[name])


@pytest.mark.row("B13", "O4")
@pytest.mark.parametrize("name", ["coo", "csr", "generator"])
def test_torch_refuses_it_too(name: str) -> None:
    function, arguments, _, _ = CASES[name]
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(function, backend="eager", fullgraph=True)(*arguments())


@pytest.fixture
def mesh(tmp_path: Path) -> Iterator[Any]:
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.FileStore(str(tmp_path / "store"), 1))
    yield init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
    dist.destroy_process_group()


@pytest.mark.row("B13")
def test_distributed_tensors_break_by_name(mesh: Any) -> None:
    given = distribute_tensor(X, mesh, [Replicate()])
    uses: tuple[Callable[[Any], Any], ...] = (
        lambda d: d.to_local() * 2,
        lambda d: d.redistribute(mesh, [Shard(0)]).to_local() + 1,
        lambda d: (d + 1).full_tensor(),
    )
    for use in uses:
        breaks_by_name(use, lambda: (given,), "tensor-subclass", "the subclass DTensor")
    creations: dict[str, Callable[[Any], Any]] = {
        "DTensor.from_local": lambda x: DTensor.from_local(x, mesh, [Replicate()]).to_local() + 1,
        "distribute_tensor": lambda x: distribute_tensor(x, mesh, [Shard(0)]).to_local() + 1,
    }
    for name, create in creations.items():
        breaks_by_name(create, lambda: (X,), "skipped-function", f"torch.distributed.tensor.{name}")

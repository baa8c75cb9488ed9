"""Collectives of `torch.distributed`, on one process with gloo: as plain Python, through the engine and through
`torch.compile`. The last tests use two processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch._dynamo.backends.debugging import aot_eager
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard

import tracer_core
from tests.higher_order.three_ways import Graphs, refused, same_three_ways, torch_refuses

Function = Callable[..., Any]

MESHES: dict[str, DeviceMesh] = {}
GROUPS: dict[str, Any] = {}


@pytest.fixture(scope="module", autouse=True)
def _one_process() -> Iterator[None]:
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    GROUPS["own"] = dist.new_group([0])
    MESHES["two"] = init_device_mesh("cpu", (1, 1), mesh_dim_names=("rows", "columns"))
    yield
    GROUPS.clear()
    MESHES.clear()
    dist.destroy_process_group()


def given() -> tuple[torch.Tensor]:
    return (torch.arange(6.0).reshape(2, 3),)


# --- collectives that write their result --------------------------------------------------------------------


def all_reduce(x):
    dist.all_reduce(x)
    return x + 1


def all_reduce_of_a_group(x):
    y = x * 2
    dist.all_reduce(y, dist.ReduceOp.MAX, GROUPS["own"], False)
    return y + 1


def all_reduce_of_a_mesh(x):
    y = x * 2
    dist.all_reduce(y, group=MESHES["two"].get_group("rows"))
    return y


def all_reduce_twice(x):
    y = x.clone()
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.MIN if y.dim() == 2 else dist.ReduceOp.MAX):
        dist.all_reduce(y, op=op, async_op=False)
    return y


def all_reduce_of_a_view(x):
    dist.all_reduce(x[0])
    return x * 2


def all_reduce_without_grad(x):
    with torch.no_grad():
        y = x.exp()
        dist.all_reduce(y)
    return y * x


def all_gather_into_tensor(x):
    out = torch.empty(2 * dist.get_world_size(), 3)
    dist.all_gather_into_tensor(out, x)
    return out + 1


def all_gather_single(x):
    out = torch.empty_like(x)
    dist.all_gather_single(out, x, group=dist.group.WORLD)
    return out + 1


def all_gather(x):
    outs = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(outs, x)
    return torch.cat(outs) + 1


def reduce_scatter_tensor(x):
    out = torch.empty_like(x)
    dist.reduce_scatter_tensor(out, x, op=dist.ReduceOp.SUM)
    return out + 1


def reduce_scatter_single(x):
    out = torch.empty_like(x)
    dist.reduce_scatter_single(out, x)
    return out + 1


def all_to_all_single(x):
    out = torch.empty_like(x)
    dist.all_to_all_single(out, x)
    return out + 1


def all_to_all_of_parts(x):
    out = torch.empty_like(x)
    dist.all_to_all_single(out, x, [x.shape[0]], [x.shape[0]], GROUPS["own"])
    return out + 1


# --- functional collectives, called directly ----------------------------------------------------------------


def functional_all_reduce(x):
    return functional.wait_tensor(functional.all_reduce(x, "sum", dist.group.WORLD)) + 1


def functional_all_reduce_not_waited_for(x):
    return functional.all_reduce(x, "AVG", GROUPS["own"]) + 1


def functional_all_reduce_by_name(x):
    return functional.all_reduce(x, "sum", GROUPS["own"].group_name) + 1


def functional_all_reduce_of_a_mesh(x):
    return functional.all_reduce(x, "sum", (MESHES["two"], 1)) + 1


def functional_all_gather(x):
    return functional.all_gather_single(x, 0, dist.group.WORLD) + 1


def functional_all_gather_of_columns(x):
    return functional.all_gather_tensor(x, 1, dist.group.WORLD) + 1


def functional_reduce_scatter(x):
    return functional.reduce_scatter_single(x, "sum", 0, dist.group.WORLD) + 1


def functional_all_to_all(x):
    return functional.all_to_all_single(x, None, None, dist.group.WORLD) + 1


def functional_list(x):
    a, b = functional.all_reduce_coalesced([x, x * 2], "sum", dist.group.WORLD)
    return a + b


# --- what is known of groups, meshes and placements ---------------------------------------------------------


def place_in_the_world(x):
    if dist.is_available() and dist.is_initialized():
        return x * dist.get_world_size() + dist.get_rank()
    return x


def place_in_a_group(x):
    group = GROUPS["own"]
    known = group.size() + group.rank() + dist.get_rank(group) + dist.get_world_size(dist.group.WORLD)
    return x + known + dist.get_process_group_ranks(group)[0] + dist.get_global_rank(group, 0)


def names_of_a_group(x):
    if dist.get_backend() == "gloo" and GROUPS["own"].group_name != dist.group.WORLD.group_name:
        return x + len(GROUPS["own"].group_name) + len(GROUPS["own"].group_desc)
    return x


def comparisons_of_groups(x):
    own, world = GROUPS["own"], dist.group.WORLD
    return x + 2 * (own == world) + 4 * (own is own) + 8 * (own in {own: 1}) + 16 * isinstance(own, dist.ProcessGroup)


def shape_of_a_mesh(x):
    mesh = MESHES["two"]
    known = mesh.ndim + mesh.size() + mesh.size(0) + mesh.shape[1] + len(mesh.mesh_dim_names)
    return x + known if mesh.device_type == "cpu" and mesh == MESHES["two"] else x


def place_in_a_mesh(x):
    mesh = MESHES["two"]
    return x + mesh.get_rank() + mesh.get_local_rank("columns") + mesh.get_coordinate()[0] + mesh.get_group(0).size()


def placements(x):
    a, b, c = Shard(0), Replicate(), Partial("sum")
    kinds = a.is_shard() + 2 * a.is_shard(1) + 4 * b.is_replicate() + 8 * c.is_partial() + 16 * isinstance(a, Shard)
    return x.sum(a.dim) + kinds + 32 * (a == Shard(0)) + 64 * (a == Shard(1)) + 128 * (c.reduce_op == "sum")


CAPTURED = [
    all_reduce, all_reduce_of_a_group, all_reduce_of_a_mesh, all_reduce_twice, all_reduce_of_a_view,
    all_reduce_without_grad, all_gather_into_tensor, all_gather_single, all_gather,
    reduce_scatter_tensor, reduce_scatter_single, all_to_all_single, all_to_all_of_parts, functional_all_reduce,
    functional_all_reduce_not_waited_for, functional_all_reduce_by_name, functional_all_reduce_of_a_mesh,
    functional_all_gather, functional_all_gather_of_columns, functional_reduce_scatter, functional_all_to_all,
    functional_list, place_in_the_world, place_in_a_group, names_of_a_group, comparisons_of_groups, shape_of_a_mesh,
    place_in_a_mesh, placements,
]  # fmt: skip


@pytest.mark.row("F7", "B13")
@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
@pytest.mark.parametrize("function", CAPTURED, ids=lambda each: each.__name__)
def test_one_graph_as_torchs(function: Function) -> None:
    same_three_ways(function, given)


@pytest.mark.row("F7")
@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
@pytest.mark.parametrize("function", CAPTURED[:13], ids=lambda each: each.__name__)
def test_back_ends_get_what_they_can_compile(function: Function) -> None:
    compiled = tracer_core.compile(function, backend=aot_eager, fullgraph=True)
    assert torch.equal(compiled(*given()), function(*given()))


@pytest.mark.row("F7")
@pytest.mark.parametrize("function", [all_gather, all_to_all_single, functional_all_reduce])
def test_sizes_may_vary(function: Function) -> None:
    ours = Graphs()
    compiled = tracer_core.compile(function, backend=ours, fullgraph=True, dynamic=True)
    for rows in (2, 3, 5):
        x = torch.randn(rows, 3)
        assert torch.equal(compiled(x.clone()), function(x.clone()))
    assert len(ours.graphs) == 1


@pytest.mark.row("F7")
def test_gradients_through_functional_collectives() -> None:
    same_three_ways(lambda x: functional.all_reduce(x.exp(), "sum", dist.group.WORLD) * 2, leaf)


def leaf() -> tuple[torch.Tensor]:
    return (torch.randn(3, requires_grad=True),)


# --- what breaks, by name -----------------------------------------------------------------------------------


def with_a_handle(x):
    y = x * 2
    dist.all_reduce(y, async_op=True).wait()
    return y


CREATED = dist.ReduceOp(dist.ReduceOp.SUM)


def reduced_otherwise(x):
    y = x * 2
    dist.all_reduce(y, CREATED)
    return y


def broadcast(x):
    y = x * 2
    dist.broadcast(y, 0)
    return y


def barrier(x):
    dist.barrier()
    return x * 2


def with_a_gradient(x):
    y = x * torch.ones(3, requires_grad=True)
    dist.all_reduce(y)
    return y


BREAKS = {
    with_a_handle: "with async_op=True it returns a handle",
    reduced_otherwise: "no functional collective with this reduction",
    broadcast: "no functional collective that does the same",
    barrier: "no functional collective that does the same",
    with_a_gradient: "requires a gradient",
}


@pytest.mark.row("F7")
@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
@pytest.mark.parametrize("function", BREAKS, ids=lambda each: each.__name__)
def test_breaks_by_name_and_gives_what_plain_python_gives(function: Function) -> None:
    error = refused(function, given)
    assert error.reason_id == "collective"
    name = function.__name__ if function in (broadcast, barrier) else "all_reduce"
    assert str(error).startswith(f"torch.distributed.{name} cannot be in a graph here: ")
    assert BREAKS[function] in str(error)
    tracer_core.reset()
    compiled = tracer_core.compile(function, backend="eager")
    assert torch.equal(compiled(*given()), function(*given()))


def of_other_sizes(x):
    out = torch.empty(1, 2, 3)
    dist.all_gather_single(out, x)
    return out


def of_another_dtype(x):
    out = torch.empty(2, 3, dtype=torch.float64)
    dist.all_gather_single(out, x)
    return out


def of_other_sizes_in_a_list(x):
    outs = [torch.empty(4, 3)]
    dist.all_gather(outs, x)
    return outs[0]


@pytest.mark.row("F7")
@pytest.mark.parametrize("function", [of_other_sizes, of_another_dtype, of_other_sizes_in_a_list])
def test_results_that_plain_python_refuses_raise_what_it_raises(function: Function) -> None:
    compiled = tracer_core.compile(function, backend="eager")
    with pytest.raises((RuntimeError, ValueError)) as expected:
        function(*given())
    with pytest.raises(expected.type, match=re.escape(str(expected.value))):
        compiled(*given())


@pytest.mark.row("F7")
def test_torch_refuses_handles_too() -> None:
    assert "async_op=True" in str(torch_refuses(with_a_handle, given))


def test_a_functional_result_crosses_a_break() -> None:
    def function(x):
        y = functional.all_reduce(x, "sum", dist.group.WORLD)
        dist.barrier()
        return y + 1

    compiled = tracer_core.compile(function, backend="eager")
    assert torch.equal(compiled(*given()), function(*given()))


# --- guards -------------------------------------------------------------------------------------------------


@pytest.mark.row("B13")
def test_another_group_is_another_version_and_the_same_group_is_not() -> None:
    ours = Graphs()
    compiled = tracer_core.compile(lambda x, group: x + group.rank() + len(group.group_name), backend=ours)
    (x,) = given()
    for group in (GROUPS["own"], dist.group.WORLD, GROUPS["own"], dist.group.WORLD):
        assert torch.equal(compiled(x, group), x + group.rank() + len(group.group_name))
    assert len(ours.graphs) == 2


@pytest.mark.row("B13")
def test_groups_and_meshes_are_arguments_and_results() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.group, self.mesh, self.placements = GROUPS["own"], MESHES["two"], (Shard(1), Replicate())

        def forward(self, x, mesh):
            y = x.sum(self.placements[0].dim) + self.group.size()
            part = mesh["rows"]
            return y, self.group, part, part.get_group().rank(), self.placements[1]

    model = Model()
    compiled = tracer_core.compile(model, backend="eager", fullgraph=True)
    y, group, part, rank, placement = compiled(*given(), model.mesh)
    expected = model(*given(), model.mesh)
    assert torch.equal(y, expected[0])
    assert group is expected[1]
    assert part == expected[2]
    assert (rank, placement) == expected[3:]


@pytest.mark.row("F7", "B13")
def test_a_world_that_begins_and_ends_is_noticed() -> None:
    """In a process of its own, which has no groups at first."""
    program = """
import torch, torch.distributed as dist, tracer_core
from torch.testing._internal.distributed.fake_pg import FakeStore

def function(x):
    return x * 10 + dist.get_world_size() + dist.get_rank() if dist.is_initialized() else x

compiled = tracer_core.compile(function, backend="eager", fullgraph=True)
x = torch.ones(1)
print(compiled(x).item())
for backend, store, rank, size in (("gloo", dist.HashStore(), 0, 1), ("fake", FakeStore(), 2, 4)):
    dist.init_process_group(backend, rank=rank, world_size=size, store=store)
    print(compiled(x).item(), function(x).item())
    dist.destroy_process_group()
print(compiled(x).item())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stdout.split() == ["1.0", "11.0", "11.0", "16.0", "16.0", "1.0"]


def environment() -> dict[str, str]:
    root = Path(tracer_core.__file__).parents[1]
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "widgets")])}


# --- several processes --------------------------------------------------------------------------------------

TWO_PROCESSES = """
import sys, torch, torch.distributed as dist, tracer_core

rank = int(sys.argv[1])
dist.init_process_group("gloo", rank=rank, world_size=2, store=dist.FileStore(sys.argv[2], 2))
alone = [dist.new_group([each]) for each in range(2)]

def function(x):
    total, most, outs = x.clone(), x * 3, [torch.empty_like(x) for _ in range(2)]
    dist.all_reduce(total)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    dist.all_gather(outs, x + 1)
    gathered = torch.empty(4, 3)
    dist.all_gather_into_tensor(gathered, x)
    scattered = torch.empty(1, 3)
    dist.reduce_scatter_tensor(scattered, x)
    swapped = torch.empty_like(x)
    dist.all_to_all_single(swapped, x)
    own = x.clone()
    dist.all_reduce(own, group=alone[dist.get_rank()])
    return total, most, *outs, gathered, scattered, swapped, own, x * dist.get_rank() + dist.get_world_size()

x = torch.arange(6.0).reshape(2, 3) + 10 * rank
compiled = tracer_core.compile(function, backend="eager", fullgraph=True)
for a, b in zip(compiled(x), function(x), strict=True):
    assert torch.equal(a, b), (a, b)

def of_another_group(x):
    dist.all_reduce(x, group=alone[1 - dist.get_rank()])  # does nothing here, with a warning
    return x + 1

assert torch.equal(tracer_core.compile(of_another_group, backend="eager")(x.clone()), x + 1)
dist.destroy_process_group()
"""


@pytest.mark.row("F7")
def test_two_processes_get_what_plain_python_gives(tmp_path: Path) -> None:
    arguments = [[sys.executable, "-c", TWO_PROCESSES, str(rank), str(tmp_path / "store")] for rank in range(2)]
    running = [
        subprocess.Popen(each, stderr=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path)
        for each in arguments
    ]
    errors = [process.communicate(timeout=300)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], errors

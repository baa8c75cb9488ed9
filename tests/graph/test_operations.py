"""What torch's operators say of themselves, and where they keep silent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tracer_core.graph.fakes import Fakes
from tracer_core.graph.operations import facts_of
from tracer_core.names.where import Where
from tracer_core.sources import LocalSource


def operators() -> Iterator[Any]:
    """Every operator of torch's own that a fake mode may see."""
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        packet = getattr(torch.ops.aten, name, None) if namespace == "aten" else None
        if packet is not None and (schema.overload_name or "default") in packet.overloads():
            yield getattr(packet, schema.overload_name or "default")


@pytest.mark.row("I5")
def test_what_takes_a_generator_draws() -> None:
    """(Their names tell them apart that only look at the generator, or call others that draw.)"""
    of_generators = [each for each in operators() if any("Generator" in str(a.type) for a in each._schema.arguments)]
    silent = {str(each) for each in of_generators if not (facts := facts_of(each)) or not facts.draws}
    others = {f"aten.{name}" for name in ("manual_seed.generator", "initial_seed.default", "seed.default")}
    assert len(of_generators) > 50
    assert silent - others == {"aten._no_grad_normal_.default", "aten._no_grad_uniform_.default"}


@pytest.mark.row("I5")
def test_what_ends_in_an_underscore_or_takes_out_writes() -> None:
    silent = []
    for each in operators():
        name, arguments = each._schema.name.removeprefix("aten::"), each._schema.arguments
        in_place = name.endswith("_") and not name.startswith("_") and not name.endswith("__")
        writes = in_place or any(a.name == "out" and a.kwarg_only for a in arguments)
        facts = facts_of(each)
        if writes and "Tensor" in str(arguments[0].type) and (facts is None or not facts.written):
            silent.append(str(each))
    assert silent == []


@pytest.mark.row("I5")
@pytest.mark.parametrize("training", [True, False])
def test_running_statistics_are_written_to_in_training(training: bool) -> None:
    fakes = Fakes({}, None, where=lambda: Where.of(0, [(facts_of.__code__, 1)]))
    for name in "ab":  # the second finds the first's answer in torch's cache
        made = [fakes.tensor(torch.ones(3), LocalSource(f"{name}{i}")) for i in range(2)]
        with fakes.mode:
            torch.nn.functional.batch_norm(torch.empty(2, 3), made[0].fake, made[1].fake, training=training)
        assert [each.mutated for each in made] == [training, training]


@pytest.mark.row("I5")
def test_writes_are_seen_through_whatever_tensor() -> None:
    fakes = Fakes({}, None, where=lambda: Where.of(0, [(facts_of.__code__, 1)]))
    tracked = fakes.tensor(torch.ones(3), LocalSource("x"))
    other = fakes.tensor(torch.ones(3), LocalSource("y"))
    x, operations = tracked.fake, fakes.operations
    for write in (
        lambda: x.add_(1),
        lambda: x.data.add_(1),
        lambda: x[1:].view(2, 1).mul_(2),
        lambda: torch.add(x, 1, out=x.detach()),
        lambda: torch._foreach_add_([x.data], 1.0),
        lambda: x.__setitem__(0, 1.0),
        lambda: x.set_(x.clone()),
    ):
        moment = operations.clock
        with fakes.mode:
            x + other.fake
            assert not fakes.written_since(x, moment)
            write()
        assert fakes.written_since(x, moment) and operations.last_write(other.fake) == 0
        # (In another call it may lie where `x` does.)
        assert fakes.written_since(other.fake, moment)
    assert tracked.mutated and not other.mutated

"""Operators without torch's tag for compilers are told of, or refused by an option, as in torch's compiler."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tracer_core
from tests.recording.programs_in_files import recorded
from tracer_core.errors import Unsupported

pytestmark = pytest.mark.row("O12")

REFUSED = {"only_allow_pt2_compliant_ops": True}


@pytest.fixture(scope="module")
def ops() -> Iterator[Any]:
    """`tagged`, `untagged`, one whose overloads differ, and one that is decomposed before the fake mode sees it."""
    tag = torch.Tag.pt2_compliant_tag
    library = torch.library.Library("compliance", "FRAGMENT")
    library.define("tagged(Tensor x) -> Tensor", tags=(tag,))
    library.define("untagged(Tensor x) -> Tensor")
    library.define("composite(Tensor x) -> Tensor")
    library.define("mixed(Tensor x) -> Tensor", tags=(tag,))
    library.define("mixed.by(Tensor x, int n) -> Tensor")
    library.impl("tagged", torch.sin, "CompositeExplicitAutograd")
    library.impl("untagged", torch.sin, "CompositeExplicitAutograd")
    library.impl("composite", torch.sin, "CompositeImplicitAutograd")
    library.impl("mixed", torch.sin, "CompositeExplicitAutograd")
    library.impl("mixed.by", lambda x, n: x * n, "CompositeExplicitAutograd")
    yield torch.ops.compliance
    library._destroy()


@pytest.fixture(params=["tagged", "untagged", "untagged.default", "composite", "mixed", "mixed with a number"])
def case(request: pytest.FixtureRequest, ops: Any) -> Any:
    """A program that calls the operator, and the name under which it is told of, if it is."""
    functions = {
        "tagged": (lambda x: ops.tagged(x) + 1, None),
        "untagged": (lambda x: ops.untagged(x) + ops.untagged(x), "compliance::untagged"),
        "untagged.default": (lambda x: ops.untagged.default(x) + 1, "compliance::untagged"),
        "composite": (lambda x: ops.composite(x) + 1, "compliance::composite"),
        "mixed": (lambda x: ops.mixed(x) + 1, None),
        "mixed with a number": (lambda x: ops.mixed(x) + ops.mixed(x, 3), "compliance::mixed"),
    }
    return SimpleNamespace(**dict(zip(("function", "told"), functions[request.param], strict=True)))


def test_it_is_told_once_with_its_line(case: Any) -> None:
    trace = recorded(case.function, (torch.ones(3),))
    told = [notice for notice in trace.notices if notice.reason_id == "operator-not-tagged"]
    assert [case.told in notice.message for notice in told] == [True] * (case.told is not None)
    assert [notice.line for notice in told] == [case.function.__code__.co_firstlineno] * len(told)
    assert not trace.breaks


def test_it_is_refused_where_torch_refuses_it(case: Any) -> None:
    x = torch.randn(3)
    compiled = tracer_core.compile(case.function, backend="eager", options=REFUSED)
    assert torch.equal(compiled(x), case.function(x))
    ours = tracer_core.compile(case.function, backend="eager", fullgraph=True, options=REFUSED)
    torch._dynamo.reset()
    with torch._dynamo.config.patch(only_allow_pt2_compliant_ops=True):
        theirs = torch.compile(case.function, backend="eager", fullgraph=True)
        if case.told is None:
            assert torch.equal(ours(x), theirs(x))
            return
        with pytest.raises(torch._dynamo.exc.Unsupported):
            theirs(x)
    with pytest.raises(Unsupported, match=f"{case.told} does not have the tag pt2_compliant_tag"):
        ours(x)

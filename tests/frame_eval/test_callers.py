"""Where a library's code starts a graph of its own, the program's line that called it is to blame."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

import tracer_core
from tests.recording.test_names_for_people import recorded
from tracer_core.errors import Unsupported
from tracer_core.frame_eval import callers
from tracer_core.recording import Trace

LSTM = torch.nn.LSTM(1, 2)
LENGTHS = torch.tensor([3])


def of_a_packed_sequence(x):
    packed = pack_padded_sequence(x.reshape(3, 1, 1), LENGTHS)
    output, _ = LSTM(packed)
    return output.data


def optimized(x):
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.LBFGS([weight], max_iter=2)

    def loss():
        return (weight * x).sum()

    return optimizer.step(loss)


def places(trace: Trace) -> list[tuple[str, int, str | None]]:
    """Of each break: the line of the program, counted from its function's first, and the library's function below."""
    return [
        (
            trace.codes[each.code].qualname.partition("`, after")[0].strip("`"),
            each.line - trace.codes[each.code].first_line,
            each.library and trace.codes[each.library.code].filename,
        )
        for each in trace.breaks
    ]


def test_a_module_of_a_library_called_after_a_break() -> None:
    trace = recorded(of_a_packed_sequence, (torch.ones(3),))
    found = places(trace)
    assert len(found) > 2
    assert {name for name, _, _ in found} == {"of_a_packed_sequence"}
    assert [line for _, line, _ in found] == [1, *[2] * (len(found) - 1)]
    assert all(library is not None and library.endswith("rnn.py") for _, _, library in found)


def test_an_optimizer_that_steps_after_a_break() -> None:
    found = places(recorded(optimized, (torch.ones(3),)))
    assert {name for name, _, library in found if library} == {"optimized"}
    assert ("optimized", 7) in {place[:2] for place in found}


def test_a_module_of_a_library_that_is_compiled_itself() -> None:
    norm = tracer_core.compile(torch.nn.BatchNorm1d(3, momentum=None), backend="eager", fullgraph=True)
    with pytest.raises(Unsupported) as caught:
        norm(torch.ones(4, 3))
    where = caught.value.where
    assert where is not None and where.library is not None
    here = test_a_module_of_a_library_that_is_compiled_itself.__code__
    assert (where.place.code, where.place.line) == (here, here.co_firstlineno + 3)
    assert "batchnorm.py" in where.library.text


def test_the_warning_of_a_limit() -> None:
    compiled = tracer_core.compile(
        torch.nn.Linear(3, 3), backend="eager", dynamic=False, options={"cache_size_limit": 1}
    )
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for size in (1, 2):
            compiled(torch.ones(size, 3))
    (said,) = (str(each.message) for each in given if "was compiled 1 times" in str(each.message))
    place, library = said.splitlines()[1:3]
    assert "in test_the_warning_of_a_limit" in place
    assert "which runs, in a library" in library and "linear.py" in library


def test_what_is_noted_of_codes_goes_with_them() -> None:
    def made() -> Any:
        return lambda: 0

    codes = [made().__code__.replace(co_name=name) for name in "ab"]
    callers.note_replacement(codes[0], codes[1])
    key = id(codes[0])
    assert key in callers._replaced
    codes.clear()
    gc.collect()
    assert key not in callers._replaced

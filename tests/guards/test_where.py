"""Of the calls that are running, which line is shown: the innermost that a person can change."""

from __future__ import annotations

import json
import os
from types import CodeType

import pytest
import torch
import transformers

from tracer_core.names.owners import Owner, owner_of
from tracer_core.names.where import Where


def code(filename: str, name: str = "f") -> CodeType:
    return test_owners.__code__.replace(co_filename=filename, co_name=name, co_qualname=name)


LIBRARY, PACKAGE = torch.nn.functional.__file__, transformers.__file__
USER, OTHER = "/home/me/model.py", "/home/me/train.py"


@pytest.mark.parametrize(
    ("filename", "owner"),
    [
        (USER, Owner.USER),
        ("model.py", Owner.USER),
        (__file__, Owner.USER),
        ("/tmp/ipykernel_12/34.py", Owner.USER),
        ("<ipython-input-3-abc>", Owner.USER),
        ("<doctest model[0]>", Owner.USER),
        ("<stdin>", Owner.USER),
        ("<string>", Owner.PACKAGE),
        ("<eval_with_key>.3", Owner.PACKAGE),
        (PACKAGE, Owner.PACKAGE),
        (LIBRARY, Owner.LANGUAGE),
        (json.__file__, Owner.LANGUAGE),
        (os.path.join(os.path.dirname(json.__file__), "..", "contextlib.py"), Owner.LANGUAGE),
        ("<frozen importlib._bootstrap>", Owner.LANGUAGE),
    ],
)
def test_owners(filename: str, owner: Owner) -> None:
    assert owner_of(filename) == owner


@pytest.mark.parametrize(
    ("files", "place", "library"),
    [
        ([USER], 0, None),
        ([USER, OTHER], 0, None),
        ([LIBRARY, USER], 1, 0),
        ([LIBRARY, PACKAGE, USER, OTHER], 2, 0),
        ([USER, LIBRARY, OTHER], 0, None),
        (["<string>", USER], 1, 0),
        ([LIBRARY, PACKAGE], 1, 0),
        ([LIBRARY, PACKAGE, LIBRARY, PACKAGE], 1, 0),
        ([PACKAGE, LIBRARY], 0, None),
        ([LIBRARY, LIBRARY], 0, None),
    ],
)
def test_the_innermost_line_of_the_greatest_owner_is_shown(files: list[str], place: int, library: int | None) -> None:
    calls = [(code(filename), line) for line, filename in enumerate(files)]
    where = Where.of(7, calls)
    assert where.step == 7
    assert (where.place.code, where.place.line) == calls[place]
    assert (where.library and where.library.line) == library


def test_the_text_has_the_programs_line_first() -> None:
    outer, inner = code(USER, "forward"), code(LIBRARY, "linear")
    assert Where.of(0, [(inner, 5), (outer, 12)]).text == (
        f'  File "{USER}", line 12, in forward\n    which runs, in a library: File "{LIBRARY}", line 5, in linear'
    )
    assert Where.of(0, [(outer, 12)]).text == f'  File "{USER}", line 12, in forward'

"""Run by .ci/run with the interpreter of an environment into which only the wheel was installed."""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import torch

import tracer_core
import tracewalk as tw


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def main() -> None:
    for package in (tw, tracer_core):
        assert Path(str(package.__file__)).is_relative_to(sys.prefix), f"{package.__file__} is not the wheel's"
    static = Path(str(tw.__file__)).parent / "static"
    assert any(file.suffix == ".js" for file in static.iterdir()), f"no front end in {static}"

    x = torch.arange(3.0)
    assert torch.equal(tw.compile(double, backend="eager")(x), torch.tensor([1.0, 3.0, 5.0]))
    trace = tw.trace(double, x)
    assert len(trace.steps) > 3
    with tempfile.TemporaryDirectory() as folder:
        saved, page = Path(folder, "double.trace"), Path(folder, "double.html")
        trace.save(saved)
        assert len(tw.load(saved).steps) == len(trace.steps)
        trace.to_html(page)
        assert "double" in page.read_text(encoding="utf-8")
    print(
        f"the wheel of tracewalk {version('tracewalk')} works: {len(trace.steps)} steps recorded, saved and exported"
    )


if __name__ == "__main__":
    main()

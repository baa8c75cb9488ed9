"""What the command compares, in units that are named, timed and lost one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from unittest.mock import patch

from torch.fx.experimental.proxy_tensor import make_fx as torchs_make_fx

import tests.proxy_tensor.functions  # noqa: F401
import tracer_core
from tests.proxy_tensor import models, operators
from tests.proxy_tensor.cases import FUNCTIONS, SETTINGS, Case, Setting
from tests.proxy_tensor.compare import SHAPE_FACTS, differences
from tests.proxy_tensor.tracing import Outcome, trace
from tracer_core.proxy_tensor import fake_mode


@dataclass(slots=True)
class Found:
    """A difference, as text."""

    case: str
    setting: str
    aspect: str
    text: str


@dataclass(slots=True)
class Report:
    """What comparing a unit gave."""

    unit: str
    compared: int = 0
    raised: int = 0
    """In how many comparisons torch's make_fx raised."""
    nodes: int = 0
    theirs: float = 0.0
    """Seconds."""
    ours: float = 0.0
    found: list[Found] = field(default_factory=list)
    lost: str = ""
    """Why there is no comparison, or not of all cases."""


def listed(kinds: Sequence[str], only: Sequence[str]) -> list[str]:
    names = {
        "functions": lambda: FUNCTIONS,
        "models": lambda: models.MODELS,
        "operators": lambda: operators.infos(),
    }
    units = [f"{kind}.{name}" for kind in kinds for name in names[kind]()]
    return [unit for unit in units if not only or any(part in unit for part in only)]


def cases_of(unit: str, samples: int, layers: int | None) -> list[Case]:
    kind, _, name = unit.partition(".")
    if kind == "functions":
        return [FUNCTIONS[name]]
    return list(operators.cases_of(name, samples)) if kind == "operators" else models.cases_of(name, layers)


def compare(unit: str, samples: int = 3, layers: int | None = None, settings: Sequence[Setting] = SETTINGS) -> Report:
    report = Report(unit)
    try:
        for case in cases_of(unit, samples, layers):
            for setting in settings:
                compare_case(report, case, setting)
    except Exception as error:
        report.lost = f"{type(error).__name__}: {error}"
    return report


def compare_case(report: Report, case: Case, setting: Setting) -> None:
    (theirs, seconds), (ours, our_seconds) = (
        timed(make_fx, case, setting) for make_fx in (torchs_make_fx, tracer_core.make_fx)
    )
    report.compared += 1
    report.raised += theirs.error is not None
    report.nodes += len(theirs.graph.graph.nodes) if theirs.graph is not None else 0
    report.theirs += seconds
    report.ours += our_seconds
    different = differences(theirs, ours)
    only_facts = setting.mode == "symbolic" and all(each.aspect in ABOUT_SYMBOLS for each in different)
    if different and only_facts and not differences(theirs, trace_with_torchs_cache(case, setting)):
        different = [replace(each, aspect=CACHE_CHECKS) for each in different]
    report.found += [Found(case.name, str(setting), each.aspect, str(each)) for each in different]


CACHE_CHECKS = "guards of the fake cache's checks"
ABOUT_SYMBOLS = ("guards of torch alone", "guards of ours alone", *SHAPE_FACTS)


def trace_with_torchs_cache(case: Case, setting: Setting) -> Outcome:
    """Trace with ours, and let the fake mode check and rebuild each entry of its cache, as torch does."""
    with patch.object(fake_mode, "speed_up_cache", lambda mode: None):
        return trace(tracer_core.make_fx, case, setting)


def timed(make_fx: Callable[..., object], case: Case, setting: Setting) -> tuple[Outcome, float]:
    started = time.perf_counter()
    outcome = trace(make_fx, case, setting)
    return outcome, time.perf_counter() - started

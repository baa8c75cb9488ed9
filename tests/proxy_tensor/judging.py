"""Which differences stand, by the table, which do not, and which lines of the table are stale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.proxy_tensor.accepted import Accepted
from tests.proxy_tensor.units import Found, Report


@dataclass(slots=True)
class Verdict:
    standing: dict[Accepted, list[Found]]
    """What each line of the table takes."""
    open: list[Found] = field(default_factory=list)
    stale: list[Accepted] = field(default_factory=list)
    """Lines that took nothing although all units that they are about were compared."""

    @property
    def agrees(self) -> bool:
        return not self.open and not self.stale


def judge(reports: Sequence[Report], table: Sequence[Accepted], units: Iterable[str]) -> Verdict:
    """Judge differences by the table; `units` are all that there are, compared or not."""
    verdict = Verdict({line: [] for line in table})
    for found in (found for report in reports for found in report.found):
        line = next((line for line in table if line.takes(found.case, found.setting, found.aspect)), None)
        (verdict.open if line is None else verdict.standing[line]).append(found)
    whole = {report.unit for report in reports if not report.lost}
    units = list(units)
    verdict.stale = [
        line
        for line, found in verdict.standing.items()
        if not found and whole.issuperset(filter(line.is_about, units))
    ]
    return verdict

"""Differences from torch's make_fx that stand, each with its reason. A line that no difference needs is stale, and
fails the command."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Accepted:
    """Patterns of `fnmatch` for the case's name, the setting and what differs, and the reason."""

    case: str
    setting: str
    aspect: str
    reason: str

    def takes(self, case: str, setting: str, aspect: str) -> bool:
        pairs = ((case, self.case), (setting, self.setting), (aspect, self.aspect))
        return all(fnmatchcase(text, pattern) for text, pattern in pairs)

    def is_about(self, unit: str) -> bool:
        """Whether a case of the unit may need this line."""
        return fnmatchcase(unit, self.case.partition(":")[0])


ACCEPTED: tuple[Accepted, ...] = (
    Accepted(
        "*",
        "symbolic*",
        "guards of the fake cache's checks",
        "Torch's fake mode rebuilds each result from what it caches of it, to compare dispatch keys and for each "
        "equal call, and what that asks about sizes adds guards or makes others needless. Ours checks once for each "
        "kind of tensor, and asks once for equal sizes. No node depends on these guards: where torch's cache is left "
        "as it is, nothing differs.",
    ),
)

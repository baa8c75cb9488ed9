"""`python -m tests.proxy_tensor`: compare our make_fx with torch's, node by node, and print how they differ."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.proxy_tensor.accepted import ACCEPTED
from tests.proxy_tensor.judging import Verdict, judge
from tests.proxy_tensor.units import Report, listed
from tests.proxy_tensor.worker import Worker

KINDS = ("functions", "models", "operators")


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proxy_tensor", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="units whose name contains NAME")
    parser.add_argument("--samples", type=int, default=3, help="of an operator (default: %(default)s)")
    parser.add_argument("--layers", type=int, help="of a model (default: as many as the benchmark's)")
    parser.add_argument("--seconds", type=float, default=300, help="for a unit (default: %(default)s)")
    parser.add_argument("-v", "--verbose", action="store_true", help="show each unit, and differences in full")
    return parser.parse_args(argv)


def shown(reports: Sequence[Report], verdict: Verdict, verbose: bool) -> list[str]:
    lines = [f"{kind}: {summary([each for each in reports if each.unit.startswith(kind)])}" for kind in KINDS]
    lines += [f"stands: {line.case} ({line.setting}), {line.aspect}, {len(found)} times: {line.reason}"
              for line, found in verdict.standing.items() if found]  # fmt: skip
    lines += [
        f"STALE: {line.case} ({line.setting}), {line.aspect}: no difference needs this line" for line in verdict.stale
    ]
    lines += [f"LOST: {report.unit}: {report.lost}" for report in reports if report.lost]
    for found in verdict.open:
        text = found.text if verbose else found.text[:600]
        lines.append(f"DIFFERS: {found.case} ({found.setting}): {text}")
    return lines


def summary(reports: Sequence[Report]) -> str:
    compared, raised = (sum(getattr(each, name) for each in reports) for name in ("compared", "raised"))
    theirs, ours = (sum(getattr(each, name) for each in reports) for name in ("theirs", "ours"))
    nodes, lost = sum(each.nodes for each in reports), sum(bool(each.lost) for each in reports)
    different = len({(found.case, found.setting) for each in reports for found in each.found})
    return (
        f"{len(reports)} units, {compared} comparisons ({raised} of errors), "
        f"{nodes} nodes, {different} with differences, {lost} units lost; "
        f"seconds with runs: torch {theirs:.1f}, ours {ours:.1f}"
    )


def main(argv: Sequence[str]) -> int:
    options = arguments(argv)
    kinds = options.kinds or KINDS
    if not set(kinds) <= set(KINDS):
        print(f"choose from {', '.join(KINDS)}")
        return 2
    units = listed(kinds, options.only)
    if not units:
        print("no unit has that name")
        return 2
    started = time.perf_counter()
    worker = Worker(options.samples, options.layers, options.seconds)
    reports = []
    try:
        for unit in units:
            reports.append(worker.compare(unit))
            if options.verbose or reports[-1].found or reports[-1].lost:
                print(f"{unit}: {summary(reports[-1:])}", flush=True)
    finally:
        worker.stop()
    verdict = judge(reports, ACCEPTED, listed(KINDS, []))
    print("\n".join(shown(reports, verdict, options.verbose)))
    print(f"time: {time.perf_counter() - started:.1f} s")
    return 0 if verdict.agrees and not any(report.lost for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A process that compares units, so that one that crashes or hangs loses no other.

It reads a unit's name a line, and answers with the report as a line of JSON. What functions print goes nowhere.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from dataclasses import asdict

from tests.proxy_tensor.units import Found, Report


class Worker:
    """The other process, seen from here. It starts when it is needed."""

    def __init__(self, samples: int, layers: int | None, seconds: float) -> None:
        options = [str(samples), str(layers or "")]
        self.command = [sys.executable, "-W", "ignore", "-m", "tests.proxy_tensor.worker", *options]
        self.seconds = seconds
        self.process: subprocess.Popen[str] | None = None

    def compare(self, unit: str) -> Report:
        process = self.process or self.start()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{unit}\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            answers = selector.select(self.seconds)
        line = process.stdout.readline() if answers else ""
        if line:
            values = json.loads(line)
            return Report(**{**values, "found": [Found(**each) for each in values["found"]]})
        if answers:
            process.wait()
        status = f"the process ended with {process.returncode}" if answers else f"longer than {self.seconds:g} s"
        self.stop()
        return Report(unit, lost=status)

    def start(self) -> subprocess.Popen[str]:
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return self.process

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def serve(samples: int, layers: int | None) -> None:
    from tests.proxy_tensor.units import compare

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        print(json.dumps(asdict(compare(line.strip(), samples, layers))), file=answers, flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2] else None)

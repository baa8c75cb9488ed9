"""A process that says `ready`, then runs programs on request: one line of JSON in, one out.

`pool.Worker` is the other end.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from pathlib import Path
from typing import TextIO


def serve(requests: TextIO, answers: TextIO) -> None:
    from tests.conformance.ways import Record, run

    answers.write("ready\n")
    answers.flush()
    for line in requests:
        request = json.loads(line)
        try:
            record = run(
                Path(request["path"]),
                request["name"],
                request["way"],
                request["backend"],
                recorded=request["recorded"],
            )
        except Exception:  # noqa: BLE001 - the other end shows it and goes on
            record = Record(failure=f"harness: {traceback.format_exc()}")
        if request["way"] != "plain" and not gc.get_freeze_count():
            gc.freeze()  # What was loaded for the first program stays: later collections pass it over.
        answers.write(json.dumps(record.to_json()) + "\n")
        answers.flush()


if __name__ == "__main__":
    # Programs may print to the real standard output; answers go to a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch

    torch.set_num_threads(1)
    serve(sys.stdin, answers)

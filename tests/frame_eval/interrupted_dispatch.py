"""Signals while the fake mode answers torch's code in C++, some of which may not raise: `python -m` this, with the
name of a back end and how many signals to send. It ends with `done`, unless the process is aborted."""

from __future__ import annotations

import random
import signal
import sys
from types import CodeType

from tests.frame_eval.interrupted_program import TooLong, expect_nothing_left, fresh, named, raises, state
from tests.frame_eval.interrupting import interrupted, places

# The mode of ours, and what torch wraps around it.
_FILES = ("tracer_core/graph/operations.py", "torch/_compile.py", "torch/_dynamo/eval_frame.py")


def of_dispatch(code: CodeType) -> bool:
    return code.co_filename.endswith(_FILES)


def main(backend: str, count: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGUSR1, raises)
    for _ in range(2):  # the first trace imports and remembers much
        compiled, arguments = fresh(backend)
        reached = places(lambda compiled=compiled, arguments=arguments: compiled(*arguments), of_dispatch)
    times = [(place, time) for place, often in reached.items() for time in range(1, often + 1)]
    for place, time in random.Random(count).sample(times, count):
        given = fresh(backend)
        before = state()
        number, error = random.Random(time).choice([(signal.SIGINT, KeyboardInterrupt), (signal.SIGUSR1, TooLong)])
        print(named(place), "for the time", time, flush=True)
        try:
            interrupted(lambda given=given: given[0](*given[1]), place, number, time)
        except error:
            expect_nothing_left(given, before, named(place))
        else:
            raise AssertionError("the signal is lost")
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

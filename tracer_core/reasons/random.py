"""Reasons about random numbers and the generators that draw them."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "random-state",
    "The code changes the state of a random generator ({name}).",
    "The compiled code must draw random numbers in the same order as plain Python.",
    "Seed generators before the compiled function runs.",
)
reason(
    "random-number",
    "The code needs the value of {what}, which is drawn when the compiled code runs.",
    "A random number differs from call to call, so the trace cannot depend on its value.",
    "Use the number in arithmetic and tensor operations only, or draw it outside the compiled function.",
)
reason(
    "random-choice",
    "The code draws from a list whose items are not all ints or all floats.",
    "The object that is drawn is known only when the code runs, and the code after it may depend on the object.",
    "Draw the position with random.randrange outside the compiled function, or draw before it is called.",
)

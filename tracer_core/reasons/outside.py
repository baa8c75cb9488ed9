"""Reasons about effects outside the program: output, warnings, files, the keyboard and the debugger."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "print",
    "The code calls `print()`.",
    "Output must appear at its time and in its order, so the call runs between two graphs.",
    "Remove the call, or print after the compiled function has returned.",
    "Compile with options={'replay_prints': True}: the text is then printed after the graph has run, where this "
    "cannot be noticed.",
)
reason(
    "gives-warning",
    "The code issues a warning: {warning}.",
    "Plain Python issues the warning, at the line of your code and as often as the warning filters allow.",
    "Do what the warning says.",
    "Ignore it: `warnings.filterwarnings('ignore', ...)`.",
)
reason(
    "input",
    "The code reads from the keyboard.",
    "The call waits for a person to type.",
    "Read input before the compiled function runs.",
)
reason(
    "open-file",
    "The code opens a file.",
    "Reading and writing files is not traced.",
    "Read files before the compiled function runs.",
)
reason(
    "breakpoint",
    "The code calls `breakpoint()`.",
    "The debugger needs a running Python frame.",
    "Remove breakpoint(), or step through the trace instead.",
)

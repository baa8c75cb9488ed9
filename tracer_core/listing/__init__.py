"""Write generated code as a person reads it: Python text, one statement a line.

In: the instructions that codegen wrote (`CompiledFrame.written`). Out: text (`python_listing`). Each instruction has
a rule under `@writes`, in `variables`, `values` and `calls`; `writer` follows the code as it runs, with expressions
on the stack (`state`, `shown`) in place of values.
"""

# The modules of rules fill the table when they are imported.
from tracer_core.listing import calls, values, variables  # noqa: F401
from tracer_core.listing.writer import python_listing

__all__ = ["python_listing"]

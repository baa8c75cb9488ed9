"""Write generated code as a person reads it: Python text, one statement a line.

In: the instructions that codegen wrote, by the part that each plays (`CompiledFrame.written`). Out: text
(`python_listing`). `writer` follows the parts in the order in which they run; each instruction has a rule in `rules`,
which pushes syntax trees of expressions in place of values (`state`, `expressions`). `ast.unparse` turns these into
text.
"""

from tracer_core.listing.writer import python_listing

__all__ = ["python_listing"]

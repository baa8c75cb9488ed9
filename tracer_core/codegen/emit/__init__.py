"""Emit the code of a frame: the builder of `bytecode`, for code that runs in a frame's place.

In: trackers, sources and constants. Out: instructions (`emitter.Emitter`), which know which value stands in which
variable (`names` has all names that are not the program's). `constants` boxes objects that code cannot hold as they
are.
"""

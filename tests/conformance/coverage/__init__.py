"""Which opcodes, methods and functions of Python the programs use: computed, so that a gap fails a test.

`opcodes` reads the programs' bytecode. `uses` runs the programs in plain Python from source that also notes which
method of which type and which function is asked for. `wanted` says what has to be there: it walks Python's modules.
"""

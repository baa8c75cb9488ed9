"""Names as users read them: of code, functions, symbols, files, folders, lines, and the sentences
around them.

In: objects of the program and of torch. Out: words that its author would use.
"""

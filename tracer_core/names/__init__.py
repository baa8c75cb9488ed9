"""Name things as users know them: code, functions, symbols, files, folders, lines; and write the sentences around the
names.

In: objects of the program and of torch. Out: words that its author would use.
"""

"""The class statement.

`statements` creates a class, `library` those that the standard library builds from what a program writes, and
`abstract` adds to abstract ones what the real class lacks.
"""

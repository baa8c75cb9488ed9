"""The class statement.

`statements` makes a class, `library` those that the standard library makes of what a program writes, and `abstract`
says of abstract ones what the real class cannot.
"""

"""Recursion that meets Python's limit, caught near and far from where it does."""

import sys

from tests.conformance.program import program


def endless(x, n):
    return endless(x + 1, n + 1)


def endless_without_tensors(n):
    return endless_without_tensors(n + 1)


def deep(x, n):
    return x if n == 0 else deep(x, n - 1) + 1


def there(x, n):
    return and_back(x, n + 1)


def and_back(x, n):
    return there(x, n + 1)


def seen_of(error):
    return type(error).__name__, str(error)[:32], error.__context__, error.__cause__


@program("I9 I5", differs="torch_differs", why="torch meets the limit in its own code")
def endless_recursion_caught(x):
    try:
        return endless(x, 0)
    except RecursionError as error:
        return x * 2, seen_of(error)


@program("I9 I5", differs="torch_differs", why="torch meets the limit in its own code")
def endless_recursion_leaves(x):
    y = x + 1
    return y, endless_without_tensors(0)


@program("I9 I5", differs="torch_differs", why="torch meets the limit in its own code")
def endless_recursion_in_the_context_of_another_error(x):
    try:
        try:
            raise KeyError("first")
        except KeyError:
            return there(x, 0)
    except RecursionError as error:
        return x * 2, type(error.__context__).__name__, error.__context__.__context__


@program("I9 I5", differs="torch_differs", why="torch meets the limit in its own code")
def low_limit(x):
    before, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 60)
    try:
        return deep(x, 100)
    except RecursionError as error:
        return x * 2, seen_of(error)
    finally:
        sys.setrecursionlimit(before)


@program("I9", differs="torch_differs", why="torch meets the limit in its own code")
def high_limit(x):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 400)
    try:
        return deep(x, 300)
    finally:
        sys.setrecursionlimit(before)

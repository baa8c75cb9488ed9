"""`min` and `max` give one of the numbers they are given, of its own type, also where some vary between calls."""

from tests.conformance.program import program, t

MIXED = [(t(2), 3, 2.5), (t(2), 4, 3.5), (t(2), 5, 5.0), (t(2), -5, -1.5), (t(2), 6, 6.0)]


@program(
    "I12 B4",
    lambda: [(t(2), a) for a in (3, 4, -5, 7)],
    differs="torch_differs",
    why="torch makes a float of the int",
)
def least_of_an_int_and_a_float(x, a):
    return x * a, min(a, 0.0), max(0.0, a)


@program("I12 B4", lambda: MIXED, differs="torch_differs", why="torch makes a float of the int")
def least_and_greatest_of_two_that_vary(x, a, b):
    return x * a, min(a, b), max(a, b), max([b, a]), min((b, a, 1.0))


@program(
    "I12 B4",
    lambda: [(t(2), 3), (t(2), 1), (t(2), 4)],
    differs="torch_differs",
    why="torch cannot compare them",
)
def greatest_of_a_truth_value_and_an_int(x, a):
    return x * a, max(True, a), min(a, True)

"""What exceptions whose classes have an `__init__` keep as their arguments."""

from tests.conformance.program import program, t


class TwoBases(LookupError, ValueError):
    def __init__(self, message, number):
        super().__init__(message.upper())
        self.number = number


class NoFile(FileNotFoundError):
    def __init__(self, name):
        super().__init__(2, "not here", name)


class Quiet(OSError):
    def __init__(self, name):
        self.name = name


@program("I5 I10", lambda: [t(2)], differs="fewer_breaks", why="torch leaves it to Python")
def exception_of_two_builtin_bases_makes_its_arguments(x):
    try:
        raise TwoBases("m", 2)
    except ValueError as error:
        return x + error.number, error.args, str(error)


@program("I5 I10", lambda: [t(2)])
def os_errors_made_by_an_init_of_their_own(x):
    first, second = NoFile("a"), Quiet("b")
    return x + 1, first.args, first.filename, first.errno, str(first), second.args, str(second), second.name

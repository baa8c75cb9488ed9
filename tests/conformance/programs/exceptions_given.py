"""Exceptions that were there before the trace: what raising them and writing to them leaves on them."""

import sys
import traceback

from tests.conformance.program import program

KNOWN = RuntimeError("known")
FEWER = {"differs": "fewer_breaks", "why": "torch.compile leaves the function to Python"}


def places(error):
    """The functions in a traceback, without those of what called the program."""
    found = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    named = [name for name in found if name in globals()]
    return named


def raises_known():
    raise KNOWN


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *found):
        self.found = found
        return True


@program("I5", then=lambda r: places(KNOWN), **FEWER)
def known_error_raised_here(x):
    try:
        raise KNOWN
    except RuntimeError:
        return x + 1


@program("I5", then=lambda r: places(KNOWN), **FEWER)
def known_error_raised_twice_by_a_function(x):
    for _ in range(2):
        try:
            raises_known()
        except RuntimeError:
            x = x + 1
    return x


@program("I5", then=lambda r: places(r[1]), **FEWER)
def known_error_that_leaves_a_function_with_finally(x):
    def inner(y):
        try:
            raises_known()
        finally:
            y += 1

    try:
        inner(x)
    except RuntimeError as error:
        print("seen")
        return x * 2, error


@program("I6", then=lambda r: (places(r[1][1]), r[1][2] is None))
def known_error_in_a_with_block(x):
    manager = Swallows()
    with manager:
        raises_known()
    KNOWN.__traceback__ = None
    return x + 1, manager.found


@program("I5", then=lambda r: places(KNOWN), **FEWER)
def traceback_taken_away_before_it_is_raised_again(x):
    try:
        raises_known()
    except RuntimeError:
        KNOWN.__traceback__ = None
    try:
        raise KNOWN
    except RuntimeError:
        return x + 1, KNOWN.__traceback__ is None


@program("I5", then=lambda r: places(KNOWN), **FEWER)
def traceback_put_back(x):
    try:
        raises_known()
    except RuntimeError as error:
        kept = error.__traceback__
        try:
            raise error
        except RuntimeError:
            error.__traceback__ = kept
    return x + 1


@program("I5", then=lambda r: (*r[1:], KNOWN.__traceback__))
def traceback_of_one_never_raised(x):
    return x + 1, KNOWN.__traceback__ is None


@program("I5", then=lambda r: (r[1:], KNOWN.__context__), **FEWER)
def context_of_a_known_error(x):
    try:
        raise KeyError("first")
    except KeyError:
        try:
            raises_known()
        except RuntimeError as error:
            return x + 1, type(error.__context__), sys.exc_info()[1] is KNOWN


@program("I5", then=lambda r: (KNOWN.args, str(KNOWN)))
def arguments_of_a_known_error(x):
    KNOWN.args = ("new", x.shape[0])
    return x + 1


@program("I5", then=lambda r: places(KNOWN), **FEWER)
def known_error_and_a_break(x):
    try:
        raises_known()
    except RuntimeError:
        print("handled")
        x = x + 1
    return x

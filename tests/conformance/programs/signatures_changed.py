"""What `inspect.signature` says of a function changes when the function is written to."""

import functools
import inspect

from tests.conformance.program import program, t


def scaled(a, b=2, *, c=3):
    return a


@program("I12 G1", lambda: [t(2), t(2), t(2)])
def defaults_are_replaced(x):
    parameters = inspect.signature(scaled).parameters
    read = x + parameters["b"].default + parameters["c"].default
    scaled.__defaults__ = (30,)
    scaled.__kwdefaults__["c"] += 100
    return read


def told(a):
    return a


def other(a, b, c=1):
    return a


@program("I12 G1", lambda: [t(2), t(2), t(2)], differs="torch_differs", why="the signature is read once")
def another_signature_is_told(x):
    read = x + len(inspect.signature(told).parameters)
    told.__signature__ = inspect.signature(other)
    return read


def annotated(a: int, b: str = "x") -> None:
    return None


@program("I12 G1", lambda: [t(2), t(2), t(2)], differs="fewer_breaks", why="torch leaves it to Python")
def annotations_are_changed(x):
    signature = inspect.signature(annotated)
    read = x + 1, signature.parameters["a"].annotation.__name__, len(annotated.__annotations__)
    annotated.__annotations__["a"] = float
    return read


def innermost(a, b=1):
    return a


@functools.wraps(innermost)
def wrapper(*args, **kwargs):
    return innermost(*args, **kwargs)


@program("I12 G1", lambda: [t(2), t(2), t(2)])
def a_wrapped_function_is_replaced(x):
    read = x + len(inspect.signature(wrapper).parameters)
    wrapper.__wrapped__ = other
    return read
